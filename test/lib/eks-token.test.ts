import { STSClient } from "@aws-sdk/client-sts";
import { expect, it } from "vitest";
import { eksToken } from "../../lib/eks-token.ts";

it("a token is a GetCallerIdentity signed for one cluster, good for 15 minutes, as aws eks get-token makes it", async () => {
  const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "not-a-secret" };
  const { credentials, sha256 } = new STSClient({ region: "eu-central-1", credentials: keys }).config;
  const request = { region: "eu-central-1", hostname: "sts.eu-central-1.amazonaws.com", credentials, sha256 };
  const tokenOf = (cluster: string) => eksToken({ ...request, cluster });
  const [prefix, encoded = ""] = (await tokenOf("fleet-spoke-blue")).split(".");
  expect(prefix).toBe("k8s-aws-v1");
  const url = new URL(Buffer.from(encoded, "base64url").toString());
  expect(url.origin).toBe("https://sts.eu-central-1.amazonaws.com");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    ...{ Action: "GetCallerIdentity", "X-Amz-Expires": "900", "X-Amz-SignedHeaders": "host;x-k8s-aws-id" },
    "X-Amz-Credential": expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/eu-central-1\/sts\/aws4_request$/),
  });
  expect(await tokenOf("fleet-spoke-teal")).not.toContain(encoded);
});

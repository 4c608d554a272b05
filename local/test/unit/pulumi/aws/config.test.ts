import { IAMClient } from "@aws-sdk/client-iam";
import { describe, expect, test } from "vitest";
import type { Aws } from "../../../../aws/index.ts";
import { awsOf, checkAccount, configFailures } from "../../../../pulumi/aws/config.ts";

const local = { AWS_ENDPOINT_URL: "http://127.0.0.1:4566" };

describe("the endpoint", () => {
  test("is needed: without one nothing is called", () => {
    expect(() => awsOf({ region: "us-east-1" }, {})).toThrow("no endpoint of AWS is set: set AWS_ENDPOINT_URL");
    expect(() => awsOf({ region: "us-east-1" }, {})).toThrow("never talks to the real AWS");
  });

  test.each([
    "https://iam.amazonaws.com",
    "https://ec2.cn-north-1.amazonaws.com.cn",
    "https://eks-auth.us-east-1.api.aws",
  ])("of AWS itself is refused: %s", (AWS_ENDPOINT_URL) => {
    expect(() => awsOf({ region: "us-east-1" }, { AWS_ENDPOINT_URL })).toThrow("is an endpoint of AWS itself");
  });
});

test("a missing region is named", () => {
  expect(configFailures({}, {}).map(({ property }) => property)).toEqual(["region"]);
  expect(configFailures({ region: "us-east-1" }, {})).toEqual([]);
  expect(configFailures({}, { AWS_REGION: "us-east-1" })).toEqual([]);
});

test("clients take region and endpoint", async () => {
  const aws = awsOf({ region: "eu-west-1" }, local);
  const { config } = aws.client(IAMClient);
  await expect(config.region()).resolves.toBe("eu-west-1");
  await expect(config.endpoint?.()).resolves.toMatchObject({ hostname: "127.0.0.1", port: 4566 });
  expect(aws.client(IAMClient).config).toBe(config);
  expect(aws.inRegion("us-west-2").region).toBe("us-west-2");
  expect(aws.inRegion("eu-west-1")).toBe(aws);
});

describe("the account", () => {
  const aws = { accountId: () => Promise.resolve("111122223333") } as unknown as Aws;

  test("must be an allowed one", async () => {
    await checkAccount({ allowedAccountIds: ["111122223333"] }, aws);
    await checkAccount({ allowedAccountIds: [111122223333] }, aws);
    await expect(checkAccount({ allowedAccountIds: ["444455556666"] }, aws)).rejects.toThrow(
      "the credentials are for AWS account 111122223333, but aws:allowedAccountIds allows 444455556666",
    );
  });

  test("is not looked up when nothing is configured", async () => {
    await checkAccount({}, { accountId: () => Promise.reject(new Error("looked up")) } as unknown as Aws);
  });
});

import { describe, expect, test } from "vitest";
import type { Aws } from "../../../../aws/index.ts";
import { awsOf, checkAccount, configFailures, endpointOf } from "../../../../pulumi/aws/config.ts";

const local = { AWS_ENDPOINT_URL: "http://127.0.0.1:4566" };

describe("endpoints", () => {
  test("come from the configuration, then the service's variable, then the general one", () => {
    const config = { endpoints: [{ ec2: "http://127.0.0.1:1" }] };
    const environment = { ...local, AWS_ENDPOINT_URL_SECRETS_MANAGER: "http://127.0.0.1:2" };
    expect(endpointOf(config, environment, "ec2")).toBe("http://127.0.0.1:1");
    expect(endpointOf(config, environment, "secretsmanager")).toBe("http://127.0.0.1:2");
    expect(endpointOf(config, environment, "iam")).toBe("http://127.0.0.1:4566");
  });

  test("are needed: without one nothing is called", () => {
    expect(() => endpointOf({}, {}, "iam")).toThrow(
      "no endpoint is set for AWS service iam: set AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_IAM or aws:endpoints",
    );
    expect(() => awsOf({ region: "us-east-1" }, {})).toThrow("never talks to the real AWS");
  });

  test.each([
    "https://iam.amazonaws.com",
    "https://ec2.cn-north-1.amazonaws.com.cn",
    "https://eks-auth.us-east-1.api.aws",
  ])("of AWS itself are refused: %s", (AWS_ENDPOINT_URL) => {
    expect(() => endpointOf({}, { AWS_ENDPOINT_URL }, "iam")).toThrow("is an endpoint of AWS itself");
  });
});

test("all mistakes in the configuration are told at once", () => {
  const config = { accessKey: "a", allowedAccountIds: ["1"], forbiddenAccountIds: ["2"] };
  expect(configFailures(config, {}).map(({ property }) => property)).toEqual([
    "region",
    "secretKey",
    "forbiddenAccountIds",
  ]);
  expect(configFailures({ region: "us-east-1" }, {})).toEqual([]);
  expect(configFailures({}, { AWS_REGION: "us-east-1" })).toEqual([]);
});

test("clients take region, keys and retries of the configuration", async () => {
  const config = { region: "eu-west-1", accessKey: "key", secretKey: "secret", token: "session", maxRetries: 2 };
  const aws = awsOf(config, local);
  expect(aws.region).toBe("eu-west-1");
  await expect(aws.iam.config.credentials()).resolves.toMatchObject({
    accessKeyId: "key",
    secretAccessKey: "secret",
    sessionToken: "session",
  });
  await expect(aws.iam.config.maxAttempts()).resolves.toBe(3);
  expect(aws.inRegion("us-west-2").region).toBe("us-west-2");
  expect(aws.inRegion("eu-west-1")).toBe(aws);
});

describe("the account", () => {
  const aws = { accountId: () => Promise.resolve("111122223333") } as unknown as Aws;

  test("must be an allowed one", async () => {
    await checkAccount({ allowedAccountIds: ["111122223333"] }, aws);
    await expect(checkAccount({ allowedAccountIds: ["444455556666"] }, aws)).rejects.toThrow(
      "the credentials are for AWS account 111122223333, but aws:allowedAccountIds allows 444455556666",
    );
  });

  test("must not be a forbidden one", async () => {
    await checkAccount({ forbiddenAccountIds: ["444455556666"] }, aws);
    await expect(checkAccount({ forbiddenAccountIds: ["111122223333"] }, aws)).rejects.toThrow(
      "111122223333 is forbidden",
    );
  });

  test("is not looked up when nothing is configured", async () => {
    await checkAccount({}, { accountId: () => Promise.reject(new Error("looked up")) } as unknown as Aws);
  });
});

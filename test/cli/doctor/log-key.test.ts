import { afterEach, describe, expect, test } from "vitest";
import { checkLogKey } from "../../../cli/doctor/log-key.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const logKey = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const policy = (Service: string | string[], Effect = "Allow") => ({
  Policy: JSON.stringify({
    Statement: [
      { Effect: "Allow", Principal: { AWS: "arn:aws:iam::111122223333:root" }, Action: "kms:*", Resource: "*" },
      { Effect, Principal: { Service }, Action: "kms:Encrypt*", Resource: "*" },
    ],
  }),
});
const metadata = (change: object = {}) => ({
  KeyMetadata: {
    ...{ Arn: logKey, KeyState: "Enabled", KeySpec: "SYMMETRIC_DEFAULT", KeyUsage: "ENCRYPT_DECRYPT" },
    ...{ KeyManager: "CUSTOMER", ...change },
  },
});
const usual: Answers = { DescribeKey: metadata(), GetKeyPolicy: policy("logs.eu-central-1.amazonaws.com") };

async function look(answers: Answers = {}, change: object = { logKey }) {
  const aws = await fakeAws({ ...usual, ...answers });
  close = aws.close;
  const stack = await devStack();
  return await checkLogKey({ ...stack, settings: { ...stack.settings, ...change } }, aws.config);
}

describe("the stack's key for logs", () => {
  test("is a key that AWS owns unless the stack names one", async () => {
    expect(await look({}, { logKey: "" })).toMatchObject([{ status: "ok", message: "a key that AWS owns" }]);
  });

  test.each(
    ["logs.eu-central-1.amazonaws.com", ["ec2.amazonaws.com", "logs.eu-central-1.amazonaws.com"]].map((one) => [one]),
  )("is ok if its policy names %s", async (service) => {
    expect(await look({ GetKeyPolicy: policy(service) })).toMatchObject([{ status: "ok" }]);
  });

  test.each([
    ["another region's service", policy("logs.eu-west-1.amazonaws.com")],
    ["the service in a denial", policy("logs.eu-central-1.amazonaws.com", "Deny")],
  ])("is wrong if its policy names %s", async (_name, answer) => {
    expect(await look({ GetKeyPolicy: answer })).toMatchObject([
      {
        status: "wrong",
        message: expect.stringContaining("has no statement for logs.eu-central-1.amazonaws.com"),
        todo: expect.stringContaining("docs/guides/aws-account.md#a-kms-key-of-your-company-for-logs"),
      },
    ]);
  });

  test("must exist, and be enabled", async () => {
    expect(await look({ DescribeKey: new Refusal("NotFoundException") })).toMatchObject([
      { status: "wrong", message: "does not exist in eu-central-1" },
    ]);
    await close();
    expect(await look({ DescribeKey: metadata({ KeyState: "Disabled" }) })).toMatchObject([
      { status: "wrong", message: expect.stringContaining("CloudWatch Logs can use only enabled keys") },
    ]);
  });

  test("whose policy can't be read is unknown, with the missing permission", async () => {
    expect(await look({ GetKeyPolicy: new Refusal("AccessDeniedException") })).toMatchObject([
      { status: "unchecked", todo: expect.stringContaining("kms:GetKeyPolicy") },
    ]);
  });
});

import { afterEach, describe, expect, test } from "vitest";
import { checkVolumeKeys } from "../../../cli/doctor/volume-keys.ts";
import type { Readable } from "../../../infra/settings.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const key = (id: number, region = "eu-central-1") =>
  `arn:aws:kms:${region}:111122223333:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;
const defaultKey = (id: string) =>
  `<GetEbsDefaultKmsKeyIdResponse><kmsKeyId>${id}</kmsKeyId></GetEbsDefaultKmsKeyIdResponse>`;
const byDefault = (on: boolean) =>
  `<GetEbsEncryptionByDefaultResponse><ebsEncryptionByDefault>${on}</ebsEncryptionByDefault></GetEbsEncryptionByDefaultResponse>`;
const metadata = (change: object = {}) => ({
  ...{ KeyState: "Enabled", KeySpec: "SYMMETRIC_DEFAULT", KeyUsage: "ENCRYPT_DECRYPT", KeyManager: "CUSTOMER" },
  ...change,
});
/** A KMS in which every key has `change`; an alias is that of the key 1. */
const kms: (change?: object) => Answers[string] = (change) => (asked) => {
  const { KeyId = "" } = asked.input;
  const Arn = KeyId.includes(":key/") ? KeyId : key(1);
  return { KeyMetadata: metadata({ Arn, KeyId: Arn.split("/")[1], ...change }) };
};
const usual: Answers = {
  GetEbsDefaultKmsKeyId: defaultKey("alias/aws/ebs"),
  GetEbsEncryptionByDefault: byDefault(false),
  DescribeKey: kms(),
};

async function look(settings: Readable, answers: Answers = {}) {
  const aws = await fakeAws({ ...usual, ...answers });
  close = aws.close;
  const stack = await devStack();
  return {
    found: await checkVolumeKeys({ ...stack, settings: { ...stack.settings, ...settings } }, aws.config),
    asked: aws.asked,
  };
}

describe("the account's default key", () => {
  test("of AWS is ok where the stack names no keys, in each region", async () => {
    const { found, asked } = await look({ spokeRegions: ["eu-west-1"] });
    expect(found).toMatchObject([
      { status: "ok", name: "default key of volumes in eu-central-1", message: expect.stringContaining("is off") },
      { status: "ok", name: "default key of volumes in eu-west-1" },
    ]);
    expect(new Set(asked.map(({ region }) => region))).toEqual(new Set(["eu-central-1", "eu-west-1"]));
  });

  test("of AWS differs from the keys of the stack", async () => {
    const { found } = await look({ volumeKeys: [key(1)] }, { GetEbsEncryptionByDefault: byDefault(true) });
    expect(found[0]).toMatchObject({
      status: "note",
      message: expect.stringContaining("alias/aws/ebs, which is none of volumeKeys"),
      todo: expect.stringContaining(`--kms-key-id ${key(1)}`),
    });
    expect(found[0]?.message).toContain("encryption by default is on");
  });

  test.each([key(1), "arn:aws:kms:eu-central-1:111122223333:alias/company"])(
    "of a company (%s) must be one of the stack's",
    async (id) => {
      const answers = { GetEbsDefaultKmsKeyId: defaultKey(id) };
      expect((await look({}, answers)).found).toMatchObject([
        {
          status: "wrong",
          message: expect.stringContaining(
            `${key(1)}, which is none of volumeKeys: the roles of spokes may not use it`,
          ),
          todo: expect.stringContaining(`pulumi config set --path 'volumeKeys[0]' ${key(1)}`),
        },
      ]);
      await close();
      const { found } = await look({ volumeKeys: [key(2), key(1)] }, answers);
      expect(found.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    },
  );

  test("that can't be read is unknown, with the missing permissions", async () => {
    const { found } = await look({}, { GetEbsDefaultKmsKeyId: new Refusal("UnauthorizedOperation") });
    expect(found).toMatchObject([{ status: "unchecked", todo: expect.stringContaining("ec2:GetEbsDefaultKmsKeyId") }]);
  });
});

describe("a key of the stack", () => {
  const judge = async (answer: Answers[string] | undefined, volumeKey = key(1)) =>
    (await look({ volumeKeys: [volumeKey] }, { DescribeKey: answer ?? kms() })).found[1];

  test("that is enabled and symmetric is ok", async () => {
    expect(await judge(undefined)).toMatchObject({ status: "ok", message: "exists, is enabled and symmetric" });
  });

  test("must exist", async () => {
    expect(await judge(new Refusal("NotFoundException"))).toMatchObject({
      status: "wrong",
      message: "does not exist in eu-central-1",
    });
  });

  test.each([
    [{ KeyState: "Disabled" }, "is Disabled", "aws kms enable-key --region eu-central-1"],
    [{ KeyState: "PendingDeletion" }, "is PendingDeletion", "aws kms cancel-key-deletion"],
    [{ KeySpec: "RSA_4096" }, "is RSA_4096 for ENCRYPT_DECRYPT", "KeySpec SYMMETRIC_DEFAULT"],
    [{ KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC" }, "is HMAC_256 for GENERATE_VERIFY_MAC", "SYMMETRIC"],
    [{ KeyManager: "AWS" }, "is AWS's own key", "remove it from volumeKeys"],
  ])("that is %o can't be used", async (change, message, todo) => {
    expect(await judge(kms(change))).toMatchObject({
      status: "wrong",
      message: expect.stringContaining(message),
      todo: expect.stringContaining(todo),
    });
  });

  test("in a region without clusters of the stack is reported", async () => {
    const found = await judge(undefined, key(1, "us-east-1"));
    expect(found).toMatchObject({ status: "note", message: expect.stringContaining("us-east-1") });
  });

  test("that can't be seen is unknown", async () => {
    expect(await judge(new Refusal("AccessDeniedException"))).toMatchObject({
      status: "unchecked",
      todo: expect.stringContaining("kms:DescribeKey"),
    });
  });
});

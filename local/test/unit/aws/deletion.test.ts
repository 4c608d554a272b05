import { expect, test } from "vitest";
import { changeOf, type Handler, handlers } from "../../../aws/index.ts";
import { awsError, fakeAws } from "./fake.ts";

const handler = (token: string): Handler => handlers.get(token) as Handler;
const key = handler("aws:kms/key:Key");
const secret = handler("aws:secretsmanager/secret:Secret");
const policy = handler("aws:iam/policy:Policy");

test("a KMS key that is scheduled for deletion counts as gone, and deleting it again is fine", async () => {
  const pending = { KeyMetadata: { KeyId: "k", KeyState: "PendingDeletion" } };
  const schedule = () => {
    throw awsError("KMSInvalidStateException", "k is pending deletion.");
  };
  const fake = fakeAws({ DescribeKey: pending, ScheduleKeyDeletion: schedule });
  await expect(key.read(fake.aws, "k", {})).resolves.toBeNull();
  await key.delete(fake.aws, "k", {});
});

test("a KMS key is scheduled for deletion after the configured window, by default 30 days", async () => {
  const fake = fakeAws({ ScheduleKeyDeletion: {} });
  await key.delete(fake.aws, "k", { deletionWindowInDays: 7 });
  await key.delete(fake.aws, "k", {});
  expect(fake.calls.map(([, input]) => input["PendingWindowInDays"])).toEqual([7, 30]);
});

test("a KMS key that cannot be deleted for another reason is an error", async () => {
  const schedule = () => {
    throw awsError("KMSInvalidStateException", "k is pending import.");
  };
  const fake = fakeAws({ DescribeKey: { KeyMetadata: { KeyState: "PendingImport" } }, ScheduleKeyDeletion: schedule });
  await expect(key.delete(fake.aws, "k", {})).rejects.toThrow("pending import");
});

test("a secret that is scheduled for deletion counts as gone", async () => {
  const fake = fakeAws({ DescribeSecret: { ARN: "arn", Name: "s", DeletedDate: new Date() } });
  await expect(secret.read(fake.aws, "arn", {})).resolves.toBeNull();
  await secret.delete(fake.aws, "arn", {});
  expect(fake.operations()).not.toContain("DeleteSecret");
});

test("a secret is deleted at once with a window of 0 days, else after its window", async () => {
  const fake = fakeAws({ DescribeSecret: { ARN: "arn" }, DeleteSecret: {} });
  await secret.delete(fake.aws, "arn", { recoveryWindowInDays: 0 });
  await secret.delete(fake.aws, "arn", { recoveryWindowInDays: 7 });
  const deletions = fake.calls.filter(([operation]) => operation === "DeleteSecret").map(([, input]) => input);
  expect(deletions).toEqual([
    { SecretId: "arn", ForceDeleteWithoutRecovery: true },
    { SecretId: "arn", RecoveryWindowInDays: 7 },
  ]);
});

test("a window that Secrets Manager does not allow is refused before anything is created", () => {
  expect(secret.validate?.({ recoveryWindowInDays: 3 })).toEqual([
    { property: "recoveryWindowInDays", reason: "3 is not allowed: 0 (delete at once) or 7 to 30" },
  ]);
  expect(secret.validate?.({ recoveryWindowInDays: 0 })).toEqual([]);
});

test("a policy with five versions loses its oldest one before it gets a new one", async () => {
  const versions = ["v5", "v3", "v1", "v2", "v4"].map((VersionId) => ({
    VersionId,
    IsDefaultVersion: VersionId === "v5",
    CreateDate: new Date(Number(VersionId.slice(1))),
  }));
  const fake = fakeAws({
    ListPolicyVersions: { Versions: versions },
    DeletePolicyVersion: {},
    CreatePolicyVersion: {},
  });
  const change = changeOf(policy, { policy: "{}" }, { policy: '{"Version":"2012-10-17","Statement":[]}' });
  await policy.update?.(fake.aws, "arn", change);
  expect(fake.operations()).toEqual(["ListPolicyVersions", "DeletePolicyVersion", "CreatePolicyVersion"]);
  expect(fake.calls[1]?.[1]).toMatchObject({ VersionId: "v1" });
});

import { describe, expect, it } from "vitest";
import { addonBoundary } from "../../../lib/iam/addons.ts";
import { autoModeBoundary } from "../../../lib/iam/auto-mode.ts";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { policy } from "../../../lib/iam/policy.ts";
import { keyArnPattern, keyRegion, ownKeysOfRole } from "../../../lib/iam/volume-key.ts";
import { permits } from "../../support/iam-effective.ts";
import { referenceProblems } from "../../support/iam-reference.ts";
import { account, iam, role, spokeTags } from "./estate.ts";

const key = (id: string, owner = "000000000000") =>
  `arn:aws:kms:us-east-1:${owner}:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;
const volumeKeys = [key("1"), key("2", "999999999999")];
const scope = { ...account, fleet: "fleet", volumeKeys };
const boundaries = {
  fleet: (keys: readonly string[]) =>
    spokeBoundary({ ...scope, volumeKeys: keys, tenantBoundaryArn: iam("policy/fleet-tenant-boundary") }),
  "EKS Auto Mode": (keys: readonly string[]) =>
    autoModeBoundary({ ...scope, volumeKeys: keys, spokePrefix: "fleet-spoke-" }),
  "add-on": (keys: readonly string[]) => addonBoundary({ ...scope, volumeKeys: keys }, []),
};
const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });

const throughEc2 = { "kms:ViaService": "ec2.us-east-1.amazonaws.com" };
// EC2 User Guide, "Requirements for Amazon EBS encryption"; Auto Scaling User Guide, "Required AWS KMS key policy for use with encrypted volumes".
const uses = [
  ...["Decrypt", "Encrypt", "ReEncryptFrom", "ReEncryptTo", "GenerateDataKey"],
  ...["GenerateDataKeyWithoutPlaintext", "DescribeKey"],
];
const forAws = { ...throughEc2, "kms:GrantIsForAWSResource": "true" };

describe.each(Object.entries(boundaries))("the %s boundary", (_name, boundary) => {
  const may = (
    call: string,
    resource: string,
    context: Readonly<Record<string, string>>,
    keys = volumeKeys,
    own = everything,
  ) =>
    permits(
      { roleArn: role("fleet-spoke-blue-x"), tags: spokeTags("blue"), policy: own, boundary: boundary(keys) },
      { action: `kms:${call}`, resource, context },
    );
  const all = (context: Readonly<Record<string, string>>, resource: string, keys = volumeKeys) =>
    uses.filter((call) => call !== "DescribeKey").map((call) => may(call, resource, context, keys));

  it("lets roles use the keys of the stack through EC2, whichever account owns them", () => {
    for (const each of volumeKeys) {
      for (const call of uses) expect(may(call, each, throughEc2), call).toBe(true);
      expect(may("CreateGrant", each, forAws)).toBe(true);
    }
  });

  it("lets roles use no other key, and none directly or through another service", () => {
    expect(all(throughEc2, key("3"))).not.toContain(true);
    expect(all({}, key("1"))).not.toContain(true);
    expect(all({ "kms:ViaService": "s3.us-east-1.amazonaws.com" }, key("1"))).not.toContain(true);
    expect(all(throughEc2, key("1"), [])).not.toContain(true);
    expect(may("CreateGrant", key("3"), forAws)).toBe(false);
  });

  it("lets roles grant a key to AWS services only, and manage none", () => {
    expect(may("CreateGrant", key("1"), { ...throughEc2, "kms:GrantIsForAWSResource": "false" })).toBe(false);
    for (const call of ["ScheduleKeyDeletion", "PutKeyPolicy", "DisableKey", "RevokeGrant", "CreateAlias"])
      expect(may(call, key("1"), forAws), call).toBe(false);
  });

  it("lets a role do what its own policy says of the keys", () => {
    const own = policy(...ownKeysOfRole(volumeKeys));
    for (const call of uses) expect(may(call, key("1"), throughEc2, volumeKeys, own), call).toBe(true);
    expect(may("CreateGrant", key("1"), forAws, volumeKeys, own)).toBe(true);
    expect(may("CreateGrant", key("1"), { ...forAws, "kms:GrantIsForAWSResource": "false" }, volumeKeys, own)).toBe(
      false,
    );
    expect(may("Decrypt", key("3"), throughEc2, [key("3")], own)).toBe(false);
  });

  it("says only what AWS knows and lets count", async () => {
    expect(await referenceProblems(boundary(volumeKeys))).toEqual([]);
    expect(await referenceProblems(policy(...ownKeysOfRole(volumeKeys)))).toEqual([]);
  });

  it("is the same as before without keys", () => {
    expect(JSON.stringify(boundary([]))).not.toContain("GrantIsForAWSResource");
  });
});

describe("the ARN of a key", () => {
  it.each([key("1"), "arn:aws-cn:kms:cn-north-1:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab"])(
    "is %s",
    (arn) => {
      expect(new RegExp(keyArnPattern).test(arn)).toBe(true);
      expect(keyRegion(arn)).toMatch(/^(us-east-1|cn-north-1)$/);
    },
  );

  it.each(["alias/aws/ebs", "arn:aws:kms:us-east-1:111122223333:alias/ebs", "1234abcd-12ab-34cd-56ef-1234567890ab"])(
    "is not %s",
    (arn) => expect(new RegExp(keyArnPattern).test(arn)).toBe(false),
  );
});

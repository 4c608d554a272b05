import { EC2Client, GetEbsDefaultKmsKeyIdCommand, GetEbsEncryptionByDefaultCommand } from "@aws-sdk/client-ec2";
import { DescribeKeyCommand, type KeyMetadata, KMSClient } from "@aws-sdk/client-kms";
import { keyRegion } from "../../lib/iam/volume-key.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const guide = "docs/guides/aws-account.md#a-kms-key-of-your-company-for-volumes";
const ofAws = "alias/aws/ebs";

async function described(keyId: string, region: string, config: AwsConfig): Promise<KeyMetadata> {
  const { KeyMetadata } = await new KMSClient({ ...config, region }).send(new DescribeKeyCommand({ KeyId: keyId }));
  if (KeyMetadata === undefined) throw new Error(`KMS describes nothing of ${keyId}`);
  return KeyMetadata;
}

/** What AWS makes of a key that EBS must be able to use (EC2 API Reference, CreateVolume, `KmsKeyId`). */
function judged(name: string, key: KeyMetadata, regions: readonly string[]): Finding {
  const { KeyState, KeySpec, KeyUsage, KeyManager, KeyId = "", Arn = "" } = key;
  const region = keyRegion(Arn);
  const call = (verb: string) => `aws kms ${verb} --region ${region} --key-id ${KeyId}`;
  if (KeyManager === "AWS")
    return wrong(name, "is AWS's own key, whose policy nobody can change", "take it out of volumeKeys");
  if (KeySpec !== "SYMMETRIC_DEFAULT" || KeyUsage !== "ENCRYPT_DECRYPT")
    return wrong(
      name,
      `is ${KeySpec} for ${KeyUsage}: EBS uses symmetric keys only`,
      "name a key with KeySpec SYMMETRIC_DEFAULT and KeyUsage ENCRYPT_DECRYPT",
    );
  if (KeyState !== "Enabled")
    return wrong(
      name,
      `is ${KeyState}: EBS can use only enabled keys`,
      KeyState === "PendingDeletion"
        ? `${call("cancel-key-deletion")}, then ${call("enable-key")}`
        : call("enable-key"),
    );
  if (!regions.includes(region))
    return note(
      name,
      `is in ${region}, where the stack has no clusters`,
      "take it out, or add the region to spokeRegions",
    );
  return ok(name, "exists, is enabled and symmetric");
}

/** Whether EBS can use a key of the stack; whom its policy admits, AWS shows only when a volume is created. */
async function checkKey(arn: string, regions: readonly string[], config: AwsConfig): Promise<Finding> {
  const name = `key ${arn}`;
  try {
    return judged(name, await described(arn, keyRegion(arn), config), regions);
  } catch (error) {
    if (isMissing(error))
      return wrong(name, `does not exist in ${keyRegion(arn)}`, `correct volumeKeys, or create it (${guide})`);
    return untold(name, error, "kms:DescribeKey, also in the policy of a key of another account");
  }
}

/** How the account's default key, with which volumes are encrypted that name no key, goes with the keys of the stack. */
async function checkDefault(region: string, keys: readonly string[], config: AwsConfig): Promise<Finding> {
  const name = `default key of volumes in ${region}`;
  const ec2 = new EC2Client({ ...config, region });
  const own = keys.filter((key) => keyRegion(key) === region);
  try {
    const { KmsKeyId = "" } = await ec2.send(new GetEbsDefaultKmsKeyIdCommand({}));
    const { EbsEncryptionByDefault } = await ec2.send(new GetEbsEncryptionByDefaultCommand({}));
    const state = `encryption by default is ${EbsEncryptionByDefault ? "on" : "off"}`;
    const change = `aws ec2 modify-ebs-default-kms-key-id --region ${region} --kms-key-id ${own[0]}`;
    if (KmsKeyId.endsWith(ofAws) && own.length === 0) return ok(name, `${ofAws}; ${state}`);
    if (KmsKeyId.endsWith(ofAws))
      return note(
        name,
        `${ofAws}, which is none of volumeKeys: volumes that name no key use it; ${state}`,
        `set volumeKey in each spoke.yaml, or change the default: ${change}`,
      );
    const { Arn = KmsKeyId } = await described(KmsKeyId, region, config);
    if (keys.includes(Arn)) return ok(name, `${Arn}, one of volumeKeys; ${state}`);
    return wrong(
      name,
      `${Arn}, which is none of volumeKeys: the roles of spokes may not use it, so claims of a Spoke without volumeKey get no volume; ${state}`,
      `pulumi config set --path 'volumeKeys[${keys.length}]' ${Arn}   # ${guide}`,
    );
  } catch (error) {
    return untold(name, error, "ec2:GetEbsDefaultKmsKeyId, ec2:GetEbsEncryptionByDefault and kms:DescribeKey");
  }
}

/** The keys with which EBS encrypts volumes of the hub and of spokes in its account. */
export async function checkVolumeKeys({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  const { volumeKeys = [], spokeRegions = [] } = settings;
  if (region === undefined) return [];
  const regions = [...new Set([region, ...spokeRegions])];
  return Promise.all([
    ...regions.map((each) => checkDefault(each, volumeKeys, config)),
    ...volumeKeys.map((key) => checkKey(key, regions, config)),
  ]);
}

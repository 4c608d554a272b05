import { EC2Client, GetEbsDefaultKmsKeyIdCommand, GetEbsEncryptionByDefaultCommand } from "@aws-sdk/client-ec2";
import type { KeyMetadata } from "@aws-sdk/client-kms";
import { keyRegion } from "../../lib/iam/volume-key.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { describeKey, keyProblem } from "./kms-key.ts";
import type { Stack } from "./stack.ts";

const guide = "docs/guides/aws-account.md#a-kms-key-of-your-company-for-volumes";
const ofAws = "alias/aws/ebs";

/** How EBS can use a key in a cluster's region. */
function judged(name: string, key: KeyMetadata, regions: readonly string[]): Finding {
  const problem = keyProblem(name, key, "EBS", "volumeKeys");
  const region = keyRegion(key.Arn ?? "");
  if (problem || regions.includes(region)) return problem ?? ok(name, "exists, is enabled and symmetric");
  return note(
    name,
    `is in ${region}, where the stack has no clusters`,
    "take it out, or add the region to spokeRegions",
  );
}

/** Whether EBS can use a key of the stack; whom its policy admits, AWS shows only when a volume is created. */
async function checkKey(arn: string, regions: readonly string[], config: AwsConfig): Promise<Finding> {
  const name = `key ${arn}`;
  try {
    return judged(name, await describeKey(arn, keyRegion(arn), config), regions);
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
    const { Arn = KmsKeyId } = await describeKey(KmsKeyId, region, config);
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

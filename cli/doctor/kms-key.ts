import { DescribeKeyCommand, type KeyMetadata, KMSClient } from "@aws-sdk/client-kms";
import { keyRegion } from "../../lib/iam/volume-key.ts";
import type { AwsConfig } from "./aws.ts";
import { type Finding, wrong } from "./finding.ts";

export async function describeKey(keyId: string, region: string, config: AwsConfig): Promise<KeyMetadata> {
  const { KeyMetadata } = await new KMSClient({ ...config, region }).send(new DescribeKeyCommand({ KeyId: keyId }));
  if (KeyMetadata === undefined) throw new Error(`KMS describes nothing of ${keyId}`);
  return KeyMetadata;
}

/**
 * Why a service can't use a key; undefined if the key is an enabled, symmetric key of a customer (EC2 API Reference, CreateVolume, `KmsKeyId`;
 * CloudWatch Logs API Reference, AssociateKmsKey).
 */
export function keyProblem(name: string, key: KeyMetadata, service: string, setting: string): Finding | undefined {
  const { KeyState, KeySpec, KeyUsage, KeyManager, KeyId = "", Arn = "" } = key;
  const call = (verb: string) => `aws kms ${verb} --region ${keyRegion(Arn)} --key-id ${KeyId}`;
  if (KeyManager === "AWS")
    return wrong(name, "is AWS's own key, whose policy can't be changed", `remove it from ${setting}`);
  if (KeySpec !== "SYMMETRIC_DEFAULT" || KeyUsage !== "ENCRYPT_DECRYPT")
    return wrong(
      name,
      `is ${KeySpec} for ${KeyUsage}: ${service} uses symmetric keys only`,
      "name a key with KeySpec SYMMETRIC_DEFAULT and KeyUsage ENCRYPT_DECRYPT",
    );
  if (KeyState === "Enabled") return undefined;
  return wrong(
    name,
    `is ${KeyState}: ${service} can use only enabled keys`,
    KeyState === "PendingDeletion" ? `${call("cancel-key-deletion")}, then ${call("enable-key")}` : call("enable-key"),
  );
}

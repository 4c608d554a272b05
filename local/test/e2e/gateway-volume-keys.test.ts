import { KMS } from "@aws-sdk/client-kms";
import { describe, expect, test } from "vitest";
import { launchedInstances } from "../../gateway/aws/instances.ts";
import { publicParameters } from "../../gateway/eks/node-releases.ts";
import { ensureGatewayKey, rootCredentials } from "../../gateway/key.ts";
import { ministackEndpoint, REGION } from "../../gateway/ministack.ts";
import { ownKeysOfRole } from "../../product.ts";
import { allow, arnOf, type Clients, cloud, configOf, ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

const image =
  publicParameters()["/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"];
const autoScaling = arnOf("role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling");
const inUse = "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state";
const refused = "Client.InternalError: Client error on launch";

let kms: KMS;
let key: string;
/** A role with all rights in EC2 and none in KMS, and one with those of the fleet's roles besides. */
let without: Clients;
let within: Clients;

const newKey = async () => (await kms.createKey({})).KeyMetadata?.Arn ?? "";
const deployer = () => ec2;

useGatewayCloud(async () => {
  kms = new KMS(configOf());
  key = await newKey();
  await cloud.subnets();
  without = await cloud.roleWith("without", allow({ Action: "ec2:*" }));
  within = await cloud.roleWith("within", allow({ Action: "ec2:*" }, ...ownKeysOfRole([key])));
});

async function volume({ ec2 }: Pick<Clients, "ec2">, over: object = {}): Promise<{ id: string; state: string }> {
  const AvailabilityZone = "us-east-1a";
  const made = await ec2.createVolume({ AvailabilityZone, Size: 1, Encrypted: true, ...over });
  const VolumeIds = [made.VolumeId ?? ""];
  const found = deployer().describeVolumes({ VolumeIds });
  const state = await found.then(
    ({ Volumes }) => `${Volumes?.[0]?.State} ${Volumes?.[0]?.KmsKeyId ?? "aws/ebs"}`,
    (error: Error) => error.name,
  );
  return { id: made.VolumeId ?? "", state };
}
const gone = { state: "InvalidVolume.NotFound" };

describe("the account's default key", () => {
  test("is AWS's until it is changed, and encryption by default is off until it is on", async () => {
    const told = async () => (await deployer().getEbsDefaultKmsKeyId({})).KmsKeyId;
    expect(await told()).toBe("alias/aws/ebs");
    await deployer().modifyEbsDefaultKmsKeyId({ KmsKeyId: key });
    expect(await told()).toBe(key);
    await deployer().resetEbsDefaultKmsKeyId({});
    expect(await told()).toBe("alias/aws/ebs");
    const on = async () => (await deployer().getEbsEncryptionByDefault({})).EbsEncryptionByDefault;
    expect(await on()).toBe(false);
    await deployer().enableEbsEncryptionByDefault({});
    expect(await on()).toBe(true);
    await deployer().disableEbsEncryptionByDefault({});
    expect(await on()).toBe(false);
  });

  test("of a company encrypts volumes that name no key, for whoever may use it", async () => {
    await deployer().modifyEbsDefaultKmsKeyId({ KmsKeyId: key });
    expect(await volume(without)).toMatchObject(gone);
    expect(await volume(within)).toMatchObject({ state: `available ${key}` });
    expect(await volume(without, { Encrypted: false })).toMatchObject({ state: "available aws/ebs" });
    await deployer().enableEbsEncryptionByDefault({});
    expect(await volume(without, { Encrypted: false })).toMatchObject(gone);
    await deployer().disableEbsEncryptionByDefault({});
    await deployer().resetEbsDefaultKmsKeyId({});
    expect(await volume(without)).toMatchObject({ state: "available aws/ebs" });
  });
});

describe("a volume with a key", () => {
  test("disappears after EC2's answer unless its creator may use the key", async () => {
    expect(await volume(without, { KmsKeyId: key })).toMatchObject(gone);
    expect(await volume(within, { KmsKeyId: await newKey() })).toMatchObject(gone);
    expect(await volume(within, { KmsKeyId: key })).toMatchObject({ state: `available ${key}` });
  });

  test("must be encrypted", async () => {
    expect(await outcome(volume(within, { KmsKeyId: key, Encrypted: false }))).toBe("InvalidParameterDependency");
  });

  test("disappears with a key that is disabled, of another region or not for encryption", async () => {
    const hmac = await kms.createKey({ KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC" });
    const admin = cloud.deployer;
    expect(await volume(admin, { KmsKeyId: hmac.KeyMetadata?.Arn })).toMatchObject(gone);
    expect(await volume(admin, { KmsKeyId: key.replace("us-east-1", "eu-west-1") })).toMatchObject(gone);
    await kms.disableKey({ KeyId: key });
    expect(await volume(admin, { KmsKeyId: key })).toMatchObject(gone);
    await kms.enableKey({ KeyId: key });
    expect(await volume(admin, { KmsKeyId: key })).toMatchObject({ state: `available ${key}` });
  });

  test("hands its key on to volumes that are restored from its snapshots", async () => {
    const { id } = await volume(within, { KmsKeyId: key });
    const { SnapshotId } = await deployer().createSnapshot({ VolumeId: id });
    expect(await volume(without, { SnapshotId })).toMatchObject(gone);
    expect(await volume(within, { SnapshotId })).toMatchObject({ state: `available ${key}` });
  });
});

const template = async (name: string, KmsKeyId?: string) => {
  const Ebs = { VolumeSize: 50, VolumeType: "gp3", Encrypted: true, ...(KmsKeyId && { KmsKeyId }) } as const;
  const LaunchTemplateData = { ImageId: image, BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs }] };
  const made = await deployer().createLaunchTemplate({ LaunchTemplateName: name, LaunchTemplateData });
  return made.LaunchTemplate?.LaunchTemplateId ?? "";
};

describe("an instance whose volumes have a key", () => {
  test("shuts down unless whoever starts it may use the key", async () => {
    const LaunchTemplateId = await template("fleet", key);
    const [SubnetId] = await cloud.subnets();
    const state = async ({ ec2 }: Clients) => {
      const fleet = await ec2.createFleet({
        Type: "instant",
        LaunchTemplateConfigs: [
          {
            LaunchTemplateSpecification: { LaunchTemplateId, Version: "$Latest" },
            Overrides: [{ InstanceType: "m5.large", ...(SubnetId && { SubnetId }) }],
          },
        ],
        TargetCapacitySpecification: { DefaultTargetCapacityType: "on-demand", TotalTargetCapacity: 1 },
      });
      const InstanceIds = fleet.Instances?.[0]?.InstanceIds ?? [];
      const { Reservations } = await deployer().describeInstances({ InstanceIds });
      const { State, StateReason } = Reservations?.[0]?.Instances?.[0] ?? {};
      return { runs: State?.Name === "running", reason: StateReason?.Message };
    };
    expect(await state(without)).toEqual({ runs: false, reason: refused });
    expect(await state(within)).toEqual({ runs: true, reason: undefined });
  });
});

describe("a node group whose volumes have a key", () => {
  test("starts no instance unless the key's policy or a grant admits Auto Scaling, and the key is enabled", async () => {
    const { instance, deployer: admin } = cloud;
    const place = {
      endpoint: ministackEndpoint(instance),
      credentials: rootCredentials(await ensureGatewayKey(instance)),
      region: REGION,
    };
    const { volumeKeyProblem } = launchedInstances(place, admin.ec2, admin.iam);
    const ofNodes = await newKey();
    const id = await template("nodes", ofNodes);
    const problem = () => volumeKeyProblem({ id, version: "1" });
    expect(await volumeKeyProblem({ id: await template("plain"), version: "1" })).toBe(undefined);
    expect(await problem()).toBe(refused);
    const AWSServiceName = "autoscaling.amazonaws.com";
    const linked = () => admin.iam.createServiceLinkedRole({ AWSServiceName });
    expect((await linked()).Role?.Arn).toBe(autoScaling);
    expect(await outcome(linked())).toBe("InvalidInputException");
    const grant = await kms.createGrant({
      KeyId: ofNodes,
      GranteePrincipal: autoScaling,
      Operations: [
        ...(["Encrypt", "Decrypt", "ReEncryptFrom", "ReEncryptTo", "GenerateDataKey", "DescribeKey"] as const),
        ...(["GenerateDataKeyWithoutPlaintext", "CreateGrant"] as const),
      ],
    });
    expect(await problem()).toBe(undefined);
    await kms.revokeGrant({ KeyId: ofNodes, GrantId: grant.GrantId });
    expect(await problem()).toBe(refused);
    const Principal = { AWS: autoScaling };
    const use = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"];
    const Policy = JSON.stringify(
      allow(
        { Principal: { AWS: arnOf("root") }, Action: "kms:*" },
        { Principal, Action: use },
        { Principal, Action: "kms:CreateGrant", Condition: { Bool: { "kms:GrantIsForAWSResource": "true" } } },
      ),
    );
    await kms.putKeyPolicy({ KeyId: ofNodes, Policy });
    expect(await problem()).toBe(undefined);
    await kms.disableKey({ KeyId: ofNodes });
    expect(await problem()).toBe(inUse);
  });

  test("keeps the key in its launch template", async () => {
    const LaunchTemplateId = await template("kept", key);
    const { LaunchTemplateVersions } = await deployer().describeLaunchTemplateVersions({
      LaunchTemplateId,
      Versions: ["$Latest"],
    });
    expect(LaunchTemplateVersions?.[0]?.LaunchTemplateData?.BlockDeviceMappings?.[0]?.Ebs).toMatchObject({
      KmsKeyId: key,
      Encrypted: true,
    });
  });
});

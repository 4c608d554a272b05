import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { ServiceQuotas } from "@aws-sdk/client-service-quotas";
import type { CoreV1Api } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { publicParameters } from "../../gateway/eks/node-releases.ts";
import {
  adminApi,
  allow,
  arnOf,
  type Clients,
  cloud,
  configOf,
  createNodeRole,
  ec2,
  eks,
  iam,
  outcome,
  useGatewayCloud,
} from "../support/gateway.ts";

const owned = { "karpenter.sh/nodepool": "default", "kubernetes.io/cluster/one": "owned" };
const list = (tags: Readonly<Record<string, string>>) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
const tagging = (
  ResourceType: "fleet" | "instance" | "volume" | "network-interface" | "launch-template",
  tags = owned,
) => ({ ResourceType, Tags: list(tags) });
const image =
  publicParameters()["/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"];

let subnets: string[];
let group: string;
let nodes: CoreV1Api;
let userData: string;

/** User data as Karpenter writes it. */
async function nodeConfig(): Promise<string> {
  const { cluster } = await eks.describeCluster({ name: "one" });
  const config = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: one
    apiServerEndpoint: ${cluster?.endpoint}
    certificateAuthority: ${cluster?.certificateAuthority?.data}
    cidr: ${cluster?.kubernetesNetworkConfig?.serviceIpv4Cidr}
  kubelet:
    config:
      maxPods: 29
      registerWithTaints:
      - effect: NoSchedule
        key: dedicated
        value: batch
    flags:
    - --node-labels="karpenter.sh/nodepool=default,example.com/tier=batch"
`;
  const part = `Content-Type: application/node.eks.aws\r\n\r\n${config}`;
  return `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="//"\r\n\r\n--//\r\n${part}\r\n--//--\r\n`;
}

const template = (name: string, over: object = {}) =>
  new CreateLaunchTemplateCommand({
    LaunchTemplateName: name,
    LaunchTemplateData: {
      ImageId: image,
      IamInstanceProfile: { Name: "nodes" },
      UserData: Buffer.from(userData).toString("base64"),
      NetworkInterfaces: [{ DeviceIndex: 0, Groups: [group] }],
      BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { VolumeSize: 50, VolumeType: "gp3", Encrypted: true } }],
      TagSpecifications: [tagging("network-interface")],
      ...over,
    },
    TagSpecifications: [tagging("launch-template")],
  });

const fleet = (name: string, over: Partial<CreateFleetCommandInput> = {}, types = ["r5.large", "m5.large"]) =>
  new CreateFleetCommand({
    Type: "instant",
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: name, Version: "$Latest" },
        Overrides: types.map((InstanceType) => ({ InstanceType: InstanceType as "m5.large", SubnetId: subnets[1] })),
      },
    ],
    OnDemandOptions: { AllocationStrategy: "lowest-price" },
    TargetCapacitySpecification: { DefaultTargetCapacityType: "on-demand", TotalTargetCapacity: 1 },
    TagSpecifications: [tagging("fleet"), tagging("instance"), tagging("volume")],
    ...over,
  });
const started = async (by: Clients, name: string, over: Partial<CreateFleetCommandInput> = {}, types?: string[]) =>
  by.ec2.send(fleet(name, over, types));
const instance = async (id: string) =>
  (await ec2.describeInstances({ InstanceIds: [id] })).Reservations?.[0]?.Instances?.[0];
const terminate = (...ids: string[]) => ec2.terminateInstances({ InstanceIds: ids });

useGatewayCloud(async () => {
  subnets = await cloud.subnets();
  await cloud.cluster("one");
  nodes = adminApi(cloud.instance, "one");
  await createNodeRole();
  await iam.createInstanceProfile({ InstanceProfileName: "nodes" });
  await iam.addRoleToInstanceProfile({ InstanceProfileName: "nodes", RoleName: "node" });
  const { Subnets = [] } = await ec2.describeSubnets({ SubnetIds: subnets });
  await ec2.createTags({ Resources: subnets, Tags: list({ "karpenter.sh/discovery": "one" }) });
  const made = await ec2.createSecurityGroup({ GroupName: "nodes", Description: "nodes", VpcId: Subnets[0]?.VpcId });
  group = made.GroupId ?? "";
  userData = await nodeConfig();
  await ec2.send(template("karpenter/1"));
});

describe("a launch template", () => {
  test("is found by its name, or said not to be there by AWS's code", async () => {
    const describe = (name: string) => ec2.describeLaunchTemplates({ LaunchTemplateNames: [name] });
    expect((await describe("karpenter/1")).LaunchTemplates).toHaveLength(1);
    expect(await outcome(describe("other"))).toBe("InvalidLaunchTemplateName.NotFoundException");
    expect(await outcome(started(cloud.deployer, "other"))).toBe("InvalidLaunchTemplateName.NotFoundException");
  });

  test("has no more user data than EC2 takes", async () => {
    const UserData = Buffer.alloc(16_385).toString("base64");
    expect(await outcome(ec2.send(template("long", { UserData })))).toBe("InvalidUserData.Malformed");
  });
});

describe("what EC2 offers", () => {
  test("are types with their sizes, in each zone, and EKS's images", async () => {
    const Filters = [{ Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] }];
    const { InstanceTypes = [] } = await ec2.describeInstanceTypes({ Filters });
    expect(InstanceTypes.find(({ InstanceType }) => InstanceType === "m5.large")).toMatchObject({
      VCpuInfo: { DefaultVCpus: 2 },
      MemoryInfo: { SizeInMiB: 8192 },
      NetworkInfo: { Ipv4AddressesPerInterface: 10, NetworkCards: [{ MaximumNetworkInterfaces: 3 }] },
    });
    const offered = await ec2.describeInstanceTypeOfferings({ LocationType: "availability-zone" });
    expect(offered.InstanceTypeOfferings).toHaveLength(3 * InstanceTypes.length);
    const found = await ec2.describeImages({ Filters: [{ Name: "image-id", Values: [image ?? ""] }] });
    expect(found.Images).toMatchObject([
      {
        Name: "amazon-eks-node-al2023-x86_64-standard-1.34-v20261101",
        Architecture: "x86_64",
        CreationDate: "2026-11-01T00:00:00.000Z",
      },
    ]);
  });
});

describe("a fleet", () => {
  test("that is only asked for starts nothing", async () => {
    const before = await ec2.describeInstances({});
    expect(await outcome(started(cloud.deployer, "karpenter/1", { DryRun: true }))).toBe("DryRunOperation");
    const run = new RunInstancesCommand({
      DryRun: true,
      LaunchTemplate: { LaunchTemplateName: "karpenter/1" },
      InstanceType: "m5.large",
      ...{ MinCount: 1, MaxCount: 1 },
      NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: subnets[0] }],
    });
    expect(await outcome(ec2.send(run))).toBe("DryRunOperation");
    expect(await ec2.describeInstances({})).toMatchObject({ Reservations: before.Reservations });
  });

  test("says in its answer why EC2 starts nothing, and starts the type that is there", async () => {
    const said = await started(cloud.deployer, "karpenter/1", {}, ["m5.24xlarge"]);
    expect(said).toMatchObject({ Instances: [], Errors: [{ ErrorCode: "InsufficientInstanceCapacity" }] });
    const spot = { DefaultTargetCapacityType: "spot", TotalTargetCapacity: 1 } as const;
    expect(await started(cloud.deployer, "karpenter/1", { TargetCapacitySpecification: spot })).toMatchObject({
      Instances: [],
      Errors: [{ ErrorCode: "AuthFailure.ServiceLinkedRoleCreationNotPermitted" }, {}],
    });
    const many = { DefaultTargetCapacityType: "on-demand", TotalTargetCapacity: 3 } as const;
    const { Instances = [], Errors } = await started(cloud.deployer, "karpenter/1", {
      TargetCapacitySpecification: many,
    });
    // Five processors, of which each instance has two.
    expect(Instances).toMatchObject([
      { InstanceType: "m5.large", InstanceIds: [expect.any(String), expect.any(String)] },
    ]);
    expect(Errors?.map(({ ErrorCode }) => ErrorCode)).toEqual(["VcpuLimitExceeded", "VcpuLimitExceeded"]);
    await terminate(...(Instances[0]?.InstanceIds ?? []));
    const quotas = new ServiceQuotas(configOf());
    await quotas.requestServiceQuotaIncrease({ ServiceCode: "ec2", QuotaCode: "L-1216C47A", DesiredValue: 32 });
  });
});

describe("who may start instances", () => {
  const made = ["fleet", "instance", "volume", "network-interface"].map((kind) => `arn:aws:ec2:*:*:${kind}/*`);
  const used = ["image", "launch-template", "subnet", "security-group"].map((kind) => `arn:aws:ec2:*:*:${kind}/*`);
  const tagged = { StringEquals: { "aws:RequestTag/kubernetes.io/cluster/one": "owned" } };
  const statements = (over: object = {}) => [
    { Action: ["ec2:CreateFleet", "ec2:RunInstances"], Resource: [...used, "arn:aws:ec2:us-east-1::image/*"], ...over },
    { Action: ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateTags"], Resource: made, Condition: tagged },
    { Action: "iam:PassRole", Resource: arnOf("role/node") },
  ];
  const asks = async (
    name: string,
    policy: object,
    template = "karpenter/1",
    over: Partial<CreateFleetCommandInput> = {},
  ) => outcome(started(await cloud.roleWith(name, policy), template, { DryRun: true, ...over }));

  test("is who may use all that they are made of, and pass their role", async () => {
    expect(await asks("whole", allow(...statements()))).toBe("DryRunOperation");
    expect(await asks("no-role", allow(...statements().slice(0, 2)))).toBe("UnauthorizedOperation");
    expect(await asks("no-made", allow(statements()[0] ?? {}, statements()[2] ?? {}))).toBe("UnauthorizedOperation");
    const elsewhere = { Condition: { StringEquals: { "aws:ResourceTag/karpenter.sh/discovery": "two" } } };
    expect(await asks("no-subnet", allow(...statements(elsewhere)))).toBe("UnauthorizedOperation");
  });

  test("is judged by the tags of each: those of an interface are the template's", async () => {
    await ec2.send(template("karpenter/2", { TagSpecifications: [tagging("network-interface", { a: "b" } as never)] }));
    expect(await asks("untagged-interface", allow(...statements()), "karpenter/2")).toBe("UnauthorizedOperation");
    const TagSpecifications = [tagging("fleet"), tagging("volume")];
    expect(await asks("untagged-instance", allow(...statements()), "karpenter/1", { TagSpecifications })).toBe(
      "UnauthorizedOperation",
    );
    const remover = await cloud.roleWith(
      "remover",
      allow({ Action: "ec2:DeleteLaunchTemplate", Condition: { StringEquals: { "aws:ResourceTag/a": "b" } } }),
    );
    const remove = new DeleteLaunchTemplateCommand({ LaunchTemplateName: "karpenter/2" });
    expect(await outcome(remover.ec2.send(remove))).toBe("UnauthorizedOperation");
    await ec2.send(remove);
  });

  test("of instance profiles is judged by their tags", async () => {
    await iam.createInstanceProfile({ InstanceProfileName: "own", Path: "/karpenter/", Tags: list(owned) });
    const Condition = { StringEquals: { "aws:ResourceTag/kubernetes.io/cluster/one": "owned" } };
    const by = await cloud.roleWith("profiles", allow({ Action: "iam:DeleteInstanceProfile", Condition }));
    const remove = (InstanceProfileName: string) => by.iam.deleteInstanceProfile({ InstanceProfileName });
    expect(await outcome(remove("nodes"))).toBe("AccessDenied");
    await remove("own");
  });
});

describe("an instance whose user data is a NodeConfig", () => {
  let id: string;

  test("becomes no node before the cluster has an entry for its role", async () => {
    const { Instances } = await started(cloud.deployer, "karpenter/1");
    id = Instances?.[0]?.InstanceIds?.[0] ?? "";
    expect(await instance(id)).toMatchObject({
      InstanceType: "m5.large",
      SubnetId: subnets[1],
      Placement: { AvailabilityZone: "us-east-1b", AvailabilityZoneId: "use1-az2" },
      State: { Name: "running" },
      Tags: expect.arrayContaining(list(owned)),
      IamInstanceProfile: { Arn: arnOf("instance-profile/nodes") },
      NetworkInterfaces: [{ Groups: [{ GroupId: group }] }],
    });
    const Filters = [{ Name: "attachment.instance-id", Values: [id] }];
    const { NetworkInterfaces = [] } = await ec2.describeNetworkInterfaces({ Filters });
    const own = NetworkInterfaces.find(({ Attachment }) => Attachment?.InstanceId === id);
    expect(own?.TagSet).toEqual(expect.arrayContaining(list(owned)));
    await new Promise((done) => setTimeout(done, 3000));
    expect((await nodes.listNode()).items).toEqual([]);
  });

  test("joins then, with the labels, the taints and the room that it says, and its instance has the node's address", async () => {
    const entry = { clusterName: "one", principalArn: arnOf("role/node"), type: "EC2_LINUX" };
    await eks.createAccessEntry(entry);
    await expect.poll(async () => (await nodes.listNode()).items.length, { timeout: 120_000, interval: 1000 }).toBe(1);
    const [node] = (await nodes.listNode()).items;
    expect(node?.spec?.providerID).toBe(`aws:///us-east-1b/${id}`);
    expect(node?.metadata?.labels).toMatchObject({
      "karpenter.sh/nodepool": "default",
      "example.com/tier": "batch",
      "node.kubernetes.io/instance-type": "m5.large",
      "topology.kubernetes.io/zone": "us-east-1b",
    });
    expect(node?.spec?.taints).toContainEqual({ key: "dedicated", value: "batch", effect: "NoSchedule" });
    await expect
      .poll(async () => (await nodes.listNode()).items[0]?.status?.allocatable, { timeout: 60_000 })
      .toMatchObject({ cpu: "1930m", pods: "29" });
    const address = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
    expect(await instance(id)).toMatchObject({ PrivateIpAddress: address });
  });

  test("uses its security group as long as it is there, and is no node any more when it is terminated", async () => {
    const remove = () => ec2.deleteSecurityGroup({ GroupId: group });
    expect(await outcome(remove())).toBe("DependencyViolation");
    expect(await terminate(id)).toMatchObject({ TerminatingInstances: [{ CurrentState: { Name: "shutting-down" } }] });
    await expect.poll(async () => (await nodes.listNode()).items, { timeout: 60_000, interval: 500 }).toEqual([]);
    await expect.poll(async () => (await instance(id))?.State?.Name, { timeout: 60_000 }).toBe("terminated");
    await expect.poll(() => outcome(remove()), { timeout: 30_000 }).toBe("allowed");
  });
});

import {
  CreateNetworkInterfaceCommand,
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  CreateVolumeCommand,
  DeleteVolumeCommand,
  DescribeVolumesCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import * as classic from "@aws-sdk/client-elastic-load-balancing";
import * as v2 from "@aws-sdk/client-elastic-load-balancing-v2";
import { DeleteUserPolicyCommand, PutUserPolicyCommand } from "@aws-sdk/client-iam";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepPolicy } from "../../lib/iam/sweep.ts";
import { outcome } from "../support/process.ts";
import { account, eventually, get, instance } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  condition,
  fleet,
  getOnSpoke,
  managedOf,
  onSpoke,
  REMOVAL_SECONDS,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/** A removal that is held by what nobody manages (docs/guides/remove-a-hub.md, "What keeps the VPC"). */

const SPOKE = "t2d";
const FLEET = "fleet";
const CLUSTER = clusterOf(SPOKE);
const config = { region: "us-east-1", endpoint: instance.awsEndpoint, credentials: account.sts.config.credentials };
const ec2 = new EC2Client(config);
const elb = new classic.ElasticLoadBalancingClient(config);
const elbV2 = new v2.ElasticLoadBalancingV2Client(config);

/** The deployer has no such rights until a person gives them. */
const sweeping = { UserName: "deployer", PolicyName: "fleet-sweep" };

let repository: Checkout;
afterAll(() => outcome(account.iam.send(new DeleteUserPolicyCommand(sweeping))));
beforeAll(async () => {
  repository = await system();
});

/** The ID in AWS of the first managed resource of a kind. */
async function idOf(kind: string): Promise<string> {
  const found = (await managedOf(SPOKE)).find((each) => each.kind === kind);
  const { metadata } = await get([kind, found?.metadata.name ?? "", "--namespace", "spokes"]);
  return metadata.annotations["crossplane.io/external-name"];
}

const tagsOf = (tags: Readonly<Record<string, string>>) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
const tagged = (id: string | undefined, tags: Readonly<Record<string, string>>) =>
  ec2.send(new CreateTagsCommand({ Resources: [id ?? ""], Tags: tagsOf(tags) }));

/** As Kubernetes tags what it makes for a Service (cloud-provider-aws, pkg/providers/v1). */
const ofService = { [`kubernetes.io/cluster/${CLUSTER}`]: "owned", "kubernetes.io/service-name": "shop/web" };
/** As the AWS Load Balancer Controller does. */
const ofController = { "elbv2.k8s.aws/cluster": CLUSTER, "service.k8s.aws/stack": "shop/web" };

interface Left {
  readonly eni: string;
  /** Of the classic load balancer, which holds the internet gateway too. */
  readonly group: string;
  readonly balancers: readonly string[];
  readonly targets: string;
}

/**
 * As the VPC CNI leaves an interface whose node ended between detaching and deleting it, and controllers that end before what they made
 * load balancers for does.
 */
async function leave(): Promise<Left> {
  const SubnetId = await idOf("Subnet");
  const made = await ec2.send(
    new CreateNetworkInterfaceCommand({ SubnetId, Description: "aws-K8S-i-0123456789abcdef0" }),
  );
  const eni = made.NetworkInterface?.NetworkInterfaceId ?? "";
  await tagged(eni, { "node.k8s.amazonaws.com/instance_id": "i-0123456789abcdef0" });
  const name = `k8s-elb-${SPOKE}`;
  const VpcId = await idOf("VPC");
  const { GroupId: group = "" } = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: name, VpcId, Description: "of a load balancer" }),
  );
  await tagged(group, { [`kubernetes.io/cluster/${CLUSTER}`]: "owned" });
  await elb.send(
    new classic.CreateLoadBalancerCommand({
      ...{ LoadBalancerName: SPOKE, Subnets: [SubnetId], SecurityGroups: [group] },
      Listeners: [{ Protocol: "TCP", LoadBalancerPort: 80, InstancePort: 30_080 }],
      Tags: tagsOf(ofService),
    }),
  );
  const { LoadBalancers } = await elbV2.send(
    new v2.CreateLoadBalancerCommand({
      ...{ Name: SPOKE, Type: "network", Scheme: "internal", Subnets: [SubnetId] },
      Tags: tagsOf(ofController),
    }),
  );
  const LoadBalancerArn = LoadBalancers?.[0]?.LoadBalancerArn ?? "";
  const { TargetGroups } = await elbV2.send(
    new v2.CreateTargetGroupCommand({ Name: SPOKE, VpcId, Protocol: "TCP", Port: 80, Tags: tagsOf(ofController) }),
  );
  const targets = TargetGroups?.[0]?.TargetGroupArn ?? "";
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn: targets }];
  await elbV2.send(new v2.CreateListenerCommand({ LoadBalancerArn, Protocol: "TCP", Port: 80, DefaultActions }));
  return { eni, group, balancers: [SPOKE, LoadBalancerArn], targets };
}

/** As EKS Auto Mode does (AWS Managed Policy Reference, "AmazonEKSLoadBalancingPolicy"). */
const ofAutoMode = { "eks:eks-cluster-name": CLUSTER, "service.eks.amazonaws.com/stack": "shop/auto" };

/** As EKS Auto Mode leaves a load balancer, which has a security group of its own. */
async function leaveOfAutoMode(): Promise<readonly string[]> {
  const [SubnetId, VpcId] = [await idOf("Subnet"), await idOf("VPC")];
  const Name = `${SPOKE}-auto`;
  const { GroupId: group = "" } = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: Name, VpcId, Description: "of a load balancer of Auto Mode" }),
  );
  await tagged(group, ofAutoMode);
  const Tags = tagsOf(ofAutoMode);
  const { LoadBalancers } = await elbV2.send(
    new v2.CreateLoadBalancerCommand({
      ...{ Name, Type: "network", Scheme: "internal", Subnets: [SubnetId], SecurityGroups: [group], Tags },
    }),
  );
  const { TargetGroups } = await elbV2.send(
    new v2.CreateTargetGroupCommand({ Name, VpcId, Protocol: "TCP", Port: 80, Tags }),
  );
  return [group, LoadBalancers?.[0]?.LoadBalancerArn ?? "", TargetGroups?.[0]?.TargetGroupArn ?? ""];
}

/** As EKS Auto Mode tags a volume ("AmazonEKSBlockStoragePolicyV2"). */
const volumeOfAutoMode = { "ebs.csi.eks.amazonaws.com/cluster": "true", "eks:eks-cluster-name": CLUSTER };
/** As the EBS CSI driver does on a spoke. */
const volumeOfDriver = { "ebs.csi.aws.com/cluster": "true", "eks-cluster-name": CLUSTER };

async function leaveVolume(claim: string, tags: Readonly<Record<string, string>> = volumeOfDriver): Promise<string> {
  const Tags = tagsOf({
    ...{ ...tags, CSIVolumeName: `pvc-${claim}` },
    ...{ "kubernetes.io/created-for/pvc/namespace": "shop", "kubernetes.io/created-for/pvc/name": claim },
  });
  const made = await ec2.send(
    new CreateVolumeCommand({
      ...{ AvailabilityZone: "us-east-1a", Size: 8, VolumeType: "gp3" },
      TagSpecifications: [{ ResourceType: "volume", Tags }],
    }),
  );
  return made.VolumeId ?? "";
}

const driver = "ebs.csi.aws.com";
const toolsOnSpoke = ["kustomizations.kustomize.toolkit.fluxcd.io", "tools", "--namespace", "flux-system"];
const volumeOf = (claim: string) => getOnSpoke(SPOKE, ["persistentvolume", `pvc-${claim}`]);

/**
 * Makes the PersistentVolume of a volume, binds it to a claim and removes the claim. Nobody deletes what is Released: the embedded cloud has no
 * EBS CSI driver, as if AWS refused.
 */
async function release(claim: string, volumeHandle: string, policy: "Delete" | "Retain"): Promise<void> {
  const size = { storage: "8Gi" };
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  const annotations = { "pv.kubernetes.io/provisioned-by": driver };
  const items = [
    {
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `pvc-${claim}`, annotations } },
      spec: {
        ...{ ...spec, capacity: size, persistentVolumeReclaimPolicy: policy, csi: { driver, volumeHandle } },
        claimRef: { namespace: "default", name: claim },
      },
    },
    {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: claim, namespace: "default" } },
      spec: { ...spec, volumeName: `pvc-${claim}`, resources: { requests: size } },
    },
  ];
  await onSpoke(SPOKE, ["apply", "--filename", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
  const phase = (wanted: string) =>
    eventually(60, async () => expect((await volumeOf(claim)).status.phase, claim).toBe(wanted));
  await phase("Bound");
  await onSpoke(SPOKE, ["delete", "persistentvolumeclaim", claim, "--namespace", "default"]);
  await phase("Released");
}

/** Waits until the chain of the spoke is at its tools, which a volume on its way keeps, and says why. */
const untilHeld = () =>
  eventually(REMOVAL_SECONDS, async () => {
    const { metadata } = await get(["kustomization", `${SPOKE}-tools`, "--namespace", "spokes"]);
    expect(metadata.deletionTimestamp).toBeDefined();
    const { stderr } = await tryOnSpoke(SPOKE, ["delete", ...toolsOnSpoke, "--dry-run=server"]);
    expect(stderr).toContain(
      "is removed after the volumes that the EBS CSI driver deletes; PersistentVolume pvc-asked",
    );
  });

async function sweep(...more: string[]) {
  const { code, stdout, stderr } = await fleet(["sweep", SPOKE, ...more]);
  return { code, said: stdout + stderr };
}

test("a VPC that leftovers keep goes by one command, which touches nothing before its time", async () => {
  await addSpoke(repository, SPOKE, "dev");
  await repository.push(`Add spoke ${SPOKE}`);
  await untilReady(SPOKE);
  const { eni, group, balancers, targets } = await leave();
  const ofAuto = [...(await leaveOfAutoMode()), await leaveVolume("auto", volumeOfAutoMode)];
  const [kept, asked] = [await leaveVolume("kept"), await leaveVolume("asked")];
  await release("kept", kept, "Retain");
  await release("asked", asked, "Delete");
  expect(await sweep("--yes")).toMatchObject({ code: 2, said: expect.stringContaining("is not being removed") });

  await repository.remove(`spokes/fleet/${SPOKE}`);
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilHeld();
  // As the Spoke's message says after 15 minutes: the volume stays in AWS.
  const retain = JSON.stringify({ spec: { persistentVolumeReclaimPolicy: "Retain" } });
  await onSpoke(SPOKE, ["patch", "persistentvolume", "pvc-asked", "--type", "merge", "--patch", retain]);
  await eventually(REMOVAL_SECONDS, async () => {
    const deleting = await condition(SPOKE, "Deleting");
    expect(deleting?.message).toContain("DependencyViolation");
    expect(deleting?.message).toContain("fleet sweep <name>");
  });
  const { Version, Statement } = sweepPolicy();
  const allow = (...granted: typeof Statement) =>
    account.iam.send(
      new PutUserPolicyCommand({ ...sweeping, PolicyDocument: JSON.stringify({ Version, Statement: granted }) }),
    );
  await allow(...Statement.filter(({ Sid }) => Sid === "Look"));
  const first = await sweep();
  expect(first).toMatchObject({ code: 1, said: expect.stringContaining("Nothing was changed: --yes does it") });
  for (const id of [eni, group, ...balancers, targets, kept, asked, ...ofAuto]) expect(first.said).toContain(id);
  const refused = await sweep("--yes");
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringContaining("fleet-sweep.json has all that is asked for"),
  });
  await allow(...Statement);
  expect(await sweep("--yes", "--data", asked, "--data", ofAuto.at(-1) ?? "")).toMatchObject({
    code: 0,
    said: expect.stringContaining("Removed what was left behind"),
  });
  await untilGone(SPOKE);
  expect((await elb.send(new classic.DescribeLoadBalancersCommand({}))).LoadBalancerDescriptions).toEqual([]);
  expect((await elbV2.send(new v2.DescribeLoadBalancersCommand({}))).LoadBalancers).toEqual([]);
  expect((await elbV2.send(new v2.DescribeTargetGroupsCommand({}))).TargetGroups).toEqual([]);
  const { Volumes = [] } = await ec2.send(new DescribeVolumesCommand({}));
  expect(Volumes.map(({ VolumeId }) => VolumeId).filter((id = "") => [kept, asked, ...ofAuto].includes(id))).toEqual([
    kept,
  ]);
  await ec2.send(new DeleteVolumeCommand({ VolumeId: kept }));
  expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
}, 1_800_000);

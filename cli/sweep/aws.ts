import { setTimeout } from "node:timers/promises";
import {
  DeleteNetworkInterfaceCommand,
  DeleteSecurityGroupCommand,
  DeleteSnapshotCommand,
  DeleteVolumeCommand,
  EC2Client,
  type IpPermission,
  paginateDescribeNetworkInterfaces,
  paginateDescribeSecurityGroups,
  paginateDescribeSnapshots,
  paginateDescribeVolumes,
  RevokeSecurityGroupIngressCommand,
} from "@aws-sdk/client-ec2";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { all, asking, tagsOf, unlessMissing } from "../aws-calls.ts";
import type { AwsConfig } from "../doctor/aws.ts";
import { lookForBalancers, type Removing, removeBalancers, removeTargetGroups } from "./load-balancers.ts";
import { type Group, type InVpc, type Item, isDataOf, keysOfData, type Removal } from "./plan.ts";

export interface Sought {
  /** EKS name of the spoke's cluster. */
  readonly cluster: string;
  readonly vpc: string;
  readonly region: string;
}

export interface Found extends InVpc {
  readonly account: string;
  /** Whether EKS still has the cluster. */
  readonly hasCluster: boolean;
}

/** What AWS is asked, and has removed. */
export interface Aws {
  look(sought: Sought, config: AwsConfig): Promise<Found>;
  remove(sought: Sought, config: AwsConfig, removal: Removal): Promise<void>;
}

const policy = "docs/reference/deployer-policy/fleet-sweep.json";

/** Volumes that are attached to nothing, and snapshots. */
async function lookForData(cluster: string, client: EC2Client, asked: ReturnType<typeof asking>): Promise<Item[]> {
  const tagged = { Name: "tag-key", Values: keysOfData(cluster) };
  const free = { Name: "status", Values: ["available"] };
  const [volumes, snapshots] = await Promise.all([
    asked("ec2:DescribeVolumes", () =>
      all(paginateDescribeVolumes({ client }, { Filters: [tagged, free] }), (page) => page.Volumes),
    ),
    asked("ec2:DescribeSnapshots", () =>
      all(paginateDescribeSnapshots({ client }, { Filters: [tagged], OwnerIds: ["self"] }), (page) => page.Snapshots),
    ),
  ]);
  const says = (size: number | undefined, { "kubernetes.io/created-for/pvc/namespace": of, ...tags }: Item["tags"]) =>
    `${size ?? 0} GiB${of === undefined ? "" : ` of ${of}/${tags["kubernetes.io/created-for/pvc/name"] ?? ""}`}`;
  return [
    ...volumes.map(({ VolumeId: id = "", Size, Tags }) => ({ id, size: Size, tags: tagsOf(Tags) })),
    ...snapshots.map(({ SnapshotId: id = "", VolumeSize, Tags }) => ({ id, size: VolumeSize, tags: tagsOf(Tags) })),
  ]
    .map(({ id, size, tags }) => ({ id, tags, description: says(size, tags) }))
    .filter((item) => isDataOf(item, cluster));
}

const interfacesIn = (vpc: string, client: EC2Client) =>
  all(
    paginateDescribeNetworkInterfaces({ client }, { Filters: [{ Name: "vpc-id", Values: [vpc] }] }),
    (page) => page.NetworkInterfaces,
  );

export async function look({ cluster: name, vpc, region }: Sought, config: AwsConfig): Promise<Found> {
  const asked = asking(policy);
  const own = { ...config, region };
  const client = new EC2Client(own);
  const inVpc = [{ Name: "vpc-id", Values: [vpc] }];
  const [{ Account: account = "" }, found, interfaces, groups, balancing, data] = await Promise.all([
    asked("sts:GetCallerIdentity", () => new STSClient(own).send(new GetCallerIdentityCommand({}))),
    asked("eks:DescribeCluster", () => unlessMissing(new EKSClient(own).send(new DescribeClusterCommand({ name })))),
    asked("ec2:DescribeNetworkInterfaces", () => interfacesIn(vpc, client)),
    asked("ec2:DescribeSecurityGroups", () =>
      all(paginateDescribeSecurityGroups({ client }, { Filters: inVpc }), (page) => page.SecurityGroups),
    ),
    lookForBalancers(vpc, own, asked),
    lookForData(name, client, asked),
  ]);
  return {
    ...{ ...balancing, account, data, hasCluster: found !== undefined },
    // Also where the filters are not heeded, as by some endpoints that only look like AWS.
    interfaces: interfaces
      .filter(({ VpcId }) => VpcId === vpc)
      .map(({ NetworkInterfaceId: id = "", Description: description = "", Groups = [], Status, TagSet }) => ({
        ...{ id, description, tags: tagsOf(TagSet), isFree: Status === "available" },
        groups: Groups.flatMap(({ GroupId }) => GroupId ?? []),
      })),
    groups: groups
      .filter(({ GroupName, VpcId }) => VpcId === vpc && GroupName !== "default")
      .map(({ GroupId: id = "", GroupName = "", Description, IpPermissions: rules = [], Tags }) => ({
        ...{ id, description: `${GroupName}: ${Description ?? ""}`, tags: tagsOf(Tags), rules },
      })),
  };
}

/** Rules that name one of these groups. */
const rulesNaming = (rules: readonly IpPermission[], ids: readonly string[]): IpPermission[] =>
  rules.flatMap(({ IpProtocol, FromPort, ToPort, UserIdGroupPairs = [] }) => {
    const pairs = UserIdGroupPairs.filter(({ GroupId = "" }) => ids.includes(GroupId));
    return pairs.length === 0 ? [] : [{ IpProtocol, FromPort, ToPort, UserIdGroupPairs: pairs }];
  });

/** Removes security groups, after the rules of theirs that name each other: they would keep one another. */
async function removeGroups(groups: readonly Group[], client: EC2Client, removing: Removing): Promise<void> {
  const ids = groups.map(({ id }) => id);
  for (const { id, rules } of groups) {
    const IpPermissions = rulesNaming(rules, ids);
    if (IpPermissions.length === 0) continue;
    await removing("ec2:RevokeSecurityGroupIngress", () =>
      client.send(new RevokeSecurityGroupIngressCommand({ GroupId: id, IpPermissions })),
    );
  }
  for (const id of ids)
    await removing("ec2:DeleteSecurityGroup", () => client.send(new DeleteSecurityGroupCommand({ GroupId: id })));
}

/** AWS takes minutes to remove the interfaces of a load balancer that is gone (terraform-provider-aws#40); until then they keep its groups. */
const LOOKS = 60;
const SECONDS_BETWEEN = 5;

/** Waits until these interfaces are gone. @throws Error after five minutes */
async function untilGone(items: readonly Item[], count: () => Promise<number>, seconds: number): Promise<void> {
  for (let looks = 0; items.length > 0 && (await count()) > 0; looks += 1) {
    if (looks === LOOKS)
      throw new Error(
        `AWS has not removed the interfaces of deleted load balancers yet (${items.map(({ id }) => id).join(", ")}): their security groups go after them. Run it again in a few minutes. What was removed before stays removed`,
      );
    await setTimeout(seconds * 1000);
  }
}

/**
 * Removes load balancers, then, once AWS has removed their interfaces, what these used, and last the data that was asked for.
 * @param seconds to wait between two looks for such interfaces
 */
export async function remove(
  { vpc, region }: Sought,
  config: AwsConfig,
  { balancers, targetGroups, leaving, interfaces, groups, data }: Removal,
  seconds = SECONDS_BETWEEN,
): Promise<void> {
  const asked = asking(policy, "What was removed before stays removed");
  const own = { ...config, region };
  const client = new EC2Client(own);
  /** AWS or Crossplane may have been faster. */
  const removing: Removing = (action, call) =>
    asked(action, () =>
      call().catch((error: Error) => (/NotFound(Exception)?$/.test(error.name) ? undefined : Promise.reject(error))),
    );
  await removeBalancers(balancers, own, removing);
  const ids = new Set(leaving.map(({ id }) => id));
  const left = async () =>
    (await asked("ec2:DescribeNetworkInterfaces", () => interfacesIn(vpc, client))).filter(
      ({ NetworkInterfaceId: id = "" }) => ids.has(id),
    ).length;
  await untilGone(leaving, left, seconds);
  await removeTargetGroups(targetGroups, own, removing);
  for (const { id } of interfaces)
    await removing("ec2:DeleteNetworkInterface", () =>
      client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id })),
    );
  await removeGroups(groups, client, removing);
  for (const { id } of data)
    await (id.startsWith("vol-")
      ? removing("ec2:DeleteVolume", () => client.send(new DeleteVolumeCommand({ VolumeId: id })))
      : removing("ec2:DeleteSnapshot", () => client.send(new DeleteSnapshotCommand({ SnapshotId: id }))));
}

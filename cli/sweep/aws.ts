import { setTimeout } from "node:timers/promises";
import {
  DeleteNetworkInterfaceCommand,
  DeleteSecurityGroupCommand,
  DeleteSnapshotCommand,
  DeleteVolumeCommand,
  DeleteVpcEndpointsCommand,
  EC2Client,
  type IpPermission,
  type NetworkInterface,
  paginateDescribeNetworkInterfaces,
  paginateDescribeSecurityGroups,
  paginateDescribeSnapshots,
  paginateDescribeVolumes,
  paginateDescribeVpcEndpoints,
  RevokeSecurityGroupIngressCommand,
} from "@aws-sdk/client-ec2";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { type Ask, all, asking, tagsOf, unlessMissing } from "../aws-calls.ts";
import type { AwsConfig } from "../doctor/aws.ts";
import { lookForBalancers, type Removing, removeBalancers, removeTargetGroups } from "./load-balancers.ts";
import {
  type Endpoint,
  type Group,
  type InVpc,
  type Item,
  isDataOf,
  keysOfData,
  type Removal,
  unlisted,
} from "./plan.ts";

export interface Sought {
  /** EKS name of the spoke's cluster. */
  readonly cluster: string;
  /** Undefined once there is none any more: what keeps one is not looked for then. */
  readonly vpc: string | undefined;
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
async function lookForData(cluster: string, client: EC2Client, asked: Ask): Promise<Item[]> {
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

/**
 * Whether Elastic Load Balancing made an interface. Neither of the two is anybody else's to set: CreateNetworkInterface takes no requester, and of
 * the types only efa, efa-only, branch and trunk (EC2 API Reference, NetworkInterface and CreateNetworkInterface).
 */
const isOfElb = ({ RequesterId, InterfaceType }: NetworkInterface) =>
  RequesterId === "amazon-elb" || /^((network|gateway)_)?load_balancer$/.test(InterfaceType ?? "");

/** What keeps a VPC. */
async function lookIn(vpc: string, own: AwsConfig, client: EC2Client, asked: Ask): Promise<Omit<InVpc, "data">> {
  const inVpc = [{ Name: "vpc-id", Values: [vpc] }];
  const [interfaces, groups, endpoints, balancing] = await Promise.all([
    asked("ec2:DescribeNetworkInterfaces", () => interfacesIn(vpc, client)),
    asked("ec2:DescribeSecurityGroups", () =>
      all(paginateDescribeSecurityGroups({ client }, { Filters: inVpc }), (page) => page.SecurityGroups),
    ),
    asked("ec2:DescribeVpcEndpoints", () =>
      all(paginateDescribeVpcEndpoints({ client }, { Filters: inVpc }), (page) => page.VpcEndpoints),
    ),
    lookForBalancers(vpc, own, asked),
  ]);
  return {
    ...balancing,
    // Also where the filters are not heeded, as by some endpoints that only look like AWS.
    interfaces: interfaces
      .filter(({ VpcId }) => VpcId === vpc)
      .map((each) => ({
        ...{ id: each.NetworkInterfaceId ?? "", description: each.Description ?? "", tags: tagsOf(each.TagSet) },
        ...{ isFree: each.Status === "available", isOfElb: isOfElb(each) },
        groups: (each.Groups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
      })),
    endpoints: endpoints
      .filter(({ VpcId }) => VpcId === vpc)
      .map(({ VpcEndpointId: id = "", ServiceName: service = "", State, NetworkInterfaceIds = [], Tags }) => ({
        ...{ id, service, description: service, tags: tagsOf(Tags), interfaces: NetworkInterfaceIds },
        isBeingDeleted: State?.toLowerCase() === "deleting",
      })),
    groups: groups
      .filter(({ GroupName, VpcId }) => VpcId === vpc && GroupName !== "default")
      .map(({ GroupId: id = "", GroupName = "", Description, IpPermissions: rules = [], Tags }) => ({
        ...{ id, description: `${GroupName}: ${Description ?? ""}`, tags: tagsOf(Tags), rules },
      })),
  };
}

const empty: Omit<InVpc, "data"> = { balancers: [], targetGroups: [], interfaces: [], endpoints: [], groups: [] };

export async function look({ cluster: name, vpc, region }: Sought, config: AwsConfig): Promise<Found> {
  const asked = asking(policy);
  const own = { ...config, region };
  const client = new EC2Client(own);
  const [{ Account: account = "" }, found, inVpc, data] = await Promise.all([
    asked("sts:GetCallerIdentity", () => new STSClient(own).send(new GetCallerIdentityCommand({}))),
    asked("eks:DescribeCluster", () => unlessMissing(new EKSClient(own).send(new DescribeClusterCommand({ name })))),
    vpc === undefined ? empty : lookIn(vpc, own, client, asked),
    lookForData(name, client, asked),
  ]);
  return { ...inVpc, account, data, hasCluster: found !== undefined };
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

/** Deletes endpoints. EC2 answers with the failures instead of an error. */
async function removeEndpoints(endpoints: readonly Endpoint[], client: EC2Client, asked: Ask): Promise<void> {
  if (endpoints.length === 0) return;
  const VpcEndpointIds = endpoints.map(({ id }) => id);
  await asked("ec2:DeleteVpcEndpoints", async () => {
    const { Unsuccessful = [] } = await client.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds }));
    const failed = Unsuccessful.find(({ Error: error }) => !error?.Code?.endsWith("NotFound"));
    if (failed)
      throw Object.assign(new Error(`${failed.ResourceId}: ${failed.Error?.Message}`), { name: failed.Error?.Code });
  });
}

/** AWS takes minutes to remove the interfaces of a load balancer that is gone (terraform-provider-aws#40); until then they keep its groups. */
const LOOKS = 60;
const SECONDS_BETWEEN = 5;

/** Waits until the interfaces of load balancers and endpoints are gone. @throws Error after five minutes */
async function untilGone(
  { leaving, balancers }: Removal,
  ids: () => Promise<ReadonlySet<string>>,
  seconds: number,
): Promise<void> {
  for (let looks = 0; leaving.length > 0; looks += 1) {
    const present = await ids();
    const left = leaving.filter(({ id }) => present.has(id));
    if (left.length === 0) return;
    if (looks === LOOKS) {
      const others = unlisted(left, balancers).join(", ");
      throw new Error(
        `AWS has not removed the interfaces of load balancers and endpoints yet (${left.map(({ id }) => id).join(", ")}): their security groups go after them. Run it again in a few minutes${others === "" ? "" : `. This account has no load balancer ${others} in the VPC: it is deleted already, or is another account's, whose owner has to delete it`}. What was removed before stays removed`,
      );
    }
    await setTimeout(seconds * 1000);
  }
}

/**
 * Removes load balancers, endpoints and the data that was asked for, then, once AWS has removed the interfaces of both, what these used.
 * @param seconds to wait between two looks for such interfaces
 */
export async function remove(
  { vpc, region }: Sought,
  config: AwsConfig,
  removal: Removal,
  seconds = SECONDS_BETWEEN,
): Promise<void> {
  const { balancers, endpoints, targetGroups, interfaces, groups, data } = removal;
  const asked = asking(policy, "What was removed before stays removed");
  const own = { ...config, region };
  const client = new EC2Client(own);
  /** AWS or Crossplane may have been faster. */
  const removing: Removing = (action, call) =>
    asked(action, () =>
      call().catch((error: Error) => (/NotFound(Exception)?$/.test(error.name) ? undefined : Promise.reject(error))),
    );
  await removeBalancers(balancers, own, removing);
  await removeEndpoints(endpoints, client, asked);
  for (const { id } of data)
    await (id.startsWith("vol-")
      ? removing("ec2:DeleteVolume", () => client.send(new DeleteVolumeCommand({ VolumeId: id })))
      : removing("ec2:DeleteSnapshot", () => client.send(new DeleteSnapshotCommand({ SnapshotId: id }))));
  // Without a VPC nothing follows.
  if (vpc === undefined) return;
  const present = async () => {
    const found = await asked("ec2:DescribeNetworkInterfaces", () => interfacesIn(vpc, client));
    return new Set(found.flatMap(({ NetworkInterfaceId }) => NetworkInterfaceId ?? []));
  };
  await untilGone(removal, present, seconds);
  await removeTargetGroups(targetGroups, own, removing);
  for (const { id } of interfaces)
    await removing("ec2:DeleteNetworkInterface", () =>
      client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id })),
    );
  await removeGroups(groups, client, removing);
}

import { overlaps, parseCidr } from "../../lib/cidr.ts";
import { clusterTag, fleetTag, sharedNetworkTag } from "../../lib/labels.ts";
import { hubName } from "../../lib/names.ts";
import type { ExistingNetwork, Spoke } from "./api.ts";
import type { Absence } from "./failures.ts";
import type { Hub } from "./hub.ts";
import { at, type KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";
import type { SpokeProblem } from "./problems.ts";
import { type Resource, resources, sides } from "./resources.ts";

/**
 * A VPC and subnets of somebody else (`spec.network.existing`). The hub looks at them, and makes, changes, tags and removes nothing of them. They must
 * carry a tag that only their owner can give them: a Spoke in Git alone must not put a cluster into any network of the account.
 */

/** The VPC and the subnets of a network, each with its ID. */
export const partsOf = ({ vpcId, ...subnets }: ExistingNetwork): readonly (readonly [Resource, string])[] => [
  [resources.vpc, vpcId],
  ...sides.flatMap((side) =>
    (subnets[`${side}SubnetIds`] ?? []).map((id, index) => [resources.subnet(side, index), id] as const),
  ),
];

/** What it means that AWS has not what `spec.network.existing` names. */
export const networkNotFound: Absence = {
  reason: "NetworkNotFound",
  remedy:
    "spec.network.existing names what AWS does not have in the Spoke's account and region, or no more: a network can't be changed, so remove this Spoke " +
    "and add it again with the IDs of a VPC and subnets that are there",
};

type Seen = readonly [id: string, object: KubeObject];

const reported = ([, { status }]: Seen, ...path: readonly string[]): unknown => at(status, "atProvider", ...path);
const list = (seen: readonly Seen[]): string => seen.map(([id]) => id).join(", ");

const owner = (each: Seen): string => {
  const cluster = reported(each, "tags", clusterTag);
  return cluster === hubName ? "the hub" : `Spoke ${String(cluster)}`;
};

/** Why a fleet's own network can't be shared: it goes with the Spoke that it was made for, and the boundaries refuse the hub's. */
function ofFleet(seen: readonly Seen[]): string[] {
  const own = seen.filter((each) => reported(each, "tags", fleetTag) !== undefined);
  const [first] = own;
  if (first === undefined) return [];
  return [
    `${list(own)} carry the tag ${fleetTag}: a fleet made them, and this network is of ${owner(first)}. Name a VPC that no fleet makes`,
  ];
}

/**
 * Why a network of another account can't be used: AWS RAM shows no tags of the owner to the account that uses its subnets, so there is no permission
 * to see (docs/decisions/0020-existing-networks-and-cluster-api-clusters.md).
 */
function ofOtherAccount(seen: readonly Seen[], account: string): string[] {
  const others = seen.filter((each) => ![undefined, account].includes(reported(each, "ownerId") as string | undefined));
  const [first] = others;
  if (first === undefined) return [];
  return [
    `${list(others)} belong to account ${String(reported(first, "ownerId"))}, which shares them by AWS RAM, and its tags can't be seen in account ` +
      `${account}: name a VPC of account ${account}`,
  ];
}

function notShared(seen: readonly Seen[], fleet: string, region: string): string[] {
  const missing = seen.filter((each) => reported(each, "tags", sharedNetworkTag) !== fleet);
  if (missing.length === 0) return [];
  const ids = missing.map(([id]) => id);
  return [
    `${list(missing)} do not carry the tag ${sharedNetworkTag}=${fleet}, by which their owner lets spokes of this fleet use them: ` +
      `aws ec2 create-tags --region ${region} --resources ${ids.join(" ")} --tags Key=${sharedNetworkTag},Value=${fleet}`,
  ];
}

/** EKS rejects Services in a block of the VPC. The provider reports the first block only; EKS checks the others. */
function inServices(vpc: Seen, serviceIpv4Cidr: string | undefined): string[] {
  const block = String(reported(vpc, "cidrBlock"));
  const [ofVpc, services] = [parseCidr(block), parseCidr(serviceIpv4Cidr ?? "")];
  if (ofVpc === undefined || services === undefined || !overlaps(ofVpc, services)) return [];
  return [
    `network.serviceIpv4Cidr ${serviceIpv4Cidr} overlaps ${block} of ${vpc[0]}: a network can't be changed, so remove this Spoke and add it ` +
      "again with a block outside of the VPC",
  ];
}

/** What EKS asks of a VPC and of subnets (EKS User Guide, "Amazon EKS VPC and subnet requirements and considerations"). */
function unfit(
  [vpc, ...subnets]: readonly Seen[],
  { vpcId, privateSubnetIds }: ExistingNetwork,
  serviceIpv4Cidr: string | undefined,
): string[] {
  if (vpc === undefined) return [];
  const elsewhere = subnets.filter((each) => reported(each, "vpcId") !== vpcId);
  const zones = new Set(
    subnets.filter(([id]) => privateSubnetIds.includes(id)).map((each) => reported(each, "availabilityZone")),
  );
  const off = ["enableDnsSupport", "enableDnsHostnames"].filter((name) => reported(vpc, name) === false);
  return [
    ...(elsewhere.length > 0 ? [`${list(elsewhere)} are not subnets of ${vpcId}: name subnets of one VPC`] : []),
    ...(zones.size < 2
      ? [`privateSubnetIds are all in ${[...zones].join()}: EKS needs subnets in two availability zones at least`]
      : []),
    ...(off.length > 0
      ? [
          `${vpcId} has ${off.join(" and ")} off, without which nodes can't join a cluster: its owner has to turn that on`,
        ]
      : []),
    ...inServices(vpc, serviceIpv4Cidr),
  ];
}

/** The parts that AWS has described; undefined until that are all of them. */
function seenOf(network: ExistingNetwork, observed: Observed): readonly Seen[] | undefined {
  const parts = partsOf(network);
  const seen = parts.flatMap(([resource, id]): Seen[] => {
    const object = observed.get(resource);
    return object !== undefined && observed.ready(resource) ? [[id, object]] : [];
  });
  return seen.length === parts.length ? seen : undefined;
}

/** Whether AWS has described all of the network. */
export const isSeen = (network: ExistingNetwork, observed: Observed): boolean =>
  seenOf(network, observed) !== undefined;

/** Why the Spoke may not use the network; undefined also while AWS has not described all of it. */
export function existingNetworkProblem(
  { spec }: Spoke,
  network: ExistingNetwork,
  observed: Observed,
  { fleet, aws }: Pick<Hub, "fleet" | "aws">,
): SpokeProblem | undefined {
  const seen = seenOf(network, observed);
  if (seen === undefined) return undefined;
  const foreign = ofOtherAccount(seen, spec.account?.id ?? aws.accountId);
  const permission = foreign.length > 0 ? foreign : ofFleet(seen).concat(notShared(seen, fleet, spec.region));
  const said = [...permission, ...unfit(seen, network, spec.network.serviceIpv4Cidr)];
  if (said.length === 0) return undefined;
  return {
    reason: permission.length > 0 ? "NetworkNotShared" : "InvalidNetwork",
    message: `spec.network.existing: ${said.join("; ")}`,
  };
}

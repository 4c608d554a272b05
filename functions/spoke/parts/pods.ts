import { parseCidr, podSubnet } from "../../../lib/cidr.ts";
import type { Context } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { resources } from "../resources.ts";
import { zoneNames } from "../zones.ts";

/** Zones in which pods have a subnet of their own, from 0. */
const podZones = ({ spoke }: Pick<Context, "spoke">): readonly number[] =>
  spoke.spec.network.podCidr === undefined ? [] : Array.from({ length: spoke.spec.network.zones }, (_, zone) => zone);

function podSubnetOf(context: Context, zone: number): void {
  const { composer, facts, hub, observed, spoke, tags } = context;
  const { region, network } = spoke.spec;
  const block = parseCidr(network.podCidr ?? "");
  const subnet = resources.podSubnet(zone);
  const needs = {
    vpcId: facts.text(resources.vpc, "id"),
    block: facts.ready(resources.podBlock),
    cidrBlock: fact("network", block && podSubnet(block, zone)),
    availabilityZone: fact("spec", zoneNames({ spec: spoke.spec, hub, observed })[zone]),
  };
  // Without the tags by which load balancers and nodes are placed: it is for pods alone.
  composer.managed(subnet, "Subnet", needs, ({ vpcId, cidrBlock, availabilityZone }) => ({
    forProvider: { region, vpcId, cidrBlock, availabilityZone, mapPublicIpOnLaunch: false, tags: tags(`pod-${zone}`) },
  }));
  const ids = {
    subnetId: facts.text(subnet, "id"),
    routeTableId: facts.text(resources.routeTable(`private-${zone}`), "id"),
  };
  composer.managed(resources.podAssociation(zone), "RouteTableAssociation", ids, (known) => ({
    forProvider: { region, ...known },
  }));
}

/** The secondary block of the VPC, and in each zone a subnet of it for the pods, with the routes of the private subnet there. */
export function composePodNetwork(context: Context): void {
  const { composer, facts, spoke } = context;
  const { region, network } = spoke.spec;
  const { podCidr: cidrBlock } = network;
  if (cidrBlock === undefined || network.existing !== undefined) return;
  const needs = { vpcId: facts.text(resources.vpc, "id") };
  composer.managed(resources.podBlock, "VPCIPv4CidrBlockAssociation", needs, ({ vpcId }) => ({
    forProvider: { region, vpcId, cidrBlock },
  }));
  for (const zone of podZones(context)) podSubnetOf(context, zone);
}

/** Settings of the VPC CNI: a part of its `configurationValues`. */
export interface PodNetwork {
  readonly env: Readonly<Record<string, string>>;
  readonly eniConfig?: object;
}

/**
 * How the VPC CNI places pods into their subnets (EKS User Guide, "Customize the secondary network interface in Amazon EKS nodes"): by the zone of the
 * node, with the cluster's security group. A node's first network interface then has no pods, and kubelet counts on it all the same: prefixes
 * of 16 addresses on the others are more than it lets pods onto the node (the same, "Assign more IP addresses to Amazon EKS nodes with prefixes").
 */
export function podNetwork(context: Context): Fact<PodNetwork> {
  const { facts, hub, observed, spoke } = context;
  const zones = podZones(context);
  if (zones.length === 0) return fact<PodNetwork>("network", { env: {} });
  const group = facts.text(resources.cluster, "vpcConfig", "clusterSecurityGroupId");
  if (group.value === undefined) return fact<PodNetwork>(group.from, undefined);
  const names = zoneNames({ spec: spoke.spec, hub, observed });
  const subnets = zones.map((zone) => [names[zone], observed.text(resources.podSubnet(zone), "id")] as const);
  if (subnets.some(([name, id]) => name === undefined || id === undefined))
    return fact<PodNetwork>("network", undefined);
  const eniConfig = {
    create: true,
    region: spoke.spec.region,
    subnets: Object.fromEntries(subnets.map(([name, id]) => [name, { id, securityGroups: [group.value] }])),
  };
  return fact("network", {
    env: {
      AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: "true",
      ENI_CONFIG_LABEL_DEF: "topology.kubernetes.io/zone",
      ENABLE_PREFIX_DELEGATION: "true",
    },
    eniConfig,
  });
}

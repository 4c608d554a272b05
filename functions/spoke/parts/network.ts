import { parseCidr, zoneSubnets } from "../../../lib/cidr.ts";
import { natGatewayCount } from "../../../lib/nat-gateways.ts";
import { claimManifest, isFromPool } from "../claims.ts";
import type { Context } from "../context.ts";
import { partsOf } from "../existing-network.ts";
import { type Fact, fact } from "../facts.ts";
import { isIsolated, sidesOf } from "../isolated.ts";
import { isMadeElsewhere } from "../made-elsewhere.ts";
import { onlyLook, unset, withoutLateInitialize } from "../orphan.ts";
import { type Resource, resources, type Side, type Table } from "../resources.ts";
import { everywhere, transitRoutes } from "../transit-gateway.ts";
import { zoneNames } from "../zones.ts";

/** Zones of the spoke, from 0. */
function zones({ spoke }: Context): readonly number[] {
  return Array.from({ length: spoke.spec.network.zones }, (_, zone) => zone);
}

/** Zones with a NAT gateway. */
function natZones(context: Context): readonly number[] {
  if (context.spoke.spec.network.existing !== undefined) return [];
  const all = zones(context);
  return all.slice(0, natGatewayCount(context.spoke.spec.network.natGateways, all.length));
}

/** The route tables of an own network. */
export const tables = (context: Context): readonly Table[] => [
  ...(isIsolated(context) ? [] : (["public"] as const)),
  ...zones(context).map((zone) => `private-${zone}` as const),
];

/** IDs of the subnets on one side; known once all of them are. */
export function subnetIds(context: Context, side: Side): Fact<readonly string[]> {
  const { existing } = context.spoke.spec.network;
  if (existing !== undefined) return fact("network", existing[`${side}SubnetIds`] ?? []);
  if (!sidesOf(context.spoke.spec.network).includes(side)) return fact("network", []);
  const ids = zones(context).map((zone) => context.observed.text(resources.subnet(side, zone), "id"));
  return fact("network", ids.every((id) => id !== undefined) ? ids : undefined);
}

/**
 * Blocks of the public subnets, in which the AWS Load Balancer Controller places what faces the internet. Of a network of somebody else those that
 * AWS has described; of one that Cluster API divides, in its own way, none.
 */
export function publicCidrs(context: Context): readonly string[] {
  const { observed, plan, spoke } = context;
  const { existing, zones: count } = spoke.spec.network;
  if (isMadeElsewhere(spoke)) return [];
  if (existing !== undefined)
    return (existing.publicSubnetIds ?? []).flatMap(
      (_, index) => observed.text(resources.subnet("public", index), "cidrBlock") ?? [],
    );
  const vpc = sidesOf(spoke.spec.network).includes("public") ? parseCidr(plan.network.cidr ?? "") : undefined;
  return vpc === undefined ? [] : Array.from({ length: count }, (_, zone) => zoneSubnets(vpc, zone).publicCidr);
}

/** On which side the nodes are: that with a route to the internet, where one has. */
const nodeSide = ({ spoke }: Context): Side => (spoke.spec.network.natGateways === "none" ? "public" : "private");

/** Subnets for nodes. */
export function nodeSubnetIds(context: Context): Fact<readonly string[]> {
  return subnetIds(context, nodeSide(context));
}

/** The routes by which nodes reach the internet, or S3 where there is no way there; in a network of somebody else, who makes them, the VPC. */
export function nodeRoutes(context: Context): readonly [Resource, ...Resource[]] {
  if (context.spoke.spec.network.existing !== undefined) return [resources.vpc];
  const [first, ...others] = zones(context).map((zone) => resources.gatewayRoute("s3", `private-${zone}`));
  const transit = transitRoutes(context.spoke.spec.network, context.plan.network.cidr);
  if (isIsolated(context) && first !== undefined) return [first, ...others, ...transit];
  const isPublic = nodeSide(context) === "public";
  return [
    resources.route("public"),
    ...(isPublic ? [] : zones(context).map((zone) => resources.route(`private-${zone}`))),
    ...transit,
  ];
}

/** Public addresses of the spoke's outgoing traffic, as CIDRs; those that are known so far. */
export function egressCidrs(context: Context): readonly string[] {
  return natZones(context).flatMap((zone) => {
    const address = context.observed.text(resources.address(zone), "publicIp");
    return address === undefined ? [] : [`${address}/32`];
  });
}

/** The claim on the network that the Spoke is to get. */
export function claimNetwork({ plan, composer, spoke }: Context): void {
  const { claim: key, cidr } = plan.network;
  if (key === undefined) return;
  const fromPool = isFromPool(spoke.spec);
  composer.object(resources.claim(key), { cidr: fact("network", cidr) }, (known) =>
    claimManifest(spoke.metadata.name, known.cidr, fromPool),
  );
}

/** A route table, and the subnets on one side of the zones that use it. */
function routing(context: Context, table: Table, side: Side, sharing: readonly number[]): void {
  const { composer, facts, spoke, tags } = context;
  const { region } = spoke.spec;
  const routeTable = resources.routeTable(table);
  composer.managed(routeTable, "RouteTable", { vpcId: facts.text(resources.vpc, "id") }, ({ vpcId }) => ({
    forProvider: { region, vpcId, tags: tags(table) },
  }));
  for (const zone of sharing) {
    const needs = {
      subnetId: facts.text(resources.subnet(side, zone), "id"),
      routeTableId: facts.text(routeTable, "id"),
    };
    composer.managed(resources.association(side, zone), "RouteTableAssociation", needs, (ids) => ({
      forProvider: { region, ...ids },
    }));
  }
}

function subnet(context: Context, side: Side, zone: number): void {
  const { composer, facts, hub, names, observed, plan, spoke, tags } = context;
  const vpc = parseCidr(plan.network.cidr ?? "");
  const needs = {
    vpcId: facts.text(resources.vpc, "id"),
    cidr: fact("network", vpc && zoneSubnets(vpc, zone)[`${side}Cidr`]),
    availabilityZone: fact("spec", zoneNames({ spec: spoke.spec, hub, observed })[zone]),
  };
  composer.managed(resources.subnet(side, zone), "Subnet", needs, ({ vpcId, cidr, availabilityZone }) => ({
    forProvider: {
      region: spoke.spec.region,
      vpcId,
      cidrBlock: cidr,
      availabilityZone,
      mapPublicIpOnLaunch: side === "public",
      // Read by the AWS Load Balancer Controller to place load balancers.
      tags: {
        ...tags(`${side}-${zone}`),
        [side === "public" ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb"]: "1",
        // Read by Karpenter to place nodes.
        ...(side === nodeSide(context) ? { "karpenter.sh/discovery": names.cluster } : {}),
      },
    },
  }));
}

function natGateway(context: Context, zone: number): void {
  const { composer, facts, spoke, tags } = context;
  const { region } = spoke.spec;
  const address = resources.address(zone);
  composer.managed(address, "EIP", { vpcId: facts.text(resources.vpc, "id") }, () => ({
    // The network interface of a replaced NAT gateway would be requested forever.
    forProvider: { region, domain: "vpc", networkInterface: unset, tags: tags(`nat-${zone}`) },
  }));
  const needs = {
    subnetId: facts.text(resources.subnet("public", zone), "id"),
    allocationId: facts.text(address, "id"),
    // Without a route to the internet a NAT gateway is of no use.
    internetRoute: facts.ready(resources.route("public")),
  };
  composer.managed(resources.natGateway(zone), "NATGateway", needs, ({ subnetId, allocationId }) => ({
    forProvider: {
      region,
      subnetId,
      allocationId,
      connectivityType: "public",
      // EC2 rejects the VPC's ID when it creates a zonal NAT gateway.
      vpcId: unset,
      tags: tags(`nat-${zone}`),
    },
  }));
}

/** A network of somebody else as AWS describes it: Crossplane may do nothing with it, whatever is specified. */
export function observeNetwork({ composer, spoke }: Context): void {
  const { region, network } = spoke.spec;
  if (network.existing === undefined) return;
  const { vpcId } = network.existing;
  for (const [resource, externalName] of partsOf(network.existing))
    composer.managed(resource, resource === resources.vpc ? "VPC" : "Subnet", {}, () => ({
      externalName,
      managementPolicies: onlyLook,
      forProvider: resource === resources.vpc ? { region } : { region, vpcId },
    }));
}

/** The way of public subnets to the internet, and from there. */
function internet(context: Context): void {
  const { composer, facts, spoke, tags } = context;
  const { region } = spoke.spec;
  const vpc = { vpcId: facts.text(resources.vpc, "id") };
  composer.managed(resources.internetGateway, "InternetGateway", vpc, ({ vpcId }) => ({
    forProvider: { region, vpcId, tags: tags("internet") },
  }));
  routing(context, "public", "public", zones(context));
  const publicRoute = {
    routeTableId: facts.text(resources.routeTable("public"), "id"),
    gatewayId: facts.readyText(resources.internetGateway, "id"),
  };
  composer.managed(resources.route("public"), "Route", publicRoute, (ids) => ({
    forProvider: { region, ...ids, destinationCidrBlock: everywhere },
  }));
}

/**
 * VPC with a public and a private subnet in each zone, and a route to the internet for the nodes: the same layout as the hub's. Without such a way
 * the private half of it.
 */
export function composeNetwork(context: Context): void {
  if (context.spoke.spec.network.existing !== undefined) return;
  const { composer, facts, plan, spoke, tags } = context;
  const { region } = spoke.spec;
  const cidr = fact("network", plan.network.accepted ? plan.network.cidr : undefined);
  composer.managed(resources.vpc, "VPC", { network: cidr }, ({ network }) => ({
    forProvider: { region, cidrBlock: network, enableDnsHostnames: true, enableDnsSupport: true, tags: tags("vpc") },
  }));
  // EC2 lets a group's members reach each other and the internet. The provider removes these rules when it adopts the group; late
  // initialization would request what AWS has, such as a rule that someone added.
  composer.managed(
    resources.defaultGroup,
    "DefaultSecurityGroup",
    { vpcId: facts.text(resources.vpc, "id") },
    ({ vpcId }) => ({
      managementPolicies: withoutLateInitialize,
      forProvider: { region, vpcId, tags: tags("default") },
    }),
  );
  for (const zone of zones(context)) {
    for (const side of sidesOf(spoke.spec.network)) subnet(context, side, zone);
    routing(context, `private-${zone}`, "private", [zone]);
  }
  if (!isIsolated(context)) internet(context);
  const nats = natZones(context);
  for (const zone of nats) natGateway(context, zone);
  for (const zone of nats.length > 0 ? zones(context) : []) {
    const needs = {
      routeTableId: facts.text(resources.routeTable(`private-${zone}`), "id"),
      natGatewayId: facts.readyText(resources.natGateway(nats.includes(zone) ? zone : (nats[0] as number)), "id"),
    };
    composer.managed(resources.route(`private-${zone}`), "Route", needs, (ids) => ({
      forProvider: { region, ...ids, destinationCidrBlock: everywhere },
    }));
  }
}

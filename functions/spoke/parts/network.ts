import { parseCidr, zoneSubnets } from "../../../lib/cidr.ts";
import type { Context } from "../context.ts";
import { otherKinds } from "../kinds.ts";
import { zoneNames } from "../zones.ts";

const internet = "0.0.0.0/0";

/** Zones of the spoke, from 0. */
function zones({ spoke }: Context): readonly number[] {
  return Array.from({ length: spoke.spec.network.zones }, (_, zone) => zone);
}

/** Zones with a NAT gateway. */
function natZones(context: Context): readonly number[] {
  const all = zones(context);
  return { single: all.slice(0, 1), "per-zone": all, none: [] }[context.spoke.spec.network.natGateways];
}

/** IDs of the subnets of one kind; undefined while one is not known. */
export function subnetIds(context: Context, kind: "private" | "public"): readonly string[] | undefined {
  const ids = zones(context).map((zone) => context.observed.text(`subnet-${kind}-${zone}`, "id"));
  return ids.every((id) => id !== undefined) ? ids : undefined;
}

/** Subnets for nodes: with a way out to the Internet. */
export function nodeSubnetIds(context: Context): readonly string[] | undefined {
  return subnetIds(context, context.spoke.spec.network.natGateways === "none" ? "public" : "private");
}

/** Keys of the routes that lead nodes out. */
export function nodeRoutes(context: Context): readonly string[] {
  const none = context.spoke.spec.network.natGateways === "none";
  return ["route-public", ...(none ? [] : zones(context).map((zone) => `route-private-${zone}`))];
}

/** Public addresses from which the spoke's nodes leave, as CIDRs; those that are known. */
export function egressCidrs(context: Context): readonly string[] {
  return natZones(context).flatMap((zone) => {
    const address = context.observed.text(`address-${zone}`, "publicIp");
    return address === undefined ? [] : [`${address}/32`];
  });
}

function claim({ plan, composer, spoke }: Context): void {
  const { claim: key, cidr } = plan.network;
  if (key === undefined) return;
  composer.object("claim", key, { cidr }, (known) => ({
    apiVersion: otherKinds.ConfigMap,
    kind: "ConfigMap",
    metadata: { name: key },
    data: { cidr: known.cidr, spoke: spoke.metadata.name },
  }));
}

function routing(context: Context, suffix: string, zoneSubnetKeys: readonly string[]): void {
  const { composer, observed, spoke, tags } = context;
  const { region } = spoke.spec;
  const table = `route-table-${suffix}`;
  composer.managed("routeTables", table, "RouteTable", { vpcId: observed.text("vpc", "id") }, ({ vpcId }) => ({
    forProvider: { region, vpcId, tags: tags(suffix) },
  }));
  for (const subnet of zoneSubnetKeys) {
    const facts = { subnetId: observed.text(subnet, "id"), routeTableId: observed.text(table, "id") };
    composer.managed(
      "routes",
      `association-${subnet.slice("subnet-".length)}`,
      "RouteTableAssociation",
      facts,
      (ids) => ({
        forProvider: { region, ...ids },
      }),
    );
  }
}

function subnet(context: Context, kind: "private" | "public", zone: number): void {
  const { composer, hub, observed, plan, spoke, tags } = context;
  const vpc = parseCidr(plan.network.cidr ?? "");
  const facts = {
    vpcId: observed.text("vpc", "id"),
    cidr: vpc && zoneSubnets(vpc, zone)[`${kind}Cidr`],
    availabilityZone: zoneNames({ spec: spoke.spec, hub, observed })[zone],
  };
  composer.managed("subnets", `subnet-${kind}-${zone}`, "Subnet", facts, ({ vpcId, cidr, availabilityZone }) => ({
    forProvider: {
      region: spoke.spec.region,
      vpcId,
      cidrBlock: cidr,
      availabilityZone,
      mapPublicIpOnLaunch: kind === "public",
      // Read by the AWS Load Balancer Controller to place load balancers.
      tags: {
        ...tags(`${kind}-${zone}`),
        [kind === "public" ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb"]: "1",
      },
    },
  }));
}

function natGateway(context: Context, zone: number): void {
  const { composer, observed, spoke, tags } = context;
  const { region } = spoke.spec;
  composer.managed("addresses", `address-${zone}`, "EIP", { vpcId: observed.text("vpc", "id") }, () => ({
    forProvider: { region, domain: "vpc", tags: tags(`nat-${zone}`) },
  }));
  const facts = {
    subnetId: observed.text(`subnet-public-${zone}`, "id"),
    allocationId: observed.text(`address-${zone}`, "id"),
    // A NAT gateway without a route to the Internet works for nobody.
    internetRoute: observed.allReady(["route-public"]),
  };
  composer.managed("natGateways", `nat-${zone}`, "NATGateway", facts, ({ subnetId, allocationId }) => ({
    forProvider: { region, subnetId, allocationId, connectivityType: "public", tags: tags(`nat-${zone}`) },
  }));
}

/** Free, and image layers (S3) then don't pay for NAT. A route to S3 in every table. */
function storageEndpoint(context: Context): void {
  const { composer, observed, spoke, tags } = context;
  const { region } = spoke.spec;
  const key = "endpoint-s3";
  composer.managed("endpoints", key, "VPCEndpoint", { vpcId: observed.text("vpc", "id") }, ({ vpcId }) => ({
    forProvider: {
      region,
      vpcId,
      vpcEndpointType: "Gateway",
      serviceName: `com.amazonaws.${region}.s3`,
      tags: tags("s3"),
    },
  }));
  for (const table of ["public", ...zones(context).map((zone) => `private-${zone}`)]) {
    const facts = {
      vpcEndpointId: observed.readyText(key, "id"),
      routeTableId: observed.text(`route-table-${table}`, "id"),
    };
    composer.managed("routes", `${key}-${table}`, "VPCEndpointRouteTableAssociation", facts, (ids) => ({
      forProvider: { region, ...ids },
    }));
  }
}

/** VPC with a public and a private subnet in each zone, and a way out for the nodes: the same layout as the hub's. */
export function composeNetwork(context: Context): void {
  const { composer, observed, plan, spoke, tags } = context;
  const { region } = spoke.spec;
  claim(context);
  const cidr = plan.network.accepted ? plan.network.cidr : undefined;
  composer.managed("vpc", "vpc", "VPC", { network: cidr }, ({ network }) => ({
    forProvider: { region, cidrBlock: network, enableDnsHostnames: true, enableDnsSupport: true, tags: tags("vpc") },
  }));
  const vpc = { vpcId: observed.text("vpc", "id") };
  composer.managed("internetGateway", "internet-gateway", "InternetGateway", vpc, ({ vpcId }) => ({
    forProvider: { region, vpcId, tags: tags("internet") },
  }));
  for (const zone of zones(context)) {
    subnet(context, "public", zone);
    subnet(context, "private", zone);
    routing(context, `private-${zone}`, [`subnet-private-${zone}`]);
  }
  routing(
    context,
    "public",
    zones(context).map((zone) => `subnet-public-${zone}`),
  );
  const publicRoute = {
    routeTableId: observed.text("route-table-public", "id"),
    gatewayId: observed.readyText("internet-gateway", "id"),
  };
  composer.managed("routes", "route-public", "Route", publicRoute, (ids) => ({
    forProvider: { region, ...ids, destinationCidrBlock: internet },
  }));
  storageEndpoint(context);
  const nats = natZones(context);
  for (const zone of nats) natGateway(context, zone);
  for (const zone of nats.length > 0 ? zones(context) : []) {
    const facts = {
      routeTableId: observed.text(`route-table-private-${zone}`, "id"),
      natGatewayId: observed.readyText(`nat-${nats.includes(zone) ? zone : nats[0]}`, "id"),
    };
    composer.managed("routes", `route-private-${zone}`, "Route", facts, (ids) => ({
      forProvider: { region, ...ids, destinationCidrBlock: internet },
    }));
  }
}

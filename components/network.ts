import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { parseCidr, zoneSubnets } from "../lib/cidr.ts";
import type { Tags } from "../lib/labels.ts";
import { userError } from "./user-error.ts";

/** Zones in which EKS has no control planes (EKS User Guide, "Subnet requirements"), by zone ID. */
const zonesWithoutEks = ["cac1-az3", "use1-az3", "usw1-az2"];

export type NatGateways = "single" | "per-zone" | "none";

export interface NetworkArgs {
  /**
   * IPv4 block of the VPC, /16 to /24.
   * @default "10.0.0.0/16"
   */
  readonly cidr?: string;
  /**
   * Number of availability zones, 2 or 3: EKS requires subnets in at least two.
   * @default 2
   */
  readonly zones?: number;
  /**
   * Names of the zones, as many as `zones`.
   * @default the first ones of the region that EKS supports
   * @example ["eu-central-1a", "eu-central-1b"]
   */
  readonly availabilityZones?: readonly string[];
  /**
   * Block of each zone's private subnet.
   * @default a quarter of the VPC for each zone
   */
  readonly privateSubnetCidrs?: readonly string[];
  /**
   * Block of each zone's public subnet.
   * @default a sixteenth of the VPC for each zone
   */
  readonly publicSubnetCidrs?: readonly string[];
  /**
   * `single` (one for all zones), `per-zone` (survives the loss of a zone) or `none` (nodes run in the public subnets).
   * @default "single"
   */
  readonly natGateways?: NatGateways;
  /**
   * Tags of everything in the network, besides `Name`.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/** The network of a cluster: a `Network`, or the IDs of one that exists. */
export interface ClusterNetwork {
  /** ID of the VPC. */
  readonly vpcId: pulumi.Input<string>;
  /** Subnets of control plane and nodes, in at least two zones. */
  readonly privateSubnetIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Subnets of public load balancers; may be none. */
  readonly publicSubnetIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Subnets for nodes: those with a route to AWS, Git and the chart repositories. */
  readonly nodeSubnetIds: pulumi.Input<pulumi.Input<string>[]>;
}

/** Names of the zones of the region in which EKS has control planes, also for spokes. */
export function eksZones(opts?: pulumi.InvokeOutputOptions): pulumi.Output<string[]> {
  return aws.getAvailabilityZonesOutput(
    {
      state: "available",
      filters: [{ name: "opt-in-status", values: ["opt-in-not-required"] }],
      excludeZoneIds: zonesWithoutEks,
    },
    opts,
  ).names;
}

/**
 * A VPC with a public and a private subnet in each zone, and a route to the internet for the nodes.
 * @throws RunError when the region has fewer zones for EKS than `zones`
 * @throws RangeError when `cidr` is not an IPv4 network that can be divided
 * @example
 * const network = new Network("shop", { cidr: "10.20.0.0/16", natGateways: "per-zone" });
 */
export class Network extends pulumi.ComponentResource implements ClusterNetwork {
  /** ID of the VPC. */
  readonly vpcId: pulumi.Output<string>;
  /** IPv4 block of the VPC. */
  readonly cidr: string;
  /** Private subnets, one in each zone. */
  readonly privateSubnetIds: pulumi.Output<string>[];
  /** Public subnets, one in each zone. */
  readonly publicSubnetIds: pulumi.Output<string>[];
  /** The private subnets, or the public ones if there is no NAT gateway. */
  readonly nodeSubnetIds: pulumi.Output<string>[];
  /** Route table of the public subnets. */
  readonly publicRouteTableId: pulumi.Output<string>;
  /** Route tables of the private subnets, one in each zone, for routes to peered networks. */
  readonly privateRouteTableIds: pulumi.Output<string>[];
  /** Public addresses of the NAT gateways, as CIDRs: the source addresses of all traffic from private subnets to the internet. */
  readonly egressCidrs: pulumi.Output<string>[];
  /** {@link eksZones}: all of them, not only those of the subnets. */
  readonly availabilityZones: pulumi.Output<string[]>;

  constructor(name: string, args: NetworkArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:Network", name, {}, opts);
    const child = { parent: this };
    const tagged = (suffix: string) => ({ ...args.tags, Name: `${name}-${suffix}` });
    const { cidr = "10.0.0.0/16", zones: zoneCount = 2, availabilityZones = [], natGateways: nat = "single" } = args;
    const zones = Array.from({ length: zoneCount }, (_, index) => index);
    this.availabilityZones = eksZones({ parent: this });
    const zoneNames = availabilityZones.length > 0 ? availabilityZones : this.availabilityZones;
    const { region } = aws.getRegionOutput({}, { parent: this });
    const vpc = new aws.ec2.Vpc(
      `${name}-vpc`,
      { cidrBlock: cidr, enableDnsHostnames: true, enableDnsSupport: true, tags: tagged("vpc") },
      child,
    );
    // Adopted to remove its rules, because nothing should use the VPC's default security group.
    new aws.ec2.DefaultSecurityGroup(`${name}-default`, { vpcId: vpc.id, tags: tagged("default") }, child);
    const gateway = new aws.ec2.InternetGateway(`${name}-internet`, { vpcId: vpc.id, tags: tagged("internet") }, child);

    const subnet = (kind: "private" | "public", zone: number) =>
      new aws.ec2.Subnet(
        `${name}-${kind}-${zone}`,
        {
          vpcId: vpc.id,
          cidrBlock: subnetCidr(cidr, args, kind, zone),
          availabilityZone: pulumi.output(zoneNames).apply((names) => zoneName(names, zone, zoneCount)),
          mapPublicIpOnLaunch: kind === "public",
          // Read by the AWS Load Balancer Controller to place load balancers.
          tags: {
            ...tagged(`${kind}-${zone}`),
            [kind === "public" ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb"]: "1",
          },
        },
        child,
      );
    const publicSubnets = zones.map((zone) => subnet("public", zone));
    const privateSubnets = zones.map((zone) => subnet("private", zone));

    const routeTable = (suffix: string, subnets: readonly aws.ec2.Subnet[]) => {
      const table = new aws.ec2.RouteTable(`${name}-${suffix}`, { vpcId: vpc.id, tags: tagged(suffix) }, child);
      for (const [index, { id: subnetId }] of subnets.entries()) {
        new aws.ec2.RouteTableAssociation(`${name}-${suffix}-${index}`, { subnetId, routeTableId: table.id }, child);
      }
      return table;
    };
    const publicTable = routeTable("public", publicSubnets);
    const internetRoute = new aws.ec2.Route(
      `${name}-public-internet`,
      { routeTableId: publicTable.id, destinationCidrBlock: "0.0.0.0/0", gatewayId: gateway.id },
      child,
    );

    const addresses: aws.ec2.Eip[] = [];
    const natGateway = (zone: number, home: aws.ec2.Subnet) => {
      const address = new aws.ec2.Eip(`${name}-nat-${zone}`, { domain: "vpc", tags: tagged(`nat-${zone}`) }, child);
      addresses.push(address);
      return new aws.ec2.NatGateway(
        `${name}-nat-${zone}`,
        { subnetId: home.id, allocationId: address.id, tags: tagged(`nat-${zone}`) },
        // Without a route to the internet a NAT gateway is of no use, also while the network is being removed.
        { ...child, dependsOn: [internetRoute] },
      );
    };
    const natZones = { single: zones.slice(0, 1), "per-zone": zones, none: [] }[nat];
    const natGateways = natZones.flatMap((zone) => {
      const home = publicSubnets[zone];
      return home ? [natGateway(zone, home)] : [];
    });
    const privateTables = privateSubnets.map((privateSubnet, zone) => routeTable(`private-${zone}`, [privateSubnet]));
    for (const [zone, table] of privateTables.entries()) {
      const way = natGateways[zone] ?? natGateways[0];
      if (!way) continue;
      new aws.ec2.Route(
        `${name}-private-${zone}-nat`,
        { routeTableId: table.id, destinationCidrBlock: "0.0.0.0/0", natGatewayId: way.id },
        child,
      );
    }
    // The endpoint is free, and image layers, which are in S3, then cause no NAT traffic.
    new aws.ec2.VpcEndpoint(
      `${name}-s3`,
      {
        vpcId: vpc.id,
        vpcEndpointType: "Gateway",
        serviceName: pulumi.interpolate`com.amazonaws.${region}.s3`,
        routeTableIds: [publicTable, ...privateTables].map(({ id }) => id),
        tags: tagged("s3"),
      },
      child,
    );

    this.vpcId = vpc.id;
    this.cidr = cidr;
    this.privateSubnetIds = privateSubnets.map(({ id }) => id);
    this.publicSubnetIds = publicSubnets.map(({ id }) => id);
    this.nodeSubnetIds = nat === "none" ? this.publicSubnetIds : this.privateSubnetIds;
    this.publicRouteTableId = publicTable.id;
    this.privateRouteTableIds = privateTables.map(({ id }) => id);
    this.egressCidrs = addresses.map(({ publicIp }) => pulumi.interpolate`${publicIp}/32`);
    this.registerOutputs({
      vpcId: this.vpcId,
      privateSubnetIds: this.privateSubnetIds,
      publicSubnetIds: this.publicSubnetIds,
      publicRouteTableId: this.publicRouteTableId,
      privateRouteTableIds: this.privateRouteTableIds,
    });
  }
}

function zoneName(names: readonly string[], zone: number, count: number): string {
  const name = names[zone];
  if (name !== undefined) return name;
  throw userError(
    `zones: the region has ${names.length} availability zones for EKS (${names.join(", ")}), got zones ${count}: lower zones, or choose another region`,
  );
}

function subnetCidr(cidr: string, args: NetworkArgs, kind: "private" | "public", zone: number): string {
  const given = (kind === "private" ? args.privateSubnetCidrs : args.publicSubnetCidrs)?.[zone];
  if (given !== undefined) return given;
  const vpc = parseCidr(cidr);
  if (!vpc) throw new RangeError(`cidr must be an IPv4 network such as 10.0.0.0/16, got ${cidr}`);
  const { privateCidr, publicCidr } = zoneSubnets(vpc, zone);
  return kind === "private" ? privateCidr : publicCidr;
}

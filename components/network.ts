import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { parseCidr, zoneSubnets } from "../lib/cidr.ts";
import { userError } from "./user-error.ts";

/** Zones in which EKS has no control planes (EKS User Guide, "Subnet requirements"), by zone ID. */
const zonesWithoutEks = ["cac1-az3", "use1-az3", "usw1-az2"];

export type NatGateways = "single" | "per-zone" | "none";

export interface NetworkArgs {
  /** IPv4 block of the VPC, /16 to /24. */
  readonly cidr: string;
  /** Number of availability zones. */
  readonly zoneCount: number;
  /** Names of the zones. Default: the first ones of the region that EKS supports. */
  readonly zoneNames: readonly string[];
  /** Block of each zone's private subnet. Default (empty): a quarter of the VPC each. */
  readonly privateCidrs: readonly string[];
  /** Block of each zone's public subnet. Default (empty): a sixteenth of the VPC each. */
  readonly publicCidrs: readonly string[];
  readonly natGateways: NatGateways;
  readonly region: pulumi.Input<string>;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a cluster needs to know of its network. */
export interface ClusterNetwork {
  readonly vpcId: pulumi.Input<string>;
  readonly privateSubnetIds: pulumi.Input<string>[];
  readonly publicSubnetIds: pulumi.Input<string>[];
  /** Subnets for nodes: with a way out. */
  readonly nodeSubnetIds: pulumi.Input<string>[];
  /** Fixed public addresses of the way out, as CIDRs. */
  readonly egressCidrs: pulumi.Input<string>[];
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

/** A VPC with a public and a private subnet in each zone, and a way out for the nodes. */
export class Network extends pulumi.ComponentResource implements ClusterNetwork {
  readonly vpcId: pulumi.Output<string>;
  readonly privateSubnetIds: pulumi.Output<string>[];
  readonly publicSubnetIds: pulumi.Output<string>[];
  readonly nodeSubnetIds: pulumi.Output<string>[];
  readonly egressCidrs: pulumi.Output<string>[];
  /** {@link eksZones}: all that there are, not only those of the subnets. */
  readonly availabilityZones: pulumi.Output<string[]>;

  constructor(name: string, args: NetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:Network", name, {}, opts);
    const child = { parent: this };
    const tagged = (suffix: string) => ({ ...args.tags, Name: `${name}-${suffix}` });
    const zones = Array.from({ length: args.zoneCount }, (_, index) => index);
    this.availabilityZones = eksZones({ parent: this });
    const zoneNames = args.zoneNames.length > 0 ? args.zoneNames : this.availabilityZones;
    const vpc = new aws.ec2.Vpc(
      `${name}-vpc`,
      { cidrBlock: args.cidr, enableDnsHostnames: true, enableDnsSupport: true, tags: tagged("vpc") },
      child,
    );
    // Adopted to take its rules away: nothing should run in a group that it did not choose.
    new aws.ec2.DefaultSecurityGroup(`${name}-default`, { vpcId: vpc.id, tags: tagged("default") }, child);
    const gateway = new aws.ec2.InternetGateway(`${name}-internet`, { vpcId: vpc.id, tags: tagged("internet") }, child);

    const subnet = (kind: "private" | "public", zone: number) =>
      new aws.ec2.Subnet(
        `${name}-${kind}-${zone}`,
        {
          vpcId: vpc.id,
          cidrBlock: subnetCidr(args, kind, zone),
          availabilityZone: pulumi.output(zoneNames).apply((names) => zoneName(names, zone, args.zoneCount)),
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
        // A NAT gateway without a route to the Internet works for nobody, also while the network is taken down.
        { ...child, dependsOn: [internetRoute] },
      );
    };
    const natZones = { single: zones.slice(0, 1), "per-zone": zones, none: [] }[args.natGateways];
    const natGateways = natZones.flatMap((zone) => {
      const home = publicSubnets[zone];
      return home ? [natGateway(zone, home)] : [];
    });
    const privateTables = privateSubnets.map((privateSubnet, zone) => routeTable(`private-${zone}`, [privateSubnet]));
    for (const [zone, table] of privateTables.entries()) {
      const nat = natGateways[zone] ?? natGateways[0];
      if (!nat) continue;
      new aws.ec2.Route(
        `${name}-private-${zone}-nat`,
        { routeTableId: table.id, destinationCidrBlock: "0.0.0.0/0", natGatewayId: nat.id },
        child,
      );
    }
    // Free, and image layers (S3) then don't pay for NAT.
    new aws.ec2.VpcEndpoint(
      `${name}-s3`,
      {
        vpcId: vpc.id,
        vpcEndpointType: "Gateway",
        serviceName: pulumi.interpolate`com.amazonaws.${args.region}.s3`,
        routeTableIds: [publicTable, ...privateTables].map(({ id }) => id),
        tags: tagged("s3"),
      },
      child,
    );

    this.vpcId = vpc.id;
    this.privateSubnetIds = privateSubnets.map(({ id }) => id);
    this.publicSubnetIds = publicSubnets.map(({ id }) => id);
    this.nodeSubnetIds = args.natGateways === "none" ? this.publicSubnetIds : this.privateSubnetIds;
    this.egressCidrs = addresses.map(({ publicIp }) => pulumi.interpolate`${publicIp}/32`);
    this.registerOutputs({
      vpcId: this.vpcId,
      privateSubnetIds: this.privateSubnetIds,
      publicSubnetIds: this.publicSubnetIds,
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

function subnetCidr(args: NetworkArgs, kind: "private" | "public", zone: number): string {
  const given = (kind === "private" ? args.privateCidrs : args.publicCidrs)[zone];
  if (given !== undefined) return given;
  const vpc = parseCidr(args.cidr);
  if (!vpc) throw new RangeError(`cidr must be an IPv4 network, got ${args.cidr}`);
  const { privateCidr, publicCidr } = zoneSubnets(vpc, zone);
  return kind === "private" ? privateCidr : publicCidr;
}

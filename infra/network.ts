import * as aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import { type ClusterNetwork, eksZones, Network } from "../components/network.ts";
import { userError } from "../components/user-error.ts";
import { overlaps, parseCidr } from "../lib/cidr.ts";
import type { Tags } from "../lib/labels.ts";
import { hubName } from "../lib/names.ts";
import type { Settings } from "./settings.ts";

export interface HubNetwork extends ClusterNetwork {
  /** IPv4 block of the VPC. */
  readonly cidr: pulumi.Input<string>;
  /** Fixed public source addresses of outgoing traffic, as CIDRs. */
  readonly egressCidrs: pulumi.Input<string>[];
  /** Zones of the region in which EKS has control planes. */
  readonly availabilityZones: pulumi.Output<string[]>;
  /** What must exist as long as there are nodes. */
  readonly dependencies: pulumi.Resource[];
}

/** The block of an existing VPC. @throws a user error where the Services would be in it. */
export function outsideOfServices(block: string, serviceIpv4Cidr: string): string {
  const [vpc, services] = [parseCidr(block), parseCidr(serviceIpv4Cidr)];
  if (vpc && services && overlaps(vpc, services))
    throw userError(
      `serviceIpv4Cidr: got ${serviceIpv4Cidr}, which overlaps ${block} of the VPC that vpcId names; EKS accepts a block outside of the VPC`,
    );
  return block;
}

/** A new VPC, or the existing one that the settings name. */
export function hubNetwork(settings: Settings, tags: Tags): HubNetwork {
  const { vpcId, privateSubnetIds, publicSubnetIds, egressCidrs, vpcCidr } = settings;
  if (vpcId)
    return {
      vpcId,
      cidr: aws.ec2
        .getVpcOutput({ id: vpcId })
        .cidrBlock.apply((block) => outsideOfServices(block, settings.serviceIpv4Cidr)),
      privateSubnetIds: [...privateSubnetIds],
      publicSubnetIds: [...publicSubnetIds],
      nodeSubnetIds: [...privateSubnetIds],
      egressCidrs: [...egressCidrs],
      availabilityZones: eksZones(),
      dependencies: [],
    };
  const { zones, availabilityZones, privateSubnetCidrs, publicSubnetCidrs, natGateways } = settings;
  const subnets = { zones, availabilityZones, privateSubnetCidrs, publicSubnetCidrs, natGateways };
  const made = new Network(hubName, { cidr: vpcCidr, ...subnets, tags });
  return {
    vpcId: made.vpcId,
    cidr: made.cidr,
    privateSubnetIds: made.privateSubnetIds,
    publicSubnetIds: made.publicSubnetIds,
    nodeSubnetIds: made.nodeSubnetIds,
    egressCidrs: made.egressCidrs,
    availabilityZones: made.availabilityZones,
    dependencies: [made],
  };
}

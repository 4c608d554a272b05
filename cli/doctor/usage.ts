import {
  DescribeAddressesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type Instance,
  NatGatewayState,
  paginateDescribeInstances,
  paginateDescribeNatGateways,
  paginateDescribeVpcEndpoints,
  paginateDescribeVpcs,
  type Tag,
  VpcEndpointType,
} from "@aws-sdk/client-ec2";
import { EKSClient, paginateListClusters } from "@aws-sdk/client-eks";
import { IAMClient, ListOpenIDConnectProvidersCommand, paginateListRoles } from "@aws-sdk/client-iam";
import { clusterTag, fleetTag } from "../../lib/labels.ts";
import { fleetNames, hubName } from "../../lib/names.ts";
import { type CapacityType, isStandard, type QuotaName } from "../../lib/quotas.ts";
import { all } from "../aws-calls.ts";
import type { AwsConfig } from "./aws.ts";

/** What counts towards a quota at present. */
export interface Usage {
  readonly used: number;
  /** Those of them that belong to the hub: the next `pulumi up` does not make these again. */
  readonly ofHub: number;
}

/** How a quota's use is counted. */
export interface Counter {
  /** IAM actions that this needs. */
  readonly actions: string;
  count(): Promise<Usage>;
}

/** Gateways in these states count (Amazon VPC User Guide, "Amazon VPC quotas"). */
const counting: readonly string[] = [NatGatewayState.PENDING, NatGatewayState.AVAILABLE, NatGatewayState.DELETING];

/** vCPUs of instances: of each core, one for every thread. */
const vcpusOf = (instances: readonly Instance[]): number =>
  instances.reduce(
    (sum, { CpuOptions: { CoreCount = 0, ThreadsPerCore = 0 } = {} }) => sum + CoreCount * ThreadsPerCore,
    0,
  );

/** How many there are of each key. */
function tally(keys: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts.values()];
}

/** The counters of an account and region; `fleet` tells which resources are its hub's. */
export function counters(fleet: string, config: AwsConfig): Readonly<Record<QuotaName, Counter>> {
  const ec2 = new EC2Client(config);
  const iam = new IAMClient(config);
  const eks = new EKSClient(config);
  const names = fleetNames(fleet);
  const isOfHub = ({ Tags = [] }: { Tags?: Tag[] | undefined }) =>
    [
      [fleetTag, fleet],
      [clusterTag, hubName],
    ].every(([key, value]) => Tags.some((tag) => tag.Key === key && tag.Value === value));
  const tagged = (items: readonly { Tags?: Tag[] | undefined }[]): Usage => ({
    used: items.length,
    ofHub: items.filter(isOfHub).length,
  });
  const vcpus = (capacityType: CapacityType): Counter => ({
    actions: "ec2:DescribeInstances",
    count: async () => {
      const Filters = [{ Name: "instance-state-name", Values: ["pending", "running"] }];
      const found = await all(paginateDescribeInstances({ client: ec2 }, { Filters }), ({ Reservations = [] }) =>
        Reservations.flatMap(({ Instances = [] }) => Instances),
      );
      const instances = found.filter(
        ({ InstanceType = "", InstanceLifecycle }) =>
          isStandard(InstanceType) && (InstanceLifecycle === "spot") === (capacityType === "SPOT"),
      );
      return { used: vcpusOf(instances), ofHub: vcpusOf(instances.filter(isOfHub)) };
    },
  });
  const clusterNames = () => all(paginateListClusters({ client: eks }, {}), ({ clusters }) => clusters);
  return {
    vpcs: {
      actions: "ec2:DescribeVpcs",
      count: async () => tagged(await all(paginateDescribeVpcs({ client: ec2 }, {}), ({ Vpcs }) => Vpcs)),
    },
    gatewayEndpoints: {
      actions: "ec2:DescribeVpcEndpoints",
      count: async () => {
        const found = await all(paginateDescribeVpcEndpoints({ client: ec2 }, {}), ({ VpcEndpoints }) => VpcEndpoints);
        return tagged(found.filter((endpoint) => endpoint.VpcEndpointType === VpcEndpointType.Gateway));
      },
    },
    addresses: {
      actions: "ec2:DescribeAddresses",
      count: async () => tagged((await ec2.send(new DescribeAddressesCommand({}))).Addresses ?? []),
    },
    natGateways: {
      actions: "ec2:DescribeNatGateways and ec2:DescribeSubnets",
      // The zone with the most of them reaches the quota first.
      count: async () => {
        const found = await all(paginateDescribeNatGateways({ client: ec2 }, {}), ({ NatGateways }) => NatGateways);
        const gateways = found.filter(({ State }) => counting.includes(State ?? ""));
        const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
        const zones = new Map(Subnets.map(({ SubnetId, AvailabilityZone }) => [SubnetId, AvailabilityZone]));
        const perZone = tally(gateways.map(({ SubnetId }) => zones.get(SubnetId) ?? ""));
        return { used: Math.max(0, ...perZone), ofHub: gateways.some(isOfHub) ? 1 : 0 };
      },
    },
    vcpus: vcpus("ON_DEMAND"),
    spotVcpus: vcpus("SPOT"),
    clusters: {
      actions: "eks:ListClusters",
      count: async () => {
        const found = await clusterNames();
        return { used: found.length, ofHub: found.includes(names.hubCluster) ? 1 : 0 };
      },
    },
    oidcProviders: {
      actions: "iam:ListOpenIDConnectProviders and eks:ListClusters",
      // The hub's own has no tag here; it exists if the hub's cluster does.
      count: async () => {
        const { OpenIDConnectProviderList = [] } = await iam.send(new ListOpenIDConnectProvidersCommand({}));
        return {
          used: OpenIDConnectProviderList.length,
          ofHub: (await clusterNames()).includes(names.hubCluster) ? 1 : 0,
        };
      },
    },
    roles: {
      actions: "iam:ListRoles",
      count: async () => {
        const found = await all(paginateListRoles({ client: iam }, {}), ({ Roles }) => Roles);
        const own = found.filter(({ RoleName = "" }) => RoleName.startsWith(`${names.hubCluster}-`));
        return { used: found.length, ofHub: own.length };
      },
    },
  };
}

import { DescribeAvailabilityZonesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { DescribeAddonVersionsCommand, EKSClient, paginateListNodegroups } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Aws } from "./connection.ts";
import { nodeGroup } from "./eks/node-group.ts";
import type { Properties } from "./handler.ts";

/** A lookup of the package (Terraform: a data source). */
export interface AwsFunction {
  readonly arguments: readonly string[];
  readonly required?: readonly string[];
  call(aws: Aws, args: Properties): Promise<Properties>;
}

/** Types a function by its arguments and forgets them. */
function lookup<A extends object>(definition: {
  arguments: (keyof A & string)[];
  required?: (keyof A & string)[];
  call(aws: Aws, args: A): Promise<Properties>;
}): AwsFunction {
  return definition as unknown as AwsFunction;
}

const getCallerIdentity = lookup<object>({
  arguments: [],
  async call(aws) {
    const { Account, Arn, UserId } = await aws.client(STSClient).send(new GetCallerIdentityCommand({}));
    return { accountId: Account, arn: Arn, id: Account, userId: UserId };
  },
});

const getPartition = lookup<object>({
  arguments: [],
  call: ({ partition, dnsSuffix }) =>
    Promise.resolve({
      dnsSuffix,
      id: partition,
      partition,
      reverseDnsPrefix: dnsSuffix.split(".").reverse().join("."),
    }),
});

const getRegion = lookup<{ region?: string }>({
  arguments: ["region"],
  call(aws, args) {
    const region = args.region ?? aws.region;
    // The description ("US East (N. Virginia)") is in no AWS API; the stand-in gives the name again.
    return Promise.resolve({
      description: region,
      endpoint: `ec2.${region}.${aws.dnsSuffix}`,
      id: region,
      name: region,
      region,
    });
  },
});

interface Zones {
  allAvailabilityZones?: boolean;
  excludeNames?: string[];
  excludeZoneIds?: string[];
  filters?: { name: string; values: string[] }[];
  region?: string;
  state?: string;
}

const getAvailabilityZones = lookup<Zones>({
  arguments: ["allAvailabilityZones", "excludeNames", "excludeZoneIds", "filters", "region", "state"],
  async call(aws, args) {
    const filters = (args.filters ?? []).map(({ name, values }) => ({ Name: name, Values: values }));
    const state = args.state ? [{ Name: "state", Values: [args.state] }] : [];
    const { AvailabilityZones } = await aws
      .inRegion(args.region)
      .client(EC2Client)
      .send(
        new DescribeAvailabilityZonesCommand({
          AllAvailabilityZones: args.allAvailabilityZones,
          ...(filters.length + state.length > 0 && { Filters: [...filters, ...state] }),
        }),
      );
    const zones = (AvailabilityZones ?? [])
      .filter(
        ({ ZoneName, ZoneId }) =>
          !args.excludeNames?.includes(ZoneName ?? "") && !args.excludeZoneIds?.includes(ZoneId ?? ""),
      )
      .sort((a, b) => ((a.ZoneName ?? "") < (b.ZoneName ?? "") ? -1 : 1));
    const region = args.region ?? aws.region;
    return {
      ...args,
      groupNames: [...new Set(zones.map(({ GroupName }) => GroupName ?? region))],
      id: region,
      names: zones.map(({ ZoneName }) => ZoneName),
      region,
      zoneIds: zones.map(({ ZoneId }) => ZoneId),
    };
  },
});

interface AddonVersion {
  addonName: string;
  kubernetesVersion: string;
  mostRecent?: boolean;
  region?: string;
}

const getAddonVersion = lookup<AddonVersion>({
  arguments: ["addonName", "kubernetesVersion", "mostRecent", "region"],
  required: ["addonName", "kubernetesVersion"],
  async call(aws, args) {
    const { addonName, kubernetesVersion } = args;
    const { addons } = await aws
      .inRegion(args.region)
      .client(EKSClient)
      .send(new DescribeAddonVersionsCommand({ addonName, kubernetesVersion }));
    // EKS lists the newest first and marks the default of the Kubernetes version.
    const versions = addons?.find((addon) => addon.addonName === addonName)?.addonVersions ?? [];
    const isDefault = (version: (typeof versions)[number]) =>
      version.compatibilities?.some((c) => c.defaultVersion && c.clusterVersion === kubernetesVersion);
    const found = args.mostRecent ? versions[0] : versions.find(isDefault);
    if (!found) throw new Error(`EKS has no version of add-on "${addonName}" for Kubernetes ${kubernetesVersion}`);
    return { ...args, id: addonName, region: args.region ?? aws.region, version: found.addonVersion };
  },
});

interface NodeGroupNames {
  clusterName: string;
  nodeGroupName: string;
  region?: string;
}

const getNodeGroups = lookup<Omit<NodeGroupNames, "nodeGroupName">>({
  arguments: ["clusterName", "region"],
  required: ["clusterName"],
  async call(aws, args) {
    const client = aws.inRegion(args.region).client(EKSClient);
    const names: string[] = [];
    for await (const { nodegroups } of paginateListNodegroups({ client }, { clusterName: args.clusterName }))
      names.push(...(nodegroups ?? []));
    return { ...args, id: args.clusterName, names, region: args.region ?? aws.region };
  },
});

const getNodeGroup = lookup<NodeGroupNames>({
  arguments: ["clusterName", "nodeGroupName", "region"],
  required: ["clusterName", "nodeGroupName"],
  async call(aws, args) {
    const { clusterName, nodeGroupName } = args;
    const id = `${clusterName}:${nodeGroupName}`;
    const properties = await nodeGroup.read(aws.inRegion(args.region), id, {});
    if (!properties) throw new Error(`EKS has no node group ${id}`);
    return { ...properties, id, region: args.region ?? aws.region };
  },
});

/** Functions by Pulumi token. */
export const functions: Readonly<Record<string, AwsFunction>> = {
  "aws:index/getAvailabilityZones:getAvailabilityZones": getAvailabilityZones,
  "aws:index/getCallerIdentity:getCallerIdentity": getCallerIdentity,
  "aws:index/getPartition:getPartition": getPartition,
  "aws:index/getRegion:getRegion": getRegion,
  "aws:eks/getAddonVersion:getAddonVersion": getAddonVersion,
  "aws:eks/getNodeGroup:getNodeGroup": getNodeGroup,
  "aws:eks/getNodeGroups:getNodeGroups": getNodeGroups,
};

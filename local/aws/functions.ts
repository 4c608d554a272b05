import { DescribeAvailabilityZonesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { DescribeAddonVersionsCommand, EKSClient, paginateListClusters } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Aws } from "./connection.ts";
import { cluster } from "./eks/cluster.ts";
import type { Properties } from "./properties.ts";

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

const getRegion = lookup<object>({
  arguments: [],
  call: ({ region, dnsSuffix }) =>
    // The description ("US East (N. Virginia)") is in no AWS API; the stand-in gives the name again.
    Promise.resolve({ description: region, endpoint: `ec2.${region}.${dnsSuffix}`, id: region, name: region, region }),
});

interface Zones {
  excludeZoneIds?: string[];
  filters?: { name: string; values: string[] }[];
  state?: string;
}

const getAvailabilityZones = lookup<Zones>({
  arguments: ["excludeZoneIds", "filters", "state"],
  async call(aws, args) {
    const { region } = aws;
    const { excludeZoneIds = [], filters = [], state } = args;
    const all = [...filters, ...(state ? [{ name: "state", values: [state] }] : [])];
    const { AvailabilityZones = [] } = await aws.client(EC2Client).send(
      new DescribeAvailabilityZonesCommand({
        ...(all.length > 0 && { Filters: all.map(({ name, values }) => ({ Name: name, Values: values })) }),
      }),
    );
    const zones = AvailabilityZones.filter(({ ZoneId = "" }) => !excludeZoneIds.includes(ZoneId)).sort((a, b) =>
      (a.ZoneName ?? "") < (b.ZoneName ?? "") ? -1 : 1,
    );
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

const getAddonVersion = lookup<{ addonName: string; kubernetesVersion: string }>({
  arguments: ["addonName", "kubernetesVersion"],
  required: ["addonName", "kubernetesVersion"],
  async call(aws, args) {
    const { addonName, kubernetesVersion } = args;
    const { addons } = await aws.client(EKSClient).send(new DescribeAddonVersionsCommand(args));
    const versions = addons?.find((addon) => addon.addonName === addonName)?.addonVersions ?? [];
    // EKS marks the default of the Kubernetes version.
    const found = versions.find(({ compatibilities = [] }) =>
      compatibilities.some((c) => c.defaultVersion && c.clusterVersion === kubernetesVersion),
    );
    if (!found) throw new Error(`EKS has no version of add-on "${addonName}" for Kubernetes ${kubernetesVersion}`);
    return { ...args, id: addonName, region: aws.region, version: found.addonVersion };
  },
});

const getClusters = lookup<object>({
  arguments: [],
  async call(aws) {
    const names: string[] = [];
    for await (const { clusters } of paginateListClusters({ client: aws.client(EKSClient) }, {}))
      names.push(...(clusters ?? []));
    return { id: aws.region, names, region: aws.region };
  },
});

const getCluster = lookup<{ name: string }>({
  arguments: ["name"],
  required: ["name"],
  async call(aws, { name }) {
    const properties = await cluster.read(aws, name, {});
    if (!properties) throw new Error(`EKS has no cluster ${name}`);
    // The package has the lists of Terraform's data source here.
    return { ...properties, kubernetesNetworkConfigs: [properties["kubernetesNetworkConfig"]], id: name, name };
  },
});

/** Functions by Pulumi token. */
export const functions: Readonly<Record<string, AwsFunction>> = {
  "aws:index/getAvailabilityZones:getAvailabilityZones": getAvailabilityZones,
  "aws:index/getCallerIdentity:getCallerIdentity": getCallerIdentity,
  "aws:index/getPartition:getPartition": getPartition,
  "aws:index/getRegion:getRegion": getRegion,
  "aws:eks/getAddonVersion:getAddonVersion": getAddonVersion,
  "aws:eks/getCluster:getCluster": getCluster,
  "aws:eks/getClusters:getClusters": getClusters,
};

import {
  AssociateEncryptionConfigCommand,
  type AuthenticationMode,
  type Cluster,
  CreateClusterCommand,
  DeleteClusterCommand,
  DescribeClusterCommand,
  type LogType,
  type SupportType,
  type Update,
  UpdateClusterConfigCommand,
  type UpdateClusterConfigRequest,
  UpdateClusterVersionCommand,
} from "@aws-sdk/client-eks";
import type { Aws } from "../clients.ts";
import { hasCode, orGone } from "../errors.ts";
import { type Change, finishing, type Properties, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { ownTags } from "../tags.ts";
import { healthText, syncEksTags, updated } from "./common.ts";

interface Inputs extends Tagged {
  name: string;
  roleArn: string;
  version?: string;
  vpcConfig: {
    subnetIds: string[];
    securityGroupIds?: string[];
    endpointPrivateAccess?: boolean;
    endpointPublicAccess?: boolean;
    publicAccessCidrs?: string[];
  };
  accessConfig?: { authenticationMode?: AuthenticationMode; bootstrapClusterCreatorAdminPermissions?: boolean };
  bootstrapSelfManagedAddons?: boolean;
  deletionProtection?: boolean;
  enabledClusterLogTypes?: LogType[];
  encryptionConfig?: { provider: { keyArn: string }; resources: string[] };
  forceUpdateVersion?: boolean;
  kubernetesNetworkConfig?: { serviceIpv4Cidr?: string; ipFamily?: "ipv4" | "ipv6" };
  upgradePolicy?: { supportType?: SupportType };
}

const logTypes: LogType[] = ["api", "audit", "authenticator", "controllerManager", "scheduler"];

/** EKS takes the whole logging configuration: what is not enabled is disabled. */
function logging(enabled: LogType[] | undefined) {
  const on = enabled ?? [];
  const off = logTypes.filter((type) => !on.includes(type));
  return {
    clusterLogging: [
      { types: on, enabled: true },
      { types: off, enabled: false },
    ].filter((l) => l.types.length > 0),
  };
}

const encryption = (config: Inputs["encryptionConfig"]) => (config ? [config] : undefined);

async function find(aws: Aws, name: string): Promise<Cluster | undefined> {
  return (await orGone(aws.eks.send(new DescribeClusterCommand({ name }))))?.cluster;
}

async function active(aws: Aws, name: string): Promise<true | undefined> {
  const actual = await find(aws, name);
  if (!actual || actual.status === "FAILED" || actual.status === "DELETING")
    throw new Error(`EKS cluster ${name} is ${actual?.status ?? "gone"}: ${healthText(actual?.health?.issues)}`);
  return actual.status === "ACTIVE" ? true : undefined;
}

const ready = (aws: Aws, name: string) =>
  poll({ what: `EKS cluster ${name} to become ACTIVE`, timeout: aws.timeout }, () => active(aws, name));

function properties(actual: Cluster): Properties {
  const { resourcesVpcConfig: vpc, kubernetesNetworkConfig: network, encryptionConfig, identity } = actual;
  const enabled = actual.logging?.clusterLogging?.find((setup) => setup.enabled)?.types ?? [];
  const encrypted = encryptionConfig?.[0];
  return {
    accessConfig: {
      authenticationMode: actual.accessConfig?.authenticationMode,
      bootstrapClusterCreatorAdminPermissions: actual.accessConfig?.bootstrapClusterCreatorAdminPermissions,
    },
    arn: actual.arn,
    certificateAuthority: { data: actual.certificateAuthority?.data },
    createdAt: actual.createdAt?.toISOString(),
    deletionProtection: actual.deletionProtection ?? false,
    enabledClusterLogTypes: enabled,
    ...(encrypted && {
      encryptionConfig: { provider: { keyArn: encrypted.provider?.keyArn }, resources: encrypted.resources },
    }),
    endpoint: actual.endpoint,
    identities: [{ oidcs: [{ issuer: identity?.oidc?.issuer }] }],
    kubernetesNetworkConfig: {
      ipFamily: network?.ipFamily,
      serviceIpv4Cidr: network?.serviceIpv4Cidr,
      serviceIpv6Cidr: network?.serviceIpv6Cidr,
    },
    name: actual.name,
    platformVersion: actual.platformVersion,
    roleArn: actual.roleArn,
    status: actual.status,
    tagsAll: ownTags(actual.tags),
    upgradePolicy: { supportType: actual.upgradePolicy?.supportType },
    version: actual.version,
    vpcConfig: {
      clusterSecurityGroupId: vpc?.clusterSecurityGroupId,
      endpointPrivateAccess: vpc?.endpointPrivateAccess,
      endpointPublicAccess: vpc?.endpointPublicAccess,
      publicAccessCidrs: vpc?.publicAccessCidrs,
      securityGroupIds: vpc?.securityGroupIds,
      subnetIds: vpc?.subnetIds,
      vpcId: vpc?.vpcId,
    },
  };
}

/** EKS runs one update at a time and takes one kind of change a call. */
function configChanges(change: Change<Inputs>): Omit<UpdateClusterConfigRequest, "name">[] {
  const { new: inputs, old } = change;
  const { subnetIds, securityGroupIds, ...endpoint } = inputs.vpcConfig;
  const { subnetIds: oldSubnets, securityGroupIds: oldGroups, ...oldEndpoint } = old.vpcConfig;
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  const sorted = (items: string[] | undefined) => [...(items ?? [])].sort();
  const calls: Omit<UpdateClusterConfigRequest, "name">[] = [];
  if (change.has("accessConfig"))
    calls.push({ accessConfig: { authenticationMode: inputs.accessConfig?.authenticationMode } });
  if (differs(sorted(subnetIds), sorted(oldSubnets)) || differs(sorted(securityGroupIds), sorted(oldGroups)))
    calls.push({ resourcesVpcConfig: { subnetIds, securityGroupIds } });
  const cidrs = ({ publicAccessCidrs, ...flags }: typeof endpoint) => [flags, sorted(publicAccessCidrs)];
  if (differs(cidrs(endpoint), cidrs(oldEndpoint))) calls.push({ resourcesVpcConfig: endpoint });
  if (change.has("enabledClusterLogTypes")) calls.push({ logging: logging(inputs.enabledClusterLogTypes) });
  if (change.has("upgradePolicy")) calls.push({ upgradePolicy: inputs.upgradePolicy });
  if (change.has("deletionProtection")) calls.push({ deletionProtection: inputs.deletionProtection });
  return calls;
}

export const cluster = resource<Inputs>({
  token: "aws:eks/cluster:Cluster",
  tagged: true,
  inputs: [
    ...["name", "roleArn", "version", "bootstrapSelfManagedAddons", "deletionProtection", "forceUpdateVersion"],
    ...["subnetIds", "securityGroupIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs"].map(
      (name) => `vpcConfig.${name}`,
    ),
    "accessConfig.authenticationMode",
    "accessConfig.bootstrapClusterCreatorAdminPermissions",
    "enabledClusterLogTypes",
    "encryptionConfig.provider.keyArn",
    "encryptionConfig.resources",
    "kubernetesNetworkConfig.serviceIpv4Cidr",
    "kubernetesNetworkConfig.ipFamily",
    "upgradePolicy.supportType",
  ],
  computed: ["accessConfig", "kubernetesNetworkConfig", "upgradePolicy", "version", "deletionProtection"],
  completed: ["vpcConfig.clusterSecurityGroupId", "vpcConfig.vpcId"],
  replaceOn: [
    ...["name", "roleArn", "bootstrapSelfManagedAddons", "encryptionConfig.provider", "encryptionConfig.resources"],
    ...["accessConfig.bootstrapClusterCreatorAdminPermissions", "kubernetesNetworkConfig"],
  ],
  defaults: {
    bootstrapSelfManagedAddons: true,
    "vpcConfig.endpointPrivateAccess": false,
    "vpcConfig.endpointPublicAccess": true,
  },
  autoName: { property: "name", maxLength: 100 },
  sets: [
    ...["vpcConfig.subnetIds", "vpcConfig.securityGroupIds", "vpcConfig.publicAccessCidrs", "enabledClusterLogTypes"],
    "encryptionConfig.resources",
  ],
  unread: ["bootstrapSelfManagedAddons", "forceUpdateVersion"],
  changedByUpdate: ["platformVersion", "status"],
  failed: ["FAILED"],

  async create(aws, inputs) {
    await aws.eks.send(
      new CreateClusterCommand({
        name: inputs.name,
        roleArn: inputs.roleArn,
        version: inputs.version,
        resourcesVpcConfig: inputs.vpcConfig,
        accessConfig: inputs.accessConfig,
        bootstrapSelfManagedAddons: inputs.bootstrapSelfManagedAddons,
        deletionProtection: inputs.deletionProtection,
        logging: logging(inputs.enabledClusterLogTypes),
        encryptionConfig: encryption(inputs.encryptionConfig),
        kubernetesNetworkConfig: inputs.kubernetesNetworkConfig,
        upgradePolicy: inputs.upgradePolicy,
        tags: inputs.tagsAll,
      }),
    );
    return finishing(inputs.name, (id) => ready(aws, id));
  },

  ready,

  async read(aws, id) {
    const actual = await find(aws, id);
    return actual && actual.status !== "DELETING" ? properties(actual) : null;
  },

  async update(aws, id, change) {
    const done = (update: Update | undefined) => updated(aws, { cluster: id }, update);
    if (change.has("version")) {
      const { update } = await aws.eks.send(
        new UpdateClusterVersionCommand({
          name: id,
          version: change.new.version,
          force: change.new.forceUpdateVersion,
        }),
      );
      await done(update);
    }
    if (change.has("encryptionConfig")) {
      const { update } = await aws.eks.send(
        new AssociateEncryptionConfigCommand({
          clusterName: id,
          encryptionConfig: encryption(change.new.encryptionConfig),
        }),
      );
      await done(update);
    }
    for (const config of configChanges(change))
      await done((await aws.eks.send(new UpdateClusterConfigCommand({ name: id, ...config }))).update);
    await syncEksTags(aws, (await find(aws, id))?.arn as string, change);
  },

  async delete(aws, id) {
    try {
      await orGone(aws.eks.send(new DeleteClusterCommand({ name: id })));
    } catch (error) {
      // A deletion that runs already (an interrupted destroy) is waited for.
      if (!hasCode(error, "ResourceInUseException") || (await find(aws, id))?.status !== "DELETING") throw error;
    }
    await poll({ what: `EKS cluster ${id} to be deleted`, timeout: aws.timeout }, async () =>
      (await find(aws, id)) ? undefined : true,
    );
  },
});

import * as z from "zod";
import { asksForAutoMode, autoModeAfter, nodeEntry } from "./auto-mode.ts";
import * as config from "./cluster-config.ts";
import { expectActive } from "./clusters.ts";
import { inUse, invalidParameter, invalidRequest } from "./errors.ts";
import type { ClusterRecord, Update } from "./model.ts";
import {
  changed,
  clientRequestToken,
  type EksContext,
  type Operation,
  onCluster,
  operation,
  type Request,
  text,
} from "./operation.ts";
import { beginUpdate, runningUpdates } from "./updates.ts";
import { kubernetesVersion, minorOf } from "./versions.ts";

/** Changes the record; gives the update's type and parameters. */
type Edit = (record: ClusterRecord) => [type: NonNullable<Update["type"]>, params: Record<string, unknown>];

export const clusterUpdateOperations: readonly Operation[] = [
  operation(
    "UpdateClusterVersion",
    { name: text, version: kubernetesVersion, force: z.boolean().optional(), clientRequestToken },
    onCluster,
    (context, { name, version }) => updateCluster(context, name, versionEdit(version)),
  ),
  operation(
    "UpdateClusterConfig",
    { name: text, ...config.settings, clientRequestToken },
    onCluster,
    async (context, { name, clientRequestToken: _, ...asked }) =>
      updateCluster(context, name, await configEdit(context, context.store.get(name), asked)),
  ),
  operation(
    "AssociateEncryptionConfig",
    { clusterName: text, encryptionConfig: config.encryptionConfig, clientRequestToken },
    onCluster,
    async (context, { clusterName, encryptionConfig }) => {
      await config.expectKey(context, encryptionConfig);
      return updateCluster(context, clusterName, ({ cluster }) => {
        if (cluster.encryptionConfig !== undefined)
          throw invalidParameter("Encryption config is already enabled for the cluster");
        Object.assign(cluster, { encryptionConfig });
        return ["AssociateEncryptionConfig", { encryptionConfig }];
      });
    },
  ),
];

function updateCluster(context: EksContext, name: string, edit: Edit): Promise<{ update: Update }> {
  return changed(context, name, (record) => {
    if (runningUpdates(record).length > 0) throw inUse(`Cluster ${name} has an update in progress`);
    expectActive(record);
    const [type, params] = edit(record);
    record.cluster.status = "UPDATING";
    return { update: beginUpdate(context, record, type, params) };
  });
}

/**
 * One minor at a time; the control plane restarts under the new one, node groups are never more than that behind. EKS also accepts the
 * previous minor for seven days (EKS User Guide, "Roll back cluster"), which is not emulated.
 */
const versionEdit =
  (version: string): Edit =>
  ({ cluster, nodegroups }) => {
    const next = minorOf(cluster.version) + 1;
    if (minorOf(version) !== next)
      throw invalidParameter(
        `Unsupported Kubernetes minor version update from ${cluster.version} to ${version}: allowed is 1.${next}, a rollback is not emulated`,
      );
    const behind = Object.values(nodegroups).filter(({ nodegroup }) => next - minorOf(nodegroup.version) > 3);
    if (behind.length > 0)
      throw invalidRequest(
        `Nodegroups ${behind.map(({ nodegroup }) => nodegroup.nodegroupName).join(", ")} must be updated first: they would be more than three minors behind ${version}`,
      );
    return ["VersionUpdate", { version, platformVersion: cluster.platformVersion }];
  };

type Asked = Request<typeof config.settings>;

async function configEdit(context: EksContext, record: ClusterRecord, asked: Asked): Promise<Edit> {
  if (asksForAutoMode(asked)) return autoModeEdit(context, record, asked);
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  if (given.length !== 1)
    throw invalidParameter(
      `exactly one type of update can be made at a time, got ${given.map(([member]) => member).join(", ") || "none"}`,
    );
  const { resourcesVpcConfig: vpc, logging, accessConfig, upgradePolicy, deletionProtection } = asked;
  if (vpc !== undefined) return vpcEdit(context, record, vpc);
  if (logging !== undefined) return loggingEdit(logging);
  if (accessConfig !== undefined)
    throw invalidParameter("Cluster is already at the desired configuration with authenticationMode: API");
  return ({ cluster }) => {
    Object.assign(cluster, Object.fromEntries(given));
    return upgradePolicy === undefined
      ? ["DeletionProtectionUpdate", { deletionProtection }]
      : ["UpgradePolicyUpdate", { upgradePolicy }];
  };
}

/** Compute, storage and load balancing of EKS Auto Mode are one type of update. */
async function autoModeEdit(context: EksContext, record: ClusterRecord, asked: Asked): Promise<Edit> {
  const { computeConfig, storageConfig, kubernetesNetworkConfig, ...others } = asked;
  const more = Object.entries(others).flatMap(([member, value]) => (value === undefined ? [] : [member]));
  if (more.length > 0)
    throw invalidParameter(
      `exactly one type of update can be made at a time, got that of EKS Auto Mode and ${more.join(", ")}`,
    );
  const auto = await autoModeAfter(context, record.cluster.roleArn, asked, record.cluster);
  if (auto === undefined)
    throw invalidParameter("Cluster is already at the desired configuration with EKS Auto Mode disabled");
  const { elasticLoadBalancing, ...configs } = auto;
  const entry = await nodeEntry(context, { ...record, cluster: { ...record.cluster, ...configs } });
  return ({ cluster, accessEntries }) => {
    Object.assign(cluster, configs);
    cluster.kubernetesNetworkConfig = { ...cluster.kubernetesNetworkConfig, elasticLoadBalancing };
    if (entry !== undefined) accessEntries[entry.entry.principalArn] ??= entry;
    return ["AutoModeUpdate", { computeConfig, storageConfig, kubernetesNetworkConfig }];
  };
}

async function vpcEdit(
  context: EksContext,
  { cluster: { resourcesVpcConfig: now } }: ClusterRecord,
  asked: NonNullable<Asked["resourcesVpcConfig"]>,
): Promise<Edit> {
  if (asked.subnetIds !== undefined || asked.securityGroupIds !== undefined) {
    const { subnetIds = now.subnetIds, securityGroupIds = now.securityGroupIds } = asked;
    const { vpcId, ...network } = await config.networkConfig(context, { subnetIds, securityGroupIds });
    if (vpcId !== now.vpcId)
      throw invalidParameter(`Subnets specified must belong to the cluster's VPC ${now.vpcId ?? ""}`);
    return ({ cluster }) => {
      Object.assign(cluster.resourcesVpcConfig, network);
      return ["VpcConfigUpdate", { subnetIds, securityGroupIds }];
    };
  }
  const access = config.endpointAccess(asked, now);
  return ({ cluster }) => {
    if (JSON.stringify(access) === JSON.stringify(config.endpointAccess({}, now)))
      throw invalidParameter("Cluster is already at the desired configuration with the endpoint access asked for");
    Object.assign(cluster.resourcesVpcConfig, access);
    return ["EndpointAccessUpdate", access];
  };
}

const loggingEdit =
  (asked: NonNullable<Asked["logging"]>): Edit =>
  ({ cluster }) => {
    const next = config.loggingWith(config.enabledTypes(cluster.logging, asked));
    if (JSON.stringify(next) === JSON.stringify(cluster.logging))
      throw invalidParameter("No changes needed for the logging config provided");
    cluster.logging = next;
    return ["LoggingUpdate", { clusterLogging: config.loggingWith(config.enabledTypes(undefined, asked)) }];
  };

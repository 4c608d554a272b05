import { randomBytes } from "node:crypto";
import * as z from "zod";
import { quotas } from "../../product.ts";
import { bootstrapEntry } from "./access-entries.ts";
import { selfManaged } from "./addon-catalog.ts";
import { autoModeAfter, nodeEntry } from "./auto-mode.ts";
import * as config from "./cluster-config.ts";
import { inUse, invalidParameter, invalidRequest, limitExceeded } from "./errors.ts";
import type { Cluster, ClusterRecord } from "./model.ts";
import {
  changed,
  clientRequestToken,
  type EksContext,
  eksArn,
  list,
  type Operation,
  onAnything,
  onCluster,
  operation,
  passedRole,
  type Request,
  tags,
  text,
} from "./operation.ts";
import { assumableRole } from "./principals.ts";
import { DEFAULT_VERSION, kubernetesVersion, PLATFORM_VERSION } from "./versions.ts";

const shape = {
  // CreateCluster, API reference.
  name: z
    .string()
    .regex(
      /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/,
      'allowed are 1 to 100 letters, digits, "-" and "_", the first a letter or digit',
    ),
  version: kubernetesVersion.default(DEFAULT_VERSION),
  roleArn: text,
  ...config.newSettings,
  kubernetesNetworkConfig: config.kubernetesNetworkConfig.optional(),
  encryptionConfig: config.encryptionConfig.optional(),
  bootstrapSelfManagedAddons: z.boolean().default(true),
  clientRequestToken,
  tags: tags.default({}),
};

export const clusterOperations: readonly Operation[] = [
  operation(
    "CreateCluster",
    shape,
    (context, request) => ({
      ...onCluster(context, request),
      passRoles: passedRole(request["roleArn"], "eks.amazonaws.com"),
    }),
    createCluster,
  ),
  list("ListClusters", {
    member: "clusters",
    shape: {},
    authorize: onAnything,
    items: ({ store }) => store.list(),
    keyOf: ({ cluster }) => cluster.name,
  }),
  operation("DescribeCluster", { name: text }, onCluster, ({ store }, { name }) => ({
    cluster: store.get(name).cluster,
  })),
  operation("DeleteCluster", { name: text }, onCluster, (context, { name }) =>
    changed(context, name, (record) => ({ cluster: deleting(record) })),
  ),
];

async function createCluster(
  context: EksContext,
  request: Request<typeof shape>,
  caller: string,
): Promise<{ cluster: Cluster }> {
  const { name, roleArn, encryptionConfig, clientRequestToken, accessConfig } = request;
  const existing = context.store.find(name);
  if (existing !== undefined) {
    // A repeated request (the SDK's retry carries the same token) gets the same answer.
    if (clientRequestToken !== undefined && existing.clientRequestToken === clientRequestToken)
      return { cluster: existing.cluster };
    throw inUse(`Cluster already exists with name: ${name}`, { clusterName: name });
  }
  // The message as EKS has it: pulumi/pulumi-eks#1311.
  if (context.store.list().length >= (await context.aws.quota(quotas.clusters)))
    throw limitExceeded("Cluster limit exceeded for account.", { clusterName: name });
  await assumableRole(context, roleArn, "eks.amazonaws.com");
  const auto = await autoModeAfter(context, roleArn, request);
  if (auto !== undefined && request.bootstrapSelfManagedAddons)
    throw invalidParameter(
      "bootstrapSelfManagedAddons must be false for a cluster with EKS Auto Mode, which has its add-ons built in",
    );
  if (encryptionConfig !== undefined) await config.expectKey(context, encryptionConfig);
  const vpc = await config.networkConfig(context, request.resourcesVpcConfig);
  const { serviceIpv4Cidr } = request.kubernetesNetworkConfig ?? {};
  await config.expectOutside(context, serviceIpv4Cidr, vpc.vpcId ?? "");
  const access = config.endpointAccess(request.resourcesVpcConfig, undefined);
  const isAdmin = accessConfig.bootstrapClusterCreatorAdminPermissions;
  const entry = isAdmin ? await bootstrapEntry(context, name, caller) : undefined;
  const number = context.store.freeNumber(context.clusters.of(name).numbers);
  const oidcId = randomBytes(16).toString("hex").toUpperCase();
  const record: ClusterRecord = {
    number,
    oidcId,
    clientRequestToken,
    ...{ selfManagedNodes: [], autoNodes: [] },
    preserved: request.bootstrapSelfManagedAddons ? selfManaged() : {},
    cluster: {
      name,
      arn: eksArn(context, `cluster/${name}`),
      createdAt: context.now(),
      version: request.version,
      roleArn,
      resourcesVpcConfig: { ...vpc, ...access },
      kubernetesNetworkConfig: {
        serviceIpv4Cidr: serviceIpv4Cidr ?? context.clusters.of(name).addresses(number).serviceCidr,
        ipFamily: "ipv4",
        elasticLoadBalancing: auto?.elasticLoadBalancing ?? { enabled: false },
      },
      ...(auto && { computeConfig: auto.computeConfig, storageConfig: auto.storageConfig }),
      logging: config.loggingWith(config.enabledTypes(undefined, request.logging)),
      identity: { oidc: { issuer: `https://oidc.eks.${context.region}.amazonaws.com/id/${oidcId}` } },
      status: "CREATING",
      certificateAuthority: {},
      platformVersion: PLATFORM_VERSION,
      tags: request.tags,
      ...(encryptionConfig && { encryptionConfig }),
      health: { issues: [] },
      accessConfig,
      upgradePolicy: request.upgradePolicy,
      deletionProtection: request.deletionProtection,
    },
    nodegroups: {},
    accessEntries: entry === undefined ? {} : { [entry.entry.principalArn]: entry },
    addons: {},
    podIdentityAssociations: {},
    updates: {},
  };
  const ofNodes = await nodeEntry(context, record);
  if (ofNodes !== undefined) record.accessEntries[ofNodes.entry.principalArn] = ofNodes;
  await context.store.add(record);
  context.wake(name);
  return { cluster: record.cluster };
}

/** Marks the cluster as DELETING. Throws when it can't be deleted now. */
function deleting({ cluster, nodegroups }: ClusterRecord): Cluster {
  const { name, status } = cluster;
  if (cluster.deletionProtection === true)
    throw invalidRequest(
      `Cannot delete cluster ${name} because deletion protection is enabled: turn it off with UpdateClusterConfig first`,
    );
  const groups = Object.keys(nodegroups);
  if (groups.length > 0) throw inUse(`Cluster has nodegroups attached: ${groups.join(", ")}`, { clusterName: name });
  if (status === "CREATING" || status === "UPDATING")
    throw inUse(`Cluster ${name} can't be deleted while its status is ${status}`);
  return Object.assign(cluster, { status: "DELETING" });
}

/** Throws InvalidRequestException unless the cluster is ACTIVE. */
export function expectActive({ cluster }: ClusterRecord): void {
  if (cluster.status !== "ACTIVE")
    throw invalidRequest(`Cluster '${cluster.name}' is not in ACTIVE status, got ${cluster.status}`);
}

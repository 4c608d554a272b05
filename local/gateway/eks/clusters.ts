import { randomBytes } from "node:crypto";
import { quotas } from "../../../lib/quotas.ts";
import { bootstrapEntry } from "./access-entries.ts";
import { clusterSpec, vpcConfig } from "./cluster-config.ts";
import { EksError, inUse, invalidRequest } from "./errors.ts";
import type { Cluster, ClusterRecord } from "./model.ts";
import {
  type Call,
  type EksContext,
  eksArn,
  keyValue,
  type Operation,
  onCluster,
  optionalString,
  page,
  passedRole,
  pathPart,
  requiredString,
  tagsOf,
} from "./operation.ts";
import { PLATFORM_VERSION } from "./versions.ts";

/** 1 to 100 letters, digits, "-" and "_", the first a letter or digit (CreateCluster, API reference). */
const NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;

export const clusterOperations: readonly Operation[] = [
  {
    name: "CreateCluster",
    method: "POST",
    path: "/clusters",
    accepts: [
      "name",
      "version",
      "roleArn",
      "resourcesVpcConfig",
      "kubernetesNetworkConfig",
      "logging",
      "clientRequestToken",
      "tags",
      "encryptionConfig",
      "accessConfig",
      "bootstrapSelfManagedAddons",
      "upgradePolicy",
      "deletionProtection",
    ],
    authorize: (context, call) => ({
      resource: eksArn(context, `cluster/${keyValue(call.body["name"])}`),
      passRoles: passedRole(call.body["roleArn"], "eks.amazonaws.com"),
    }),
    run: createCluster,
  },
  {
    name: "ListClusters",
    method: "GET",
    path: "/clusters",
    authorize: () => ({ resource: "*" }),
    run: (context, call) => {
      const { items, ...rest } = page(context.store.list(), call.query, (record) => record.cluster.name);
      return { clusters: items.map((record) => record.cluster.name), ...rest };
    },
  },
  {
    name: "DescribeCluster",
    method: "GET",
    path: "/clusters/{name}",
    authorize: onCluster,
    run: (context, call) => ({ cluster: context.store.get(pathPart(call, "name")).cluster }),
  },
  { name: "DeleteCluster", method: "DELETE", path: "/clusters/{name}", authorize: onCluster, run: deleteCluster },
];

async function createCluster(context: EksContext, call: Call): Promise<{ cluster: Cluster }> {
  const name = requiredString(call.body, "name");
  if (!NAME.test(name))
    throw new EksError(
      "InvalidParameterException",
      `name: got ${JSON.stringify(name)}, allowed are 1 to 100 letters, digits, "-" and "_", the first a letter or digit`,
    );
  const token = optionalString(call.body, "clientRequestToken");
  const existing = context.store.find(name);
  if (existing !== undefined) {
    // A repeated request (the SDK's retry carries the same token) gets the same answer.
    if (token !== undefined && existing.clientRequestToken === token) return { cluster: existing.cluster };
    throw new EksError("ResourceInUseException", `Cluster already exists with name: ${name}`, { clusterName: name });
  }
  // The message as EKS has it: pulumi/pulumi-eks#1311.
  if (context.store.list().length >= (await context.aws.quota(quotas.clusters)))
    throw new EksError("ResourceLimitExceededException", "Cluster limit exceeded for account.", { clusterName: name });
  const spec = await clusterSpec(context, call.body);
  const vpc = await vpcConfig(context, call.body);
  const entry = spec.creatorIsAdmin ? await bootstrapEntry(context, name, call.caller) : undefined;
  const number = context.store.freeNumber(context.runtime.numbers(name));
  const oidcId = randomBytes(16).toString("hex").toUpperCase();
  const record: ClusterRecord = {
    number,
    oidcId,
    clientRequestToken: token,
    selfManagedAddons: spec.selfManagedAddons,
    cluster: {
      name,
      arn: eksArn(context, `cluster/${name}`),
      createdAt: context.now(),
      version: spec.version,
      roleArn: spec.roleArn,
      resourcesVpcConfig: vpc,
      kubernetesNetworkConfig: {
        serviceIpv4Cidr: context.runtime.addresses({ name, number }).serviceCidr,
        ipFamily: "ipv4",
        elasticLoadBalancing: { enabled: false },
      },
      logging: spec.logging,
      identity: { oidc: { issuer: `https://oidc.eks.${context.region}.amazonaws.com/id/${oidcId}` } },
      status: "CREATING",
      certificateAuthority: {},
      platformVersion: PLATFORM_VERSION,
      tags: tagsOf(call.body),
      ...(spec.encryptionConfig === undefined ? {} : { encryptionConfig: spec.encryptionConfig }),
      health: { issues: [] },
      accessConfig: { bootstrapClusterCreatorAdminPermissions: spec.creatorIsAdmin, authenticationMode: "API" },
      upgradePolicy: { supportType: spec.supportType },
      deletionProtection: spec.deletionProtection,
    },
    nodegroups: {},
    accessEntries: entry === undefined ? {} : { [entry.entry.principalArn]: entry },
    addons: {},
    podIdentityAssociations: {},
    updates: {},
  };
  await context.store.add(record);
  context.wake(name);
  return { cluster: record.cluster };
}

async function deleteCluster(context: EksContext, call: Call): Promise<{ cluster: Cluster }> {
  const name = pathPart(call, "name");
  const cluster = await context.store.change(name, (record) => {
    if (record.cluster.deletionProtection === true)
      throw invalidRequest(
        `Cannot delete cluster ${name} because deletion protection is enabled: turn it off with UpdateClusterConfig first`,
      );
    if (Object.keys(record.nodegroups).length > 0)
      throw new EksError(
        "ResourceInUseException",
        `Cluster has nodegroups attached: ${Object.keys(record.nodegroups).join(", ")}`,
        { clusterName: name },
      );
    if (record.cluster.status === "CREATING" || record.cluster.status === "UPDATING")
      throw inUse(`Cluster ${name} can't be deleted while its status is ${record.cluster.status}`);
    record.cluster.status = "DELETING";
    return record.cluster;
  });
  context.wake(name);
  return { cluster };
}

/** Throws unless a cluster takes changes now. */
export function expectActive(record: ClusterRecord): void {
  if (record.cluster.status !== "ACTIVE")
    throw invalidRequest(`Cluster '${record.cluster.name}' is not in ACTIVE status, got ${record.cluster.status}`);
}

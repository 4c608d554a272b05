import { randomUUID } from "node:crypto";
import * as z from "zod";
import { MAX_NODES } from "../../instance/index.ts";
import { accessEntry } from "./access-entries.ts";
import { existingSubnets } from "./cluster-config.ts";
import { expectActive } from "./clusters.ts";
import { collection } from "./collection.ts";
import { invalidParameter, invalidRequest, limitExceeded } from "./errors.ts";
import type { ClusterRecord, Nodegroup, NodegroupRecord } from "./model.ts";
import { releaseOf } from "./node-releases.ts";
import * as config from "./nodegroup-config.ts";
import { type EksContext, eksArn, type Operation, type Request, text, texts } from "./operation.ts";
import { assumableRole, parsePrincipal } from "./principals.ts";
import { minorOf } from "./versions.ts";

/** AMI types that the local nodes can stand for; they have no GPUs. */
const AMI_TYPES = [
  "AL2023_x86_64_STANDARD",
  "AL2023_ARM_64_STANDARD",
  "AL2023_x86_64_NVIDIA",
  "AL2023_ARM_64_NVIDIA",
  "BOTTLEROCKET_x86_64",
  "BOTTLEROCKET_ARM_64",
  "BOTTLEROCKET_x86_64_NVIDIA",
  "BOTTLEROCKET_ARM_64_NVIDIA",
  "CUSTOM",
] as const;

export const nodegroups = collection<NodegroupRecord, Nodegroup>({
  noun: "Nodegroup",
  id: "nodegroupName",
  member: "nodegroup",
  items: (record) => record.nodegroups,
  view: ({ nodegroup }) => nodegroup,
  arn: ({ nodegroupArn }) => nodegroupArn,
  resource: (cluster, name) => `nodegroup/${cluster}/${name}/*`,
  notFound: (name) => `No node group found for name: ${name}.`,
  passes: { member: "nodeRole", service: "eks.amazonaws.com" },
});

const shape = {
  // CreateNodegroup, API reference.
  nodegroupName: z
    .string()
    .regex(
      /^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$/,
      'allowed are 1 to 63 letters, digits, "-" and "_", the first a letter or digit',
    ),
  nodeRole: text,
  subnets: texts.min(1),
  scalingConfig: config.scalingConfig.default({}),
  diskSize: z.number().int().optional(),
  instanceTypes: texts.optional(),
  amiType: z.enum(AMI_TYPES).default("AL2023_x86_64_STANDARD"),
  labels: config.labels.default({}),
  taints: config.taints.default([]),
  launchTemplate: config.launchTemplate.optional(),
  updateConfig: config.updateConfig.default({ maxUnavailable: 1 }),
  nodeRepairConfig: config.nodeRepairConfig.optional(),
  capacityType: z.enum(["ON_DEMAND", "SPOT"]).default("ON_DEMAND"),
  version: z.string().optional(),
  releaseVersion: z.string().optional(),
};

export const nodegroupOperations: readonly Operation[] = [
  nodegroups.create(shape, {
    tokenOf: (group) => group.clientRequestToken,
    make: async (context, request, record) => ({
      nodegroup: await newNodegroup(context, record, request),
      nodes: [],
      ownsAccessEntry: false,
      clientRequestToken: request.clientRequestToken,
    }),
    exists: ({ nodegroupName, clusterName }) =>
      `NodeGroup already exists with name ${nodegroupName} and cluster name ${clusterName}`,
    added: (context, record, group) => {
      const { nodegroup } = group;
      expectActive(record);
      expectRoom(record, nodegroup);
      const { nodeRole: arn } = nodegroup;
      const role = parsePrincipal(arn);
      group.ownsAccessEntry = record.accessEntries[arn] === undefined && role !== undefined;
      // In mode API, EKS admits the nodes of a managed group by itself.
      if (group.ownsAccessEntry && role !== undefined)
        record.accessEntries[arn] = {
          entry: accessEntry(context, nodegroup.clusterName, { ...role, arn }, "EC2_LINUX"),
          policies: [],
        };
    },
  }),
  nodegroups.list("ListNodegroups", "nodegroups"),
  nodegroups.describe(),
  nodegroups.edit("DeleteNodegroup", {}, (context) => ({ nodegroup }) => {
    const { nodegroupName, status } = nodegroup;
    if (status === "CREATING" || status === "UPDATING")
      throw invalidRequest(`Nodegroup ${nodegroupName} can't be deleted while its status is ${status}`);
    return { nodegroup: Object.assign(nodegroup, { status: "DELETING", modifiedAt: context.now() }) };
  }),
];

async function newNodegroup(
  context: EksContext,
  { cluster }: ClusterRecord,
  request: Request<typeof shape>,
): Promise<Nodegroup> {
  const { nodegroupName, amiType, launchTemplate, diskSize = 20, version = cluster.version } = request;
  const minors = minorOf(cluster.version) - minorOf(version);
  if (!(minors >= 0 && minors <= 3))
    throw invalidParameter(
      `version: got ${version}, allowed are the cluster's ${cluster.version} and three minors below`,
    );
  if (launchTemplate !== undefined && request.diskSize !== undefined)
    throw invalidParameter("Disk size must be specified within the launch template.");
  // EKS's default when neither the node group nor a launch template names a type.
  const standard = launchTemplate === undefined ? [amiType.includes("ARM") ? "t4g.medium" : "t3.medium"] : [];
  const instanceTypes = request.instanceTypes ?? standard;
  config.expectInstanceTypes(instanceTypes, amiType);
  const id = randomUUID();
  return {
    nodegroupName,
    nodegroupArn: eksArn(context, `nodegroup/${cluster.name}/${nodegroupName}/${id}`),
    clusterName: cluster.name,
    version,
    releaseVersion: releaseOf(request.releaseVersion, version, amiType),
    createdAt: context.now(),
    modifiedAt: context.now(),
    status: "CREATING",
    capacityType: request.capacityType,
    scalingConfig: config.scalingOf({ minSize: 1, maxSize: 2, desiredSize: 2 }, request.scalingConfig),
    instanceTypes,
    subnets: await subnetsOf(context, cluster.resourcesVpcConfig.vpcId, request.subnets),
    amiType,
    nodeRole: await assumableRole(context, request.nodeRole, "ec2.amazonaws.com"),
    labels: request.labels,
    taints: request.taints,
    resources: { autoScalingGroups: [{ name: `eks-${nodegroupName}-${id}` }] },
    ...(launchTemplate === undefined ? { diskSize } : { launchTemplate }),
    health: { issues: [] },
    updateConfig: request.updateConfig,
    ...(request.nodeRepairConfig && { nodeRepairConfig: request.nodeRepairConfig }),
    tags: {},
  };
}

async function subnetsOf(context: EksContext, vpcId: string | undefined, ids: string[]): Promise<string[]> {
  const outside = (await existingSubnets(context, ids)).filter((subnet) => subnet.vpcId !== vpcId);
  if (outside.length > 0)
    throw invalidParameter(`Subnets must belong to the cluster's VPC, got ${outside.map(({ id }) => id).join(", ")}`);
  return ids;
}

/** Throws when the node groups of a cluster would have more nodes than a local cluster can. */
export function expectRoom(record: ClusterRecord, wanted: Nodegroup): void {
  const groups = Object.values(record.nodegroups).map(({ nodegroup }) => nodegroup);
  const others = groups.filter(({ nodegroupName }) => nodegroupName !== wanted.nodegroupName);
  const total = [...others, wanted].reduce((sum, { scalingConfig }) => sum + (scalingConfig.desiredSize ?? 0), 0);
  if (total > MAX_NODES)
    throw limitExceeded(
      `the node groups of cluster ${record.cluster.name} would have ${total} nodes, a cluster of the embedded cloud has at most ${MAX_NODES}: lower desiredSize`,
    );
}

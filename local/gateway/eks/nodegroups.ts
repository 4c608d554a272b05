import { randomUUID } from "node:crypto";
import { accessEntry } from "./access-entries.ts";
import { assumableRole } from "./cluster-config.ts";
import { expectActive } from "./clusters.ts";
import { EksError, inUse, invalidParameter, invalidRequest } from "./errors.ts";
import type { ClusterRecord, Nodegroup, NodegroupRecord } from "./model.ts";
import { releaseOf } from "./node-releases.ts";
import { expectInstanceTypes, labelsOf, MAX_NODES, scalingOf, taintsOf, updateConfigOf } from "./nodegroup-config.ts";
import {
  type Call,
  type EksContext,
  eksArn,
  listOfCluster,
  type Operation,
  onCluster,
  optionalString,
  passedRole,
  pathPart,
  requiredString,
  stringList,
  structure,
  tagsOf,
} from "./operation.ts";
import { parsePrincipal } from "./principals.ts";
import { minorOf } from "./versions.ts";

/** 1 to 63 letters, digits, "-" and "_", the first a letter or digit (CreateNodegroup, API reference). */
const NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$/;

/** AMI families whose nodes the one kind of node here can stand for. */
const AMI_TYPES = [
  "AL2023_x86_64_STANDARD",
  "AL2023_ARM_64_STANDARD",
  "BOTTLEROCKET_x86_64",
  "BOTTLEROCKET_ARM_64",
  "CUSTOM",
] as const;

export const NODEGROUP_PATH = "/clusters/{name}/node-groups/{nodegroupName}";

/** Authorization on the node group that the path names. */
export const onNodegroup = (context: EksContext, call: Omit<Call, "caller">) => {
  const { name = "", nodegroupName = "" } = call.path;
  const found = context.store.find(name)?.nodegroups[nodegroupName];
  return { resource: found?.nodegroup.nodegroupArn ?? eksArn(context, `nodegroup/${name}/${nodegroupName}/*`) };
};

export const nodegroupOperations: readonly Operation[] = [
  {
    name: "CreateNodegroup",
    method: "POST",
    path: "/clusters/{name}/node-groups",
    accepts: [
      "nodegroupName",
      "scalingConfig",
      "diskSize",
      "subnets",
      "instanceTypes",
      "amiType",
      "nodeRole",
      "labels",
      "taints",
      "tags",
      "clientRequestToken",
      "launchTemplate",
      "updateConfig",
      "capacityType",
      "version",
      "releaseVersion",
    ],
    authorize: (context, call) => ({
      ...onCluster(context, call),
      passRoles: passedRole(call.body["nodeRole"], "eks.amazonaws.com"),
    }),
    run: createNodegroup,
  },
  listOfCluster("ListNodegroups", "/clusters/{name}/node-groups", "nodegroups", ({ nodegroups }) => nodegroups),
  {
    name: "DescribeNodegroup",
    method: "GET",
    path: NODEGROUP_PATH,
    authorize: onNodegroup,
    run: (context, call) => ({
      nodegroup: nodegroupOf(context.store.get(pathPart(call, "name")), pathPart(call, "nodegroupName")).nodegroup,
    }),
  },
  { name: "DeleteNodegroup", method: "DELETE", path: NODEGROUP_PATH, authorize: onNodegroup, run: deleteNodegroup },
];

async function createNodegroup(context: EksContext, call: Call): Promise<{ nodegroup: Nodegroup }> {
  const { body } = call;
  const clusterName = pathPart(call, "name");
  const nodegroupName = requiredString(body, "nodegroupName");
  if (!NAME.test(nodegroupName))
    throw invalidParameter(
      `nodegroupName: got ${JSON.stringify(nodegroupName)}, allowed are 1 to 63 letters, digits, "-" and "_", the first a letter or digit`,
    );
  const cluster = context.store.get(clusterName);
  const token = optionalString(body, "clientRequestToken");
  const existing = cluster.nodegroups[nodegroupName];
  if (existing !== undefined) {
    if (token !== undefined && existing.clientRequestToken === token) return { nodegroup: existing.nodegroup };
    throw new EksError(
      "ResourceInUseException",
      `NodeGroup already exists with name ${nodegroupName} and cluster name ${clusterName}`,
      { clusterName, nodegroupName },
    );
  }
  const nodeRole = await assumableRole(context, requiredString(body, "nodeRole"), "ec2.amazonaws.com");
  const nodegroup = await newNodegroup(context, cluster, call, nodeRole);
  const role = parsePrincipal(nodeRole);
  await context.store.change(clusterName, (record) => {
    expectActive(record);
    if (record.nodegroups[nodegroupName] !== undefined)
      throw inUse(`NodeGroup already exists with name ${nodegroupName}`);
    expectRoom(record, nodegroup);
    const ownsAccessEntry = record.accessEntries[nodeRole] === undefined && role !== undefined;
    // In mode API, EKS admits the nodes of a managed group by itself.
    if (ownsAccessEntry)
      record.accessEntries[nodeRole] = {
        entry: accessEntry(context, clusterName, { ...role, arn: nodeRole }, "EC2_LINUX", {}),
        policies: [],
      };
    record.nodegroups[nodegroupName] = { nodegroup, nodes: [], ownsAccessEntry, clientRequestToken: token };
  });
  context.wake(clusterName);
  return { nodegroup };
}

async function newNodegroup(
  context: EksContext,
  cluster: ClusterRecord,
  call: Call,
  nodeRole: string,
): Promise<Nodegroup> {
  const { body } = call;
  const clusterName = cluster.cluster.name;
  const nodegroupName = requiredString(body, "nodegroupName");
  const amiType = optionalString(body, "amiType") ?? "AL2023_x86_64_STANDARD";
  if (!(AMI_TYPES as readonly string[]).includes(amiType))
    throw invalidParameter(`amiType: got ${amiType}, allowed are ${AMI_TYPES.join(", ")}`);
  const capacityType = optionalString(body, "capacityType") ?? "ON_DEMAND";
  if (capacityType !== "ON_DEMAND" && capacityType !== "SPOT")
    throw invalidParameter(`capacityType: got ${capacityType}, allowed are ON_DEMAND and SPOT`);
  const version = optionalString(body, "version") ?? cluster.cluster.version;
  if (minorOf(version) > minorOf(cluster.cluster.version) || minorOf(version) < minorOf(cluster.cluster.version) - 3)
    throw invalidParameter(
      `version: got ${version}, allowed are the cluster's ${cluster.cluster.version} and three minors below`,
    );
  const launchTemplate = structure(body, "launchTemplate", ["name", "version", "id"]);
  if (launchTemplate !== undefined && body["diskSize"] !== undefined)
    throw invalidParameter("Disk size must be specified within the launch template.");
  const instanceTypes =
    stringList(body, "instanceTypes") ?? (launchTemplate === undefined ? [defaultType(amiType)] : []);
  expectInstanceTypes(instanceTypes, amiType);
  const id = randomUUID();
  return {
    nodegroupName,
    nodegroupArn: eksArn(context, `nodegroup/${clusterName}/${nodegroupName}/${id}`),
    clusterName,
    version,
    releaseVersion: releaseOf(optionalString(body, "releaseVersion"), version, amiType),
    createdAt: context.now(),
    modifiedAt: context.now(),
    status: "CREATING",
    capacityType,
    scalingConfig: scalingOf(body, { minSize: 1, maxSize: 2, desiredSize: 2 }),
    instanceTypes,
    subnets: await subnetsOf(context, cluster, stringList(body, "subnets") ?? []),
    amiType: amiType as (typeof AMI_TYPES)[number],
    nodeRole,
    labels: labelsOf(body["labels"]),
    taints: taintsOf(body["taints"]),
    resources: { autoScalingGroups: [{ name: `eks-${nodegroupName}-${id}` }] },
    ...(launchTemplate === undefined
      ? { diskSize: Number(body["diskSize"] ?? 20) }
      : { launchTemplate: launchTemplate as { name?: string; version?: string; id?: string } }),
    health: { issues: [] },
    updateConfig: updateConfigOf(body) ?? { maxUnavailable: 1 },
    tags: tagsOf(body),
  };
}

/** What EKS takes where neither the node group nor a launch template names a type. */
const defaultType = (amiType: string): string => (amiType.includes("ARM") ? "t4g.medium" : "t3.medium");

async function subnetsOf(context: EksContext, cluster: ClusterRecord, ids: string[]): Promise<string[]> {
  if (ids.length === 0) throw invalidParameter("subnets: at least one is required");
  const found = await context.aws.subnets(ids);
  const missing = ids.filter((id) => !found.some((subnet) => subnet.id === id));
  if (missing.length > 0) throw invalidParameter(`The subnet ID '${missing.join("', '")}' does not exist`);
  const outside = found.filter((subnet) => subnet.vpcId !== cluster.cluster.resourcesVpcConfig.vpcId);
  if (outside.length > 0)
    throw invalidParameter(
      `Subnets must belong to the cluster's VPC, got ${outside.map((subnet) => subnet.id).join(", ")}`,
    );
  return ids;
}

/** Throws where the node groups of a cluster would want more nodes than a cluster can have here. */
export function expectRoom(record: ClusterRecord, wanted: Pick<Nodegroup, "nodegroupName" | "scalingConfig">): void {
  const others = Object.values(record.nodegroups).filter(
    ({ nodegroup }) => nodegroup.nodegroupName !== wanted.nodegroupName,
  );
  const total = [...others.map(({ nodegroup }) => nodegroup), wanted].reduce(
    (sum, { scalingConfig }) => sum + (scalingConfig.desiredSize ?? 0),
    0,
  );
  if (total > MAX_NODES)
    throw new EksError(
      "ResourceLimitExceededException",
      `the node groups of cluster ${record.cluster.name} would have ${total} nodes, a cluster of the embedded cloud has at most ${MAX_NODES}: lower desiredSize`,
    );
}

async function deleteNodegroup(context: EksContext, call: Call): Promise<{ nodegroup: Nodegroup }> {
  const clusterName = pathPart(call, "name");
  const nodegroup = await context.store.change(clusterName, (record) => {
    const { nodegroup } = nodegroupOf(record, pathPart(call, "nodegroupName"));
    if (nodegroup.status === "CREATING" || nodegroup.status === "UPDATING")
      throw invalidRequest(
        `Nodegroup ${nodegroup.nodegroupName} can't be deleted while its status is ${nodegroup.status}`,
      );
    nodegroup.status = "DELETING";
    nodegroup.modifiedAt = context.now();
    return nodegroup;
  });
  context.wake(clusterName);
  return { nodegroup };
}

/** Throws ResourceNotFoundException. */
export function nodegroupOf(record: ClusterRecord, nodegroupName: string): NodegroupRecord {
  const found = record.nodegroups[nodegroupName];
  if (found === undefined)
    throw new EksError("ResourceNotFoundException", `No node group found for name: ${nodegroupName}.`, {
      clusterName: record.cluster.name,
      nodegroupName,
    });
  return found;
}

import { randomBytes } from "node:crypto";
import type { KubernetesObject } from "@kubernetes/client-node";
import type { ClusterRecord, NodegroupRecord, NodeRecord } from "../model.ts";
import { MAX_NODES, TAINT_EFFECTS } from "../nodegroup-config.ts";
import type { EksContext } from "../operation.ts";
import type { KubeApi, NodeSpec } from "../runtime.ts";
import { endUpdates } from "../updates.ts";
import type { Again } from "./worker.ts";

/** How often nodes that come up are looked at. */
const POLL_MS = 500;
/** After this time without all its nodes Ready, a new or changed node group says so (seconds). */
const READY_SECONDS = 300;

interface Node extends KubernetesObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Nodes that this process has started, as `cluster/number`: a start is asked for once, the supervisor keeps it. */
export type StartedNodes = Set<string>;

type Work = EksContext & { readonly startedNodes: StartedNodes };

/** Brings the nodes of a cluster's node groups to what their records want. */
export async function nodegroupsStep(context: Work, name: string, kube: KubeApi): Promise<Again> {
  let delay: Again;
  for (const nodegroupName of Object.keys(context.store.get(name).nodegroups)) {
    const next = await oneNodegroup(context, name, nodegroupName, kube);
    if (next !== undefined) delay = Math.min(delay ?? next, next);
  }
  return delay;
}

async function oneNodegroup(context: Work, name: string, nodegroupName: string, kube: KubeApi): Promise<Again> {
  const record = context.store.get(name);
  const group = record.nodegroups[nodegroupName];
  if (group === undefined) return undefined;
  if (group.nodegroup.status === "DELETING") {
    for (const node of group.nodes) await stopNode(context, name, nodegroupName, node);
    await context.store.change(name, (stored) => removeNodegroup(stored, nodegroupName));
    return undefined;
  }
  await applySize(context, name, nodegroupName);
  const nodes = context.store.get(name).nodegroups[nodegroupName]?.nodes ?? [];
  const fresh = nodes.filter((node) => !context.startedNodes.has(`${name}/${node.number}`));
  await Promise.all(
    fresh.map(async (node) => {
      await context.runtime.startNode(name, nodeSpec(group, node));
      context.startedNodes.add(`${name}/${node.number}`);
    }),
  );
  const ready = await readyNodes(kube);
  if (!nodes.every((node) => ready.has(node.name)))
    return waiting(
      context,
      name,
      nodegroupName,
      nodes.filter((node) => !ready.has(node.name)),
    );
  const outdated = nodes.find((node) => isOutdated(node, group));
  if (outdated !== undefined) {
    // One by one, and only while all others are Ready: what a rolling update means.
    await stopNode(context, name, nodegroupName, outdated);
    return 0;
  }
  await labelNodes(kube, group, nodes);
  if (group.nodegroup.status !== "ACTIVE")
    await context.store.change(name, (stored) => {
      const current = stored.nodegroups[nodegroupName]?.nodegroup;
      if (current === undefined || current.status === "DELETING") return;
      current.status = "ACTIVE";
      current.health = { issues: [] };
      endUpdates(stored, { nodegroupName });
    });
  return undefined;
}

const imageOf = ({ nodegroup }: NodegroupRecord): string =>
  `${nodegroup.releaseVersion ?? ""} ${nodegroup.launchTemplate?.version ?? ""}`;

const isOutdated = (node: NodeRecord, group: NodegroupRecord): boolean =>
  node.version !== group.nodegroup.version || (node.image !== undefined && node.image !== imageOf(group));

/** Records nodes up to the desired size, removes those above it (the newest first). */
async function applySize(context: Work, name: string, nodegroupName: string): Promise<void> {
  const group = context.store.get(name).nodegroups[nodegroupName];
  const desired = group?.nodegroup.scalingConfig.desiredSize ?? 0;
  for (const node of (group?.nodes ?? []).slice(desired)) await stopNode(context, name, nodegroupName, node);
  const zones = new Map(
    (await context.aws.subnets(group?.nodegroup.subnets ?? [])).map((subnet) => [subnet.id, subnet.zone]),
  );
  await context.store.change(name, (stored) => {
    const target = stored.nodegroups[nodegroupName];
    if (target === undefined) return;
    while (target.nodes.length < desired) {
      const number = freeNode(stored);
      const subnet = target.nodegroup.subnets[target.nodes.length % target.nodegroup.subnets.length] ?? "";
      target.nodes.push({
        number,
        name: context.runtime.nodeName({ name, number: stored.number }, number),
        instanceId: `i-0${randomBytes(8).toString("hex")}`,
        zone: zones.get(subnet) ?? `${context.region}a`,
        version: target.nodegroup.version,
        image: imageOf(target),
      });
    }
  });
}

function freeNode(record: ClusterRecord): number {
  const taken = new Set(Object.values(record.nodegroups).flatMap((group) => group.nodes.map((node) => node.number)));
  for (let number = 0; number < MAX_NODES; number++) if (!taken.has(number)) return number;
  throw new Error(`cluster ${record.cluster.name} has ${MAX_NODES} nodes already`);
}

async function stopNode(context: Work, name: string, nodegroupName: string, node: NodeRecord): Promise<void> {
  context.startedNodes.delete(`${name}/${node.number}`);
  await context.runtime.stopNode(name, node.number);
  await context.store.change(name, (stored) => {
    const group = stored.nodegroups[nodegroupName];
    if (group !== undefined) group.nodes = group.nodes.filter((other) => other.number !== node.number);
  });
}

function removeNodegroup(record: ClusterRecord, nodegroupName: string): void {
  const gone = record.nodegroups[nodegroupName];
  delete record.nodegroups[nodegroupName];
  const role = gone?.nodegroup.nodeRole ?? "";
  const heir = Object.values(record.nodegroups).find((group) => group.nodegroup.nodeRole === role);
  // The entry that came with a group goes with the last group of its role.
  if (gone?.ownsAccessEntry === true && heir !== undefined) heir.ownsAccessEntry = true;
  else if (gone?.ownsAccessEntry === true) delete record.accessEntries[role];
}

function nodeSpec({ nodegroup }: NodegroupRecord, node: NodeRecord): NodeSpec {
  return {
    number: node.number,
    nodeName: node.name,
    instanceId: node.instanceId,
    labels: {
      "eks.amazonaws.com/nodegroup": nodegroup.nodegroupName,
      "eks.amazonaws.com/capacityType": nodegroup.capacityType ?? "ON_DEMAND",
      "eks.amazonaws.com/nodegroup-image": "ami-fleet",
    },
    taints: (nodegroup.taints ?? []).map((taint) => ({
      key: taint.key ?? "",
      value: taint.value ?? "",
      effect: TAINT_EFFECTS[taint.effect ?? "NO_SCHEDULE"],
    })),
    instanceType: nodegroup.instanceTypes[0] ?? "t3.medium",
    zone: node.zone,
  };
}

async function readyNodes(kube: KubeApi): Promise<Set<string>> {
  const nodes = await kube.list<Node>("v1", "Node");
  const isReady = (node: Node): boolean =>
    node.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;
  return new Set(nodes.filter(isReady).map((node) => node.metadata?.name ?? ""));
}

/** Labels of the group go on the live nodes: a changed label needs no new node, as on EKS. */
async function labelNodes(kube: KubeApi, { nodegroup }: NodegroupRecord, nodes: readonly NodeRecord[]): Promise<void> {
  await kube.apply(
    nodes.map((node) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: node.name, labels: { ...nodegroup.labels } },
    })),
  );
}

async function waiting(
  context: EksContext,
  name: string,
  nodegroupName: string,
  missing: readonly NodeRecord[],
): Promise<Again> {
  await context.store.change(name, (stored) => {
    const nodegroup = stored.nodegroups[nodegroupName]?.nodegroup;
    if (
      nodegroup === undefined ||
      nodegroup.status === "DELETING" ||
      context.now() - (nodegroup.modifiedAt ?? 0) < READY_SECONDS
    )
      return;
    const message = `nodes ${missing.map((node) => node.name).join(", ")} are not Ready: see the logs of their kubelets`;
    nodegroup.health = {
      issues: [{ code: "NodeCreationFailure", message, resourceIds: missing.map((node) => node.name) }],
    };
    if (nodegroup.status === "CREATING") nodegroup.status = "CREATE_FAILED";
    if (nodegroup.status === "UPDATING") {
      nodegroup.status = "DEGRADED";
      endUpdates(stored, { nodegroupName }, message);
    }
  });
  return POLL_MS;
}

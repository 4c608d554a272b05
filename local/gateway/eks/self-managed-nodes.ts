import type { LaunchedInstance } from "../aws/instances.ts";
import type { Log } from "../listeners.ts";
import type { ClusterRecord } from "./model.ts";
import { type NodeConfig, nodeConfigOf } from "./node-config.ts";
import { freeNode } from "./node-numbers.ts";
import { reservedOn } from "./node-size.ts";
import type { EksContext } from "./operation.ts";
import { parsePrincipal } from "./principals.ts";

/** How often instances are looked at that want to be nodes and are not let in yet (milliseconds): on EC2 kubelet tries again, too. */
const AGAIN_MS = 5000;

/** What an instance's user data says; `none` where it is not for a node. */
type Told = NodeConfig | "none" | Error;

/**
 * Gives a function that looks at an account's instances: one whose user data is a NodeConfig becomes a node of the cluster that it names, if
 * that lets its role in; one that shuts down has ended when nothing of its node is left. The cluster's own background work starts and stops them.
 */
export function selfManagedNodes(context: EksContext, log: Log): () => Promise<number | "wait"> {
  const told = new Map<string, Told>();
  const said = new Map<string, string>();
  const toldBy = async (id: string): Promise<Told> => {
    const known = told.get(id) ?? (await read(context, id));
    told.set(id, known);
    return known;
  };
  return async () => {
    const instances = await context.aws.launchedInstances();
    await markLeaving(context, instances);
    const joined = joinedIn(context.store.list());
    let waiting = false;
    for (const instance of instances.filter(({ id }) => !joined.has(id))) {
      if (!instance.runs) {
        await context.aws.endInstance(instance.id);
        continue;
      }
      const config = await toldBy(instance.id);
      if (config === "none") continue;
      const problem = config instanceof Error ? config.message : await join(context, instance, config);
      if (problem !== undefined && said.get(instance.id) !== problem)
        log(`instance ${instance.id} is no node: ${problem}`);
      if (problem !== undefined) said.set(instance.id, problem);
      waiting ||= problem !== undefined && !(config instanceof Error);
    }
    for (const id of told.keys()) if (!instances.some((instance) => instance.id === id)) told.delete(id);
    return waiting ? AGAIN_MS : "wait";
  };
}

async function read({ aws }: EksContext, id: string): Promise<Told> {
  const text = await aws.userData(id);
  try {
    return nodeConfigOf(text) ?? "none";
  } catch (error) {
    return error as Error;
  }
}

const joinedIn = (records: readonly ClusterRecord[]): ReadonlySet<string> =>
  new Set(records.flatMap(({ selfManagedNodes: nodes }) => nodes.map(({ instanceId }) => instanceId)));

/** Marks the nodes whose instances run no more. */
async function markLeaving(context: EksContext, instances: readonly LaunchedInstance[]): Promise<void> {
  const running = new Set(instances.filter(({ runs }) => runs).map(({ id }) => id));
  for (const { cluster, selfManagedNodes: nodes } of context.store.list()) {
    if (nodes.every((node) => node.leaving === true || running.has(node.instanceId))) continue;
    await context.store.change(cluster.name, ({ selfManagedNodes: all }) => {
      for (const node of all) if (!running.has(node.instanceId)) node.leaving = true;
    });
    context.wake(cluster.name);
  }
}

/** Lets an instance join its cluster, or says why it can't. */
async function join(
  context: EksContext,
  instance: LaunchedInstance,
  { cluster, labels, taints, kubelet }: NodeConfig,
): Promise<string | undefined> {
  const record = context.store.find(cluster.name);
  if (record === undefined || record.cluster.endpoint === undefined) return `there is no cluster ${cluster.name}`;
  if (record.cluster.endpoint !== cluster.endpoint)
    return `the API server of ${cluster.name} is at ${record.cluster.endpoint}, not at ${cluster.endpoint}`;
  if (pem(record.cluster.certificateAuthority?.data) !== pem(cluster.certificateAuthority))
    return `its certificate authority is not that of ${cluster.name}`;
  const role = instance.profile && (await context.aws.roleOfProfile(instance.profile));
  if (!role) return "it has no role";
  if (!(await admits(context, record, role)))
    return `cluster ${cluster.name} has no access entry of type EC2_LINUX for its role ${role}`;
  const size = await context.aws.instanceSize(instance.type);
  const isFull = await context.store.change(cluster.name, (stored) => {
    const number = freeNode(stored);
    if (number === undefined) return true;
    const { id: instanceId, type: instanceType, zone, subnet } = instance;
    const name = context.clusters.of(cluster.name).nodeName(stored.number, number);
    const settings = { ...kubelet, ...reservedOn(size, kubelet) };
    stored.selfManagedNodes = [
      ...stored.selfManagedNodes,
      { number, name, instanceId, instanceType, zone, subnet, role, labels, taints, kubelet: settings },
    ];
    return false;
  });
  if (isFull) return `cluster ${cluster.name} has as many nodes as a cluster of the embedded cloud can have`;
  context.wake(cluster.name);
  return undefined;
}

/** Whether a cluster lets the nodes of a role in: by an entry for exactly this role, not for one of its name before it. */
async function admits({ aws }: EksContext, { accessEntries }: ClusterRecord, role: string): Promise<boolean> {
  const found = accessEntries[role];
  if (found?.entry.type !== "EC2_LINUX") return false;
  return found.roleId === undefined || found.roleId === (await aws.role(parsePrincipal(role)?.name ?? ""))?.id;
}

const pem = (base64 = ""): string => Buffer.from(base64, "base64").toString("utf8").trim();

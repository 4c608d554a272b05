import { lastErrorIn } from "../../../supervisor/log-lines.ts";
import type { NodegroupRecord, NodeRecord } from "../model.ts";
import { failUpdates } from "../updates.ts";
import type { Again } from "./context.ts";
import { changeGroup, joinedNodes, nodeSpec, noteReadiness, type Work } from "./nodegroup-nodes.ts";

/** How often nodes that are starting or draining are checked (milliseconds). */
export const POLL_MS = 500;
/** When a node that failed to start is started again (seconds): as the kubelet of an instance is (awslabs/amazon-eks-ami, kubelet.service, RestartSec). */
const RETRY_SECONDS = 5;
/** For how long one start waits until its node is Ready (seconds): short, so that the time for all starts is kept. */
const READY_SECONDS = 15;
/**
 * For how long a node may fail to start before its group fails (seconds). EKS waits 15 minutes (EKS User Guide, "Nodes fail to join cluster"),
 * and needs 20 to 25 in practice (terraform-aws-modules/terraform-aws-eks#1910). Here it is shorter, by our choice.
 */
export const JOIN_SECONDS = 75;
/** For how long a node that has joined may be away, or not become Ready, before its group reports it (seconds). */
const AWAY_SECONDS = 300;

/** Starts the nodes of a group that this process has not started yet. Why one fails to start is kept for {@link waiting}. */
export async function startNodes(work: Work, group: NodegroupRecord, nodes: readonly NodeRecord[]): Promise<void> {
  const { context, cluster, kube } = work;
  const isDue = ({ instanceId }: NodeRecord) =>
    context.now() - (context.failedStarts.get(instanceId)?.at ?? 0) >= RETRY_SECONDS;
  const fresh = nodes.filter((node) => !context.startedNodes.has(node.instanceId) && isDue(node));
  if (fresh.length === 0) return;
  // The time that a start takes counts.
  await noteReadiness(work, await joinedNodes(kube));
  const kubelet = await context.kubeletConfig();
  const start = async (node: NodeRecord) => {
    const { instanceId } = node;
    try {
      await context.clusters.of(cluster).startNode(nodeSpec(group, node, kubelet), READY_SECONDS);
      context.startedNodes.set(instanceId, {});
      context.failedStarts.delete(instanceId);
    } catch (error) {
      const problem = problemOf(error as Error);
      if (context.failedStarts.get(instanceId)?.problem !== problem)
        context.log(`node ${node.name} (${instanceId}) of ${cluster}: ${problem}; trying again`);
      context.failedStarts.set(instanceId, { problem, at: context.now() });
    }
  };
  await Promise.all(fresh.map(start));
}

/** An error with the end of a log below it, in one line: the error and the last error in the log. */
function problemOf({ message }: Error): string {
  const [first = "", ...log] = message.split("\n");
  const last = lastErrorIn(log);
  return last === undefined ? first : `${first}: ${last}`;
}

/** In the words of EKS, which gives no reason (aws/containers-roadmap#764; for nodes that joined: stackoverflow.com/q/65807859). */
const notJoined = "Instances failed to join the kubernetes cluster";
const notReady = "Unhealthy nodes in the kubernetes cluster";

/** Waits for nodes of a group that aren't Ready; after a while they are its health issue. */
export async function waiting(
  work: Work,
  missing: readonly NodeRecord[],
  joined: ReadonlyMap<string, boolean>,
): Promise<Again> {
  const { failedStarts, now } = work.context;
  const ids = missing.map(({ instanceId }) => instanceId);
  const problems = ids.flatMap((id) => failedStarts.get(id)?.problem ?? []);
  const failsToJoin = missing.some(({ name, instanceId }) => failedStarts.has(instanceId) && !joined.has(name));
  const limit = failsToJoin ? JOIN_SECONDS : AWAY_SECONDS;
  const words = missing.every(({ name }) => joined.has(name)) ? notReady : notJoined;
  const message = [words, ...problems].join(". ");
  await changeGroup(work, ({ nodegroup, nodes }, stored) => {
    if (nodegroup.status === "DELETING") return;
    const since = nodes.flatMap((node) => (ids.includes(node.instanceId) ? (node.missingSince ?? []) : []));
    const changed = Math.max(nodegroup.modifiedAt ?? 0, Math.min(...since));
    if (now() - changed < limit) return;
    nodegroup.health = { issues: [{ code: "NodeCreationFailure", message, resourceIds: ids }] };
    if (nodegroup.status === "CREATING") nodegroup.status = "CREATE_FAILED";
    if (nodegroup.status === "UPDATING") {
      nodegroup.status = "DEGRADED";
      failUpdates(stored, work.name, {
        errorCode: "NodeCreationFailure",
        errorMessage: message,
        resourceIds: ids,
      });
    }
  });
  return POLL_MS;
}

import type { SelfManagedNode } from "../model.ts";
import type { NodesContext } from "./nodegroup-nodes.ts";

/** Starts the nodes of instances that joined a cluster, and ends those whose instances shut down. */
export async function selfManagedNodesStep(context: NodesContext, cluster: string): Promise<void> {
  const { selfManagedNodes } = context.store.get(cluster);
  await Promise.all(
    selfManagedNodes.filter(({ leaving }) => leaving === true).map((node) => end(context, cluster, node)),
  );
  await Promise.all(
    selfManagedNodes.filter(({ leaving }) => leaving !== true).map((node) => start(context, cluster, node)),
  );
}

async function start(context: NodesContext, cluster: string, node: SelfManagedNode): Promise<void> {
  const { number, name, instanceId, instanceType, zone, labels, taints, kubelet } = node;
  if (context.startedNodes.has(instanceId)) return;
  const runtime = context.clusters.of(cluster);
  const addresses = runtime.nodeAddresses(context.store.get(cluster).number, number);
  if (addresses !== undefined) await context.aws.keepInstance(instanceId, addresses.address, addresses.podCidr);
  await runtime.startNode({ number, nodeName: name, instanceId, instanceType, zone, labels, taints, kubelet });
  context.startedNodes.set(instanceId, {});
}

/** The record goes before the instance ends: should this be killed between the two, whoever looks at instances ends it. */
async function end(context: NodesContext, cluster: string, { number, instanceId }: SelfManagedNode): Promise<void> {
  context.startedNodes.delete(instanceId);
  await context.clusters.of(cluster).stopNode(number);
  await context.store.change(cluster, (stored) => {
    stored.selfManagedNodes = stored.selfManagedNodes.filter((other) => other.instanceId !== instanceId);
  });
  await context.aws.endInstance(instanceId);
}

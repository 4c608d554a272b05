import { fileURLToPath } from "node:url";
import { type ClusterAddresses, type Instance, type NodeAddresses, nodeAt } from "../instance/addresses.ts";
import { withLock } from "../instance/lock.ts";
import { AGENT_ADDRESS } from "../pod-identity-agent/address.ts";
import { type ProcessSpec, supervisorOf } from "../supervisor/client.ts";
import { AGENT_PROGRAM, lockOf, nodeProcess } from "./node.ts";
import { nodeFiles } from "./node-config.ts";
import { inNamespace } from "./node-network.ts";
import { findCluster } from "./options.ts";

/** Starts or stops the EKS Pod Identity Agent of a started node. Resolves when pods of the node get an answer, or none. Idempotent. */
export async function runPodIdentityAgent(
  instance: Instance,
  clusterName: string,
  number: number,
  { running, region }: { readonly running: boolean; readonly region: string },
): Promise<void> {
  const cluster = await findCluster(instance, clusterName);
  const node = nodeAt(instance, cluster, number);
  const supervisor = supervisorOf(instance);
  const change = async (): Promise<void> => {
    if (!running) {
      await supervisor.stop(nodeProcess(cluster, node, AGENT_PROGRAM));
      return;
    }
    // On `lo` of the node's own namespace, with which it goes; pods reach it over the node, as on EC2.
    await inNamespace(node, ["ip", "address", "replace", `${AGENT_ADDRESS}/32`, "dev", "lo"]);
    await supervisor.start(podIdentityAgentSpec(instance, cluster, node, region));
  };
  await withLock(lockOf(instance, node), change, 300);
}

/** The process that answers pods of a node. */
export function podIdentityAgentSpec(
  instance: Pick<Instance, "awsEndpoint" | "paths">,
  cluster: ClusterAddresses,
  node: NodeAddresses,
  region: string,
): ProcessSpec {
  const { agentSocket } = nodeFiles(node);
  return {
    id: nodeProcess(cluster, node, AGENT_PROGRAM),
    argv: [
      ...([process.execPath, fileURLToPath(new URL("../pod-identity-agent/main.ts", import.meta.url))] as const),
      ...[cluster.name, String(node.number), region],
      ...[instance.awsEndpoint, instance.paths.metadataSocket, agentSocket],
    ],
    netns: node.namespace,
    cgroup: `${node.cgroup}/system`,
    ready: { unix: agentSocket },
  };
}

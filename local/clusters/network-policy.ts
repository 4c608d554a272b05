import { type ClusterAddresses, type Instance, type NodeAddresses, nodeAt } from "../instance/addresses.ts";
import { readText } from "../instance/files.ts";
import { withLock } from "../instance/lock.ts";
import { type ProcessSpec, supervisorOf } from "../supervisor/client.ts";
import type { Toolchain } from "../toolchain/index.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { lockOf, nameFile, nodeProcess } from "./node.ts";
import { nodeFiles, programPath } from "./node-config.ts";
import { inNamespace } from "./node-network.ts";
import { findCluster } from "./options.ts";
import { clusterAuthority } from "./pki.ts";
import { toolchain } from "./toolchain.ts";

/** The user that enforces NetworkPolicies: it must list and watch pods, namespaces and networkpolicies, and get nodes. */
export const NETWORK_POLICY_USER = "eks:network-policy";

/**
 * Enforces the cluster's NetworkPolicies on a started node, or ends that and lets everything through again. Resolves when
 * the rules for the present pods are in force, or gone. Idempotent. The cluster must give NETWORK_POLICY_USER its rights.
 */
export async function enforceNetworkPolicies(
  instance: Instance,
  clusterName: string,
  number: number,
  enforced: boolean,
): Promise<void> {
  const cluster = await findCluster(instance, clusterName);
  const node = nodeAt(instance, cluster, number);
  await withLock(lockOf(instance, node), () => (enforced ? enforce : release)(instance, cluster, node), 300);
}

async function enforce(instance: Instance, cluster: ClusterAddresses, node: NodeAddresses): Promise<void> {
  const nodeName = await readText(nameFile(node));
  if (nodeName === undefined) throw new Error(`node ${node.number} of cluster ${cluster.name} was never started`);
  const authority = await clusterAuthority(cluster);
  const user = await authority.issue("network-policy", { commonName: NETWORK_POLICY_USER });
  await writeKubeconfig(nodeFiles(node).policyKubeconfig, cluster.endpoint, authority, user);
  await supervisorOf(instance).start(networkPolicySpec(cluster, node, nodeName, await toolchain()));
}

/** The process that enforces NetworkPolicies on a node. */
export function networkPolicySpec(
  cluster: ClusterAddresses,
  node: NodeAddresses,
  nodeName: string,
  tools: Pick<Toolchain, "bin" | "system">,
): ProcessSpec {
  const files = nodeFiles(node);
  return {
    id: nodeProcess(cluster, node, "network-policy"),
    argv: [
      tools.bin("network-policy"),
      `--kubeconfig=${files.policyKubeconfig}`,
      `--node=${nodeName}`,
      `--service-cidr=${cluster.serviceCidr}`,
      `--ready-socket=${files.policySocket}`,
    ],
    // Where it finds iptables and ipset.
    env: { PATH: programPath(tools.system) },
    netns: node.namespace,
    cgroup: `${node.cgroup}/system`,
    ready: { unix: files.policySocket },
  };
}

/** Nothing else on a node uses iptables or ipset: kube-proxy's rules are in a table of nftables. */
async function release(instance: Instance, cluster: ClusterAddresses, node: NodeAddresses): Promise<void> {
  await supervisorOf(instance).stop(nodeProcess(cluster, node, "network-policy"));
  const { bin } = await toolchain();
  await inNamespace(node, [bin("iptables"), "--flush"]);
  await inNamespace(node, [bin("iptables"), "--delete-chain"]);
  await inNamespace(node, [bin("ipset"), "destroy"]);
}

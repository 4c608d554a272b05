export { notePrepared, preparedAddons } from "./addons.ts";
export { adminKubeconfig, removeAll, startControlPlane, stopControlPlane } from "./cluster.ts";
export { setNoSpace } from "./etcd.ts";
export { enforceNetworkPolicies, NETWORK_POLICY_USER } from "./network-policy.ts";
export { refreshNodes, startNode, stopNode } from "./node.ts";
export { ensureAuthority } from "./pki.ts";
export { runPodIdentityAgent } from "./pod-identity-agent.ts";

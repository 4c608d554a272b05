export {
  adminKubeconfig,
  type ControlPlane,
  certificateAuthority,
  listClusters,
  startControlPlane,
  stopControlPlane,
} from "./cluster.ts";
export { enforceNetworkPolicies, NETWORK_POLICY_USER } from "./network-policy.ts";
export { startNode, stopNode } from "./node.ts";
export type { NodeOptions, Taint } from "./node-config.ts";
export { type ControlPlaneOptions, KUBERNETES_VERSIONS } from "./options.ts";
export { removeAll } from "./removal.ts";

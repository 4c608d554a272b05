/**
 * The groups of composed resources: to which part of the spoke they belong (one condition each), and the groups that must be
 * gone before they may be removed. This table is the deletion order: from the apps on the spoke back to its VPC.
 */
export const groups = {
  bootstrap: { part: "bootstrap", removedAfter: [] },
  /** How Flux reaches the spoke, and what it substitutes. */
  handover: { part: "bootstrap", removedAfter: ["bootstrap"] },
  /** How Argo CD on the hub reaches the spoke. */
  argocd: { part: "bootstrap", removedAfter: [] },
  accessPolicies: { part: "identities", removedAfter: ["bootstrap", "argocd"] },
  /** The admin policy of Flux on the hub, which comes and goes (hub-access.ts). */
  hubAdmin: { part: "identities", removedAfter: ["bootstrap"] },
  accessEntries: { part: "identities", removedAfter: ["accessPolicies", "hubAdmin"] },
  identityPolicies: { part: "identities", removedAfter: ["bootstrap", "addons"] },
  /** Which role the pods of a service account get. */
  podIdentities: { part: "identities", removedAfter: ["bootstrap", "addons"] },
  identityRoles: { part: "identities", removedAfter: ["identityPolicies", "podIdentities"] },
  oidcProvider: { part: "identities", removedAfter: ["identityPolicies"] },
  /** The VPC CNI and the EBS CSI driver take back interfaces and volumes of nodes for as long as there are some. */
  addons: { part: "addons", removedAfter: ["nodeGroup"] },
  /** Add-ons whose creation ends when their pods run (parts/addons.ts, isUnfinishedAddon), while there are nodes. */
  pendingAddons: { part: "addons", removedAfter: ["bootstrap"] },
  nodeGroup: { part: "nodes", removedAfter: ["pendingAddons"] },
  launchTemplate: { part: "nodes", removedAfter: ["nodeGroup"] },
  /** They are members of the cluster's security group, which EKS can't remove while their network interfaces have it. */
  interfaceEndpoints: { part: "nodes", removedAfter: ["addons"] },
  /** Nodes of EKS Auto Mode go with the cluster. */
  nodePolicies: { part: "nodes", removedAfter: ["nodeGroup", "cluster"] },
  nodeRole: { part: "nodes", removedAfter: ["nodePolicies"] },
  /** Lets connected networks, the hub's included, reach the API server. */
  apiRules: { part: "controlPlane", removedAfter: ["accessEntries", "addons", "nodeGroup"] },
  cluster: {
    part: "controlPlane",
    removedAfter: ["accessEntries", "addons", "podIdentities", "nodeGroup", "apiRules", "interfaceEndpoints"],
  },
  clusterPolicies: { part: "controlPlane", removedAfter: ["cluster"] },
  clusterRole: { part: "controlPlane", removedAfter: ["clusterPolicies"] },
  /** EKS writes its last log lines after it has deleted the cluster, so the log group goes after it. */
  logs: { part: "controlPlane", removedAfter: ["cluster"] },
  key: { part: "controlPlane", removedAfter: ["cluster"] },
  /** What happens in the VPC is logged to the end of the cluster. */
  flowLogs: { part: "network", removedAfter: ["cluster"] },
  flowLogGroup: { part: "network", removedAfter: ["flowLogs"] },
  routes: { part: "network", removedAfter: ["cluster"] },
  natGateways: { part: "network", removedAfter: ["routes"] },
  addresses: { part: "network", removedAfter: ["natGateways"] },
  routeTables: { part: "network", removedAfter: ["routes"] },
  /** The attachment to a transit gateway has network interfaces in the private subnets. */
  transitGateway: { part: "network", removedAfter: ["routes"] },
  subnets: { part: "network", removedAfter: ["natGateways", "routes", "transitGateway"] },
  /** The secondary block of the VPC. */
  podBlock: { part: "network", removedAfter: ["subnets"] },
  internetGateway: { part: "network", removedAfter: ["addresses"] },
  endpoints: { part: "network", removedAfter: ["routes"] },
  vpc: {
    part: "network",
    removedAfter: ["internetGateway", "podBlock", "subnets", "routeTables", "endpoints", "flowLogs"],
  },
  /** The claim on the network; it goes when nothing uses the network any more. */
  claim: { part: "network", removedAfter: ["vpc"] },
} as const satisfies Record<string, { part: string; removedAfter: readonly string[] }>;

export type Group = keyof typeof groups;
export type Part = (typeof groups)[Group]["part"];

/** Parts in the order in which a spoke comes up, with their condition type and name in messages. */
export const parts: Readonly<Record<Part, { readonly condition: string; readonly name: string }>> = {
  network: { condition: "NetworkReady", name: "the network" },
  controlPlane: { condition: "ControlPlaneReady", name: "the control plane" },
  nodes: { condition: "NodesReady", name: "the nodes" },
  addons: { condition: "AddonsReady", name: "the EKS add-ons" },
  identities: { condition: "IdentitiesReady", name: "IAM roles and access" },
  bootstrap: { condition: "Bootstrapped", name: "the bootstrap chain" },
};

/** Every group that must be gone before `group` may go, directly or through others. */
export function holders(group: Group): ReadonlySet<Group> {
  const direct: readonly Group[] = groups[group].removedAfter;
  return new Set(direct.flatMap((holder) => [holder, ...holders(holder)]));
}

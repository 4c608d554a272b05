import {
  adminKubeconfig,
  enforceNetworkPolicies,
  runPodIdentityAgent,
  startControlPlane,
  startNode,
  stopControlPlane,
  stopNode,
} from "../../clusters/index.ts";
import { clusterAt, filterEndpoints, type Instance, MAX_CLUSTERS, nodeAt } from "../../instance/index.ts";
import { REGION } from "../ministack.ts";
import { kubeApi } from "./kube.ts";
import type { Clusters } from "./runtime.ts";

/** The clusters of an instance, run by local/clusters. `tokenWebhookUrl` gives the URL that authenticates for a cluster. */
export function localClusters(instance: Instance, tokenWebhookUrl: (cluster: string) => string): Clusters {
  return {
    of: (name) => ({
      numbers: { first: 0, end: MAX_CLUSTERS },
      startControlPlane: (options) =>
        startControlPlane(instance, { name, tokenWebhookUrl: tokenWebhookUrl(name), ...options }),
      stopControlPlane: () => stopControlPlane(instance, name),
      startNode: (node, readySeconds) => startNode(instance, name, node, readySeconds),
      stopNode: (number) => stopNode(instance, name, number),
      enforceNetworkPolicies: (number, enforced) => enforceNetworkPolicies(instance, name, number, enforced),
      runPodIdentityAgent: (number, running) =>
        runPodIdentityAgent(instance, name, number, { running, region: REGION }),
      // As EC2 names instances in us-east-1: by their private address.
      nodeName: (number, node) =>
        `ip-${nodeAt(instance, clusterAt(instance, name, number), node).address.replaceAll(".", "-")}.ec2.internal`,
      nodeAddresses: (number, node) => nodeAt(instance, clusterAt(instance, name, number), node),
      addresses: (number) => clusterAt(instance, name, number),
      kube: () => kubeApi(adminKubeconfig(instance, name)),
    }),
    filterEndpoints: (endpoints) => filterEndpoints(instance, endpoints),
  };
}

import {
  adminKubeconfig,
  enforceNetworkPolicies,
  startControlPlane,
  startNode,
  stopControlPlane,
  stopNode,
} from "../../clusters/index.ts";
import { clusterAt, filterEndpoints, type Instance, MAX_CLUSTERS, nodeAt } from "../../instance/index.ts";
import { kubeApi } from "./kube.ts";
import type { ClusterRuntime } from "./runtime.ts";

/** The clusters of an instance, run by local/clusters. `tokenWebhookUrl` gives the URL that authenticates for a cluster. */
export function localRuntime(instance: Instance, tokenWebhookUrl: (cluster: string) => string): ClusterRuntime {
  return {
    numbers: () => ({ first: 0, end: MAX_CLUSTERS }),
    startControlPlane: ({ name, number, kubernetesVersion, issuer, encryptionKeyArn }) =>
      startControlPlane(instance, {
        name,
        number,
        kubernetesVersion,
        issuer,
        tokenWebhookUrl: tokenWebhookUrl(name),
        ...(encryptionKeyArn === undefined ? {} : { encryption: { keyArn: encryptionKeyArn } }),
      }),
    stopControlPlane: (name) => stopControlPlane(instance, name),
    startNode: (cluster, node) => startNode(instance, cluster, node),
    stopNode: (cluster, number) => stopNode(instance, cluster, number),
    enforceNetworkPolicies: (cluster, number, enforced) => enforceNetworkPolicies(instance, cluster, number, enforced),
    // As EC2 names instances in us-east-1: by their private address.
    nodeName: ({ name, number }, node) =>
      `ip-${nodeAt(instance, clusterAt(instance, name, number), node).address.replaceAll(".", "-")}.ec2.internal`,
    addresses: ({ name, number }) => {
      const { serviceCidr, dnsAddress, apiAddress, nodesCidr } = clusterAt(instance, name, number);
      return { serviceCidr, dnsAddress, endpoint: { address: apiAddress, nodesCidr } };
    },
    filterEndpoints: (endpoints) => filterEndpoints(instance, endpoints),
    kube: (cluster) => kubeApi(adminKubeconfig(instance, cluster)),
  };
}

import type { KubernetesObject } from "@kubernetes/client-node";
import { imageReferences } from "../../../toolchain/index.ts";
import { NAMESPACE } from "../addon-catalog.ts";

/**
 * The DaemonSet by which an add-on of nodes is known to readers in the cluster (Cluster API's AWS provider looks for aws-node). Nodes
 * have its software anyway, so it has no pods here, unlike on EKS.
 */
export function nodeDaemonSet(name: string): KubernetesObject {
  const labels = { "k8s-app": name };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          // No node is of this system.
          nodeSelector: { "kubernetes.io/os": "none" },
          priorityClassName: "system-node-critical",
          containers: [{ name, image: imageReferences.pause, imagePullPolicy: "IfNotPresent" }],
        },
      },
    },
  } as KubernetesObject;
}

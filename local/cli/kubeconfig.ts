import { stringify } from "yaml";
import { type ClusterAccess, tokenUser } from "../product.ts";

/**
 * A kubeconfig with one context per cluster, named like it. It stores no token: every user entry runs
 * `aws eks get-token`, by the absolute path of `aws`, so that it works from any shell and any tool.
 */
export function kubeconfig(clusters: readonly ClusterAccess[], aws: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: clusters.map(({ name, endpoint, certificateAuthority }) => ({
      name,
      cluster: { server: endpoint, "certificate-authority-data": certificateAuthority },
    })),
    users: clusters.map((cluster) => tokenUser(cluster, aws)),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    ...(clusters[0] === undefined ? {} : { "current-context": clusters[0].name }),
  });
}

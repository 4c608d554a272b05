import { stringify } from "yaml";
import { kubeconfigOf } from "../clusters/kubeconfig.ts";
import { type ClusterAccess, tokenUser } from "../product.ts";

/**
 * A kubeconfig with one context per cluster, named like it. It stores no token: every user entry runs
 * `aws eks get-token`, by the absolute path of `aws`, so that it works from any shell and any tool.
 */
export function kubeconfig(clusters: readonly ClusterAccess[], aws: string): string {
  const contexts = clusters.map((access) => ({
    ...tokenUser(access, aws),
    cluster: { server: access.endpoint, "certificate-authority-data": access.certificateAuthority },
  }));
  return stringify(kubeconfigOf(contexts));
}

import { stringify } from "yaml";

/** What DescribeCluster says of a cluster. */
export interface ClusterAccess {
  readonly name: string;
  readonly region: string;
  /** https://… */
  readonly endpoint: string;
  /** PEM in base64. */
  readonly certificateAuthority: string;
}

/**
 * A kubeconfig with one context per cluster, named like it. It stores no token: every user entry runs
 * `aws eks get-token`, by the absolute path of `aws`, so that it works from any shell and any tool.
 */
export function kubeconfig(clusters: readonly ClusterAccess[], aws: string): string {
  const user = ({ name, region }: ClusterAccess) => ({
    exec: {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: aws,
      args: ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
      interactiveMode: "Never",
    },
  });
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: clusters.map(({ name, endpoint, certificateAuthority }) => ({
      name,
      cluster: { server: endpoint, "certificate-authority-data": certificateAuthority },
    })),
    users: clusters.map((cluster) => ({ name: cluster.name, user: user(cluster) })),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    ...(clusters[0] === undefined ? {} : { "current-context": clusters[0].name }),
  });
}

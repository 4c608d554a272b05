import { bridgeData, bridgeLabels, type ClusterMetadata } from "./bridge.ts";

/** How Argo CD reaches the cluster: from inside, or from outside as an IAM role that has an access entry. */
export type ArgocdAccess =
  | { readonly kind: "in-cluster" }
  | {
      readonly kind: "role";
      readonly roleArn: string;
      readonly endpoint: string;
      readonly certificateAuthority: string;
    };

/** An Argo CD cluster secret with the same labels and data (as annotations), for existing GitOps-bridge catalogues. */
export function argocdClusterSecret(metadata: ClusterMetadata, access: ArgocdAccess) {
  const inCluster = access.kind === "in-cluster";
  const config = inCluster
    ? { tlsClientConfig: { insecure: false } }
    : {
        awsAuthConfig: { clusterName: metadata.aws.clusterName, roleARN: access.roleArn },
        tlsClientConfig: { insecure: false, caData: access.certificateAuthority },
      };
  return {
    labels: { ...bridgeLabels(metadata), "argocd.argoproj.io/secret-type": "cluster" },
    annotations: bridgeData(metadata),
    data: {
      name: metadata.name,
      server: inCluster ? "https://kubernetes.default.svc" : access.endpoint,
      config: JSON.stringify(config),
    },
  };
}

import { bridgeData, bridgeLabels, type ClusterMetadata } from "./bridge.ts";

/** How Argo CD reaches the cluster: from inside, or from outside as an IAM role that has an access entry. */
export type ArgocdAccess = {
  /** The only namespaces in which Argo CD has rights; without them the whole cluster. */
  readonly namespaces?: readonly string[];
} & (
  | { readonly kind: "in-cluster" }
  | {
      readonly kind: "role";
      readonly roleArn: string;
      readonly endpoint: string;
      readonly certificateAuthority: string;
    }
);

/** The key of Argo CD among the hub's identities and add-ons. */
export const argocdIdentity = "argocd";

/** The key, among the hub's identities, of what writes spokes into Secrets Manager for an Argo CD elsewhere. */
export const argocdSecretsIdentity = "argocd_secrets";

/** The service account of {@link argocdSecretsIdentity} in Argo CD's namespace of the hub, and its SecretStore. */
export const argocdSecretsStore = "argocd-secrets";

/** The part of Argo CD that acts on clusters, and the name that upstream's chart gives its service account. */
export const argocdController = "argocd-application-controller";

/** The label by which Argo CD finds its cluster secrets. */
const argocdClusterLabel = { "argocd.argoproj.io/secret-type": "cluster" } as const;

/** What catalogues of the GitOps bridge select clusters by, under the names that they use. */
const catalogueLabels = (metadata: ClusterMetadata, ring: string | undefined) => ({
  cluster_name: metadata.name,
  environment: metadata.environment,
  kubernetes_version: metadata.kubernetesVersion,
  tenant: metadata.tenant,
  ...(ring === undefined ? {} : { ring }),
});

/** With `namespaces` Argo CD looks at these alone, and at nothing that is of no namespace. */
const limits = (namespaces: readonly string[] | undefined) =>
  namespaces === undefined ? {} : { namespaces: namespaces.join(","), clusterResources: "false" };

/**
 * An Argo CD cluster secret with the same labels and data (as annotations), for existing GitOps-bridge catalogues.
 * @param ring of a spoke that is in one
 */
export function argocdClusterSecret(metadata: ClusterMetadata, access: ArgocdAccess, ring?: string) {
  const inCluster = access.kind === "in-cluster";
  const config = inCluster
    ? { tlsClientConfig: { insecure: false } }
    : {
        awsAuthConfig: { clusterName: metadata.aws.clusterName, roleARN: access.roleArn },
        tlsClientConfig: { insecure: false, caData: access.certificateAuthority },
      };
  return {
    labels: { ...bridgeLabels(metadata), ...catalogueLabels(metadata, ring), ...argocdClusterLabel },
    annotations: bridgeData(metadata),
    data: {
      name: metadata.name,
      server: inCluster ? "https://kubernetes.default.svc" : access.endpoint,
      config: JSON.stringify(config),
      ...limits(access.namespaces),
    },
  };
}

/** In a template of External Secrets, what stands for the text itself. */
const literal = (text: string): string => text.replaceAll("{{", '{{ "{{" }}');

/** A cluster secret as a template of a PushSecret, of which each part becomes a member of one secret: labels and annotations as JSON. */
export function argocdPushTemplate({
  labels,
  annotations,
  data,
}: ReturnType<typeof argocdClusterSecret>): Record<string, string> {
  const members = { ...data, labels: JSON.stringify(labels), annotations: JSON.stringify(annotations) };
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, literal(value)]));
}

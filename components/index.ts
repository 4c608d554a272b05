/**
 * The components as a library: `import { HubCluster } from "eks-gitops-fleet/components"`. An import registers no resource;
 * the hub's program is infra/index.ts.
 */
export type { ArgocdAccess } from "../lib/argocd.ts";
export type { ClusterMetadata, GitProvider, GitSource, WorkloadIdentity } from "../lib/bridge.ts";
export type { ControlPlaneLogType } from "../lib/eks-baseline.ts";
export type { GrafanaAuthentication } from "../lib/iam/grafana.ts";
export { type DenyAllBut, type PolicyDocument, policy, type Statement } from "../lib/iam/policy.ts";
export { type ServiceAccountRef, serviceAccountTrust, serviceTrust } from "../lib/iam/trust.ts";
export type { PodSecurityLevel, Tags } from "../lib/labels.ts";
export type { Repository } from "../lib/names.ts";
export type { EventSource, NotificationType, Severity } from "../lib/notifications.ts";
export { ClusterSecret, type ClusterSecretArgs } from "./cluster-secret.ts";
export { Crossplane, type CrossplaneArgs } from "./crossplane.ts";
export {
  PushedSecretsGuard,
  type PushedSecretsGuardArgs,
  RemainingSpokesGuard,
  type RemainingSpokesGuardArgs,
  RootKustomizationGuard,
  type RootKustomizationGuardArgs,
} from "./deletion-guards.ts";
export { EncryptionKey, type EncryptionKeyArgs } from "./encryption-key.ts";
export { ExternalSecrets, type ExternalSecretsArgs } from "./external-secrets.ts";
export { FleetBoundary, type FleetBoundaryArgs } from "./fleet-boundary.ts";
export { type FleetSize, type FleetSizeName, fleetSizes } from "./fleet-size.ts";
export { Flux, type FluxArgs } from "./flux.ts";
export { FluxSync, type FluxSyncArgs } from "./flux-sync.ts";
export { type GitAuthentication, GitCredentials, type GitCredentialsArgs } from "./git-credentials.ts";
export { GitReceiver, type GitReceiverArgs } from "./git-receiver.ts";
export { GitHubRoles, type GitHubRolesArgs } from "./github-roles.ts";
export { GrafanaWorkspace, type GrafanaWorkspaceArgs } from "./grafana-workspace.ts";
export { HelmAddon, type HelmAddonArgs, type Registries } from "./helm-addon.ts";
export { HubCluster, type HubClusterArgs } from "./hub-cluster.ts";
export { HubNodes, type HubNodesArgs } from "./hub-nodes.ts";
export { IrsaRole, type IrsaRoleArgs, type PodIdentityArgs } from "./irsa-role.ts";
export { ManagedSecret, type ManagedSecretArgs } from "./managed-secret.ts";
export { MetricsWorkspace, type MetricsWorkspaceArgs } from "./metrics-workspace.ts";
export { type ClusterNetwork, type NatGateways, Network, type NetworkArgs } from "./network.ts";
export { Notification, type NotificationArgs } from "./notification.ts";
export type { PackageVerification } from "./package-verification.ts";
export { ReceiverToken, type ReceiverTokenArgs } from "./receiver-token.ts";
export { RegistryCredentialsSecret, type RegistryCredentialsSecretArgs } from "./registry-credentials.ts";
export { SealingKeySecrets, type SealingKeySecretsArgs } from "./sealing-key-secrets.ts";
export { SealingKeys, type SealingKeysArgs } from "./sealing-keys.ts";
export { SecretStore, type SecretStoreArgs } from "./secret-store.ts";
export { ServiceRole, type ServiceRoleArgs } from "./service-role.ts";
export { type Chart, charts, kubernetesVersions } from "./versions.ts";

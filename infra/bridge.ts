import * as pulumi from "@pulumi/pulumi";
import type { ClusterSecret, ClusterSecretArgs } from "../components/cluster-secret.ts";
import type { EncryptionKey } from "../components/encryption-key.ts";
import type { FleetBoundary } from "../components/fleet-boundary.ts";
import { fluxNamespace } from "../components/flux.ts";
import type { FluxSyncArgs } from "../components/flux-sync.ts";
import type { GitCredentials } from "../components/git-credentials.ts";
import type { HubCluster } from "../components/hub-cluster.ts";
import type { IrsaRole } from "../components/irsa-role.ts";
import type { MetricsWorkspace } from "../components/metrics-workspace.ts";
import type { SealingKeys } from "../components/sealing-keys.ts";
import type { SecretStore } from "../components/secret-store.ts";
import { type ArgocdAccess, argocdIdentity } from "../lib/argocd.ts";
import type { ClusterMetadata, GitProvider } from "../lib/bridge.ts";
import { noDatabases } from "../lib/iam/databases.ts";
import { hubFolder } from "../lib/layout.ts";
import { fleetNames, type HubIdentity, hubName, hubSealingScope } from "../lib/names.ts";
import { digestOf, registrySecrets, withoutDigest } from "../lib/registries.ts";
import type { AwsAccount } from "./account.ts";
import { spokePlaces } from "./accounts.ts";
import { argocdElsewhere } from "./argocd.ts";
import { hubVolumeKey, identitySource } from "./hub.ts";
import type { HubNetwork } from "./network.ts";
import { gitInterval } from "./receivers.ts";
import type { Settings } from "./settings.ts";

/** The facts of the hub for Git, and where Git is. */

export interface BridgeSources {
  readonly settings: Settings;
  readonly account: AwsAccount;
  readonly network: HubNetwork;
  readonly cluster: HubCluster;
  readonly secretsKey: EncryptionKey;
  readonly sealingKeys: SealingKeys;
  readonly boundary: FleetBoundary;
  readonly tenants: FleetBoundary;
  readonly addonBoundary: FleetBoundary | undefined;
  readonly metrics: MetricsWorkspace | undefined;
  readonly clusterApiKey: EncryptionKey | undefined;
  /** By controller; of one whose role is not the stack's there is the identity alone. */
  readonly identities: Readonly<Record<string, Pick<IrsaRole, "identity"> & Partial<Pick<IrsaRole, "role">>>>;
}

function gitSources(settings: Settings): ClusterMetadata["repositories"] {
  return {
    gitopsSystem: { url: settings.gitopsSystemRepoUrl, revision: settings.gitopsSystemRepoRevision },
    gitopsWorkloads: { url: settings.gitopsWorkloadsRepoUrl, revision: settings.gitopsWorkloadsRepoRevision },
  };
}

const gitProvider = ({ gitAuthentication }: Settings): GitProvider =>
  gitAuthentication === "github-app" ? "github" : "generic";

/** Who has access entries on spokes: Flux, and Crossplane in the kubeconfig variant of the Composition. */
const onSpokes: readonly HubIdentity[] = ["kustomize-controller", "helm-controller", "crossplane-eks"];

/** The add-on names that GitOps-bridge users know: snake_case. */
function identityMetadata(identities: BridgeSources["identities"]): pulumi.Output<ClusterMetadata["identities"]> {
  const entries = Object.entries(identities).map(
    ([name, { identity }]) => [name.replaceAll("-", "_"), identity] as const,
  );
  return pulumi.output(Object.fromEntries(entries));
}

/** When the newest of the roles was made that act on spokes. */
function newestOf(identities: BridgeSources["identities"]): pulumi.Output<string> {
  const roles = onSpokes.flatMap((name) => identities[name]?.role ?? []);
  return pulumi
    .all(roles.map(({ createDate }) => createDate))
    .apply((dates) => dates.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? "");
}

/** The sealing keys of every scope, where spokes may be in other accounts: all others ask for them by name. */
function sealingKeyArns({ settings, sealingKeys }: BridgeSources): pulumi.Output<string>[] {
  if (settings.accounts.length === 0) return [];
  const scopes = [...new Set(settings.sealingKeys.map(({ scope }) => scope))];
  return scopes.flatMap((scope) => Object.values(sealingKeys.secrets(scope)).map(({ arn }) => arn));
}

export function clusterSecret(sources: BridgeSources): ClusterSecretArgs {
  const { settings, account, network, cluster, identities } = sources;
  const names = fleetNames(settings.fleet);
  const metadata = pulumi
    .output({
      aws: {
        accountId: account.accountId,
        region: account.region,
        partition: account.partition,
        rolePath: account.rolePath,
        vpcId: network.vpcId,
        vpcCidr: network.cidr,
        loadBalancerCidrs: [],
        clusterName: cluster.name,
        clusterArn: cluster.arn,
        nodeRole: names.nodeRole,
      },
      oidc: { provider: cluster.oidc.issuer, providerArn: cluster.oidc.providerArn },
      identities: identityMetadata(identities),
      secretsKeyArn: sources.secretsKey.arn,
      sealingKeyArns: sealingKeyArns(sources),
      permissionsBoundaryArn: sources.boundary.arn,
      tenantBoundaryArn: sources.tenants.arn,
      addonBoundaryArn: sources.addonBoundary?.arn ?? "",
      clusterApiKeyArn: sources.clusterApiKey?.arn ?? "",
      metricsWorkspaceArn: sources.metrics?.arn ?? "",
      metricsEndpoint: sources.metrics?.endpoint ?? "",
      hubEgressCidrs: network.egressCidrs,
      hubAvailabilityZones: network.availabilityZones,
      hubRolesCreated: newestOf(identities),
    })
    .apply(
      (known): ClusterMetadata => ({
        ...known,
        name: hubName,
        role: "hub",
        environment: settings.environment,
        tenant: settings.tenant,
        fleet: settings.fleet,
        tags: settings.tags,
        databases: noDatabases,
        identitySource: identitySource(settings),
        volumeProvisioner: "ebs.csi.aws.com",
        volumeKey: hubVolumeKey(settings) ?? "",
        kubernetesVersion: settings.kubernetesVersion,
        repositories: gitSources(settings),
        gitProvider: gitProvider(settings),
        signers: {
          gitopsSystem: settings.gitVerification["gitops-system"] ?? {},
          gitopsWorkloads: settings.gitVerification["gitops-workloads"] ?? {},
        },
        chartsRegistry: settings.chartsRegistry,
        fleetSize: settings.fleetSize,
        functionPackage: withoutDigest(settings.functionPackage),
        functionDigest: digestOf(settings.functionPackage),
        imagesRegistry: settings.imagesRegistry,
        packagesRegistry: settings.packagesRegistry,
        pullSecrets: settings.pullSecret ? [registrySecrets.pull] : [],
        chartsCredential: settings.chartsUsername !== "",
        sealingScope: settings.sealingKeys.some(({ scope }) => scope === hubSealingScope)
          ? hubSealingScope
          : settings.environment,
        spokePrefix: names.spokePrefix,
        spokeCidrPool: settings.spokeCidrPool,
        spokePlaces: spokePlaces(settings, known.aws),
        addons: [
          ...["crossplane", "external_secrets", "flux"],
          ...(settings.kyverno ? ["kyverno"] : []),
          ...(settings.argocdSpokes && !argocdElsewhere(settings) ? [argocdIdentity] : []),
        ],
      }),
    );
  return { metadata, namespace: fluxNamespace, argocd: argocd(settings, cluster) };
}

function argocd(settings: Settings, cluster: HubCluster): ClusterSecretArgs["argocd"] {
  const { argocdClusterSecret, argocdNamespace: namespace, argocdRoleArn: roleArn, argocdSpokes } = settings;
  if (!argocdClusterSecret) return undefined;
  // platform/hub/argocd gives Argo CD rights in its own namespace of the hub only.
  if (!roleArn) return { namespace, access: { kind: "in-cluster", ...(argocdSpokes && { namespaces: [namespace] }) } };
  const access = pulumi
    .all([cluster.endpoint, cluster.certificateAuthority])
    .apply(
      ([endpoint, certificateAuthority]): ArgocdAccess => ({ kind: "role", roleArn, endpoint, certificateAuthority }),
    );
  return { namespace, access };
}

export interface SyncSources {
  readonly settings: Settings;
  readonly git: GitCredentials;
  readonly bridge: ClusterSecret;
  readonly store: SecretStore;
  readonly root: { readonly namespace: string; readonly kustomizationName: string };
}

export function fluxSync({ settings, git, bridge, store, root }: SyncSources): FluxSyncArgs {
  const repository = "gitops-system";
  return {
    ...root,
    repository,
    source: gitSources(settings).gitopsSystem,
    provider: gitProvider(settings),
    interval: gitInterval(settings),
    signers: settings.gitVerification[repository],
    path: `./${hubFolder(settings.fleet)}`,
    storeName: store.storeName,
    remoteSecret: git.secret(repository).secretName,
    clusterSecret: bridge.secretName,
  };
}

import { ClusterSecret } from "../components/cluster-secret.ts";
import { Crossplane } from "../components/crossplane.ts";
import { PushedSecretsGuard, RemainingSpokesGuard, RootKustomizationGuard } from "../components/deletion-guards.ts";
import { EncryptionKey } from "../components/encryption-key.ts";
import { ExternalSecrets } from "../components/external-secrets.ts";
import { FleetBoundary } from "../components/fleet-boundary.ts";
import { fleetSizes } from "../components/fleet-size.ts";
import { Flux, fluxNamespace } from "../components/flux.ts";
import { FluxSync } from "../components/flux-sync.ts";
import { GitCredentials } from "../components/git-credentials.ts";
import { GitReceiver } from "../components/git-receiver.ts";
import { GrafanaWorkspace } from "../components/grafana-workspace.ts";
import { HubCluster } from "../components/hub-cluster.ts";
import { HubNodes } from "../components/hub-nodes.ts";
import { MetricsWorkspace } from "../components/metrics-workspace.ts";
import { Notification } from "../components/notification.ts";
import { RegistryCredentialsSecret } from "../components/registry-credentials.ts";
import { SealingKeySecrets } from "../components/sealing-key-secrets.ts";
import { SealingKeys } from "../components/sealing-keys.ts";
import { SecretStore } from "../components/secret-store.ts";
import { fleetNames, hubName } from "../lib/names.ts";
import { awsAccount } from "./account.ts";
import { sharing, spokeScope } from "./accounts.ts";
import { argocdElsewhere, argocdIdentities, argocdStore, argocdStoreRemedy } from "./argocd.ts";
import { addonBoundaryArgs, autoModeBoundaryArgs, fleetBoundaryArgs, tenantBoundaryArgs } from "./boundaries.ts";
import { clusterSecret, fluxSync } from "./bridge.ts";
import { clusterApi } from "./cluster-api.ts";
import { gitAuthentication, registries, registryCredentials } from "./credentials.ts";
import * as hub from "./hub.ts";
import { fluxIdentity, hubIdentities, subjects } from "./identities.ts";
import { loadSettings } from "./load.ts";
import { grafanaWorkspaceArgs, metricsRole, metricsWorkspaceArgs, permittedToAddons } from "./metrics.ts";
import { hubNetwork } from "./network.ts";
import { hubNotifications, notificationSecrets } from "./notifications.ts";
import { hubReceiver, hubReceiverToken, webhooks } from "./receivers.ts";
import { pullerAnnotations, pullerRoles } from "./registry-identities.ts";
import { hubSealingKeys } from "./sealing.ts";

const settings = loadSettings();
const names = fleetNames(settings.fleet);
const account = awsAccount(settings);
const tags = hub.tags(settings);

// The hub: network, control plane, nodes.
const network = hubNetwork(settings, tags);
const cluster = new HubCluster(hubName, hub.clusterArgs(settings, network, tags));
// Nodes reach the internet through the network's routes, so these must exist before the nodes and outlive them.
const nodes = new HubNodes("hub-nodes", hub.nodeArgs(settings, cluster, tags), { dependsOn: network.dependencies });

// Keys and credentials, in Secrets Manager under a key of the fleet.
const { kmsDeletionWindowDays, secretRecoveryWindowDays, protect } = settings;
const elsewhere = sharing(settings, account);
const secretsKey = new EncryptionKey("secrets", {
  description: `Sealing keys and Git credentials of fleet ${settings.fleet}`,
  alias: names.secretsKeyAlias,
  kmsDeletionWindowDays,
  policy: elsewhere?.keyPolicy,
  tags,
  protect,
});
const secret = { keyArn: secretsKey.arn, secretRecoveryWindowDays, tags, protect };
const sealingKeys = new SealingKeys("sealing-keys", {
  ...secret,
  keys: settings.sealingKeys,
  formerSealingKeys: settings.formerSealingKeys,
  policy: elsewhere?.secretPolicy,
  secretName: names.sealingKeySecret,
});
const git = new GitCredentials("git", {
  ...secret,
  authentication: gitAuthentication(settings),
  secretName: names.gitSecret,
});
const unprotected = { keyArn: secretsKey.arn, secretRecoveryWindowDays, tags };
const receiverToken = hubReceiverToken(settings, unprotected);
const ofNotifications = notificationSecrets(settings, unprotected);

// Metrics of all clusters, and Grafana over them.
const metricsArgs = metricsWorkspaceArgs(settings, sealingKeys, tags);
const metrics = metricsArgs && new MetricsWorkspace("metrics", metricsArgs);
const grafanaArgs = grafanaWorkspaceArgs(settings, metrics, tags);
const grafana = grafanaArgs && new GrafanaWorkspace("grafana", grafanaArgs);

// Identities: one role for each service account, and the boundaries of the roles that Crossplane makes for spokes and on them.
const podTrust = hub.podTrust(cluster, nodes);
const { fleet, volumeKeys } = settings;
const places = {
  ...{ fleet, volumeKeys, tags, denials: settings.boundaryStatements },
  scope: spokeScope(settings, account),
};
const tenants = new FleetBoundary("tenant-boundary", tenantBoundaryArgs(places));
const boundary = new FleetBoundary("fleet-boundary", fleetBoundaryArgs(places, tenants));
new FleetBoundary("auto-mode-boundary", autoModeBoundaryArgs(places));
const permitted = permittedToAddons(settings, metrics);
const addonBoundary = permitted && new FleetBoundary("addon-boundary", addonBoundaryArgs(places, permitted));
const identities = hubIdentities({
  settings,
  account,
  cluster,
  podTrust,
  boundary,
  git,
  receiverToken,
  ofNotifications,
  sealingKeys,
  secretsKey,
  tags,
});
const agent = metrics && metricsRole(settings, podTrust, metrics, tags);
const argocd = argocdIdentities(settings, account, podTrust, tags);
const makesClusters = clusterApi(settings, account, podTrust, places);
const pull = pullerRoles(settings, podTrust, tags);

// Controllers, installed by Helm. They need nodes, so they are removed first.
const onHub = { provider: cluster.provider, dependsOn: [nodes] };
const chart = {
  registries: registries(settings),
  logLevel: settings.controllerLogLevel,
  size: fleetSizes[settings.fleetSize],
};
const flux = new Flux(
  "flux",
  {
    ...chart,
    ...fluxIdentity(settings, identities),
    sourceAnnotations: pullerAnnotations(settings, pull.source_controller),
  },
  onHub,
);
const verifications = settings.packageVerification;
const annotations = pullerAnnotations(settings, pull.crossplane_packages);
const crossplane = new Crossplane("crossplane", { ...chart, verifications, annotations }, onHub);
const externalSecrets = new ExternalSecrets(
  "external-secrets",
  { ...chart, pushSecrets: argocdElsewhere(settings) },
  onHub,
);

// The bridge: the facts of the hub for Git, which takes over from here. It is removed first: while a spoke exists, both guards
// keep the root Kustomization and everything below.
const bridge = new ClusterSecret(
  "cluster-secret",
  clusterSecret({
    settings,
    account,
    network,
    cluster,
    secretsKey,
    sealingKeys,
    boundary,
    tenants,
    addonBoundary,
    metrics,
    clusterApiKey: makesClusters?.key,
    identities: {
      ...identities,
      ...(agent && { prometheus: agent }),
      ...argocd,
      ...(makesClusters && { "cluster-api": makesClusters.role }),
      ...pull,
    },
  }),
  { provider: cluster.provider, dependsOn: [flux] },
);
const credentials = new RegistryCredentialsSecret(
  "registry-credentials",
  { namespace: fluxNamespace, credentials: registryCredentials(settings) },
  { provider: cluster.provider, dependsOn: [flux] },
);
const store = new SecretStore(
  "secret-store",
  { subject: subjects["external-secrets"], roleArn: identities["external-secrets"].arn, region: account.region },
  { provider: cluster.provider, dependsOn: [flux, externalSecrets] },
);
const ofArgocd = argocdStore(settings, account, argocd);
const spokesStore = ofArgocd
  ? [
      new SecretStore("argocd-secrets-store", ofArgocd, {
        provider: cluster.provider,
        // Its namespace is the bridge's.
        dependsOn: [
          bridge,
          externalSecrets,
          new PushedSecretsGuard(
            "argocd-secrets-guard",
            { store: ofArgocd.subject, remedy: argocdStoreRemedy },
            { provider: cluster.provider, dependsOn: [externalSecrets] },
          ),
        ],
      }),
    ]
  : [];
const root = { namespace: fluxNamespace, kustomizationName: hubName };
const guard = new RootKustomizationGuard("root-guard", root, onHub);
const receiverArgs = hubReceiver(settings, receiverToken, store);
const withStore = { provider: cluster.provider, dependsOn: [flux, externalSecrets, store] };
const receiver = receiverArgs ? [new GitReceiver("git-receiver", receiverArgs, withStore)] : [];
for (const [name, args] of Object.entries(hubNotifications(settings, ofNotifications, store)))
  new Notification(name, args, withStore);
const sealingArgs = hubSealingKeys(sealingKeys, store);
// Removed after what Git put on the hub, which opens secrets with them.
const sealing = sealingArgs ? [new SealingKeySecrets("hub-sealing-keys", sealingArgs, withStore)] : [];
const sync = new FluxSync("gitops-system", fluxSync({ settings, git, bridge, store, root }), {
  provider: cluster.provider,
  dependsOn: [
    flux,
    crossplane,
    externalSecrets,
    store,
    bridge,
    credentials,
    guard,
    ...receiver,
    ...sealing,
    ...spokesStore,
  ],
});
new RemainingSpokesGuard("remaining-spokes-guard", root, {
  provider: cluster.provider,
  dependsOn: [sync],
});

/** kubeconfig for people: `pulumi stack output kubeconfig > kubeconfig`. It calls `aws eks get-token` and contains no credential. */
export const kubeconfig = cluster.kubeconfig;
/** Name and ARN of the hub's EKS cluster. */
export const clusterName = cluster.name;
export const clusterArn = cluster.arn;
/** OIDC issuer of the hub without `https://`, and its IAM provider, for trust policies outside this stack. */
export const oidcIssuer = cluster.oidc.issuer;
export const oidcProviderArn = cluster.oidc.providerArn;
/** Public keys to register at the Git hosts as read-only deploy keys, by repository. */
export const deployPublicKeys = git.publicKeys;
/** What to enter as a webhook at the Git host, by cluster: its type, the path of its URL and its secret; secret themselves. */
export const gitWebhooks = webhooks(settings, receiverToken);
/** Public certificates for `kubeseal --cert`, by scope and generation, and the generation to use in each scope. */
export const sealingCertificates = sealingKeys.certificates;
export const activeSealingKeys = sealingKeys.active;
/** Keys and values of the hub's cluster secret: what Git can substitute. */
export const bridgeData = bridge.data;
/** Where people sign in to Grafana; null without `grafana: amg`, because Pulumi warns of an output that is undefined at every run. */
export const grafanaUrl = grafana?.url ?? null;

import * as pulumi from "@pulumi/pulumi";
import type { EncryptionKey } from "../components/encryption-key.ts";
import type { FleetBoundary } from "../components/fleet-boundary.ts";
import { type FluxArgs, fluxNamespace } from "../components/flux.ts";
import type { GitCredentials } from "../components/git-credentials.ts";
import type { HubCluster } from "../components/hub-cluster.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import type { ManagedSecret } from "../components/managed-secret.ts";
import type { ReceiverToken } from "../components/receiver-token.ts";
import type { SealingKeys } from "../components/sealing-keys.ts";
import { podAnnotations } from "../lib/bridge-facts.ts";
import { providerPolicies } from "../lib/iam/crossplane.ts";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { ServiceAccountRef } from "../lib/iam/trust.ts";
import { secretReaderPolicy, spokeViewerPolicy } from "../lib/iam/workloads.ts";
import type { Tags } from "../lib/labels.ts";
import {
  type CrossplaneService,
  crossplaneServices,
  fleetNames,
  type HubIdentity,
  hubSealingScope,
  namespaces,
  providerAccount,
} from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import { otherRoles, spokeScope } from "./accounts.ts";
import { identitySource, ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

/** By the identities of Crossplane's providers. */
const ofProviders = <Value>(value: (service: CrossplaneService) => Value) =>
  Object.fromEntries(crossplaneServices.map((service) => [`crossplane-${service}`, value(service)])) as Readonly<
    Record<`crossplane-${CrossplaneService}`, Value>
  >;

/** The service account behind each identity on the hub. */
export const subjects: Readonly<Record<HubIdentity, ServiceAccountRef>> = {
  "external-secrets": { namespace: fluxNamespace, serviceAccount: "aws-secrets-manager" },
  ...ofProviders((service) => ({ namespace: namespaces.crossplane, serviceAccount: providerAccount(service) })),
  "kustomize-controller": { namespace: fluxNamespace, serviceAccount: "kustomize-controller" },
  "helm-controller": { namespace: fluxNamespace, serviceAccount: "helm-controller" },
};

export interface IdentityArgs {
  readonly settings: Settings;
  readonly account: AwsAccount;
  readonly cluster: HubCluster;
  readonly podTrust: PodTrust;
  readonly boundary: FleetBoundary;
  readonly git: GitCredentials;
  readonly receiverToken: ReceiverToken | undefined;
  /** By name of the notification. */
  readonly ofNotifications: ReadonlyMap<string, ManagedSecret>;
  readonly sealingKeys: SealingKeys;
  readonly secretsKey: EncryptionKey;
  readonly tags: Tags;
}

export type HubIdentities = Readonly<Record<HubIdentity, IrsaRole>>;

/** The IAM roles of the controllers on the hub. */
export function hubIdentities(args: IdentityArgs): HubIdentities {
  const { settings, account, podTrust, tags } = args;
  const { oidc } = podTrust;
  const names = fleetNames(settings.fleet);
  const role = (identity: HubIdentity, description: string, policy: pulumi.Input<PolicyDocument>) =>
    new IrsaRole(identity, {
      roleName: names.identityRole(identity),
      description,
      // EKS takes tokens of pods only, and no pod runs under the service account of a store.
      ...(identity === "external-secrets" ? { oidc } : podTrust),
      subject: subjects[identity],
      policy,
      ...ofEveryRole(settings),
      tags,
    });
  const viewer = pulumi.output(account).apply((scope) => spokeViewerPolicy(scope, names.spokePrefix));
  const maker = makerPolicies(args);
  return {
    "external-secrets": role(
      "external-secrets",
      "External Secrets reads the hub's Git credentials",
      readerPolicy(args),
    ),
    ...ofProviders((service) =>
      role(
        `crossplane-${service}`,
        `Crossplane makes the clusters of the fleet: ${service.toUpperCase()}`,
        maker.apply((policies) => policies[service]),
      ),
    ),
    "kustomize-controller": role("kustomize-controller", "Flux applies manifests to spokes", viewer),
    "helm-controller": role("helm-controller", "Flux installs charts on spokes", viewer),
  };
}

/** The roles with which Flux reaches spokes, and what its pods have to start anew when they get them otherwise. */
export const fluxIdentity = (
  settings: Settings,
  identities: HubIdentities,
): Pick<FluxArgs, "podAnnotations" | "roleArns"> => ({
  roleArns: {
    "kustomize-controller": identities["kustomize-controller"].arn,
    "helm-controller": identities["helm-controller"].arn,
  },
  podAnnotations: podAnnotations(identitySource(settings)),
});

/** Only what the hub needs: the credential of gitops-system, the token of its Receiver, what its notifications need, and sealing keys of its own. */
function readerPolicy(args: IdentityArgs): pulumi.Output<PolicyDocument> {
  const { account, git, receiverToken, ofNotifications, sealingKeys, secretsKey } = args;
  const ofReceiver = receiverToken ? [receiverToken] : [];
  const sealing = Object.values(sealingKeys.secrets(hubSealingScope));
  const secrets = [git.secret("gitops-system"), ...ofReceiver, ...ofNotifications.values(), ...sealing].map(
    ({ arn }) => arn,
  );
  return pulumi
    .all([pulumi.all(secrets), secretsKey.arn, account.region, account.dnsSuffix])
    .apply(([secretArns, keyArn, region, dnsSuffix]) => secretReaderPolicy({ secretArns, keyArn, region, dnsSuffix }));
}

function makerPolicies({ settings, account, cluster, boundary }: IdentityArgs) {
  const { fleet } = settings;
  const { spokePrefix } = fleetNames(fleet);
  return pulumi
    .all([spokeScope(settings, account), boundary.arn, cluster.oidc.providerArn])
    .apply(([scope, boundaryArn, hubOidcProviderArn]) =>
      providerPolicies({
        ...{ ...scope, fleet, spokePrefix, boundaryArn, hubOidcProviderArn },
        otherAccounts: otherRoles(settings, scope),
      }),
    );
}

import * as pulumi from "@pulumi/pulumi";
import { providerServiceAccount } from "../components/crossplane.ts";
import type { EncryptionKey } from "../components/encryption-key.ts";
import type { FleetBoundary } from "../components/fleet-boundary.ts";
import { type FluxArgs, fluxNamespace } from "../components/flux.ts";
import type { GitCredentials } from "../components/git-credentials.ts";
import type { HubCluster } from "../components/hub-cluster.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import type { ManagedSecret } from "../components/managed-secret.ts";
import type { ReceiverToken } from "../components/receiver-token.ts";
import type { FurtherPolicies } from "../components/role-policies.ts";
import type { SealingKeys } from "../components/sealing-keys.ts";
import { podAnnotations } from "../lib/bridge-facts.ts";
import { crossplanePolicies } from "../lib/iam/crossplane.ts";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { ServiceAccountRef } from "../lib/iam/trust.ts";
import { secretReaderPolicy, spokeViewerPolicy } from "../lib/iam/workloads.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, type HubIdentity } from "../lib/names.ts";
import { hubSealingScope } from "../lib/spoke.ts";
import type { AwsAccount } from "./account.ts";
import { otherRoles, spokeScope } from "./accounts.ts";
import { makerRights } from "./boundaries.ts";
import { identitySource, ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

/** The service account behind each identity on the hub. */
export const subjects: Readonly<Record<HubIdentity, ServiceAccountRef>> = {
  "external-secrets": { namespace: fluxNamespace, serviceAccount: "aws-secrets-manager" },
  crossplane: providerServiceAccount,
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
  const role = (
    identity: HubIdentity,
    description: string,
    policy: pulumi.Input<PolicyDocument>,
    furtherPolicies: FurtherPolicies = {},
  ) =>
    new IrsaRole(identity, {
      roleName: names.identityRole(identity),
      description,
      // EKS takes tokens of pods only, and no pod runs under the service account of a store.
      ...(identity === "external-secrets" ? { oidc } : podTrust),
      subject: subjects[identity],
      policy,
      furtherPolicies,
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
    crossplane: role("crossplane", "Crossplane makes the clusters of the fleet", maker.policy, maker.furtherPolicies),
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
  const policies = pulumi
    .all([spokeScope(settings, account), boundary.arn, cluster.oidc.providerArn])
    .apply(([scope, boundaryArn, hubOidcProviderArn]) =>
      crossplanePolicies({
        ...{ ...scope, fleet, spokePrefix, boundaryArn, hubOidcProviderArn },
        otherAccounts: otherRoles(settings, scope),
      }),
    );
  return makerRights(policies);
}

import * as pulumi from "@pulumi/pulumi";
import { IrsaRole } from "../components/irsa-role.ts";
import type { SecretStoreArgs } from "../components/secret-store.ts";
import { ServiceRole } from "../components/service-role.ts";
import { argocdController, argocdIdentity, argocdSecretsIdentity, argocdSecretsStore } from "../lib/argocd.ts";
import { arns, type Scope } from "../lib/iam/policy.ts";
import { roleTrust, type ServiceAccountRef } from "../lib/iam/trust.ts";
import { argocdPolicy, argocdSecretsPolicy } from "../lib/iam/workloads.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import { ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

/** Whether Argo CD acts on spokes from another cluster than the hub, with a role that is none of the stack's. */
export const argocdElsewhere = ({ argocdRoleArn, argocdSpokes }: Settings): boolean =>
  argocdSpokes && argocdRoleArn !== "";

/**
 * The identities of Argo CD where it acts on spokes, by their names in the bridge; none where it doesn't. The composition function gives
 * Argo CD access to spokes (functions/spoke/parts/argocd.ts).
 */
export function argocdIdentities(
  settings: Settings,
  account: AwsAccount,
  podTrust: PodTrust,
  tags: Tags,
): Readonly<Record<string, Pick<IrsaRole, "identity">>> {
  if (!settings.argocdSpokes) return {};
  const subject = { namespace: settings.argocdNamespace, serviceAccount: argocdController };
  const roles = { settings, scope: pulumi.output(account), podTrust, tags };
  if (!argocdElsewhere(settings)) return { [argocdIdentity]: onHub(roles, subject) };
  return {
    [argocdIdentity]: { identity: pulumi.output({ roleArn: settings.argocdRoleArn, ...subject }) },
    [argocdSecretsIdentity]: writer(roles),
  };
}

interface RoleArgs {
  readonly settings: Settings;
  readonly scope: pulumi.Output<Scope>;
  readonly podTrust: PodTrust;
  readonly tags: Tags;
}

const common = ({ settings, tags }: RoleArgs) => ({ ...ofEveryRole(settings), tags });

/** The role of Argo CD's controller on the hub, and the one that it assumes on spokes, which may do nothing in AWS. */
function onHub(args: RoleArgs, subject: ServiceAccountRef): IrsaRole {
  const { settings, scope, podTrust } = args;
  const names = fleetNames(settings.fleet);
  const controller = new IrsaRole("argocd", {
    ...common(args),
    roleName: names.argocdRole,
    description: "Argo CD on the hub",
    ...podTrust,
    subject,
    policy: scope.apply((known) => argocdPolicy(arns(known).role(names.argocdSpokesRole))),
  });
  new ServiceRole("argocd-spokes", {
    ...common(args),
    roleName: names.argocdSpokesRole,
    description: "Argo CD on spokes, where access entries give it its rights",
    trust: scope.apply((known) => roleTrust(known, [arns(known).role(names.argocdRole)])),
  });
  return controller;
}

/** The role that writes spokes into Secrets Manager, where an Argo CD elsewhere finds them. */
function writer(args: RoleArgs): IrsaRole {
  const { settings, scope, podTrust } = args;
  const names = fleetNames(settings.fleet);
  return new IrsaRole(argocdSecretsStore, {
    ...common(args),
    roleName: names.argocdSecretsRole,
    description: "External Secrets writes spokes for an Argo CD elsewhere",
    // As External Secrets' own: no pod runs under the service account of the store.
    oidc: podTrust.oidc,
    subject: { namespace: settings.argocdNamespace, serviceAccount: argocdSecretsStore },
    policy: scope.apply((known) => argocdSecretsPolicy(arns(known).secret(names.argocdSecret("*")))),
  });
}

/** What to do when the stack would take the store away too early; the operator is told to leave PushSecrets alone before. */
export const argocdStoreRemedy =
  "set argocdSpokes and argocdRoleArn as they were and run pulumi up, take argocd out of the input of the Composition in Git, and wait until " +
  "kubectl get pushsecrets -A shows none";

/** The store through which it does; undefined where Argo CD is on the hub, or has nothing to do with spokes. */
export function argocdStore(
  { argocdNamespace: namespace }: Settings,
  { region }: AwsAccount,
  { [argocdSecretsIdentity]: own }: ReturnType<typeof argocdIdentities>,
): SecretStoreArgs | undefined {
  if (own === undefined) return undefined;
  const roleArn = own.identity.apply((identity) => identity.roleArn);
  return { subject: { namespace, serviceAccount: argocdSecretsStore }, roleArn, region, deletesAtOnce: true };
}

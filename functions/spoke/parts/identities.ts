import type { IdentitySource } from "../../../lib/bridge-facts.ts";
import { adminAccessPolicy } from "../../../lib/eks-baseline.ts";
import { arns, dnsSuffix, type PolicyDocument, policy } from "../../../lib/iam/policy.ts";
import { volumeDriverPolicy } from "../../../lib/iam/roles.ts";
import { spokeCrossplanePolicy } from "../../../lib/iam/tenants.ts";
import { podIdentityTrust, type RoleSubject, serviceAccountTrust, stsAudience } from "../../../lib/iam/trust.ts";
import { ownKeysOfRole } from "../../../lib/iam/volume-key.ts";
import { secretReaderPolicy } from "../../../lib/iam/workloads.ts";
import type { Tags } from "../../../lib/labels.ts";
import { fleetNames, pullers } from "../../../lib/names.ts";
import { kubeconfigIdentity, type SpokeIdentity, sealingScope, spokeIdentities } from "../../../lib/spoke.ts";
import { type AddonRole, addonProblems, addonRoles } from "../addon-roles.ts";
import { podIdentityAgent } from "../api.ts";
import { isAuto } from "../auto-mode.ts";
import { makesBuckets } from "../buckets.ts";
import type { Context } from "../context.ts";
import { databasesOf, databaseTags } from "../databases.ts";
import { type Fact, fact } from "../facts.ts";
import { isLetGo } from "../orphan.ts";
import { fluxIdentities } from "../plan.ts";
import { hasAssociations, isForPods, toldSource, usesPodIdentity } from "../pod-identity.ts";
import { pullerRights, type RoleIdentity } from "../registry-roles.ts";
import { addonRoleName, dashed, type Resource, resources } from "../resources.ts";
import { volumeKeysOf } from "../volume-key.ts";
import { argocdPrincipal, composeAssociation, composeEntry, digest } from "./access.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { nodesReachAws } from "./endpoints.ts";
import { isDeleting } from "./guard.ts";
import { associationsOf, composeRole, type RoleArgs, roleResources } from "./roles.ts";
import { composeTeams } from "./teams.ts";

/** Only the sealing keys of the spoke's own scope and its own Git credential, in the hub's account and region. */
function secretsPolicy({ hub, spoke }: Context): PolicyDocument {
  const fleet = fleetNames(hub.fleet);
  const { secret } = arns(hub.aws);
  const { name } = spoke.metadata;
  return secretReaderPolicy({
    secretArns: [
      // The slash ends the scope: the keys of cluster-green-2 are not those of cluster-green.
      secret(fleet.sealingKeySecret(sealingScope({ ...spoke.spec, name }), "*")),
      // Secrets Manager appends a hyphen and six characters to each ARN.
      secret(`${fleet.spokeGitSecret(name)}-??????`),
    ],
    keyArn: hub.secretsKeyArn,
    region: hub.aws.region,
    dnsSuffix: dnsSuffix(hub.aws.partition),
  });
}

interface Rights {
  readonly description: string;
  readonly managedPolicies: readonly string[];
  readonly inlinePolicy?: PolicyDocument;
  readonly tags?: Tags;
}

function rights(context: Context): Readonly<Record<SpokeIdentity, Rights>> {
  const { names, scope, tenantBoundary } = context;
  const volumeKeys = ownKeysOfRole(volumeKeysOf(context));
  return {
    external_secrets: {
      description: `External Secrets of ${names.cluster} reads its sealing keys`,
      managedPolicies: [],
      inlinePolicy: secretsPolicy(context),
    },
    crossplane: {
      description: `Crossplane of ${names.cluster} makes what its applications order`,
      managedPolicies: [],
      inlinePolicy: spokeCrossplanePolicy({
        ...scope,
        cluster: names.cluster,
        tenantBoundaryArn: tenantBoundary,
        buckets: makesBuckets(context),
        databases: databasesOf(context),
      }),
      tags: databaseTags(context),
    },
    aws_ebs_csi_driver: {
      description: `EBS CSI driver of ${names.cluster}`,
      managedPolicies: [volumeDriverPolicy],
      ...(volumeKeys.length > 0 && { inlinePolicy: policy(...volumeKeys) }),
    },
  };
}

/** Trust in the pods of a service account of the spoke; undefined while there is no agent that could give them the role, and reaches EKS. */
function trustInPods(context: Context, subject: RoleSubject): PolicyDocument | undefined {
  const arn = controlPlaneFacts(context).arn.value;
  // Nodes of EKS Auto Mode have the agent built in.
  const agent = isAuto(context.spoke) ? resources.cluster : resources.addon(podIdentityAgent);
  const hasAgent = context.observed.ready(agent) && nodesReachAws(context).value === true;
  return arn !== undefined && hasAgent ? podIdentityTrust(arn, subject) : undefined;
}

/** Trust in a service account of the spoke; undefined while the spoke's OIDC provider is not known. */
function trustIn(context: Context, subject: RoleSubject): PolicyDocument | undefined {
  const issuer = controlPlaneFacts(context).issuer.value;
  const providerArn = context.observed.readyText(resources.oidcProvider, "arn");
  return issuer !== undefined && providerArn !== undefined
    ? serviceAccountTrust({ issuer, providerArn }, subject)
    : undefined;
}

/** Who may assume a role of a service account of the spoke, and whether its pods get it by EKS Pod Identity. */
function assumedBy(context: Context, subject: RoleSubject, forPods: boolean): Pick<RoleArgs, "pods" | "trust"> {
  if (!forPods) return { trust: trustIn(context, subject) };
  const own = trustInPods(context, subject);
  // Pods go on with IRSA until Git tells them of another way, which it does when every association works.
  const former = toldSource(context.observed) === "IRSA" ? trustIn(context, subject) : undefined;
  return { trust: own && policy(...own.Statement, ...(former?.Statement ?? [])), pods: subject };
}

/** The role of an enabled add-on that acts in AWS. */
function addonRole(context: Context, { addon, subject, policy }: AddonRole): RoleArgs {
  const { addonBoundary, names } = context;
  return {
    role: addonRoleName(addon),
    roleName: names.addonRole(addon),
    description: `Add-on ${addon} of ${names.cluster}`,
    ...assumedBy(context, subject, usesPodIdentity(context)),
    managedPolicies: [],
    inlinePolicy: policy,
    boundary: addonBoundary,
  };
}

/** What may not be made or changed stays as it is: SpecAccepted says why. */
function composeAddonRoles(context: Context): void {
  const { composer } = context;
  const isRefused = addonProblems(context).length > 0;
  for (const role of addonRoles(context).map((each) => addonRole(context, each)))
    if (isRefused) for (const resource of roleResources(role)) composer.keep(resource);
    else composeRole(context, role);
}

/** The ARN of an add-on's role once the role works. */
export function workingAddonRole(context: Context, addon: AddonRole): string | undefined {
  const { observed } = context;
  const works = roleResources(addonRole(context, addon)).every((resource) => observed.ready(resource));
  return works ? observed.text(resources.role(addonRoleName(addon.addon)), "arn") : undefined;
}

/** The role of each controller on the spoke that acts in AWS. */
function identityRoles(context: Context): readonly RoleArgs[] {
  const { names } = context;
  const subjects = { ...spokeIdentities, ...pullers };
  const entries = [...Object.entries(rights(context)), ...pullerRights(context)] as [RoleIdentity, Rights][];
  return entries.map(([identity, own]) => ({
    role: dashed(identity),
    roleName: names.identityRole(identity),
    ...assumedBy(context, subjects[identity], isForPods(context, identity)),
    ...own,
  }));
}

/**
 * How pods get their roles' credentials. Git learns of another way, with which they start anew, once it works for all roles that may be
 * made, and the former is gone where it would count first.
 */
export function identitySource(context: Context): Fact<IdentitySource> {
  const isRefused = addonProblems(context).length > 0;
  const roles = [
    ...identityRoles(context),
    ...(isRefused ? [] : addonRoles(context).map((each) => addonRole(context, each))),
  ];
  const associations = roles.flatMap(associationsOf).map(({ resource }) => resource);
  const wanted = usesPodIdentity(context) ? "PodIdentity" : "IRSA";
  const works = usesPodIdentity(context)
    ? associations.every((resource) => context.observed.ready(resource))
    : !hasAssociations(context);
  return fact("identities", works ? wanted : toldSource(context.observed));
}

/** Somebody who may act on the whole spoke. */
interface Principal {
  /** The access entry, and the admin policy. */
  readonly entry: Resource;
  readonly policy: Resource;
  readonly arn: string;
  /** Kubernetes groups of Flux on the hub; an administrator has none. */
  readonly groups?: readonly string[];
}

function principals({ hub, observed, scope, settings, spoke }: Context): readonly Principal[] {
  // In another account Crossplane acts as its role there (infra/account), and so does who uses its tokens.
  const actingAs = (arn: string) =>
    scope.accountId === hub.aws.accountId ? arn : arns(scope).role(fleetNames(hub.fleet).crossplaneRole);
  const controllers = Object.entries(fluxIdentities(settings)).flatMap(([identity, groups]) => {
    const arn = hub.identities[identity]?.roleArn;
    const resource = { entry: resources.hubEntry(identity), policy: resources.hubAdmin(identity) };
    if (arn === undefined) return [];
    return [{ ...resource, arn: identity === kubeconfigIdentity ? actingAs(arn) : arn, groups }];
  });
  const others = spoke.spec.admins.filter((arn) => arn !== argocdPrincipal(observed));
  const admins = others.map((arn) => ({
    entry: resources.adminEntry(digest(arn)),
    policy: resources.adminPolicy(digest(arn)),
    arn,
  }));
  return [...controllers, ...admins];
}

/**
 * Whether EKS knows a former role of this ARN by the entry: "If you … ever recreate the IAM principal, even if it has the same ARN, the
 * access entry won't work" (EKS API reference, AccessEntry). Such an entry is older than the role.
 */
function isOfFormerRole({ observed, hub }: Context, { entry, groups }: Principal): boolean {
  const made = Date.parse(observed.text(entry, "createdAt") ?? "");
  return groups !== undefined && made < Date.parse(hub.hubRolesCreated);
}

/** An administrator has the admin policy for good, Flux on the hub while it needs it. */
const isAdministrator = ({ hubAccess }: Context, { groups }: Principal): boolean =>
  groups === undefined || hubAccess.reason !== "Narrow";

function access(context: Context, principal: Principal): void {
  // One whose resource stays would only be found again.
  const isMadeAgain = isOfFormerRole(context, principal) && !isLetGo(context.spoke) && !isDeleting(context.spoke);
  if (isMadeAgain) context.composer.waitFor(principal.entry, fact("identities", undefined));
  else composeEntry(context, principal);
  if (isAdministrator(context, principal))
    composeAssociation(context, {
      ...principal,
      resource: principal.policy,
      policy: adminAccessPolicy,
      accessScope: { type: "cluster" },
    });
}

/** The spoke's identities: its OIDC provider, the roles of its controllers, and who may administer it. */
export function composeIdentities(context: Context): void {
  const { composer, tags } = context;
  const { issuer } = controlPlaneFacts(context);
  composer.managed(resources.oidcProvider, "OpenIDConnectProvider", { issuer }, (known) => ({
    forProvider: { url: known.issuer, clientIdList: [stsAudience], tags: tags() },
  }));
  for (const role of identityRoles(context)) composeRole(context, role);
  composeAddonRoles(context);
  for (const principal of principals(context)) access(context, principal);
  composeTeams(context);
}

/** Known once Flux on the hub may act on the spoke; a chain that exists does not wait for the hub's admin policy. */
export function identitiesReady(context: Context): Fact<true> {
  const { observed } = context;
  const begun = observed.has(resources.bootstrap);
  const needed = [
    ...identityRoles(context).flatMap(roleResources),
    ...principals(context).map(({ entry, policy, groups }) => (groups && begun ? entry : policy)),
  ];
  return fact("identities", needed.every((resource) => observed.ready(resource)) || undefined);
}

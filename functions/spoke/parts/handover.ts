import { fromBase64, inBase64 } from "../../../lib/base64.ts";
import {
  bridgeData,
  bridgeLabels,
  type ClusterMetadata,
  clusterSecretName,
  expectForms,
  type OwnMetadata,
} from "../../../lib/bridge.ts";
import { type IdentitySource, identityFacts } from "../../../lib/bridge-facts.ts";
import type { DatabaseFacts } from "../../../lib/iam/databases.ts";
import type { RoleSubject } from "../../../lib/iam/trust.ts";
import { watchLabel } from "../../../lib/labels.ts";
import { type SpokeIdentity, sealingScope } from "../../../lib/spoke.ts";
import { addonRoles } from "../addon-roles.ts";
import { volumeProvisioner } from "../auto-mode.ts";
import { bootstrapKustomization, kubeConfigName } from "../chain.ts";
import type { Context } from "../context.ts";
import { databaseFacts } from "../databases.ts";
import { type Fact, fact } from "../facts.ts";
import { otherKinds } from "../kinds.ts";
import { anyNodes } from "../node-groups.ts";
import { runningVersion } from "../plan.ts";
import { type RoleIdentity, roleSubjects } from "../registry-roles.ts";
import { dashed, resources } from "../resources.ts";
import { revisionToBring, stageOf } from "../rollout.ts";
import { sealingKeyArns } from "../sealing.ts";
import type { Surroundings } from "../surroundings.ts";
import { companyTags } from "../tags.ts";
import { volumeKeyOf } from "../volume-key.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { identitiesReady, identitySource, workingAddonRole } from "./identities.ts";
import { publicCidrs } from "./network.ts";

/** The add-on that makes load balancers in the public subnets. */
const loadBalancerAddon = "aws_load_balancer_controller";

/** How Flux reaches the spoke. The ConfigMap has no credential: Flux signs a token with its own IAM role at each use. */
function kubeConfig(context: Context): void {
  const { composer, names, settings, spoke } = context;
  const { arn, endpoint, certificateAuthority } = controlPlaneFacts(context);
  if (settings.kubeConfig === "secret") {
    composer.managed(resources.clusterAuth, "ClusterAuth", { controlPlane: endpoint }, () => ({
      // EKS tokens live for 15 minutes.
      forProvider: { region: spoke.spec.region, clusterName: names.cluster, refreshPeriod: "10m0s" },
      writeConnectionSecretToRef: { name: kubeConfigName(spoke) },
    }));
    return;
  }
  composer.object(resources.kubeConfig, { arn, endpoint, certificateAuthority }, (known) => ({
    apiVersion: otherKinds.ConfigMap,
    kind: "ConfigMap",
    metadata: { name: kubeConfigName(spoke), labels: { ...watchLabel } },
    data: {
      provider: "aws",
      cluster: known.arn,
      // With both of these Flux does not call EKS on every reconciliation.
      address: known.endpoint,
      "ca.crt": Buffer.from(known.certificateAuthority, "base64").toString("utf8"),
    },
  }));
}

/** The facts in a spoke's cluster secret that AWS reports. */
export interface SpokeFacts {
  readonly vpcId: string;
  readonly vpcCidr: string;
  readonly publicCidrs: readonly string[];
  readonly arn: string;
  readonly issuer: string;
  readonly oidcProviderArn: string;
  readonly identitySource: IdentitySource;
  readonly volumeKey: string;
  readonly kubernetesVersion: string;
  readonly databases: DatabaseFacts;
  /** Of its controllers and of its add-ons, by their names in snake_case. */
  readonly roleArns: Readonly<Record<SpokeIdentity, string>> & Readonly<Record<string, string>>;
}

type Source = Pick<Context, "hub" | "settings" | "spoke"> & Surroundings;

/** The service account behind each identity of the spoke: its controllers and the add-ons that act in AWS. */
const subjectsOf = (source: Source): Readonly<Record<string, RoleSubject>> => ({
  ...Object.fromEntries(addonRoles(source).map(({ addon, subject }) => [addon, subject])),
  ...roleSubjects(source),
});

/** The facts of the spoke that Git may use. Facts about the fleet come from the hub. */
export function metadataOf(source: Source, facts: SpokeFacts): ClusterMetadata {
  const { hub, names, scope, settings, spoke } = source;
  const { environment, tenant, addons, sealing } = spoke.spec;
  const stage = stageOf(spoke, settings);
  const { gitopsSystem, gitopsWorkloads } = hub.repositories;
  const own: OwnMetadata = {
    name: spoke.metadata.name,
    role: "spoke",
    environment,
    tenant,
    fleet: hub.fleet,
    tags: companyTags(source),
    aws: {
      ...scope,
      vpcId: facts.vpcId,
      vpcCidr: facts.vpcCidr,
      loadBalancerCidrs: addons.includes(loadBalancerAddon) ? facts.publicCidrs : [],
      clusterName: names.cluster,
      clusterArn: facts.arn,
      nodeRole: names.nodeRole,
    },
    databases: facts.databases,
    identitySource: facts.identitySource,
    volumeProvisioner: volumeProvisioner(spoke),
    volumeKey: facts.volumeKey,
    kubernetesVersion: facts.kubernetesVersion,
    oidc: { provider: facts.issuer.replace(/^https:\/\//, ""), providerArn: facts.oidcProviderArn },
    identities: Object.fromEntries(
      Object.entries(subjectsOf(source)).flatMap(([identity, { namespace, serviceAccount }]) => {
        const roleArn = facts.roleArns[identity];
        const accounts = [serviceAccount].flat().join(",");
        return roleArn === undefined ? [] : [[identity, { roleArn, namespace, serviceAccount: accounts }]];
      }),
    ),
    repositories: {
      gitopsSystem: { url: gitopsSystem.url, revision: stage?.gitopsSystemRevision ?? gitopsSystem.revision },
      gitopsWorkloads: {
        url: gitopsWorkloads.url,
        revision: stage?.gitopsWorkloadsRevision ?? gitopsWorkloads.revision,
      },
    },
    sealingScope: sealingScope({ name: spoke.metadata.name, environment, sealing }),
    sealingKeyArns: sealingKeyArns(spoke, hub),
    permissionsBoundaryArn: source.permissionsBoundary,
    tenantBoundaryArn: source.tenantBoundary,
    addonBoundaryArn: source.addonBoundary,
    // An add-on that acts in AWS comes when its role is there.
    addons: addons.filter((addon) => !Object.hasOwn(settings.addons, addon) || addon in facts.roleArns).sort(),
  };
  return { ...hub, ...own };
}

/**
 * The roles of the spoke's controllers, and of the add-ons of which Git may know: those whose role works, and those of which the bridge
 * tells already, because Flux removes what it no longer tells of.
 */
function roleArns(context: Context): Fact<SpokeFacts["roleArns"]> {
  const { observed } = context;
  const controllers = (Object.keys(roleSubjects(context)) as RoleIdentity[]).map(
    (identity) => [identity, observed.text(resources.role(dashed(identity)), "arn")] as const,
  );
  const told = fromBase64(observed.get(resources.clusterSecret)?.data ?? {});
  const addons = addonRoles(context).flatMap((role) => {
    const arn = workingAddonRole(context, role) ?? told[`${role.addon}${identityFacts.roleArn.key}`];
    return arn === undefined ? [] : [[role.addon, arn] as const];
  });
  const known = controllers.every(([, arn]) => arn !== undefined);
  return fact(
    "identities",
    known ? (Object.fromEntries([...addons, ...controllers]) as SpokeFacts["roleArns"]) : undefined,
  );
}

/** What the bridge of the spoke takes from AWS. */
export function spokeFacts(context: Context) {
  const { facts, observed, plan } = context;
  const { arn, issuer } = controlPlaneFacts(context);
  return {
    vpcId: facts.text(resources.vpc, "id"),
    vpcCidr: fact("network", plan.network.cidr),
    publicCidrs: fact("network", publicCidrs(context)),
    arn,
    issuer,
    oidcProviderArn: facts.readyText(resources.oidcProvider, "arn"),
    identitySource: identitySource(context),
    volumeKey: fact("spec", volumeKeyOf(context) ?? ""),
    kubernetesVersion: fact("controlPlane", runningVersion(observed)),
    databases: databaseFacts(context),
    roleArns: roleArns(context),
  } satisfies { readonly [Name in keyof SpokeFacts]: Fact<SpokeFacts[Name]> };
}

/** The GitOps bridge of the spoke; in `data`, so that a key that is no longer emitted disappears. */
function clusterSecret(context: Context): void {
  const { composer, spoke } = context;
  composer.object(resources.clusterSecret, spokeFacts(context), (known) => {
    const metadata = metadataOf(context, known);
    const data = bridgeData(metadata);
    expectForms(data);
    return {
      apiVersion: otherKinds.Secret,
      kind: "Secret",
      metadata: { name: clusterSecretName(spoke.metadata.name), labels: bridgeLabels(metadata) },
      data: inBase64(data),
    };
  });
}

function bootstrap(context: Context): void {
  const { composer, facts, hub, observed, settings, spoke } = context;
  const kubeConfig = settings.kubeConfig === "secret" ? resources.clusterAuth : resources.kubeConfig;
  const needs = {
    handover: facts.ready(kubeConfig, resources.clusterSecret),
    identities: identitiesReady(context),
    nodes: anyNodes(context),
  };
  composer.object(resources.bootstrap, needs, () =>
    bootstrapKustomization(spoke, settings, hub, revisionToBring(spoke, observed)),
  );
}

/** Hands the spoke over to Git. */
export function composeHandover(context: Context): void {
  kubeConfig(context);
  clusterSecret(context);
  bootstrap(context);
}

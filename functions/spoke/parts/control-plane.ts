import { apiIngress, authenticationMode, controlPlaneTrust, upgradePolicy } from "../../../lib/eks-baseline.ts";
import { autoModePolicies, autoModeTagPolicy } from "../../../lib/iam/auto-mode.ts";
import { managedPolicies } from "../../../lib/iam/deployer.ts";
import { policy } from "../../../lib/iam/policy.ts";
import { ownKeysOfRole } from "../../../lib/iam/volume-key.ts";
import { autoMode, isAuto } from "../auto-mode.ts";
import type { Context } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { withoutLateInitialize } from "../orphan.ts";
import { runningVersion } from "../plan.ts";
import { resources } from "../resources.ts";
import { companyTags } from "../tags.ts";
import { volumeKeysOf } from "../volume-key.ts";
import { composeLogGroup } from "./log-group.ts";
import { nodeSubnetIds, subnetIds } from "./network.ts";
import { nodeRole } from "./node-role.ts";
import { composeRole, type RoleArgs, roleResources } from "./roles.ts";

function clusterRole(context: Context): RoleArgs {
  const { autoModeBoundary, names, spoke } = context;
  const inline = [
    ...(Object.keys(companyTags(context)).length > 0 ? autoModeTagPolicy().Statement : []),
    ...ownKeysOfRole(volumeKeysOf(context)),
  ];
  return {
    role: "cluster",
    roleName: names.clusterRole,
    description: `Control plane of ${names.cluster}`,
    trust: controlPlaneTrust,
    ...(isAuto(spoke)
      ? {
          managedPolicies: autoModePolicies.cluster,
          boundary: autoModeBoundary,
          ...(inline.length > 0 && { inlinePolicy: policy(...inline) }),
        }
      : { managedPolicies: managedPolicies.cluster }),
  };
}

/** Key for Kubernetes secrets, with the name under which people find it. */
function encryptionKey({ composer, names, facts, spoke, tags }: Context): void {
  const { region, kmsDeletionWindowDays } = spoke.spec;
  composer.managed(resources.key, "Key", {}, () => ({
    forProvider: {
      region,
      description: `Kubernetes secrets of ${names.cluster}`,
      deletionWindowInDays: kmsDeletionWindowDays,
      enableKeyRotation: true,
      tags: tags("secrets"),
    },
  }));
  composer.managed(
    resources.keyAlias,
    "Alias",
    { targetKeyId: facts.text(resources.key, "keyId") },
    ({ targetKeyId }) => ({
      // The provider puts alias/ in front.
      externalName: names.keyAlias.replace(/^alias\//, ""),
      forProvider: { region, targetKeyId },
    }),
  );
}

/** What a control plane says of EKS Auto Mode, once the role of its nodes works; nothing without. */
function autoModeOf(context: Context): Fact<Partial<ReturnType<typeof autoMode>>> {
  if (!isAuto(context.spoke)) return fact("nodes", {});
  const { observed } = context;
  const works = roleResources(nodeRole(context)).every((resource) => observed.ready(resource));
  const arn = observed.text(resources.role("node"), "arn");
  return fact("nodes", works && arn !== undefined ? autoMode(arn) : undefined);
}

/** Where the control plane has its interfaces, and with EKS Auto Mode nodes are too: its own NodeClass takes all of them (aws-cdk#33771). */
function controlPlaneSubnets(context: Context): Fact<readonly string[]> {
  if (isAuto(context.spoke)) return nodeSubnetIds(context);
  const [ofPublic, ofPrivate] = [subnetIds(context, "public"), subnetIds(context, "private")];
  return fact("network", ofPublic.value && ofPrivate.value && [...ofPublic.value, ...ofPrivate.value]);
}

/**
 * The version, in `forProvider` only while the function creates or raises the control plane. The provider enforces `forProvider`: it would
 * revert a rollback or an upgrade that someone started in AWS before the function is called. `initProvider` records the running version.
 */
const versionOf = ({ observed, plan }: Context, version: string) =>
  version === runningVersion(observed)
    ? { requested: {}, recorded: { initProvider: { version: plan.rolledBackFrom ?? version } } }
    : { requested: { version }, recorded: {} };

/** The control plane: access entries only, encrypted secrets, logs, `bootstrapClusterCreatorAdminPermissions` off. */
export function composeControlPlane(context: Context): void {
  const { composer, facts, names, plan, spoke, tags } = context;
  const { region, deletionProtection, endpoint, logTypes } = spoke.spec;
  const { serviceIpv4Cidr } = spoke.spec.network;
  const role = clusterRole(context);
  composeRole(context, role);
  encryptionKey(context);
  // EKS would create one whose entries never expire and which stays when the cluster is deleted.
  composeLogGroup(context, resources.logs, names.logGroup);
  const needs = {
    kubernetesVersion: fact("spec", plan.kubernetesVersion),
    publicAccessCidrs: fact("spec", plan.publicAccessCidrs),
    subnetIds: controlPlaneSubnets(context),
    autoMode: autoModeOf(context),
    roleArn: facts.text(resources.role("cluster"), "arn"),
    rolePolicies: facts.ready(...roleResources(role)),
    keyArn: facts.readyText(resources.key, "arn"),
    logGroup: facts.ready(resources.logs),
  };
  composer.managed(resources.cluster, "Cluster", needs, (known) => ({
    externalName: names.cluster,
    ...versionOf(context, known.kubernetesVersion).recorded,
    // Late initialization would copy the version from AWS to forProvider.
    managementPolicies: withoutLateInitialize,
    forProvider: {
      region,
      ...versionOf(context, known.kubernetesVersion).requested,
      roleArn: known.roleArn,
      accessConfig: { authenticationMode, bootstrapClusterCreatorAdminPermissions: false },
      bootstrapSelfManagedAddons: false,
      deletionProtection,
      enabledClusterLogTypes: logTypes,
      encryptionConfig: { provider: { keyArn: known.keyArn }, resources: ["secrets"] },
      upgradePolicy,
      ...known.autoMode,
      ...(serviceIpv4Cidr === undefined
        ? {}
        : { kubernetesNetworkConfig: { ...known.autoMode.kubernetesNetworkConfig, serviceIpv4Cidr } }),
      vpcConfig: {
        subnetIds: known.subnetIds,
        endpointPrivateAccess: true,
        endpointPublicAccess: endpoint.public,
        ...(endpoint.public ? { publicAccessCidrs: known.publicAccessCidrs } : {}),
      },
      tags: tags(),
    },
  }));
  composeApiRules(context);
}

/** Lets connected networks in to the private endpoint. */
function composeApiRules({ composer, facts, plan, spoke, tags }: Context): void {
  const needs = { securityGroupId: facts.text(resources.cluster, "vpcConfig", "clusterSecurityGroupId") };
  for (const cidr of plan.privateAccessCidrs)
    composer.managed(resources.apiRule(cidr), "SecurityGroupIngressRule", needs, ({ securityGroupId }) => ({
      forProvider: {
        region: spoke.spec.region,
        securityGroupId,
        ...apiIngress(cidr),
        tags: tags(),
      },
    }));
}

/** What other parts need of the control plane; known once EKS has created it. */
export function controlPlaneFacts({ facts }: Pick<Context, "facts">) {
  return {
    arn: facts.text(resources.cluster, "arn"),
    endpoint: facts.text(resources.cluster, "endpoint"),
    /** PEM in base64. */
    certificateAuthority: facts.text(resources.cluster, "certificateAuthority", 0, "data"),
    issuer: facts.text(resources.cluster, "identity", 0, "oidc", 0, "issuer"),
  };
}

import { apiIngress, authenticationMode, controlPlaneTrust, upgradePolicy } from "../../../lib/eks-baseline.ts";
import { managedPolicies } from "../../../lib/iam/deployer.ts";
import type { Context } from "../context.ts";
import { subnetIds } from "./network.ts";
import { composeRole, type RoleArgs, roleKeys } from "./roles.ts";

function clusterRole({ names }: Context): RoleArgs {
  return {
    groups: ["clusterRole", "clusterPolicies"],
    key: "cluster",
    roleName: names.clusterRole,
    description: `Control plane of ${names.cluster}`,
    trust: controlPlaneTrust,
    managedPolicies: managedPolicies.cluster,
  };
}

/** Key for Kubernetes secrets, with the name under which people find it. */
function encryptionKey({ composer, names, observed, spoke, tags }: Context): void {
  const { region, kmsDeletionWindowDays } = spoke.spec;
  composer.managed("key", "key", "Key", {}, () => ({
    forProvider: {
      region,
      description: `Kubernetes secrets of ${names.cluster}`,
      deletionWindowInDays: kmsDeletionWindowDays,
      enableKeyRotation: true,
      tags: tags("secrets"),
    },
  }));
  composer.managed("key", "key-alias", "Alias", { targetKeyId: observed.text("key", "keyId") }, ({ targetKeyId }) => ({
    // The provider puts alias/ in front.
    externalName: names.keyAlias.replace(/^alias\//, ""),
    forProvider: { region, targetKeyId },
  }));
}

/** The control plane: access entries only, encrypted secrets, logs, no administrator by birth. */
export function composeControlPlane(context: Context): void {
  const { composer, names, observed, plan, spoke, tags } = context;
  const { region, deletionProtection, endpoint, logRetentionDays, logTypes } = spoke.spec;
  const role = clusterRole(context);
  composeRole(context, role);
  encryptionKey(context);
  // Made here, because EKS would make one that never expires and stays behind.
  composer.managed("logs", "logs", "Group", {}, () => ({
    externalName: names.logGroup,
    forProvider: { region, retentionInDays: logRetentionDays, tags: tags() },
  }));
  const facts = {
    kubernetesVersion: plan.kubernetesVersion,
    publicAccessCidrs: plan.publicAccessCidrs,
    publicSubnets: subnetIds(context, "public"),
    privateSubnets: subnetIds(context, "private"),
    roleArn: observed.text("role-cluster", "arn"),
    rolePolicies: observed.allReady(roleKeys(role)),
    keyArn: observed.readyText("key", "arn"),
    logGroup: observed.allReady(["logs"]),
  };
  composer.managed("cluster", "cluster", "Cluster", facts, (known) => ({
    externalName: names.cluster,
    forProvider: {
      region,
      version: known.kubernetesVersion,
      roleArn: known.roleArn,
      accessConfig: { authenticationMode, bootstrapClusterCreatorAdminPermissions: false },
      bootstrapSelfManagedAddons: false,
      deletionProtection,
      enabledClusterLogTypes: logTypes,
      encryptionConfig: { provider: { keyArn: known.keyArn }, resources: ["secrets"] },
      upgradePolicy,
      vpcConfig: {
        subnetIds: [...known.publicSubnets, ...known.privateSubnets],
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
function composeApiRules({ composer, observed, plan, spoke, tags }: Context): void {
  const facts = { securityGroupId: observed.text("cluster", "vpcConfig", "clusterSecurityGroupId") };
  for (const cidr of plan.privateAccessCidrs)
    composer.managed(
      "apiRules",
      `api-from-${cidr.replaceAll(/[./]/g, "-")}`,
      "SecurityGroupIngressRule",
      facts,
      ({ securityGroupId }) => ({
        forProvider: {
          region: spoke.spec.region,
          securityGroupId,
          ...apiIngress(cidr),
          tags: tags(),
        },
      }),
    );
}

/** What others need to know of the control plane; each is known when EKS has made it. */
export function controlPlaneFacts({ observed }: Context) {
  return {
    arn: observed.text("cluster", "arn"),
    endpoint: observed.text("cluster", "endpoint"),
    /** PEM in base64. */
    certificateAuthority: observed.text("cluster", "certificateAuthority", 0, "data"),
    issuer: observed.text("cluster", "identity", 0, "oidc", 0, "issuer"),
  };
}

import type { ClusterArgs } from "@pulumi/eks";
import { type ArgumentError, notHonoured } from "./args.ts";

const honoured: (keyof ClusterArgs)[] = [
  ...(["name", "version", "authenticationMode", "accessEntries", "serviceRole", "tags", "clusterTags"] as const),
  ...([
    "vpcId",
    "subnetIds",
    "publicSubnetIds",
    "privateSubnetIds",
    "kubernetesServiceIpAddressRange",
    "ipFamily",
  ] as const),
  ...(["endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs", "enabledClusterLogTypes"] as const),
  ...(["encryptionConfigKeyArn", "deletionProtection", "upgradePolicy", "bootstrapSelfManagedAddons"] as const),
  ...(["skipDefaultNodeGroup", "createInstanceRole", "instanceRole"] as const),
  ...([
    "skipDefaultSecurityGroups",
    "clusterSecurityGroup",
    "clusterSecurityGroupTags",
    "nodeSecurityGroupTags",
  ] as const),
  ...(["kubeProxyAddonOptions", "vpcCniOptions", "useDefaultVpcCni", "corednsAddonOptions"] as const),
  "providerCredentialOpts",
];

const entryMembers = ["principalArn", "username", "kubernetesGroups", "accessPolicies", "tags", "type"];
const addonMembers = [
  "enabled",
  "version",
  "configurationValues",
  "resolveConflictsOnCreate",
  "resolveConflictsOnUpdate",
];

const cniMembers = [
  ...[
    "addonVersion",
    "configurationValues",
    "resolveConflictsOnCreate",
    "resolveConflictsOnUpdate",
    "serviceAccountRoleArn",
  ],
  ...[
    "enableNetworkPolicy",
    "nodePortSupport",
    "customNetworkConfig",
    "warmEniTarget",
    "warmIpTarget",
    "warmPrefixTarget",
  ],
  ...["enablePrefixDelegation", "logLevel", "logFile", "vethPrefix", "eniMtu", "eniConfigLabelDef", "enablePodEni"],
  ...["disableTcpEarlyDemux", "cniConfigureRpfilter", "cniCustomNetworkCfg", "cniExternalSnat", "externalSnat"],
];

/** Every mistake in the arguments of eks:index:Cluster, those that the real component refuses included. */
export function clusterArgumentErrors(args: ClusterArgs): ArgumentError[] {
  const errors = notHonoured(args, honoured);
  const fail = (property: keyof ClusterArgs, reason: string) => errors.push({ property, reason });
  if (args.authenticationMode !== "API")
    fail(
      "authenticationMode",
      `got ${args.authenticationMode ?? "nothing (CONFIG_MAP)"}; the stand-in has no aws-auth ConfigMap, only "API"`,
    );
  if (args.skipDefaultNodeGroup !== true)
    fail(
      "skipDefaultNodeGroup",
      "must be true: the stand-in has no self-managed default node group; use eks.ManagedNodeGroup",
    );
  if (args.vpcId === undefined) fail("vpcId", "is missing: the stand-in does not look for the account's default VPC");
  const both = args.publicSubnetIds !== undefined || args.privateSubnetIds !== undefined;
  if (args.subnetIds !== undefined && both)
    fail("subnetIds", "excludes publicSubnetIds and privateSubnetIds: choose a single approach");
  if (args.subnetIds === undefined && !both)
    fail("subnetIds", "is missing: set it, or publicSubnetIds and privateSubnetIds");
  if (args.publicAccessCidrs !== undefined && args.endpointPublicAccess === false)
    fail("publicAccessCidrs", "can only be set when endpointPublicAccess is true");
  for (const [key, entry] of Object.entries(args.accessEntries ?? {}))
    errors.push(...notHonoured(entry, entryMembers, `accessEntries.${key}.`));
  errors.push(...notHonoured(args.kubeProxyAddonOptions ?? {}, addonMembers, "kubeProxyAddonOptions."));
  errors.push(...notHonoured(args.corednsAddonOptions ?? {}, addonMembers, "corednsAddonOptions."));
  errors.push(...notHonoured(args.vpcCniOptions ?? {}, cniMembers, "vpcCniOptions."));
  return errors;
}

/** Arguments of the components: what the stand-in honours. Everything else is refused, never ignored. */
import type { ClusterArgs, ManagedNodeGroupArgs } from "@pulumi/eks";

type Refuse = (property: string, reason: string) => void;

/** @throws one error that names every argument that cannot be used: those that are not honoured, and what `check` finds. */
function expectArguments(
  of: string,
  args: object,
  honoured: readonly string[],
  check: (refuse: Refuse) => void,
  nested: Readonly<Record<string, readonly string[]>> = {},
): void {
  const errors: string[] = [];
  const refuse: Refuse = (property, reason) => errors.push(`  - ${property}: ${reason}`);
  const only = (given: object, members: readonly string[], prefix: string) => {
    for (const [property, value] of Object.entries(given))
      if (value !== undefined && value !== null && !members.includes(property))
        refuse(
          prefix + property,
          `not implemented by the stand-in; implemented: ${members.join(", ") || "no member"}. Leave it out, or use the official plugin (FLEET_PULUMI_PLUGINS=official)`,
        );
  };
  only(args, honoured, "");
  for (const [property, members] of Object.entries(nested))
    only((args as Record<string, object | undefined>)[property] ?? {}, members, `${property}.`);
  check(refuse);
  if (errors.length > 0) throw new Error(`${of} has arguments that cannot be used:\n${errors.join("\n")}`);
}

const clusterMembers = [
  "name version authenticationMode serviceRole tags vpcId publicSubnetIds privateSubnetIds",
  "endpointPublicAccess endpointPrivateAccess publicAccessCidrs enabledClusterLogTypes encryptionConfigKeyArn",
  "kubernetesServiceIpAddressRange deletionProtection upgradePolicy skipDefaultNodeGroup skipDefaultSecurityGroups",
  "kubeProxyAddonOptions vpcCniOptions corednsAddonOptions providerCredentialOpts",
].flatMap((names) => names.split(" "));

/** @pulumi/eks sets these to OVERWRITE in the options of every add-on, where the program does not. */
const sdkDefaults = ["resolveConflictsOnCreate", "resolveConflictsOnUpdate"] as const;

/** @throws one error for all arguments of eks:index:Cluster that cannot be used, those that the real component refuses included. */
export function expectClusterArguments(name: string, args: ClusterArgs): void {
  const check = (refuse: Refuse): void => {
    if (args.authenticationMode !== "API")
      refuse(
        "authenticationMode",
        `got ${args.authenticationMode ?? "nothing (CONFIG_MAP)"}; the stand-in has no aws-auth ConfigMap, only "API"`,
      );
    if (args.skipDefaultNodeGroup !== true)
      refuse(
        "skipDefaultNodeGroup",
        "must be true: the stand-in has only managed node groups; use eks.ManagedNodeGroup",
      );
    if (args.skipDefaultSecurityGroups !== true)
      refuse("skipDefaultSecurityGroups", "must be true: the stand-in makes no security groups beside that of EKS");
    if (args.serviceRole === undefined) refuse("serviceRole", "is missing: the stand-in makes no role");
    if (args.vpcId === undefined)
      refuse("vpcId", "is missing: the stand-in does not look for the account's default VPC");
    if (args.publicSubnetIds === undefined && args.privateSubnetIds === undefined)
      refuse("privateSubnetIds", "is missing: set it, publicSubnetIds or both");
    for (const addon of ["kubeProxyAddonOptions", "vpcCniOptions", "corednsAddonOptions"] as const)
      for (const property of sdkDefaults)
        if ((args[addon]?.[property] ?? "OVERWRITE") !== "OVERWRITE")
          refuse(`${addon}.${property}`, "must be OVERWRITE: the stand-in asks EKS for nothing else");
    if (args.kubeProxyAddonOptions?.version === undefined)
      refuse("kubeProxyAddonOptions.version", "is missing: the stand-in looks for no newest version");
    if (args.vpcCniOptions?.addonVersion === undefined)
      refuse("vpcCniOptions.addonVersion", "is missing: the stand-in looks for no newest version");
    if (args.corednsAddonOptions?.enabled === true)
      refuse("corednsAddonOptions.enabled", "must be false: the stand-in makes no CoreDNS; use aws.eks.Addon");
    if (args.publicAccessCidrs !== undefined && args.endpointPublicAccess === false)
      refuse("publicAccessCidrs", "can only be set when endpointPublicAccess is true");
  };
  expectArguments(`eks:index:Cluster ${name}`, args, clusterMembers, check, {
    kubeProxyAddonOptions: ["version", ...sdkDefaults],
    vpcCniOptions: ["addonVersion", "enableNetworkPolicy", "configurationValues", ...sdkDefaults],
    corednsAddonOptions: ["enabled", ...sdkDefaults],
    providerCredentialOpts: [],
  });
}

const nodeGroupMembers = [
  "cluster clusterName nodeGroupName nodeRole nodeRoleArn subnetIds scalingConfig amiType capacityType diskSize",
  "instanceTypes labels taints tags version releaseVersion launchTemplate ignoreScalingChanges",
].flatMap((names) => names.split(" "));

/** @throws one error for all arguments of eks:index:ManagedNodeGroup that cannot be used. */
export function expectNodeGroupArguments(name: string, args: ManagedNodeGroupArgs): void {
  expectArguments(`eks:index:ManagedNodeGroup ${name}`, args, nodeGroupMembers, (refuse) => {
    if (args.cluster === undefined) refuse("cluster", "is missing");
    if (args.nodeRole && args.nodeRoleArn) refuse("nodeRole", "excludes nodeRoleArn: set one of them");
    if (!args.nodeRole && !args.nodeRoleArn) refuse("nodeRole", "is missing: set nodeRole or nodeRoleArn");
  });
}

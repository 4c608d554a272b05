/** eks:index:Cluster as @pulumi/eks 4.3.0 makes it for a given role: the same children, logical names and outputs. */
import * as aws from "@pulumi/aws";
import type { ClusterArgs } from "@pulumi/eks";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { createAddon, VpcCniAddon } from "./addons.ts";
import { expectClusterArguments } from "./arguments.ts";
import { kubeconfigOf, regionOfArn } from "./kubeconfig.ts";

/** Members of an object without those that are undefined. */
const defined = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

export class Cluster extends pulumi.ComponentResource {
  /** Outputs of the component, by their names in the SDK. */
  readonly outputs: pulumi.Inputs;

  constructor(name: string, args: ClusterArgs, opts: pulumi.ComponentResourceOptions) {
    expectClusterArguments(name, args);
    super("eks:index:Cluster", name, {}, opts);
    this.outputs = createCluster(name, args, this);
    this.registerOutputs(this.outputs);
  }
}

function createCluster(name: string, args: ClusterArgs, parent: Cluster): pulumi.Inputs {
  const { tags, version, encryptionConfigKeyArn: keyArn } = args;
  const clusterRole = pulumi.output(args.serviceRole as pulumi.Input<aws.iam.Role>);
  const subnetIds = pulumi
    .all([args.subnetIds ?? [], args.publicSubnetIds ?? [], args.privateSubnetIds ?? []])
    .apply((lists) => lists.flat());
  const cluster = new aws.eks.Cluster(
    `${name}-eksCluster`,
    defined({
      name: args.name,
      roleArn: clusterRole.apply(({ arn }) => arn),
      version,
      bootstrapSelfManagedAddons: args.bootstrapSelfManagedAddons ?? true,
      vpcConfig: defined({
        subnetIds,
        endpointPrivateAccess: args.endpointPrivateAccess,
        endpointPublicAccess: args.endpointPublicAccess,
        publicAccessCidrs: args.publicAccessCidrs,
      }),
      enabledClusterLogTypes: args.enabledClusterLogTypes,
      encryptionConfig: keyArn && { provider: { keyArn }, resources: ["secrets"] },
      accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: true },
      upgradePolicy: args.upgradePolicy,
      deletionProtection: args.deletionProtection,
      tags: pulumi
        .all([tags, args.clusterTags])
        .apply(([all, own]) => ({ Name: `${name}-eksCluster`, ...own, ...all })),
    }) as aws.eks.ClusterArgs,
    {
      parent,
      // Both matter at creation only.
      ignoreChanges: ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"],
    },
  );
  const addon = { cluster, tags };
  if (args.kubeProxyAddonOptions?.enabled ?? true)
    createAddon(name, { ...addon, addonName: "kube-proxy", options: args.kubeProxyAddonOptions }, parent);
  const kubeconfig = kubeconfigsOf(cluster, args);
  const provider = new kubernetes.Provider(
    `${name}-eks-k8s`,
    { kubeconfig: kubeconfig.apply(({ own }) => JSON.stringify(own)) },
    { parent },
  );
  const vpcCni = new VpcCniAddon(`${name}-vpc-cni`, { ...addon, options: args.vpcCniOptions }, { parent });
  // Without a default node group the add-on has no node yet: only on request.
  if (args.corednsAddonOptions?.enabled === true || args.corednsAddonOptions?.configurationValues)
    createAddon(name, { ...addon, addonName: "coredns", options: args.corednsAddonOptions }, parent);

  const issuerUrl = cluster.identities.apply((identities) => identities[0]?.oidcs?.[0]?.issuer ?? "");
  const securityGroupId = cluster.vpcConfig.clusterSecurityGroupId;
  const shared = kubeconfig.apply((kubeconfigs) => kubeconfigs.shared);
  return {
    core: defined({
      cluster,
      vpcId: args.vpcId,
      subnetIds,
      publicSubnetIds: args.publicSubnetIds,
      privateSubnetIds: args.privateSubnetIds,
      endpoint: cluster.endpoint,
      provider,
      instanceRoles: [],
      nodeGroupOptions: defined({ version }),
      kubeconfig: shared,
      vpcCni,
      tags,
      storageClasses: {},
      encryptionConfig: cluster.encryptionConfig,
      clusterIamRole: clusterRole,
      accessEntries: [],
    }),
    eksCluster: cluster,
    kubeconfig: shared,
    kubeconfigJson: shared.apply((config) => JSON.stringify(config)),
    instanceRoles: [],
    clusterSecurityGroupId: securityGroupId,
    nodeSecurityGroupId: securityGroupId,
    clusterIngressRuleId: "",
    defaultNodeGroupAsgName: "",
    fargateProfileId: "",
    fargateProfileStatus: "",
    oidcProviderArn: "",
    oidcProviderUrl: issuerUrl,
    oidcIssuer: issuerUrl.apply((url) => url.replace("https://", "")),
    autoModeNodeRoleName: "",
  };
}

/** The kubeconfig for everybody, and that of the component's own provider, which has the profile too. */
function kubeconfigsOf(cluster: aws.eks.Cluster, args: ClusterArgs) {
  // Without credentials in the arguments, those of the environment or the stack: the first of AWS_PROFILE and aws:profile.
  const ambient = process.env["AWS_PROFILE"] || new pulumi.Config("aws").get("profile");
  const given = args.providerCredentialOpts ?? (ambient ? { profileName: ambient } : undefined);
  return pulumi
    .all([cluster.name, cluster.arn, cluster.endpoint, cluster.certificateAuthority, given])
    .apply(([clusterName, arn, endpoint, authority, credentials]) => {
      const facts = { name: clusterName, region: regionOfArn(arn), endpoint, certificateAuthority: authority.data };
      const role = credentials?.roleArn ? { roleArn: credentials.roleArn } : {};
      const profile = credentials?.profileName ? { profileName: credentials.profileName } : {};
      return { shared: kubeconfigOf({ ...facts, ...role }), own: kubeconfigOf({ ...facts, ...role, ...profile }) };
    });
}

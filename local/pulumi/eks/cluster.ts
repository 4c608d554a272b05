/** eks:index:Cluster as @pulumi/eks 4.3.0 makes it: the same children, logical names and outputs, for authentication mode API. */
import * as aws from "@pulumi/aws";
import type { ClusterArgs } from "@pulumi/eks";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { createAccessEntries } from "./access-entries.ts";
import { createAddon, VpcCniAddon } from "./addons.ts";
import { refuse } from "./args.ts";
import { clusterArgumentErrors } from "./cluster-args.ts";
import { kubeconfigOf, regionOfArn } from "./kubeconfig.ts";
import { createClusterSecurityGroup, createNodeSecurityGroup } from "./security-groups.ts";
import { ServiceRole } from "./service-role.ts";

const token = "eks:index:Cluster";

const nodePolicies = ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"];

/** Members of an object without those that are undefined. */
const defined = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

export class Cluster extends pulumi.ComponentResource {
  /** Outputs of the component, by their names in the SDK. */
  readonly outputs: pulumi.Inputs;

  constructor(name: string, args: ClusterArgs, opts: pulumi.ComponentResourceOptions) {
    refuse(token, name, clusterArgumentErrors(args));
    super(token, name, {}, opts);
    this.outputs = createCluster(name, args, this);
    this.registerOutputs(this.outputs);
  }
}

function createCluster(name: string, args: ClusterArgs, parent: Cluster): pulumi.Inputs {
  const vpcId = pulumi.output(args.vpcId as pulumi.Input<string>);
  const subnetIds = pulumi
    .all([args.subnetIds ?? [], args.publicSubnetIds ?? [], args.privateSubnetIds ?? []])
    .apply((lists) => lists.flat());
  const serviceRole = args.serviceRole ? undefined : createServiceRole(name, args, parent);
  const clusterRole = args.serviceRole
    ? pulumi.output(args.serviceRole)
    : pulumi.output(serviceRole?.role as aws.iam.Role);
  const ownGroup = !args.clusterSecurityGroup && !args.skipDefaultSecurityGroups;
  const clusterGroup = ownGroup
    ? createClusterSecurityGroup(name, { vpcId, tags: args.tags, groupTags: args.clusterSecurityGroupTags }, parent)
    : args.clusterSecurityGroup && pulumi.output(args.clusterSecurityGroup);
  const clusterGroupId = clusterGroup && pulumi.output(clusterGroup).apply(({ id }) => id);

  const cluster = new aws.eks.Cluster(
    `${name}-eksCluster`,
    defined({
      name: args.name,
      roleArn: clusterRole.apply(({ arn }) => arn),
      version: args.version,
      bootstrapSelfManagedAddons: args.bootstrapSelfManagedAddons ?? true,
      vpcConfig: defined({
        securityGroupIds: clusterGroupId && [clusterGroupId],
        subnetIds,
        endpointPrivateAccess: args.endpointPrivateAccess,
        endpointPublicAccess: args.endpointPublicAccess,
        publicAccessCidrs: args.publicAccessCidrs,
      }),
      kubernetesNetworkConfig: networkConfig(args),
      enabledClusterLogTypes: args.enabledClusterLogTypes,
      encryptionConfig: args.encryptionConfigKeyArn && {
        provider: { keyArn: args.encryptionConfigKeyArn },
        resources: ["secrets"],
      },
      accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: true },
      upgradePolicy: args.upgradePolicy,
      deletionProtection: args.deletionProtection,
      tags: pulumi
        .all([args.tags, args.clusterTags])
        .apply(([tags, own]) => ({ Name: `${name}-eksCluster`, ...own, ...tags })),
    }) as aws.eks.ClusterArgs,
    {
      parent,
      // Both matter at creation only.
      ignoreChanges: ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"],
      dependsOn: serviceRole ? [pulumi.output(serviceRole.resolvedRole)] : [],
    },
  );

  if (args.kubeProxyAddonOptions?.enabled ?? true)
    createAddon(
      name,
      { addonName: "kube-proxy", cluster, options: args.kubeProxyAddonOptions, tags: args.tags },
      parent,
    );

  const kubeconfig = pulumi
    .all([cluster.name, cluster.arn, cluster.endpoint, cluster.certificateAuthority, credentialsOf(args)])
    .apply(([clusterName, arn, endpoint, authority, credentials]) => {
      const facts = { name: clusterName, region: regionOfArn(arn), endpoint, certificateAuthority: authority.data };
      // With the profile for the component's own provider, without it for everybody else.
      const role = credentials?.roleArn ? { roleArn: credentials.roleArn } : {};
      const profile = credentials?.profileName ? { profileName: credentials.profileName } : {};
      return { shared: kubeconfigOf({ ...facts, ...role }), own: kubeconfigOf({ ...facts, ...role, ...profile }) };
    });
  const provider = new kubernetes.Provider(
    `${name}-eks-k8s`,
    { kubeconfig: kubeconfig.apply(({ own }) => JSON.stringify(own)) },
    { parent },
  );

  const { instanceRoles, defaultRole } = createInstanceRole(name, args, parent);
  const entries = {
    ...(defaultRole && {
      defaultNodeGroupInstanceRole: { principalArn: defaultRole.apply(({ arn }) => arn), type: "EC2_LINUX" as const },
    }),
    ...args.accessEntries,
  };
  const accessEntries = createAccessEntries(name, cluster.name, entries, { parent, dependsOn: [cluster] });

  const vpcCni = args.useDefaultVpcCni
    ? undefined
    : new VpcCniAddon(
        `${name}-vpc-cni`,
        { cluster, options: args.vpcCniOptions, tags: args.tags },
        { parent, dependsOn: accessEntries },
      );
  // Without a default node group the add-on has no node yet: only on request.
  if (args.corednsAddonOptions?.enabled === true || args.corednsAddonOptions?.configurationValues)
    createAddon(name, { addonName: "coredns", cluster, options: args.corednsAddonOptions, tags: args.tags }, parent);

  const issuerUrl = cluster.identities.apply((identities) => identities[0]?.oidcs?.[0]?.issuer ?? "");
  const [nodeGroup, ingressRule] =
    args.skipDefaultSecurityGroups || !clusterGroupId
      ? []
      : createNodeSecurityGroup(
          name,
          {
            vpcId,
            cluster,
            clusterSecurityGroupId: clusterGroupId,
            tags: args.tags,
            groupTags: args.nodeSecurityGroupTags,
          },
          parent,
        );
  const eksGroupId = cluster.vpcConfig.clusterSecurityGroupId;
  const sharedKubeconfig = kubeconfig.apply(({ shared }) => shared);

  return {
    core: defined({
      cluster,
      vpcId,
      subnetIds,
      publicSubnetIds: args.publicSubnetIds,
      privateSubnetIds: args.privateSubnetIds,
      endpoint: cluster.endpoint,
      clusterSecurityGroup: clusterGroup,
      provider,
      instanceRoles,
      nodeGroupOptions: defined({
        version: args.version,
        nodeSecurityGroup: nodeGroup,
        clusterIngressRule: ingressRule,
      }),
      kubeconfig: sharedKubeconfig,
      vpcCni,
      tags: args.tags,
      nodeSecurityGroupTags: args.nodeSecurityGroupTags,
      storageClasses: {},
      encryptionConfig: cluster.encryptionConfig,
      clusterIamRole: clusterRole,
      accessEntries: Object.values(entries),
    }),
    eksCluster: cluster,
    kubeconfig: sharedKubeconfig,
    kubeconfigJson: sharedKubeconfig.apply((config) => JSON.stringify(config)),
    instanceRoles,
    clusterSecurityGroup: clusterGroup,
    nodeSecurityGroup: nodeGroup,
    eksClusterIngressRule: ingressRule,
    clusterSecurityGroupId: clusterGroupId ?? eksGroupId,
    nodeSecurityGroupId: nodeGroup?.id ?? eksGroupId,
    clusterIngressRuleId: ingressRule?.securityGroupRuleId ?? "",
    defaultNodeGroup: undefined,
    defaultNodeGroupAsgName: "",
    fargateProfileId: "",
    fargateProfileStatus: "",
    oidcProviderArn: "",
    oidcProviderUrl: issuerUrl,
    oidcIssuer: issuerUrl.apply((url) => url.replace("https://", "")),
    autoModeNodeRoleName: "",
  };
}

/** Without credentials in the arguments, those of the environment or the stack: the first of AWS_PROFILE and aws:profile. */
function credentialsOf(args: ClusterArgs): ClusterArgs["providerCredentialOpts"] {
  const profileName = process.env["AWS_PROFILE"] || new pulumi.Config("aws").get("profile");
  return args.providerCredentialOpts ?? (profileName ? { profileName } : undefined);
}

function createServiceRole(name: string, args: ClusterArgs, parent: Cluster): ServiceRole {
  return new ServiceRole(
    `${name}-eksRole`,
    {
      service: "eks.amazonaws.com",
      description: "Allows EKS to manage clusters on your behalf.",
      policies: ["AmazonEKSClusterPolicy"],
      assumeRoleActions: ["sts:AssumeRole", "sts:TagSession"],
      tags: args.tags,
    },
    { parent },
  );
}

function networkConfig(args: ClusterArgs) {
  if (args.kubernetesServiceIpAddressRange === undefined && args.ipFamily === undefined) return undefined;
  return pulumi
    .all([args.kubernetesServiceIpAddressRange, args.ipFamily])
    .apply(([serviceIpv4Cidr, ipFamily = "ipv4"]) =>
      defined({ ipFamily, serviceIpv4Cidr: ipFamily === "ipv4" ? serviceIpv4Cidr : undefined }),
    );
}

/** Without a default node group a node role is made only on request. */
function createInstanceRole(name: string, args: ClusterArgs, parent: Cluster) {
  if (args.instanceRole) {
    const given = pulumi.output(args.instanceRole);
    return { instanceRoles: pulumi.output([given]), defaultRole: given };
  }
  if (!args.createInstanceRole) return { instanceRoles: pulumi.output<aws.iam.Role[]>([]), defaultRole: undefined };
  const { resolvedRole } = new ServiceRole(
    `${name}-instanceRole`,
    { service: "ec2.amazonaws.com", policies: nodePolicies, tags: args.tags },
    { parent },
  );
  new aws.iam.InstanceProfile(`${name}-instanceProfile`, { role: resolvedRole.apply((role) => role.name) }, { parent });
  return { instanceRoles: pulumi.output([resolvedRole]), defaultRole: resolvedRole };
}

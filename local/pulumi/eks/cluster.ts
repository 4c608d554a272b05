/** eks:index:Cluster as @pulumi/eks 4.3.0 makes it for a given role: the same children, logical names and outputs. */
import * as aws from "@pulumi/aws";
import type { ClusterArgs } from "@pulumi/eks";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { kubeProxy, VpcCniAddon } from "./addons.ts";
import { expectClusterArguments } from "./arguments.ts";

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
  const { tags, version, encryptionConfigKeyArn: keyArn, publicSubnetIds, privateSubnetIds } = args;
  const clusterRole = pulumi.output(args.serviceRole as pulumi.Input<aws.iam.Role>);
  const subnetIds = pulumi.all([publicSubnetIds ?? [], privateSubnetIds ?? []]).apply((lists) => lists.flat());
  const cluster = new aws.eks.Cluster(
    `${name}-eksCluster`,
    defined({
      name: args.name,
      roleArn: clusterRole.apply(({ arn }) => arn),
      version,
      bootstrapSelfManagedAddons: true,
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
      kubernetesNetworkConfig: args.kubernetesServiceIpAddressRange && {
        serviceIpv4Cidr: args.kubernetesServiceIpAddressRange,
      },
      deletionProtection: args.deletionProtection,
      tags: pulumi.output(tags).apply((all) => ({ Name: `${name}-eksCluster`, ...all })),
    }) as aws.eks.ClusterArgs,
    {
      parent,
      // Both matter at creation only.
      ignoreChanges: ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"],
    },
  );
  kubeProxy(name, { cluster, tags, options: args.kubeProxyAddonOptions }, parent);
  const kubeconfig = kubeconfigsOf(cluster, args);
  const provider = new kubernetes.Provider(
    `${name}-eks-k8s`,
    { kubeconfig: kubeconfig.apply(({ own }) => JSON.stringify(own)) },
    { parent },
  );
  const vpcCni = new VpcCniAddon(`${name}-vpc-cni`, { cluster, tags, options: args.vpcCniOptions }, { parent });

  const issuerUrl = cluster.identities.apply((identities) => identities[0]?.oidcs?.[0]?.issuer ?? "");
  const securityGroupId = cluster.vpcConfig.clusterSecurityGroupId;
  const shared = kubeconfig.apply((kubeconfigs) => kubeconfigs.shared);
  return {
    core: defined({
      cluster,
      vpcId: args.vpcId,
      subnetIds,
      publicSubnetIds,
      privateSubnetIds,
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

/**
 * Kubeconfigs without a stored credential, `aws eks get-token` makes a token from the caller's own identity: the one for
 * everybody, and that of the component's own provider, which has the profile too.
 */
function kubeconfigsOf(cluster: aws.eks.Cluster, args: ClusterArgs) {
  // Without credentials in the arguments, the first of AWS_PROFILE and aws:profile of the stack.
  const ambient = process.env["AWS_PROFILE"] || new pulumi.Config("aws").get("profile");
  const profile = args.providerCredentialOpts === undefined && ambient ? ["--profile", ambient] : [];
  return pulumi
    .all([cluster.name, cluster.arn, cluster.endpoint, cluster.certificateAuthority])
    .apply(([clusterName, arn, server, { data }]) => {
      const region = arn.split(":")[3];
      if (!region) throw new Error(`"${arn}" is not an ARN with a region`);
      const args = ["--region", region, "eks", "get-token", "--cluster-name", clusterName, "--output", "json"];
      const apiVersion = "client.authentication.k8s.io/v1beta1";
      const env = [{ name: "KUBERNETES_EXEC_INFO", value: `{"apiVersion": "${apiVersion}"}` }];
      const withArgs = (more: string[]) => ({
        apiVersion: "v1",
        clusters: [{ cluster: { server, "certificate-authority-data": data }, name: "kubernetes" }],
        contexts: [{ context: { cluster: "kubernetes", user: "aws" }, name: "aws" }],
        "current-context": "aws",
        kind: "Config",
        users: [{ name: "aws", user: { exec: { apiVersion, command: "aws", args: [...args, ...more], env } } }],
      });
      return { shared: withArgs([]), own: withArgs(profile) };
    });
}

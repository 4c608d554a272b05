import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ControlPlaneLogType } from "../lib/control-plane-logs.ts";
import { managedPolicies } from "../lib/iam/deployer.ts";
import { serviceTrust } from "../lib/iam/trust.ts";
import { kubeconfig, withProfile } from "../lib/kubeconfig.ts";
import { lengthSafe } from "../lib/names.ts";
import { EncryptionKey } from "./encryption-key.ts";
import type { ClusterNetwork } from "./network.ts";
import { ServiceRole } from "./service-role.ts";

/** How the Kubernetes API can be reached. */
interface EndpointAccess {
  readonly public: boolean;
  /** Networks that the public endpoint admits; at least one when it is public. */
  readonly publicCidrs: readonly string[];
  readonly private: boolean;
  /** Connected networks that may use the private endpoint; the VPC's own nodes always may. */
  readonly privateCidrs: readonly string[];
}

export interface HubClusterArgs {
  /** Name of the EKS cluster. */
  readonly clusterName: string;
  /** Kubernetes minor version. */
  readonly kubernetesVersion: string;
  readonly network: ClusterNetwork;
  readonly endpoint: EndpointAccess;
  /** ARNs of IAM principals that become cluster administrators. */
  readonly admins: readonly string[];
  /** Name of the role of the control plane. */
  readonly roleName: string;
  readonly permissionsBoundary: string | undefined;
  /** Log group of the control plane; EKS fixes its name: `/aws/eks/<cluster>/cluster`. */
  readonly logGroupName: string;
  /** Logs that the control plane writes there; none is allowed. */
  readonly logTypes: readonly ControlPlaneLogType[];
  readonly logRetentionInDays: number;
  /** Alias of the key that encrypts Kubernetes secrets. */
  readonly keyAlias: string;
  readonly keyDeletionWindowInDays: number;
  readonly deletionProtection: boolean;
  /** Pulumi refuses to delete the cluster, its add-ons and its key. Access of administrators is never protected. */
  readonly protect: boolean;
  /** Profile that the stack's AWS provider uses (`aws:profile`), for tokens of the Kubernetes API. Default: the ambient identity. */
  readonly awsProfile: string | undefined;
  readonly region: pulumi.Input<string>;
  readonly partition: pulumi.Input<string>;
  readonly tags: Readonly<Record<string, string>>;
}

/** The hub's control plane: EKS with access entries only, encrypted secrets, logs and an OIDC provider. */
export class HubCluster extends pulumi.ComponentResource {
  /** The underlying cluster, for node groups. */
  readonly cluster: eks.Cluster;
  readonly name: pulumi.Output<string>;
  readonly arn: pulumi.Output<string>;
  readonly endpoint: pulumi.Output<string>;
  /** CA bundle, PEM in base64. */
  readonly certificateAuthority: pulumi.Output<string>;
  readonly oidc: { readonly providerArn: pulumi.Output<string>; readonly issuer: pulumi.Output<string> };
  /** Kubernetes provider with the deployer's identity. */
  readonly provider: kubernetes.Provider;
  /** kubeconfig without a credential. */
  readonly kubeconfig: pulumi.Output<string>;

  constructor(name: string, args: HubClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HubCluster", name, {}, opts);
    const { network, endpoint, tags, protect, clusterName, kubernetesVersion } = args;
    const key = new EncryptionKey(
      `${name}-secrets`,
      {
        description: `Kubernetes secrets of ${clusterName}`,
        alias: args.keyAlias,
        deletionWindowInDays: args.keyDeletionWindowInDays,
        tags,
        protect,
      },
      { parent: this },
    );
    const role = new ServiceRole(
      `${name}-control-plane`,
      {
        roleName: args.roleName,
        description: `Control plane of ${clusterName}`,
        trust: serviceTrust("eks.amazonaws.com", ["sts:AssumeRole", "sts:TagSession"]),
        managedPolicies: managedPolicies.cluster,
        partition: args.partition,
        permissionsBoundary: args.permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    // Made here, because EKS would make one that never expires and stays behind.
    const logGroup = new aws.cloudwatch.LogGroup(
      `${name}-logs`,
      { name: args.logGroupName, retentionInDays: args.logRetentionInDays, tags },
      { parent: this },
    );
    this.cluster = new eks.Cluster(
      name,
      {
        name: clusterName,
        version: kubernetesVersion,
        authenticationMode: eks.AuthenticationMode.Api,
        serviceRole: role.role,
        vpcId: network.vpcId,
        publicSubnetIds: network.publicSubnetIds,
        privateSubnetIds: network.privateSubnetIds,
        endpointPublicAccess: endpoint.public,
        endpointPrivateAccess: endpoint.private,
        ...(endpoint.public ? { publicAccessCidrs: [...endpoint.publicCidrs] } : {}),
        encryptionConfigKeyArn: key.arn,
        enabledClusterLogTypes: [...args.logTypes],
        // Given, so that AWS_PROFILE of whoever runs Pulumi is not taken into the state of the component's own Kubernetes provider.
        providerCredentialOpts: {},
        // Nodes come from a managed node group, which uses the cluster's own security group.
        skipDefaultNodeGroup: true,
        skipDefaultSecurityGroups: true,
        deletionProtection: args.deletionProtection,
        // Extended support costs six times as much and starts by itself; a fleet follows the versions.
        upgradePolicy: { supportType: "STANDARD" },
        kubeProxyAddonOptions: { version: this.addonVersion("kube-proxy", kubernetesVersion) },
        vpcCniOptions: { addonVersion: this.addonVersion("vpc-cni", kubernetesVersion), enableNetworkPolicy: true },
        // CoreDNS needs nodes: it comes with them (HubNodes).
        corednsAddonOptions: { enabled: false },
        tags: { ...tags },
      },
      { parent: this, protect, dependsOn: [role, logGroup] },
    );
    const { eksCluster } = this.cluster;
    this.name = eksCluster.apply((cluster) => cluster.name);
    this.arn = eksCluster.apply((cluster) => cluster.arn);
    this.endpoint = eksCluster.apply((cluster) => cluster.endpoint);
    this.certificateAuthority = eksCluster.apply((cluster) => cluster.certificateAuthority.data);
    for (const cidr of endpoint.privateCidrs) this.admit(name, cidr, tags);
    const oidcProvider = new aws.iam.OpenIdConnectProvider(
      `${name}-oidcProvider`,
      // Without thumbprints, which IAM looks up itself; @pulumi/eks would ask the issuer for one, in previews too, and set no tags.
      { clientIdLists: ["sts.amazonaws.com"], url: this.cluster.oidcProviderUrl, tags },
      // Fleets made before this have it below the cluster.
      { parent: this, protect, aliases: [{ parent: this.cluster }] },
    );
    this.oidc = { providerArn: oidcProvider.arn, issuer: this.cluster.oidcIssuer };
    const access = args.admins.flatMap((principalArn) => this.admin(name, principalArn, args));
    this.provider = new kubernetes.Provider(
      `${name}-kubernetes`,
      // The cluster secret changes in place: a replaced one would be missing for a moment, and Flux would fail on every variable.
      { kubeconfig: this.deployersKubeconfig(args.awsProfile), enableSecretMutable: true },
      // The deployer may be one of the administrators: its access is there before what needs it, and after.
      { parent: this, dependsOn: access },
    );
    this.kubeconfig = pulumi
      .all([this.name, args.region, this.endpoint, this.certificateAuthority])
      .apply(([cluster, region, server, certificateAuthority]) =>
        kubeconfig({ name: cluster, region, endpoint: server, certificateAuthority }),
      );
    this.registerOutputs({ name: this.name, arn: this.arn, endpoint: this.endpoint });
  }

  /** The component's kubeconfig, with the profile that the AWS provider uses: it is the same for everybody, unlike AWS_PROFILE. */
  private deployersKubeconfig(profile: string | undefined): pulumi.Output<string> {
    const { kubeconfigJson } = this.cluster;
    return profile === undefined ? kubeconfigJson : kubeconfigJson.apply((json) => withProfile(json, profile));
  }

  /** EKS's default version of an add-on for the Kubernetes version: it follows an upgrade, and changes only when AWS says so. */
  addonVersion(addonName: string, kubernetesVersion: string): pulumi.Output<string> {
    return aws.eks.getAddonVersionOutput({ addonName, kubernetesVersion }, { parent: this }).version;
  }

  /**
   * Lets a connected network in to the private endpoint: the cluster's own security group, which EKS makes and puts on the endpoint's
   * interfaces, admits its own members only (EKS User Guide, "Cluster API server endpoint").
   */
  private admit(name: string, cidr: string, tags: HubClusterArgs["tags"]): aws.vpc.SecurityGroupIngressRule {
    return new aws.vpc.SecurityGroupIngressRule(
      `${name}-api-from-${cidr.replaceAll(/[./]/g, "-")}`,
      {
        securityGroupId: this.cluster.eksCluster.apply((cluster) => cluster.vpcConfig.clusterSecurityGroupId),
        description: "Kubernetes API from a connected network",
        ipProtocol: "tcp",
        fromPort: 443,
        toPort: 443,
        cidrIpv4: cidr,
        tags: { ...tags },
      },
      { parent: this, protect: false },
    );
  }

  /**
   * Makes a principal an administrator. Not by the cluster's `accessEntries`: what is below the cluster inherits its protection,
   * and an administrator who leaves must be removable. Logical names come from the ARN alone.
   */
  private admin(
    name: string,
    principalArn: string,
    { partition, tags }: Pick<HubClusterArgs, "partition" | "tags">,
  ): pulumi.Resource[] {
    const key = lengthSafe(principalArn.replace(/^arn:[^:]*:iam::/, "").replaceAll(/[^A-Za-z0-9]+/g, "-"), 60);
    const opts = { parent: this, protect: false };
    const entry = new aws.eks.AccessEntry(`${name}-${key}`, { clusterName: this.name, principalArn, tags }, opts);
    const association = new aws.eks.AccessPolicyAssociation(
      `${name}-${key}-admin`,
      {
        clusterName: this.name,
        principalArn: entry.principalArn,
        policyArn: pulumi.interpolate`arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`,
        accessScope: { type: "cluster" },
      },
      { ...opts, dependsOn: [entry] },
    );
    return [entry, association];
  }
}

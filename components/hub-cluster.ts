import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import {
  auditLogTypes,
  authenticationMode,
  type ControlPlaneLogType,
  controlPlaneTrust,
  upgradePolicy,
} from "../lib/eks-baseline.ts";
import { managedPolicies } from "../lib/iam/deployer.ts";
import { stsAudience } from "../lib/iam/trust.ts";
import { kubeconfig, withProfile } from "../lib/kubeconfig.ts";
import type { Tags } from "../lib/labels.ts";
import { clusterNames } from "../lib/names.ts";
import { accessOf, admitNetwork, grantAccess, requireReachable } from "./cluster-access.ts";
import { EncryptionKey } from "./encryption-key.ts";
import type { ClusterNetwork } from "./network.ts";
import { unchangedServices } from "./service-block.ts";
import { ServiceRole } from "./service-role.ts";

export interface HubClusterArgs {
  /** Where the cluster runs: a `Network`, or the IDs of one that exists. */
  readonly network: ClusterNetwork;
  /**
   * Kubernetes minor version: `kubernetesVersion` of Pulumi.yaml. components/versions.ts lists the supported ones.
   * @example "1.35"
   */
  readonly version: string;
  /**
   * ARNs of IAM roles and users that become cluster administrators: `clusterAdmins` of Pulumi.yaml. The logical names of their access
   * entries follow from the ARNs. For an ARN that is an output, such as that of a role of the same program, give a name (letters,
   * digits and hyphens): `{ name: arn }`.
   * @default none: whoever creates the cluster is an administrator anyway
   * @example { platform: role.arn }
   */
  readonly admins?: readonly string[] | Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * ARNs of IAM roles and users that may read everything in the cluster, Secrets included: `clusterViewers` of Pulumi.yaml. A list or
   * names, as for `admins`; no principal can be in both.
   * @default none
   * @example { preview: role.arn }
   */
  readonly viewers?: readonly string[] | Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * Name of the EKS cluster. Role, log group and key are named after it; the role's name limits it to 56 characters.
   * @default the component's name
   */
  readonly clusterName?: string;
  /**
   * Block of the addresses of Services, /12 to /24 in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 and outside of the VPC. It can't be changed.
   * @default EKS chooses 10.100.0.0/16 or 172.20.0.0/16
   */
  readonly serviceIpv4Cidr?: string | undefined;
  /**
   * Whether the Kubernetes API has a public endpoint. Without it, Pulumi must run where it can reach the VPC.
   * @default false
   */
  readonly endpointPublicAccess?: boolean;
  /**
   * Networks (CIDR) that the public endpoint admits. Required with `endpointPublicAccess`: EKS's own default is the whole internet.
   * @default none
   */
  readonly endpointPublicAccessCidrs?: readonly string[];
  /**
   * Whether the Kubernetes API has an endpoint inside the VPC.
   * @default true
   */
  readonly endpointPrivateAccess?: boolean;
  /**
   * Networks (CIDR) connected to the VPC that may use the private endpoint. The VPC's own nodes always may.
   * @default none
   */
  readonly endpointPrivateAccessCidrs?: readonly string[];
  /**
   * Path of the control plane's role in IAM.
   * @default "/"
   */
  readonly rolePath?: string | undefined;
  /**
   * ARN of a policy that is the permissions boundary of the control plane's role.
   * @default none
   */
  readonly permissionsBoundary?: pulumi.Input<string> | undefined;
  /**
   * Logs that the control plane writes to CloudWatch: any of api, audit, authenticator, controllerManager and scheduler.
   * @default ["audit", "authenticator"]
   */
  readonly logTypes?: readonly ControlPlaneLogType[];
  /**
   * Days for which these logs are kept, one of CloudWatch's values.
   * @default 90
   */
  readonly logRetentionDays?: number;
  /**
   * ARN of a KMS key of the cluster's region that encrypts these logs. Its policy must admit CloudWatch Logs.
   * @default a key that AWS owns
   * @example "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
   */
  readonly logKey?: string | undefined;
  /**
   * Days between the deletion of the key that encrypts Kubernetes secrets and its end, 7 to 30.
   * @default 30
   */
  readonly kmsDeletionWindowDays?: number | undefined;
  /**
   * EKS refuses to delete the cluster while this is true.
   * @default false
   */
  readonly deletionProtection?: boolean;
  /**
   * Pulumi refuses to delete the cluster, its add-ons, its OIDC provider and its key while this is true. The component's own option
   * `protect` also protects what an upgrade may have to replace, such as policies of the role. Access of administrators is never protected.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
  /**
   * AWS profile with which tokens for the Kubernetes API are requested.
   * @default `aws:profile` of the stack; without it the ambient identity
   */
  readonly awsProfile?: string | undefined;
  /**
   * Tags of every AWS resource of the cluster.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/**
 * The hub's control plane: EKS with access entries only, encrypted secrets, logs and an OIDC provider.
 * @throws RunError when nobody could reach the Kubernetes API, or the whole internet could
 * @example
 * const network = new Network("hub");
 * const cluster = new HubCluster("hub", { network, version: "1.35", admins });
 * new HubNodes("hub-nodes", { cluster }, { dependsOn: [network] });
 */
export class HubCluster extends pulumi.ComponentResource {
  /** The underlying cluster, for node groups. */
  readonly cluster: eks.Cluster;
  /** Where it runs. */
  readonly network: ClusterNetwork;
  /** Kubernetes minor version, as given. */
  readonly version: string;
  /** Name of the EKS cluster, as given: known before the cluster exists. */
  readonly clusterName: string;
  /** Name of the EKS cluster; known once it exists. */
  readonly name: pulumi.Output<string>;
  /** ARN of the EKS cluster. */
  readonly arn: pulumi.Output<string>;
  /** URL of the Kubernetes API. */
  readonly endpoint: pulumi.Output<string>;
  /** CA bundle, PEM in base64. */
  readonly certificateAuthority: pulumi.Output<string>;
  /** IAM's OIDC provider for the cluster, and the issuer without `https://`: what an `IrsaRole` takes. */
  readonly oidc: { readonly providerArn: pulumi.Output<string>; readonly issuer: pulumi.Output<string> };
  /** Kubernetes provider with the deployer's identity. */
  readonly provider: kubernetes.Provider;
  /** kubeconfig without a credential. */
  readonly kubeconfig: pulumi.Output<string>;

  constructor(name: string, args: HubClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HubCluster", name, {}, opts);
    const { network, version, admins = [], viewers = [], clusterName = name, tags } = args;
    const { endpointPublicAccess = false, endpointPublicAccessCidrs = [], endpointPrivateAccess = true } = args;
    requireReachable(endpointPublicAccess, endpointPublicAccessCidrs, endpointPrivateAccess);
    const principals = [...accessOf("admins", admins, "admin"), ...accessOf("viewers", viewers, "view")];
    const names = clusterNames(clusterName);
    const protect = args.protect === undefined ? {} : { protect: args.protect };
    const { partition } = aws.getPartitionOutput({}, { parent: this });
    const { region } = aws.getRegionOutput({}, { parent: this });
    this.network = network;
    this.version = version;
    this.clusterName = clusterName;
    const key = new EncryptionKey(
      `${name}-secrets`,
      {
        description: `Kubernetes secrets of ${clusterName}`,
        alias: names.clusterKeyAlias,
        kmsDeletionWindowDays: args.kmsDeletionWindowDays,
        tags,
        protect: args.protect,
      },
      { parent: this },
    );
    const role = new ServiceRole(
      `${name}-control-plane`,
      {
        roleName: names.clusterRole,
        description: `Control plane of ${clusterName}`,
        trust: controlPlaneTrust,
        managedPolicies: managedPolicies.cluster,
        rolePath: args.rolePath,
        permissionsBoundary: args.permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    // EKS would create one whose entries never expire and which stays when the cluster is deleted.
    const logGroup = new aws.cloudwatch.LogGroup(
      `${name}-logs`,
      {
        name: names.clusterLogGroup,
        retentionInDays: args.logRetentionDays ?? 90,
        ...(args.logKey && { kmsKeyId: args.logKey }),
        tags,
      },
      { parent: this },
    );
    this.cluster = new eks.Cluster(
      name,
      {
        name: clusterName,
        version,
        authenticationMode,
        serviceRole: role.role,
        vpcId: network.vpcId,
        publicSubnetIds: network.publicSubnetIds,
        privateSubnetIds: network.privateSubnetIds,
        endpointPublicAccess,
        endpointPrivateAccess,
        ...(endpointPublicAccess ? { publicAccessCidrs: [...endpointPublicAccessCidrs] } : {}),
        encryptionConfigKeyArn: key.arn,
        enabledClusterLogTypes: [...(args.logTypes ?? auditLogTypes)],
        // Set, so that AWS_PROFILE of whoever runs Pulumi does not get into the state of the component's own Kubernetes provider.
        providerCredentialOpts: {},
        // Nodes come from a managed node group, which uses the cluster's own security group.
        skipDefaultNodeGroup: true,
        skipDefaultSecurityGroups: true,
        deletionProtection: args.deletionProtection ?? false,
        upgradePolicy,
        ...(args.serviceIpv4Cidr && {
          kubernetesServiceIpAddressRange: unchangedServices(clusterName, args.serviceIpv4Cidr, { parent: this }),
        }),
        kubeProxyAddonOptions: { version: this.addonVersion("kube-proxy") },
        vpcCniOptions: {
          addonVersion: this.addonVersion("vpc-cni"),
          enableNetworkPolicy: true,
          // An interface that the VPC CNI adds to a node has no tags of the launch template.
          ...(tags && { configurationValues: { env: { ADDITIONAL_ENI_TAGS: JSON.stringify(tags) } } }),
        },
        // CoreDNS needs nodes: HubNodes makes it.
        corednsAddonOptions: { enabled: false },
        ...(tags && { tags: { ...tags } }),
      },
      { parent: this, ...protect, dependsOn: [role, logGroup] },
    );
    const { eksCluster } = this.cluster;
    this.name = eksCluster.apply((cluster) => cluster.name);
    this.arn = eksCluster.apply((cluster) => cluster.arn);
    this.endpoint = eksCluster.apply((cluster) => cluster.endpoint);
    this.certificateAuthority = eksCluster.apply((cluster) => cluster.certificateAuthority.data);
    const accessible = { component: this, id: name, name: this.name, tags };
    const securityGroupId = eksCluster.apply((cluster) => cluster.vpcConfig.clusterSecurityGroupId);
    for (const cidr of args.endpointPrivateAccessCidrs ?? []) admitNetwork(accessible, securityGroupId, cidr);
    const oidcProvider = new aws.iam.OpenIdConnectProvider(
      `${name}-oidcProvider`,
      // Without thumbprints, which IAM looks up itself; @pulumi/eks would ask the issuer for one, in previews too, and set no tags.
      { clientIdLists: [stsAudience], url: this.cluster.oidcProviderUrl, tags },
      { parent: this, ...protect },
    );
    this.oidc = { providerArn: oidcProvider.arn, issuer: this.cluster.oidcIssuer };
    const access = principals.flatMap((principal) => grantAccess(accessible, principal, partition));
    const awsProfile = args.awsProfile ?? new pulumi.Config("aws").get("profile");
    this.provider = new kubernetes.Provider(
      `${name}-kubernetes`,
      // The cluster secret has to change in place: while a replaced one is missing, Flux fails on every variable.
      { kubeconfig: this.deployersKubeconfig(awsProfile), enableSecretMutable: true },
      // The deployer may be one of the administrators: its access must exist before what needs it, and outlive that.
      { parent: this, dependsOn: access },
    );
    this.kubeconfig = pulumi
      .all([this.name, region, this.endpoint, this.certificateAuthority])
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

  /**
   * EKS's default version of an add-on for the cluster's Kubernetes version: it follows an upgrade, and otherwise changes only when AWS
   * changes its default.
   */
  addonVersion(addonName: string): pulumi.Output<string> {
    return aws.eks.getAddonVersionOutput({ addonName, kubernetesVersion: this.version }, { parent: this }).version;
  }
}

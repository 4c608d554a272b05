import { arn, arnOrNothing, type Codec, type Form, is } from "./bridge-forms.ts";
import { identityAnnotation } from "./labels.ts";

/**
 * The GitOps bridge, one row for each key. Types, codec (lib/bridge.ts), documents and the lists of keys in Git
 * (lib/bridge-documents.ts) come from these rows; docs/reference/contract.md says how a fact is added.
 */

/** What the contract says of a key. */
export interface Contract<Key extends string = string> {
  readonly key: Key;
  readonly meaning: string;
  readonly form: Form;
  /** Whether only the hub's manifests use it: a spoke's ConfigMap `cluster-info` does not have it. */
  readonly forHub?: true;
}

/** A key with its place in {@link ClusterMetadata}. */
export interface Fact<Key extends string = string, Value = unknown> extends Contract<Key> {
  readonly form: Codec<Value>;
}

const fact = <const Key extends string, Value>(
  key: Key,
  meaning: string,
  form: Codec<Value>,
  example = form.example,
): Fact<Key, Value> => ({ key, meaning, form: { ...form, example } });

/** A fact that only the hub's manifests use. */
const forHub = <const Key extends string, Value>(of: Fact<Key, Value>): Fact<Key, Value> => ({ ...of, forHub: true });

/** Each cluster's own: the Pulumi program gives the hub's values, the composition function a spoke's. */
export const clusterFacts = {
  name: fact("cluster_name", "name of the cluster in the fleet", is.name),
  role: fact("cluster_role", "hub or spoke", is.role),
  environment: fact("environment", "environment of the cluster", is.name, "dev"),
  tenant: fact("tenant", "team that owns the cluster", is.name),
  fleet: fact("fleet", "name of the fleet, the prefix of its names in AWS", is.name, "fleet"),
  tags: forHub(
    fact(
      "company_tags",
      "tags of the company on everything in AWS: `tags` of the stack, of a spoke with its `spec.tags`",
      is.tags,
    ),
  ),
  aws: {
    accountId: fact("aws_account_id", "account of the cluster", is.account),
    region: fact("aws_region", "region of the cluster", is.region),
    rolePath: fact("aws_role_path", "path in IAM of the fleet's roles: `rolePath` of the stack", is.path),
    partition: fact("aws_partition", "`aws`, `aws-cn` or `aws-us-gov`", is.partition),
    vpcId: fact("aws_vpc_id", "VPC of the cluster", is.vpc),
    vpcCidr: fact("aws_vpc_cidr", "IPv4 block of the VPC", is.cidr),
    clusterName: fact("aws_cluster_name", "name of the EKS cluster", is.name, "fleet-spoke-payments"),
    clusterArn: fact("cluster_arn", "ARN of the EKS cluster", arn("eks", "cluster/fleet-spoke-payments")),
    loadBalancerCidrs: fact(
      "load_balancer_cidrs",
      "its public subnets, in which load balancers that face the internet are; empty without the add-on `aws_load_balancer_controller`, and where the hub does not know them",
      is.cidrs,
      "10.64.48.0/22",
    ),
    nodeRole: fact("node_role_name", "IAM role of the nodes", is.nodeRole),
  },
  databases: {
    prefix: fact(
      "database_prefix",
      "beginning of the names of its databases in RDS; empty without the add-on `rds_instances`",
      is.databases,
    ),
    securityGroupId: fact(
      "database_security_group_id",
      "security group that its databases join, the cluster's own; empty without the add-on",
      is.groupOrNothing,
    ),
    subnetIds: fact("database_subnet_ids", "its private subnets, for the databases; none without the add-on", is.list),
  },
  kubernetesVersion: fact("kubernetes_version", "minor version of Kubernetes", is.version),
  oidc: {
    provider: fact("oidc_provider", "OIDC issuer without `https://`", is.issuer),
    providerArn: fact("oidc_provider_arn", "its IAM OIDC provider", arn("iam", `oidc-provider/${is.issuer.example}`)),
  },
  identitySource: fact(
    "aws_identity_source",
    "`source` of a ProviderConfig of Crossplane's AWS provider there: how its pods get the credentials of their role",
    is.identitySource,
  ),
  volumeProvisioner: fact(
    "volume_provisioner",
    "provisioner of a StorageClass for volumes of EBS, and their CSI driver: another one with EKS Auto Mode, use it as `$" +
      "{volume_provisioner:=ebs.csi.aws.com}`",
    is.volumeProvisioner,
  ),
  volumeKey: fact(
    "volume_kms_key_arn",
    "key of a company that encrypts the volumes of nodes and claims (`volumeKeys` of the stack, `spec.volumeKey` of a Spoke); empty for the account's default key",
    arnOrNothing("kms", "key/1234abcd-12ab-34cd-56ef-1234567890ab"),
  ),
  repositories: {
    gitopsSystem: {
      url: fact("gitops_system_repo_url", "URL of the platform team's repository", is.url),
      revision: fact("gitops_system_repo_revision", "branch that the cluster follows there", is.revision),
    },
    gitopsWorkloads: {
      url: fact(
        "gitops_workloads_repo_url",
        "URL of the governance team's repository",
        is.url,
        "ssh://git@git.example.com/gitops-workloads.git",
      ),
      revision: fact("gitops_workloads_repo_revision", "branch that the cluster follows there", is.revision),
    },
  },
  sealingScope: fact("sealing_scope", "scope of the sealing keys that the cluster reads", is.name, "dev"),
  sealingKeyArns: forHub(
    fact(
      "sealing_key_arns",
      "ARNs in Secrets Manager of the sealing keys of its scope; of the hub those of every scope; none without accounts besides the hub's",
      is.list,
    ),
  ),
  permissionsBoundaryArn: fact(
    "permissions_boundary_arn",
    "boundary policy that every role made in the fleet must carry",
    arn("iam", "policy/fleet-boundary"),
  ),
  tenantBoundaryArn: fact(
    "tenant_boundary_arn",
    "boundary policy that every role ordered by an application must carry",
    arn("iam", "policy/fleet-tenant-boundary"),
  ),
  addonBoundaryArn: fact(
    "addon_boundary_arn",
    "boundary policy of the roles that add-ons get, empty while the stack permits them nothing",
    arnOrNothing("iam", "policy/fleet-addon-boundary"),
  ),
  addons: fact("addons", "enabled add-ons in snake_case: labels `enable_<addon>`", is.list, '["metrics_server"]'),
};

/** The same on every cluster: the Pulumi program gives their values, spokes get what the hub has. */
export const fleetFacts = {
  gitProvider: fact(
    "git_provider",
    "`provider` of the GitRepositories: `github` where Flux is a GitHub App, `generic` with a deploy key or a token",
    is.provider,
  ),
  signers: {
    gitopsSystem: forHub(
      fact(
        "gitops_system_signers",
        "public keys of those whose commits to gitops-system are applied, as the data of a Secret; none where commits are not verified",
        is.files,
      ),
    ),
    gitopsWorkloads: forHub(fact("gitops_workloads_signers", "the same of the governance team's repository", is.files)),
  },
  chartsRegistry: fact(
    "charts_registry",
    "base URL of the chart mirror, empty without one: use it as `$" + "{charts_registry:=<upstream URL>}`",
    is.mirror,
  ),
  chartsCredential: fact(
    "charts_components",
    "`components` of a Kustomization that applies HelmRepositories: `credential` where the chart mirror asks for one",
    is.credential,
  ),
  imagesRegistry: fact("images_prefix", "what precedes the upstream name of an image: mirror or nothing", is.registry),
  packagesRegistry: fact("packages_prefix", "the same of Crossplane packages", is.registry),
  pullSecrets: fact("pull_secret_names", "Secrets with which images and packages are pulled", is.list),
  fleetSize: fact("fleet_size", "size of the controllers: minimal, small, medium or large", is.name, "small"),
  functionPackage: fact("function_package", "package of the composition function, without version", is.repository),
  functionDigest: forHub(
    fact(
      "function_digest",
      "digest of that package, which the hub pulls regardless of its tag; empty without one",
      is.digest,
    ),
  ),
  secretsKeyArn: fact(
    "secrets_kms_key_arn",
    "KMS key under which the fleet's sealing keys and Git credentials are encrypted",
    arn("kms", "key/1234abcd-12ab-34cd-56ef-1234567890ab"),
  ),
  clusterApiKeyArn: forHub(
    fact(
      "cluster_api_kms_key_arn",
      "KMS key that encrypts the Kubernetes secrets of clusters that Cluster API makes, empty without `clusterApi`",
      arnOrNothing("kms", "key/1234abcd-12ab-34cd-56ef-1234567890ab"),
    ),
  ),
  metricsWorkspaceArn: fact(
    "metrics_workspace_arn",
    "workspace of Amazon Managed Service for Prometheus that takes the fleet's metrics, empty without one",
    arnOrNothing("aps", "workspace/ws-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
  ),
  metricsEndpoint: fact(
    "metrics_endpoint",
    "URL of that workspace with a slash at its end, empty without one: `$" + "{metrics_endpoint}api/v1/remote_write`",
    is.mirror,
  ),
  spokePlaces: forHub(
    fact(
      "spoke_places",
      "accounts in which spokes may be, the hub's among them, each with its regions, the keys that volumes may have and, but for the hub's, its sealing scopes",
      is.places,
    ),
  ),
  spokePrefix: fact("spoke_prefix", "name prefix of clusters and roles that Crossplane may manage", is.prefix),
  spokeCidrPool: fact("spoke_cidr_pool", "block from which spokes' networks are taken", is.cidr, "10.64.0.0/10"),
  hubEgressCidrs: fact("hub_egress_cidrs", "public addresses from which the hub reaches spokes", is.cidrs),
  hubRolesCreated: fact(
    "hub_roles_created",
    "when the newest IAM role with which the hub reaches spokes was made: an older access entry is of a former role with its ARN",
    is.time,
    "2026-01-31T12:00:00Z",
  ),
  hubAvailabilityZones: fact(
    "hub_availability_zones",
    "zones of the hub's region in which EKS has control planes: spokes there take theirs from the first on",
    is.zones,
  ),
};

/** What each identity adds: the name of its add-on in snake_case, and one of these endings. */
export const identityFacts = {
  roleArn: fact("_iam_role_arn", "role of the service account", arn("iam", "role/fleet-spoke-payments-crossplane")),
  namespace: fact("_namespace", "namespace of the service account", is.name, "crossplane-system"),
  serviceAccount: fact("_service_account", "service accounts, the only ones with the role", is.accounts),
};

/** The values of a table of facts. */
type Values<Facts> = {
  readonly [Name in keyof Facts]: Facts[Name] extends Fact<string, infer Value> ? Value : Values<Facts[Name]>;
};

/** Who may assume an add-on's role. */
export type WorkloadIdentity = Values<typeof identityFacts>;

/** What differs from cluster to cluster. */
export interface OwnMetadata extends Values<typeof clusterFacts> {
  /** Controllers with an IAM role, by add-on name in snake_case. */
  readonly identities: Readonly<Record<string, WorkloadIdentity>>;
}

/** What infrastructure code tells Git about a cluster. It has no token, key or kubeconfig: identity is an IAM role. */
export interface ClusterMetadata extends OwnMetadata, Values<typeof fleetFacts> {}

/** How pods get the credentials of their role, in the words of Crossplane's AWS provider. */
export type IdentitySource = Values<typeof clusterFacts>["identitySource"];

/** Annotations of pods that act in AWS. A pod has to start anew for other credentials: with the value its pod template changes. */
export const podAnnotations = (source: IdentitySource): Readonly<Record<string, string>> =>
  source === "IRSA" ? {} : { [identityAnnotation]: source };

/** Annotations of a service account with a role, and of its pods, which restart for another role or other credentials. */
export const roleAnnotations = (roleArn: string, source: IdentitySource): Readonly<Record<string, string>> => ({
  ...podAnnotations(source),
  "eks.amazonaws.com/role-arn": roleArn,
});

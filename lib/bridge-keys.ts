/** The keys of the GitOps bridge: what each one means and what its values look like. docs/contract.md shows them. */

/** What the values of a key look like. */
export interface Form {
  /** For people. */
  readonly is: string;
  /** Regular expression that every value matches. */
  readonly pattern: string;
  readonly example: string;
  /** YAML would read a bare value as a number: it must be written between two `${quote}`. */
  readonly numeric?: true;
}

export interface KeyContract {
  readonly meaning: string;
  readonly form: Form;
}

const name = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const zone = "[a-z]{2}(-[a-z]+)+-\\d[a-z]";
const octets = "\\d{1,3}(\\.\\d{1,3}){3}";

const arn = (service: string, resource: string): Form => ({
  is: "ARN",
  pattern: `^arn:aws[-a-z]*:${service}:[-a-z0-9]*:\\d{12}:.+$`,
  example: `arn:aws:${service}:${service === "iam" ? "" : "eu-west-1"}:111122223333:${resource}`,
});

const forms = {
  name: { is: "name", pattern: `^${name}$`, example: "payments" },
  role: { is: "`hub` or `spoke`", pattern: "^(hub|spoke)$", example: "spoke" },
  account: { is: "12 digits", pattern: "^\\d{12}$", example: "111122223333", numeric: true },
  region: { is: "AWS region", pattern: "^[a-z]{2}(-[a-z]+)+-\\d$", example: "eu-west-1" },
  partition: { is: "AWS partition", pattern: "^aws(-[a-z]+)*$", example: "aws" },
  vpc: { is: "ID of a VPC", pattern: "^vpc-[-0-9a-z]+$", example: "vpc-0a1b2c3d4e5f60718" },
  cidr: { is: "IPv4 block", pattern: `^${octets}/\\d{1,2}$`, example: "10.64.0.0/18" },
  cidrs: {
    is: "IPv4 blocks with commas between them, or empty",
    pattern: `^(${octets}/\\d{1,2}(,${octets}/\\d{1,2})*)?$`,
    example: "",
  },
  zones: {
    is: "names of zones with commas between them",
    pattern: `^${zone}(,${zone})*$`,
    example: "eu-west-1a,eu-west-1b,eu-west-1c",
  },
  version: { is: "minor version", pattern: "^1\\.\\d{2}$", example: "1.34", numeric: true },
  quote: { is: 'always `"`', pattern: '^"$', example: '"' },
  issuer: { is: "host and path", pattern: "^[^/:]+/.+$", example: "oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE" },
  url: { is: "URL", pattern: "^[a-z+]+://.+$", example: "ssh://git@git.example.com/gitops-system.git" },
  provider: { is: "`generic` or `github`", pattern: "^(generic|github)$", example: "generic" },
  repositoryType: { is: "`default` or `oci`", pattern: "^(default|oci)$", example: "default" },
  mirror: { is: "URL, or empty", pattern: "^([a-z+]+://.+)?$", example: "" },
  repository: {
    is: "OCI repository without a tag",
    pattern: "^[^/@\\s]+(/[^/:@\\s]+)+$",
    example: "ghcr.io/example/function-spoke",
  },
  revision: { is: "branch", pattern: "^\\S+$", example: "main" },
  prefix: { is: "name that ends with a hyphen", pattern: `^${name}-$`, example: "fleet-spoke-" },
  registryPrefix: {
    is: "host and path that end with a slash, or empty",
    pattern: "^([^/@\\s]+/([^/:@\\s]+/)*)?$",
    example: "",
  },
  list: { is: "JSON list", pattern: "^\\[.*\\]$", example: '["metrics_server"]' },
} as const satisfies Record<string, Form>;

const boundary = arn("iam", "policy/fleet-boundary");

/** Keys that every cluster emits: the contract between this code and the manifests in Git. */
export const bridgeKeys = {
  cluster_name: { meaning: "name of the cluster in the fleet", form: forms.name },
  cluster_role: { meaning: "hub or spoke", form: forms.role },
  environment: { meaning: "environment of the cluster", form: { ...forms.name, example: "dev" } },
  tenant: { meaning: "team that owns the cluster", form: forms.name },
  fleet: { meaning: "name of the fleet, the prefix of its names in AWS", form: { ...forms.name, example: "fleet" } },
  aws_account_id: { meaning: "account of the cluster", form: forms.account },
  aws_region: { meaning: "region of the cluster", form: forms.region },
  aws_partition: { meaning: "`aws`, `aws-cn` or `aws-us-gov`", form: forms.partition },
  aws_vpc_id: { meaning: "VPC of the cluster", form: forms.vpc },
  aws_vpc_cidr: { meaning: "IPv4 block of the VPC", form: forms.cidr },
  aws_cluster_name: { meaning: "name of the EKS cluster", form: { ...forms.name, example: "fleet-spoke-payments" } },
  cluster_arn: { meaning: "ARN of the EKS cluster", form: arn("eks", "cluster/fleet-spoke-payments") },
  kubernetes_version: { meaning: "minor version of Kubernetes", form: forms.version },
  quote: {
    meaning:
      "a double quote: kustomize drops quotes around a variable, before Flux puts in what may look like a number",
    form: forms.quote,
  },
  oidc_provider: { meaning: "OIDC issuer without `https://`", form: forms.issuer },
  oidc_provider_arn: {
    meaning: "ARN of the IAM OIDC provider",
    form: arn("iam", "oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE"),
  },
  gitops_system_repo_url: { meaning: "URL of the platform team's repository", form: forms.url },
  gitops_system_repo_revision: { meaning: "branch that the cluster follows there", form: forms.revision },
  gitops_workloads_repo_url: {
    meaning: "URL of the governance team's repository",
    form: { ...forms.url, example: "ssh://git@git.example.com/gitops-workloads.git" },
  },
  gitops_workloads_repo_revision: { meaning: "branch that the cluster follows there", form: forms.revision },
  git_provider: {
    meaning:
      "`provider` of a GitRepository of these two: `github` where they are read as a GitHub App, `generic` with a deploy key or a token",
    form: forms.provider,
  },
  charts_registry: {
    meaning: "base URL of the chart mirror, empty without one: use it as `$" + "{charts_registry:=<upstream URL>}`",
    form: forms.mirror,
  },
  charts_registry_type: {
    meaning: "`type` of a HelmRepository whose URL is `charts_registry`: `oci` for a mirror at oci://",
    form: forms.repositoryType,
  },
  fleet_size: {
    meaning: "how large the controllers of the hub are made: `minimal`, `small`, `medium` or `large`",
    form: { ...forms.name, example: "small" },
  },
  function_package: {
    meaning: "package of the composition function behind the Spoke API; its version stands in Git",
    form: forms.repository,
  },
  images_prefix: {
    meaning: "what stands before the upstream name of an image: the mirror, empty without one",
    form: forms.registryPrefix,
  },
  packages_prefix: {
    meaning: "what stands before the upstream name of a Crossplane package, likewise",
    form: forms.registryPrefix,
  },
  pull_secrets: {
    meaning:
      "Secrets with which images and packages are pulled, as a manifest has them in `imagePullSecrets` and `packagePullSecrets`",
    form: { ...forms.list, example: "[]" },
  },
  pull_secret_names: {
    meaning: "the same as names, for charts that want these",
    form: { ...forms.list, example: "[]" },
  },
  charts_components: {
    meaning:
      "`components` of a Kustomization that applies HelmRepositories: `credential` where the chart mirror asks for one",
    form: { ...forms.list, example: "[]" },
  },
  sealing_scope: {
    meaning: "scope of the sealing keys that the cluster reads",
    form: { ...forms.name, example: "dev" },
  },
  secrets_kms_key_arn: {
    meaning: "KMS key under which the fleet's sealing keys and Git credentials are encrypted",
    form: arn("kms", "key/1234abcd-12ab-34cd-56ef-1234567890ab"),
  },
  permissions_boundary_arn: {
    meaning: "boundary policy that every role made in the fleet must carry",
    form: boundary,
  },
  tenant_boundary_arn: {
    meaning: "boundary policy that every role ordered by an application must carry",
    form: { ...boundary, example: boundary.example.replace("fleet-boundary", "fleet-tenant-boundary") },
  },
  spoke_prefix: { meaning: "name prefix of clusters and roles that Crossplane may manage", form: forms.prefix },
  spoke_cidr_pool: {
    meaning: "block from which the networks of spokes are taken",
    form: { ...forms.cidr, example: "10.64.0.0/10" },
  },
  addons: { meaning: "enabled add-ons, so that a manifest can have them as a YAML list", form: forms.list },
  hub_egress_cidrs: { meaning: "addresses from which the hub reaches spokes", form: forms.cidrs },
  hub_availability_zones: {
    meaning: "zones of the hub's region in which EKS has control planes: spokes there take theirs from the first on",
    form: forms.zones,
  },
} as const satisfies Record<string, KeyContract>;

export type BridgeKey = keyof typeof bridgeKeys;

/** Keys that each add-on in `identities` adds: the add-on's name in snake_case, and one of these. */
export const identityKeys = {
  _iam_role_arn: {
    meaning: "role of the add-on's service account",
    form: arn("iam", "role/fleet-spoke-payments-crossplane"),
  },
  _namespace: {
    meaning: "namespace of the only service account that may assume the role",
    form: { ...forms.name, example: "crossplane-system" },
  },
  _service_account: { meaning: "that service account", form: { ...forms.name, example: "provider-aws" } },
} as const satisfies Record<string, KeyContract>;

/** What the contract says of a key; undefined for a key that it does not know. */
export function contractOf(key: string): KeyContract | undefined {
  if (Object.hasOwn(bridgeKeys, key)) return bridgeKeys[key as BridgeKey];
  return Object.entries(identityKeys).find(([suffix]) => key.endsWith(suffix) && key !== suffix)?.[1];
}

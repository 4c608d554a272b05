import { type BridgeKey, bridgeKeys, type identityKeys } from "./bridge-keys.ts";
import { labelKeys, watchLabel } from "./labels.ts";
import { prefixOf } from "./registries.ts";

/**
 * The GitOps bridge: what infrastructure code tells Git about a cluster.
 * The hub's is written by the Pulumi program, a spoke's by the composition function, both from this one interface.
 * It has no member for a token, a key or a kubeconfig: identity is an IAM role.
 */
export interface ClusterMetadata {
  /** The cluster's name in the fleet, unique: `hub` or a spoke's name. */
  readonly name: string;
  readonly role: "hub" | "spoke";
  readonly environment: string;
  readonly tenant: string;
  /** The fleet's name: prefix of its names in AWS. */
  readonly fleet: string;
  readonly aws: {
    readonly accountId: string;
    readonly region: string;
    readonly partition: string;
    readonly vpcId: string;
    /** IPv4 block of the VPC. */
    readonly vpcCidr: string;
    /** Name of the EKS cluster. */
    readonly clusterName: string;
    readonly clusterArn: string;
  };
  /** Minor version: `1.34`. */
  readonly kubernetesVersion: string;
  /** The issuer without `https://`, and the ARN of its IAM OIDC provider. */
  readonly oidc: { readonly provider: string; readonly providerArn: string };
  /** Controllers with an IAM role, by add-on name in snake_case. */
  readonly identities: Readonly<Record<string, WorkloadIdentity>>;
  readonly repositories: { readonly gitopsSystem: GitSource; readonly gitopsWorkloads: GitSource };
  /** How Flux authenticates to both repositories: `github` as a GitHub App, `generic` with a deploy key or a token. */
  readonly gitProvider: GitProvider;
  /** Base URL of the chart mirror; empty when charts come from their upstream repositories. */
  readonly chartsRegistry: string;
  /** How large the fleet's controllers are made, and how often its AWS resources are looked at: a folder in Git. */
  readonly fleetSize: string;
  /** OCI repository of the composition function's package, without a tag: the version stands in Git. */
  readonly functionPackage: string;
  /** Registry path under which the mirror has every image by its upstream name; empty for upstream. */
  readonly imagesRegistry: string;
  /** The same of Crossplane's packages. */
  readonly packagesRegistry: string;
  /** Secrets in each platform namespace with which kubelet and Crossplane pull images and packages; none where they are public. */
  readonly pullSecrets: readonly string[];
  /** Whether the chart mirror asks for a credential: a Secret beside each HelmRepository. */
  readonly chartsCredential: boolean;
  /** Scope of the sealing keys that the cluster may read. */
  readonly sealingScope: string;
  /** KMS key under which the fleet's sealing keys and Git credentials are encrypted. */
  readonly secretsKeyArn: string;
  /** Permissions boundary that every role made in the fleet carries. */
  readonly permissionsBoundaryArn: string;
  /** The narrower boundary of the roles that applications order on a spoke. */
  readonly tenantBoundaryArn: string;
  /** Name prefix of the roles and clusters that Crossplane may manage. */
  readonly spokePrefix: string;
  /** Block from which the networks of spokes are taken. */
  readonly spokeCidrPool: string;
  /** Public addresses from which the hub reaches a spoke's API server; none when the hub has no fixed ones. */
  readonly hubEgressCidrs: readonly string[];
  /** Zones of the hub's region in which EKS has control planes: spokes of that region take theirs from the first on. */
  readonly hubAvailabilityZones: readonly string[];
  /** Add-ons that the cluster enables, in snake_case: labels `enable_<addon>`. */
  readonly addons: readonly string[];
}

/** Who may assume an add-on's role. */
export interface WorkloadIdentity {
  readonly roleArn: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** `spec.provider` of a GitRepository. */
export type GitProvider = "generic" | "github";

export interface GitSource {
  readonly url: string;
  /** Branch that Flux follows. */
  readonly revision: string;
}

/** The component beside HelmRepositories that names their Secret. */
const credentialComponent = "credential";

const snakeCase = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

function identityData(identities: ClusterMetadata["identities"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(identities).flatMap(([addon, { roleArn, namespace, serviceAccount }]) => {
      if (!snakeCase.test(addon)) {
        throw new RangeError(`add-on ${JSON.stringify(addon)} is not in snake_case: Flux can't substitute its keys`);
      }
      const values: Record<keyof typeof identityKeys, string> = {
        _iam_role_arn: roleArn,
        _namespace: namespace,
        _service_account: serviceAccount,
      };
      return Object.entries(values).map(([suffix, value]) => [`${addon}${suffix}`, value] as const);
    }),
  );
}

/** The flat map that Flux substitutes from: every key of {@link bridgeKeys}, and three for each identity. */
export function bridgeData(metadata: ClusterMetadata): Record<BridgeKey, string> & Record<string, string> {
  const { aws, oidc, repositories } = metadata;
  const fixed: Record<BridgeKey, string> = {
    cluster_name: metadata.name,
    cluster_role: metadata.role,
    environment: metadata.environment,
    tenant: metadata.tenant,
    fleet: metadata.fleet,
    aws_account_id: aws.accountId,
    aws_region: aws.region,
    aws_partition: aws.partition,
    aws_vpc_id: aws.vpcId,
    aws_vpc_cidr: aws.vpcCidr,
    aws_cluster_name: aws.clusterName,
    cluster_arn: aws.clusterArn,
    kubernetes_version: metadata.kubernetesVersion,
    quote: '"',
    oidc_provider: oidc.provider,
    oidc_provider_arn: oidc.providerArn,
    gitops_system_repo_url: repositories.gitopsSystem.url,
    gitops_system_repo_revision: repositories.gitopsSystem.revision,
    gitops_workloads_repo_url: repositories.gitopsWorkloads.url,
    gitops_workloads_repo_revision: repositories.gitopsWorkloads.revision,
    git_provider: metadata.gitProvider,
    charts_registry: metadata.chartsRegistry,
    charts_registry_type: metadata.chartsRegistry.startsWith("oci://") ? "oci" : "default",
    fleet_size: metadata.fleetSize,
    function_package: metadata.functionPackage,
    images_prefix: prefixOf(metadata.imagesRegistry),
    packages_prefix: prefixOf(metadata.packagesRegistry),
    pull_secrets: JSON.stringify(metadata.pullSecrets.map((name) => ({ name }))),
    pull_secret_names: JSON.stringify(metadata.pullSecrets),
    charts_components: JSON.stringify(metadata.chartsCredential ? [credentialComponent] : []),
    sealing_scope: metadata.sealingScope,
    secrets_kms_key_arn: metadata.secretsKeyArn,
    permissions_boundary_arn: metadata.permissionsBoundaryArn,
    tenant_boundary_arn: metadata.tenantBoundaryArn,
    spoke_prefix: metadata.spokePrefix,
    spoke_cidr_pool: metadata.spokeCidrPool,
    addons: JSON.stringify(metadata.addons),
    hub_egress_cidrs: metadata.hubEgressCidrs.join(","),
    hub_availability_zones: metadata.hubAvailabilityZones.join(","),
  };
  return { ...identityData(metadata.identities), ...fixed };
}

const identitySuffix = "_iam_role_arn";

function readIdentities(data: Readonly<Record<string, string>>): ClusterMetadata["identities"] {
  const addons = Object.keys(data)
    .filter((key) => key.endsWith(identitySuffix))
    .map((key) => key.slice(0, -identitySuffix.length));
  return Object.fromEntries(
    addons.map((addon) => [
      addon,
      {
        roleArn: data[`${addon}${identitySuffix}`] ?? "",
        namespace: data[`${addon}_namespace`] ?? "",
        serviceAccount: data[`${addon}_service_account`] ?? "",
      },
    ]),
  );
}

/**
 * The metadata that {@link bridgeData} wrote.
 * @throws RangeError that names every missing key: the program that wrote the data is older than the contract.
 */
export function readBridgeData(data: Readonly<Record<string, string>>): ClusterMetadata {
  const missing = Object.keys(bridgeKeys).filter((key) => data[key] === undefined);
  if (missing.length > 0) {
    throw new RangeError(`the cluster secret lacks ${missing.join(", ")}: run pulumi up with the current program`);
  }
  const known = data as Record<BridgeKey, string>;
  return {
    name: known.cluster_name,
    role: known.cluster_role === "hub" ? "hub" : "spoke",
    environment: known.environment,
    tenant: known.tenant,
    fleet: known.fleet,
    aws: {
      accountId: known.aws_account_id,
      region: known.aws_region,
      partition: known.aws_partition,
      vpcId: known.aws_vpc_id,
      vpcCidr: known.aws_vpc_cidr,
      clusterName: known.aws_cluster_name,
      clusterArn: known.cluster_arn,
    },
    kubernetesVersion: known.kubernetes_version,
    oidc: { provider: known.oidc_provider, providerArn: known.oidc_provider_arn },
    identities: readIdentities(data),
    repositories: {
      gitopsSystem: { url: known.gitops_system_repo_url, revision: known.gitops_system_repo_revision },
      gitopsWorkloads: { url: known.gitops_workloads_repo_url, revision: known.gitops_workloads_repo_revision },
    },
    gitProvider: known.git_provider === "github" ? "github" : "generic",
    chartsRegistry: known.charts_registry,
    fleetSize: known.fleet_size,
    functionPackage: known.function_package,
    imagesRegistry: known.images_prefix.replace(/\/$/, ""),
    packagesRegistry: known.packages_prefix.replace(/\/$/, ""),
    pullSecrets: JSON.parse(known.pull_secret_names) as string[],
    chartsCredential: (JSON.parse(known.charts_components) as string[]).includes(credentialComponent),
    sealingScope: known.sealing_scope,
    secretsKeyArn: known.secrets_kms_key_arn,
    permissionsBoundaryArn: known.permissions_boundary_arn,
    tenantBoundaryArn: known.tenant_boundary_arn,
    spokePrefix: known.spoke_prefix,
    spokeCidrPool: known.spoke_cidr_pool,
    hubEgressCidrs: known.hub_egress_cidrs.split(",").filter(Boolean),
    hubAvailabilityZones: known.hub_availability_zones.split(",").filter(Boolean),
    addons: JSON.parse(known.addons) as string[],
  };
}

/** Secret data in base64, as Kubernetes takes it: `stringData` would never remove a key. */
export function inBase64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}

/** What {@link inBase64} made. */
export function fromBase64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

/** Labels of a cluster secret: for people, Argo CD selectors and admission policies. */
export function bridgeLabels(metadata: Pick<ClusterMetadata, "name" | "role" | "environment" | "tenant" | "addons">) {
  return {
    [labelKeys.cluster]: metadata.name,
    [labelKeys.role]: metadata.role,
    [labelKeys.environment]: metadata.environment,
    [labelKeys.tenant]: metadata.tenant,
    ...Object.fromEntries(metadata.addons.map((addon) => [`enable_${addon}`, "true"])),
    ...watchLabel,
  };
}

/** Name of the cluster secret of the cluster `name`. */
export function clusterSecretName(name: string): string {
  return `cluster-${name}`;
}

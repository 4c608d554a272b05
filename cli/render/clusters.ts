import { addonRoles } from "../../functions/spoke/addon-roles.ts";
import type { Spoke } from "../../functions/spoke/api.ts";
import { metadataOf } from "../../functions/spoke/parts/handover.ts";
import { usesPodIdentity } from "../../functions/spoke/pod-identity.ts";
import { type RoleIdentity, roleSubjects } from "../../functions/spoke/registry-roles.ts";
import type { Settings } from "../../functions/spoke/settings.ts";
import { surroundingsOf } from "../../functions/spoke/surroundings.ts";
import { argocdController, argocdIdentity } from "../../lib/argocd.ts";
import { bridgeData, type ClusterMetadata, exampleMetadata } from "../../lib/bridge.ts";
import { databasesAddon, noDatabases } from "../../lib/iam/databases.ts";
import {
  clusterApiController,
  fleetNames,
  hubIdentities,
  hubName,
  metricsAgent,
  namespaces,
  providerAccount,
} from "../../lib/names.ts";
import type { SpokeIdentity } from "../../lib/spoke.ts";

/**
 * The bridge of each cluster, from the code that emits it, with facts as AWS would report them: the contract's examples (a version
 * that YAML takes for a number, no mirror, no egress address) and an account ID that YAML takes for a number. What breaks with such
 * values breaks on a real cluster too.
 */

const account = "012345678901";
/** Region of the hub where the caller names none. */
export const { region } = exampleMetadata.aws;
const arn = (service: string, resource: string, where = region) => `arn:aws:${service}:${where}:${account}:${resource}`;

/** URL of a repository beside which the others are; the compiler finds a folder by the last part. */
export const repositoryUrl = (name: string): string => `ssh://git@git.example.com/${name}.git`;

/** Name of the repository, and so of its folder, that a URL is of. */
export function repositoryName(url: string): string {
  return (url.split("/").at(-1) ?? "").replace(/\.git$/, "");
}

const anybody = { "anybody.sshpub": "" };
/** Signers of both repositories: nobody verifies a commit here. */
export const sampleSigners: ClusterMetadata["signers"] = { gitopsSystem: anybody, gitopsWorkloads: anybody };

/** @param addons those that can be enabled beside what every hub has */
export function hubMetadata(fleet: string, environment: string, addons: readonly string[] = []): ClusterMetadata {
  const names = fleetNames(fleet);
  const issuer = `oidc.eks.${region}.amazonaws.com/id/HUB`;
  return {
    ...exampleMetadata,
    name: hubName,
    role: "hub",
    environment,
    tenant: "platform",
    fleet,
    aws: {
      ...exampleMetadata.aws,
      accountId: account,
      vpcCidr: "10.0.0.0/16",
      clusterName: names.hubCluster,
      clusterArn: arn("eks", `cluster/${names.hubCluster}`),
      nodeRole: names.nodeRole,
    },
    oidc: { provider: issuer, providerArn: arn("iam", `oidc-provider/${issuer}`, "") },
    identities: {
      ...Object.fromEntries(
        hubIdentities.map((name) => [
          name.replaceAll("-", "_"),
          {
            roleArn: arn("iam", `role/${names.identityRole(name)}`, ""),
            namespace: name.startsWith("crossplane-") ? namespaces.crossplane : namespaces.flux,
            serviceAccount: name.startsWith("crossplane-") ? providerAccount(name.slice("crossplane-".length)) : name,
          },
        ]),
      ),
      prometheus: { roleArn: arn("iam", `role/${names.metricsRole}`, ""), ...metricsAgent },
      cluster_api: { roleArn: arn("iam", `role/${names.clusterApiRole}`, ""), ...clusterApiController },
      [argocdIdentity]: {
        roleArn: arn("iam", `role/${names.argocdRole}`, ""),
        namespace: "argocd",
        serviceAccount: argocdController,
      },
    },
    repositories: {
      gitopsSystem: { url: repositoryUrl("gitops-system"), revision: "main" },
      gitopsWorkloads: { url: repositoryUrl("gitops-workloads"), revision: "main" },
    },
    // So that the components for them are looked at too.
    chartsCredential: true,
    signers: sampleSigners,
    sealingScope: environment,
    secretsKeyArn: arn("kms", "key/1234abcd-12ab-34cd-56ef-1234567890ab"),
    permissionsBoundaryArn: arn("iam", `policy/${names.boundaryPolicy}`, ""),
    tenantBoundaryArn: arn("iam", `policy/${names.tenantBoundaryPolicy}`, ""),
    addonBoundaryArn: arn("iam", `policy/${names.addonBoundaryPolicy}`, ""),
    spokePlaces: { [account]: { regions: [region] } },
    spokePrefix: names.spokePrefix,
    addons: [...new Set(["crossplane", "external_secrets", "flux", ...addons])].sort(),
  };
}

/** The sample facts of a hub in another region. */
export const inRegion = (data: Readonly<Record<string, string>>, other: string): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.replaceAll(region, other)]));

/** What the composition function writes into the cluster secret of `spoke`. */
export function spokeData(spoke: Spoke, hub: ClusterMetadata, settings: Settings): Record<string, string> {
  const surroundings = surroundingsOf(spoke, hub);
  const { names } = surroundings;
  const issuer = `https://oidc.eks.${spoke.spec.region}.amazonaws.com/id/${spoke.metadata.name.toUpperCase()}`;
  const identities = Object.keys(roleSubjects({ hub })) as RoleIdentity[];
  const role = (name: string) => arn("iam", `role${hub.aws.rolePath}${name}`, "");
  return bridgeData(
    metadataOf(
      { spoke, hub, settings, ...surroundings },
      {
        vpcId: "vpc-0b1c2d3e4f5061728",
        vpcCidr: spoke.spec.network.cidr ?? "10.64.0.0/18",
        publicCidrs: ["10.64.48.0/22", "10.64.52.0/22"],
        arn: arn("eks", `cluster/${names.cluster}`, spoke.spec.region),
        issuer,
        oidcProviderArn: arn("iam", `oidc-provider/${issuer.replace("https://", "")}`, ""),
        identitySource: usesPodIdentity({ settings, spoke }) ? "PodIdentity" : "IRSA",
        volumeKey: spoke.spec.volumeKey ?? "",
        kubernetesVersion: spoke.spec.kubernetesVersion,
        databases: spoke.spec.addons.includes(databasesAddon)
          ? {
              prefix: names.databases,
              securityGroupId: "sg-0c1d2e3f405162738",
              subnetIds: ["subnet-0d1e2f30415263748", "subnet-0e1f203142536475a"],
            }
          : noDatabases,
        roleArns: Object.fromEntries([
          ...identities.map((identity) => [identity, role(names.identityRole(identity))]),
          ...addonRoles({ spoke, hub, settings }).map(({ addon }) => [addon, role(names.addonRole(addon))]),
        ]) as Record<SpokeIdentity, string>,
      },
    ),
  );
}

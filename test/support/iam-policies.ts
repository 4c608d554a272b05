/** Every identity policy and boundary of the project, for a fleet in a partition and region, with the room that IAM has for it. */
import { addonBoundary } from "../../lib/iam/addons.ts";
import { adoptPolicy } from "../../lib/iam/adopt.ts";
import { adoptHubPolicy } from "../../lib/iam/adopt-hub.ts";
import { autoModeBoundary, autoModeTagPolicy } from "../../lib/iam/auto-mode.ts";
import { awsProofPolicy } from "../../lib/iam/aws-proof.ts";
import { spokeBoundary } from "../../lib/iam/boundary.ts";
import { clusterApiPolicy } from "../../lib/iam/cluster-api.ts";
import { clusterApiBoundary } from "../../lib/iam/cluster-api-boundary.ts";
import { type CrossplaneScope, crossplanePolicies, providerPolicies } from "../../lib/iam/crossplane.ts";
import { databasePrefix } from "../../lib/iam/databases.ts";
import { deployerPolicies } from "../../lib/iam/deployer.ts";
import { doctorPolicy } from "../../lib/iam/doctor.ts";
import { nodeReleasesPolicy } from "../../lib/iam/node-releases.ts";
import { arns, dnsSuffix, type PolicyDocument, policy, policyLimits, type Scope } from "../../lib/iam/policy.ts";
import { sweepPolicy } from "../../lib/iam/sweep.ts";
import { spokeCrossplanePolicy, tenantBoundary } from "../../lib/iam/tenants.ts";
import { argocdPolicy, argocdSecretsPolicy, secretReaderPolicy, spokeViewerPolicy } from "../../lib/iam/workloads.ts";
import { crossplaneParts, crossplaneServices, derivedNames, fleetNames, nameLimits, tooLong } from "../../lib/names.ts";
import { addonPermissions } from "./addon-catalogue.ts";

/** All that the hub's Crossplane may do in another account, as one document: what its providers may in the hub's, together. */
export const crossplaneRights = (scope: CrossplaneScope): PolicyDocument =>
  policy(...Object.values(crossplanePolicies(scope)).flatMap(({ Statement }) => Statement));

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
  /** Characters that IAM has for it. */
  readonly limit: number;
}

/** The partitions, each with the longest name of a region in it. */
export const partitions: readonly Scope[] = [
  { partition: "aws", accountId: "000000000000", region: "ap-southeast-1" },
  { partition: "aws-cn", accountId: "000000000000", region: "cn-northwest-1" },
  { partition: "aws-us-gov", accountId: "000000000000", region: "us-gov-west-1" },
];

/** Another region of the partition. */
function secondRegion({ partition }: Scope): string {
  if (partition === "aws-cn") return "cn-north-1";
  return partition === "aws-us-gov" ? "us-gov-east-1" : "ap-southeast-2";
}

/** The longest name of a fleet: one more character, and a name that is derived from it would be too long. */
export const longestFleet = Array.from({ length: 64 }, (_, length) => "f".repeat(length + 1)).findLast(
  (fleet) => tooLong(derivedNames(fleet, [])).length === 0,
) as string;

export function allPolicies(scope: Scope, fleet: string): readonly NamedPolicy[] {
  const names = fleetNames(fleet);
  const named = arns(scope);
  const suffix = dnsSuffix(scope.partition);
  const tenantBoundaryArn = named.policy(names.tenantBoundaryPolicy);
  const secretsKeyArn = named.kmsKey("00000000-0000-0000-0000-000000000000");
  const deployer = { ...scope, fleet, dnsSuffix: suffix, grafana: "AWS_SSO", secretsKeyArn } as const;
  const permissionsBoundary = named.policy("b".repeat(nameLimits.iamPolicy));
  const maker = {
    ...{ ...scope, fleet, dnsSuffix: suffix, spokePrefix: names.spokePrefix },
    boundaryArn: named.policy(names.boundaryPolicy),
  };
  const onHub = providerPolicies({
    ...maker,
    hubOidcProviderArn: named.oidcProvider(`oidc.eks.${scope.region}.${suffix}/id/${"A".repeat(32)}`),
  });
  const elsewhere = crossplanePolicies(maker);
  const managed = {
    ...Object.fromEntries(
      crossplaneParts.map((part) => [`Crossplane of the hub in another account, ${part}`, elsewhere[part]]),
    ),
    ...deployerPolicies(deployer),
    ...Object.fromEntries(
      Object.entries(deployerPolicies({ ...deployer, permissionsBoundary })).map(([name, document]) => [
        `${name} with a boundary`,
        document,
      ]),
    ),
    "fleet boundary": spokeBoundary({ ...scope, fleet, tenantBoundaryArn }),
    "fleet boundary in another account": spokeBoundary({
      ...{ ...scope, fleet, tenantBoundaryArn },
      secretsOf: { ...scope, region: secondRegion(scope), keyArn: secretsKeyArn },
    }),
    "tenant boundary": tenantBoundary(scope),
    "EKS Auto Mode boundary": autoModeBoundary({ ...scope, fleet, spokePrefix: names.spokePrefix }),
    "Cluster API boundary": clusterApiBoundary({ ...scope, fleet }),
    // What the add-ons in repos/ need; a stack may permit as much as fits.
    "add-on boundary": addonBoundary({ ...scope, fleet }, addonPermissions(scope.partition, scope.rolePath)),
    "fleet adopt": adoptPolicy(),
    "fleet adopt-hub": adoptHubPolicy(),
    "fleet doctor": doctorPolicy(),
    "fleet sweep": sweepPolicy(),
    "proof on AWS": awsProofPolicy(),
    "fleet node-releases": nodeReleasesPolicy("aws"),
  };
  const inlineRole = {
    ...Object.fromEntries(
      crossplaneServices.map((service) => [`Crossplane's provider for ${service} on the hub`, onHub[service]]),
    ),
    "Crossplane of the hub in another account": elsewhere.clusters,
    "Crossplane on a spoke": spokeCrossplanePolicy({
      ...scope,
      cluster: names.spokePrefix.padEnd(nameLimits.eksCluster, "s"),
      tenantBoundaryArn,
      buckets: true,
      databases: { prefix: databasePrefix(names.spokePrefix, names.spokePrefix), removal: false },
    }),
    "control plane with EKS Auto Mode and a company's tags": autoModeTagPolicy(),
    "External Secrets": secretReaderPolicy({
      secretArns: [named.secret(names.sealingKeySecret("scope", "*")), named.secret(names.spokeGitSecret("spoke"))],
      keyArn: secretsKeyArn,
      region: scope.region,
      dnsSuffix: suffix,
    }),
    "Flux on the hub": spokeViewerPolicy(scope, names.spokePrefix),
    "Cluster API on the hub": clusterApiPolicy({
      ...scope,
      fleet,
      dnsSuffix: suffix,
      spokePrefix: names.spokePrefix,
      boundaryArn: named.policy(names.clusterApiBoundaryPolicy),
      keyArn: named.kmsKey("00000000-0000-0000-0000-000000000000"),
    }),
    "Argo CD on the hub": argocdPolicy(named.role(names.argocdSpokesRole)),
    "spokes for an Argo CD elsewhere": argocdSecretsPolicy(named.secret(names.argocdSecret("*"))),
  };
  return Object.entries({ managed, inlineRole }).flatMap(([kind, documents]) =>
    Object.entries(documents).map(([name, document]) => ({
      name,
      document,
      limit: policyLimits[kind as keyof typeof policyLimits],
    })),
  );
}

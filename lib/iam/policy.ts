/** IAM policy documents as data. Grammar: IAM User Guide, "Grammar of the IAM JSON policy language". */

export type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export interface Statement {
  readonly Sid?: string;
  readonly Effect: "Allow" | "Deny";
  readonly Principal?: Readonly<Partial<Record<"Service" | "Federated" | "AWS", string | readonly string[]>>>;
  readonly Action: readonly string[];
  readonly NotAction?: never;
  /** Absent in trust policies only. */
  readonly Resource?: readonly string[];
  readonly Condition?: Condition;
}

/** Denies everything but some actions. An Allow of that kind would give more with each service that AWS adds. */
export interface DenyAllBut extends Omit<Statement, "Action" | "NotAction"> {
  readonly Effect: "Deny";
  readonly Action?: never;
  readonly NotAction: readonly string[];
}

export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly (Statement | DenyAllBut)[];
}

export function policy(...statements: PolicyDocument["Statement"]): PolicyDocument {
  return { Version: "2012-10-17", Statement: statements };
}

/** Where a policy's ARNs live. */
export interface Scope {
  readonly partition: string;
  readonly accountId: string;
  readonly region: string;
  /** Further regions of the account; the ARNs of {@link arns} then name no region, so a policy needs {@link onlyInRegions}. */
  readonly otherRegions?: readonly string[];
  /** Path of the fleet's roles in IAM, `rolePath` of the stack; default: {@link noPath}. */
  readonly rolePath?: string;
}

/** IAM's path of a role that got none (IAM User Guide, "IAM identifiers"). */
export const noPath = "/";

type Regions = Pick<Scope, "region" | "otherRegions">;

/** What follows from each region of a scope, as the value of a condition: a text where there is one region. */
export function perRegion(
  { region, otherRegions = [] }: Regions,
  form: (region: string) => string = (each) => each,
): string | readonly string[] {
  return otherRegions.length === 0 ? form(region) : [region, ...otherRegions].map(form);
}

/**
 * A document as IAM stores it, in the fewest characters: a list with one member is that member, whose brackets may be left out (IAM User
 * Guide, "Grammar of the IAM JSON policy language").
 */
export const policyText = (document: PolicyDocument): string =>
  JSON.stringify(document, (key, value: unknown) =>
    Array.isArray(value) && value.length === 1 && key !== "Statement" ? value[0] : value,
  );

/** Largest policy documents in characters without white space (IAM quotas): all inline policies of a role together, one managed policy. */
export const policyLimits = { inlineRole: 10_240, managed: 6_144 } as const;

/** The partition of a region (AWS General Reference, "Regions and partitions"): the commercial one, China's or GovCloud's. */
export function partitionOf(region: string): "aws" | "aws-cn" | "aws-us-gov" {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}

/** DNS suffix of a partition's services, as `aws:getPartition` reports it. */
export function dnsSuffix(partition: string): string {
  return partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
}

/**
 * `aws:RequestedRegion` of calls to global services such as IAM and Route 53, by partition (IAM User Guide, "AWS global condition context
 * keys"; China has Route 53 in Ningxia, everything else in Beijing).
 */
const globalRegions: Readonly<Record<string, readonly string[]>> = {
  aws: ["us-east-1"],
  "aws-cn": ["cn-north-1", "cn-northwest-1"],
  "aws-us-gov": ["us-gov-west-1"],
};

const nothingOutside = (regions: readonly string[], Action: readonly string[]): Statement => ({
  Sid: "OnlyInTheFleetsRegion",
  Effect: "Deny",
  Action,
  Resource: ["*"],
  Condition: { StringNotEquals: { "aws:RequestedRegion": [...new Set(regions)] } },
});

/** Nothing in other regions than those of the scope and the one in which the partition has its global services, IAM among them. */
export const onlyInRegions = ({ partition, region, otherRegions = [] }: Scope): Statement =>
  nothingOutside([region, ...otherRegions, ...(globalRegions[partition] ?? [])], ["*"]);

/**
 * {@link onlyInRegions} where ARNs name no region. Of `services` alone, none of which may be global, also nothing where the partition has
 * its global services.
 */
export function whereArnsDont(scope: Scope, services?: readonly string[]): readonly Statement[] {
  const { region, otherRegions = [] } = scope;
  if (otherRegions.length === 0) return [];
  if (services === undefined) return [onlyInRegions(scope)];
  return [
    nothingOutside(
      [region, ...otherRegions],
      services.map((service) => `${service}:*`),
    ),
  ];
}

/**
 * {@link onlyInRegions} for a policy that allows no calls of global services but IAM's: these alone are made where the partition has its
 * global services.
 */
export const onlyIamElsewhere = ({ region, otherRegions = [] }: Regions): DenyAllBut => ({
  Effect: "Deny",
  NotAction: ["iam:*"],
  Resource: ["*"],
  Condition: { StringNotEquals: { "aws:RequestedRegion": [region, ...otherRegions] } },
});

/** The IAM ARN of the same name in another account. */
export function inAccount(arn: string, accountId: string): string {
  return arn.replace(/^(arn:[^:]*:iam::)\d{12}:/, `$1${accountId}:`);
}

/** Policy variable: the value of the tag `key` of the role or session that calls. A statement whose variable has no value counts for nothing. */
export const principalTag = (key: string): string => `\${aws:PrincipalTag/${key}}`;

/** Whether a scope has more regions than one. */
export const severalRegions = ({ otherRegions = [] }: Pick<Scope, "otherRegions">): boolean => otherRegions.length > 0;

/** For ARNs that leave out the partition: an account is in one. */
export const inAnyPartition = <S extends Scope>(scope: S): S => ({ ...scope, partition: "*" });

/**
 * For ARNs that leave out the account too: of services whose calls act in the caller's account alone, because nothing there has a policy that
 * lets in others (IAM User Guide, "AWS services that work with IAM", column "Resource-based policies": EKS, Elastic Load Balancing and RDS
 * have none, IAM only trust policies).
 */
export const inCallersAccount = <S extends Scope>(scope: S): S => ({ ...inAnyPartition(scope), accountId: "*" });

/** ARNs of names or name patterns, in one account and region. */
export function arns({ partition, accountId, region: first, otherRegions = [], rolePath = noPath }: Scope) {
  const region = otherRegions.length === 0 ? first : "*";
  const regional = (service: string, resource: string) =>
    `arn:${partition}:${service}:${region}:${accountId}:${resource}`;
  return {
    /** A role of the fleet. */
    role: (name: string) => `arn:${partition}:iam::${accountId}:role${rolePath}${name}`,
    /** Roles that AWS makes for a service, by the service's name; their path is AWS's (IAM User Guide, "Create a service-linked role"). */
    serviceLinkedRole: (service: string) => `arn:${partition}:iam::${accountId}:role/aws-service-role/${service}`,
    instanceProfile: (name: string) => `arn:${partition}:iam::${accountId}:instance-profile/${name}`,
    policy: (name: string) => `arn:${partition}:iam::${accountId}:policy/${name}`,
    cluster: (name: string) => regional("eks", `cluster/${name}`),
    /** The EKS cluster `name` and what the fleet makes for it: add-ons, access entries, node groups. */
    clusterAndParts: (name: string) => [
      regional("eks", `cluster/${name}`),
      ...["access-entry", "addon", "nodegroup"].map((kind) => regional("eks", `${kind}/${name}/*`)),
    ],
    /** What EKS Pod Identity associates with service accounts of the EKS cluster `name`. */
    podIdentityAssociations: (name: string) => regional("eks", `podidentityassociation/${name}/*`),
    secret: (name: string) => regional("secretsmanager", `secret:${name}`),
    /** Resources of EC2, by kind: `vpc`, `subnet` … Their ids say nothing, so conditions tell them apart. */
    ec2: (...kinds: readonly string[]) => kinds.map((kind) => `arn:${partition}:ec2:*:*:${kind}/*`),
    loadBalancing: (resource: string) => regional("elasticloadbalancing", resource),
    logGroup: (name: string) => regional("logs", `log-group:${name}`),
    table: (name: string) => regional("dynamodb", `table/${name}`),
    queue: (name: string) => regional("sqs", name),
    /** A bucket, or with a wildcard at its end what is in it too. It says neither region nor account. */
    bucket: (name: string) => `arn:${partition}:s3:::${name}`,
    /** What RDS has of a kind: `db:<name>`, `subgrp:<name>`, `snapshot:<name>`. */
    database: (kindAndName: string) => regional("rds", kindAndName),
    oidcProvider: (issuer: string) => `arn:${partition}:iam::${accountId}:oidc-provider/${issuer}`,
    /**
     * IAM OIDC providers of EKS clusters, whose issuers are called oidc.eks.… or, dual-stack, oidc-eks.… No wildcard stands in the
     * host: it would match a slash too, and so somebody else's host.
     */
    eksOidcProviders: [first, ...otherRegions]
      .flatMap((each) => [`oidc.eks.${each}.${dnsSuffix(partition)}`, `oidc-eks.${each}.api.aws`])
      .map((host) => `arn:${partition}:iam::${accountId}:oidc-provider/${host}/id/*`),
    /** The slash before `workspaces` is AWS's (Service Authorization Reference, "Amazon Managed Grafana"). */
    grafanaWorkspace: (id: string) => regional("grafana", `/workspaces/${id}`),
    metricsWorkspace: (id: string) => regional("aps", `workspace/${id}`),
    /** Rules files, which are called rule groups namespaces, of the workspace `id`. */
    metricsRules: (id: string) => regional("aps", `rulegroupsnamespace/${id}/*`),
    kmsKey: (id: string) => regional("kms", `key/${id}`),
    kmsAlias: (name: string) => regional("kms", name),
    /** An EKS access policy, e.g. `AmazonEKSClusterAdminPolicy`. */
    accessPolicy: (name: string) => `arn:${partition}:eks::aws:cluster-access-policy/${name}`,
    managedPolicy: (name: string) => `arn:${partition}:iam::aws:policy/${name}`,
  };
}

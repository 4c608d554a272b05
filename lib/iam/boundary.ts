import { clusterTag, fleetTag, identityTag, principalTags } from "../labels.ts";
import { fleetNames, hubName } from "../names.ts";
import { boundaryOfDatabases, databaseKey, databaseService } from "./databases.ts";
import { ec2Actions } from "./ec2.ts";
import { flowLogActions, flowLogGroup } from "./flow-logs.ts";
import { nodeStatements, ofEks, onNodesStatement, ownCluster, sharedNetworkStatement } from "./nodes.ts";
import {
  arns,
  type Condition,
  dnsSuffix,
  inAnyPartition,
  inCallersAccount,
  onlyIamElsewhere,
  type PolicyDocument,
  perRegion,
  policy,
  type Scope,
  type Statement,
  severalRegions,
} from "./policy.ts";
import { bucketPrefix, tenantPrefix } from "./tenants.ts";
import { ownKeysInBoundary, type VolumeKeys, volumeKeyStatement } from "./volume-key.ts";

/*
 * IAM has room for 6,144 characters. So Sids stand only where the policy pack excepts a wildcard by them, and are short; ARNs leave out the
 * partition, which an account has only one of; a wildcard stands for the calls that a test says, where AWS has no other that it matches.
 */

export interface BoundaryScope extends Scope, VolumeKeys {
  readonly fleet: string;
  /** The narrower boundary of the roles that a spoke's own Crossplane makes for applications. */
  readonly tenantBoundaryArn: string;
  /** Where the fleet's secrets are, in an account that is not the hub's. */
  readonly secretsOf?: SecretsElsewhere;
}

/** The account and region of the hub, and the key of the fleet's secrets there. */
export interface SecretsElsewhere extends Pick<Scope, "accountId" | "region"> {
  readonly keyArn: string;
}

/** Which role of a spoke calls: the composition function tags each with its key. */
const identityKey = `aws:PrincipalTag/${identityTag}`;

/** The regions of an account with spokes, and the hub's, where the fleet's secrets are and maybe its images. */
const regionsWithHub = ({
  region,
  otherRegions = [],
  secretsOf,
}: Pick<BoundaryScope, "region" | "otherRegions" | "secretsOf">): Pick<Scope, "region" | "otherRegions"> => ({
  region,
  otherRegions: [...new Set([...otherRegions, ...(secretsOf ? [secretsOf.region] : [])])].filter(
    (each) => each !== region,
  ),
});

/**
 * What the agent on a node does for Session Manager (Systems Manager User Guide, "Add Session Manager permissions to an existing IAM role"): of
 * AmazonSSMManagedInstanceCore the sessions alone, not the parameters of the account. The condition that it is a node has no room here: only
 * the roles of nodes get the policy.
 */
const sessionActions = ["ssm:UpdateInstanceI*", "ssmmessages:*"];

/**
 * What nodes and controllers look at, and pull images from, and shells on nodes.
 * @param also what else the statement of the cluster itself allows, because a statement more takes room: of another service, no action of
 * which matches a resource of the first
 */
export function readStatements(
  scope: Omit<BoundaryScope, "tenantBoundaryArn">,
  also: Pick<Required<Statement>, "Action" | "Resource"> = { Action: [], Resource: [] },
): Statement[] {
  const { cluster } = arns(inCallersAccount(scope));
  const inRegion = { StringEquals: { "aws:RequestedRegion": perRegion(regionsWithHub(scope)) } };
  return [
    {
      Sid: "Read",
      Effect: "Allow",
      Action: [
        "ec2:Describe*",
        "ecr:BatchC*",
        "ecr:BatchGetImage",
        "ecr:BatchImport*",
        "ecr:GetAuth*",
        "ecr:GetDown*",
        "elasticloadbalancing:Describe*",
        "kms:DescribeKey",
        "rds:DescribeDBInstances",
        ...sessionActions,
      ],
      Resource: ["*"],
      // Where there are several, a statement of its own denies all others.
      ...(severalRegions(scope) ? {} : { Condition: inRegion }),
    },
    {
      Effect: "Allow",
      Action: ["eks:DescribeCluster", ...also.Action],
      Resource: [cluster(ownCluster), ...also.Resource],
    },
  ];
}

/** What the spoke's own Crossplane does for applications (spokeCrossplanePolicy), in as few characters as a boundary has for it. */
function crossplaneStatements(scope: BoundaryScope): Statement[] {
  const name = arns(inAnyPartition(scope));
  const { role } = arns(inCallersAccount(scope));
  const owned = `${tenantPrefix(ownCluster)}*`;
  const crossplane = { [identityKey]: "crossplane" };
  return [
    {
      // One statement for all that it makes: each condition on its own would take more room than IAM has.
      Sid: "Orders",
      Effect: "Allow",
      Action: [
        "dynamodb:*Table",
        "dynamodb:*agResource",
        "dynamodb:Describe*",
        "dynamodb:ListTags*",
        "dynamodb:UpdateConti*",
        "dynamodb:UpdateTi*",
        "iam:*agRole",
        "iam:DeleteRole",
        "iam:Get*",
        "iam:List*",
        "iam:Update*",
        "s3:*Bucket",
        "s3:*agResource",
        "s3:Get*Configuration",
        "s3:GetBucket*",
        "s3:ListTags*",
        "s3:PutBucketTagging",
        "s3:PutBucketVersioning",
        "sqs:*Queue*",
      ],
      Resource: [name.table(owned), name.queue(owned), role(owned), name.bucket(`${bucketPrefix(ownCluster)}*`)],
      Condition: { StringEquals: crossplane },
    },
    {
      Sid: "Rights",
      Effect: "Allow",
      Action: ["iam:CreateRole", "iam:*RolePolicy"],
      Resource: [role(owned)],
      Condition: { StringEquals: { ...crossplane, "iam:PermissionsBoundary": scope.tenantBoundaryArn } },
    },
    boundaryOfDatabases(scope, fleetNames(scope.fleet).spokePrefix),
  ];
}

/**
 * What the cloud controller of a control plane does for Services of type LoadBalancer. Its load balancers and security groups carry
 * kubernetes.io/cluster/<name>: a key for every cluster, which no condition can name. All but the hub's and EKS's own groups of other clusters
 * are in reach (docs/guides/aws-account.md).
 * @param also further services whose service-linked role the control plane makes; default: none
 */
export function loadBalancerStatements(scope: Scope, also: readonly string[] = []): Statement[] {
  const name = arns(inCallersAccount(scope));
  return [
    {
      Sid: "Balancers",
      Effect: "Allow",
      Action: ["elasticloadbalancing:*", ...ec2Actions(["*SecurityGroupIngress", "*eSecurityGroup", "CreateTags"])],
      Resource: [...name.ec2("security-group"), name.loadBalancing("*")],
      Condition: { StringEquals: { [identityKey]: "cluster" }, StringEqualsIfExists: { [ofEks]: ownCluster } },
    },
    {
      Sid: "Linked",
      Effect: "Allow",
      Action: ["iam:CreateServiceLinkedRole"],
      Resource: ["*"],
      Condition: {
        StringEquals: { "iam:AWSServiceName": ["elasticloadbalancing.amazonaws.com", databaseService, ...also] },
      },
    },
  ];
}

/**
 * The fleet's sealing keys and spokes' Git credentials, for External Secrets only; which of them, each role's own policy says. They are in the
 * hub's account and region. AWS's permissions reference does not say of a key of another account that its tags count for
 * `aws:ResourceTag`, so that one is named.
 */
function secretStatements({ otherRegions: _, secretsOf, ...scope }: BoundaryScope): Statement[] {
  const { secret, kmsKey } = arns(inAnyPartition({ ...scope, ...secretsOf }));
  const { region } = { ...scope, ...secretsOf };
  const names = fleetNames(scope.fleet);
  const reader = { [identityKey]: "external-secrets" };
  return [
    {
      Effect: "Allow",
      Action: ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
      Resource: [secret(names.sealingKeySecret("*", "*")), secret(names.spokeGitSecret("*"))],
      Condition: { StringEquals: reader },
    },
    {
      Sid: "Decrypt",
      Effect: "Allow",
      Action: ["kms:Decrypt"],
      Resource: [secretsOf?.keyArn ?? kmsKey("*")],
      Condition: {
        StringEquals: {
          ...reader,
          ...(secretsOf ? {} : { [`aws:ResourceTag/${fleetTag}`]: scope.fleet }),
          "kms:ViaService": `secretsmanager.${region}.${dnsSuffix(scope.partition)}`,
        },
      },
    },
  ];
}

/**
 * What every role of a spoke is denied: calls without a cluster of the fleet, and network calls on what the program or Kubernetes tags as the
 * hub's.
 */
export function denyStatements({ fleet }: Pick<BoundaryScope, "fleet">): Statement[] {
  const { hubCluster, spokePrefix } = fleetNames(fleet);
  // Without Sids: what is denied needs no exception in the policy pack, and a boundary no room for them.
  const never = (Action: readonly string[], Condition: Condition): Statement => ({
    Effect: "Deny",
    Action,
    Resource: ["*"],
    Condition,
  });
  const network = ["ec2:*", "elasticloadbalancing:*"];
  return [
    never(["*"], {
      StringNotLike: { [`aws:PrincipalTag/${principalTags.cluster}`]: `${spokePrefix}*` },
    }),
    never(network, { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } }),
    never(network, {
      Null: { [`aws:ResourceTag/kubernetes.io/cluster/${hubCluster}`]: "false" },
    }),
  ];
}

/** Denies calls on the groups that EKS made for other clusters, in boundaries whose other statements allow calls on groups without our tags. */
export const notOfOtherClusters: Statement = {
  Effect: "Deny",
  Action: ["ec2:*"],
  Resource: ["*"],
  Condition: { Null: { [ofEks]: "false" }, StringNotEquals: { [ofEks]: ownCluster } },
};

/**
 * The permissions boundary of every role that Crossplane on the hub makes: the most that a control plane, a node or a controller of a
 * spoke can ever do, whatever policies, trust and tags the role was given. Crossplane chooses tags as it chooses names: they keep the
 * roles of one spoke away from another's things, and all of them from the hub's. From Crossplane itself, which makes every spoke, nothing
 * of a spoke is safe.
 */
export function spokeBoundary(scope: BoundaryScope): PolicyDocument {
  return policy(
    ...readStatements(scope, {
      // The EKS Pod Identity Agent asks as its node, with the token of a pod there.
      Action: ["eks-auth:AssumeRoleForPodIdentity", ...flowLogActions],
      Resource: [`arn:*:logs:*:*:log-group:${flowLogGroup(ownCluster)}*`],
    }),
    ...nodeStatements(scope),
    sharedNetworkStatement(scope),
    onNodesStatement("Nodes", ["*tachVolume"]),
    volumeKeyStatement(scope, databaseKey),
    ...ownKeysInBoundary(scope),
    ...loadBalancerStatements(scope),
    ...crossplaneStatements(scope),
    ...secretStatements(scope),
    ...denyStatements(scope),
    ...(severalRegions(scope) ? [onlyIamElsewhere(regionsWithHub(scope))] : []),
  );
}

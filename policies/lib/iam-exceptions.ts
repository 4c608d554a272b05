/** Where policies of the fleet hold wildcards, and why they must. Anything else needs an entry here, or in the policy's configuration. */
import { glob } from "./values.ts";

/** Wildcards that one statement may hold. */
export interface Exception {
  /** Pattern of the policy's name. */
  readonly policy: string;
  /** The statement's Sid; a `*` at its end stands for a number. */
  readonly statement: string;
  /** Actions with a wildcard that it may allow. */
  readonly actions?: readonly string[];
  /** Whether it may name all resources. */
  readonly allResources?: boolean;
  /** Condition keys that must narrow it. */
  readonly conditions?: readonly string[];
  readonly reason: string;
}

const region = ["aws:RequestedRegion"];
/** Of lib/iam/clusters.ts: the calls that make, read, change and remove one kind of thing. */
const clusterWildcards = [
  "*AccessEntry",
  "*Addon",
  "*Nodegroup*",
  "*agResource",
  "*ssociate*AccessPolic*",
  "*teCluster*",
  "ListTags*",
  "*PodIdentityAssociation",
].map((call) => `eks:${call}`);

/** Of its providers on the hub, and of its role in other accounts. */
const crossplane = "*-hub-crossplane*";

const boundary = "a boundary gives no rights: it is the most that the policies of a role can give";
const reading = ["ec2:Describe*", "elasticloadbalancing:Describe*"];
/** What an agent of Session Manager calls: ssmmessages has no other calls. */
const sessions = ["ssm:UpdateInstanceI*", "ssmmessages:*"];
/** Each stands for one call: IAM has too little room for their names. */
const pulling = ["ecr:BatchC*", "ecr:BatchImport*", "ecr:GetAuth*", "ecr:GetDown*"];
const pairs = "two or three calls on one thing, of the fleet's only; IAM has too little room for their names";
const byTag = "IDs are not known beforehand; the fleet's tag stands for them";
const ofFleet = "aws:ResourceTag/fleet.internal/fleet";
const withTag = "aws:RequestTag/fleet.internal/fleet";
const cluster = "aws:ResourceTag/eks-cluster-name";
const identity = ["aws:PrincipalTag/fleet.internal/identity"];

/** Statements about networks, which both makers of clusters have, with what one of them changes besides. */
const networks = (policy: string, also: readonly string[] = []): Exception[] => [
  {
    policy,
    statement: "LookUp",
    actions: ["ec2:Describe*"],
    allResources: true,
    conditions: region,
    reason: "the actions know no resource to name",
  },
  ...["MakeNetworks", "MakeVpcEndpoints", "MakeVpcs"].map((statement) => ({
    policy,
    statement,
    allResources: true,
    conditions: [...region, withTag],
    reason: "a network can't be named before it exists; it is made with the fleet's tag",
  })),
  {
    policy,
    statement: "TagWhatIsMade",
    allResources: true,
    conditions: ["ec2:CreateAction"],
    reason: "a network can't be named before it exists; only what makes one tags it so",
  },
  {
    policy,
    statement: "ChangeNetworks",
    actions: [
      ...["ec2:*VpcEndpoint", "ec2:*tachInternetGateway", "ec2:ReplaceRoute*"],
      ...["NatGateway", "Route", "RouteTable", "Subnet", "Tags"].map((kind) => `ec2:*te${kind}`),
      ...also,
    ],
    allResources: true,
    conditions: [...region, ofFleet],
    reason: byTag,
  },
];

export const exceptions: readonly Exception[] = [
  // lib/iam/addons.ts
  { policy: "*-addon-boundary", statement: "Permitted*", actions: reading, allResources: true, reason: boundary },
  {
    policy: "*-boundary",
    statement: "Read",
    actions: [...reading, ...pulling, ...sessions],
    allResources: true,
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Own",
    actions: ["*NetworkInterface", "*PrivateIp*", "*Volume", "*eSnapshot", "*eTags", "CreateSecu*", "ModifyNet*"].map(
      (call) => `ec2:${call}`,
    ),
    allResources: true,
    conditions: [cluster],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Devices",
    allResources: true,
    conditions: ["aws:RequestTag/eks-cluster-name"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Snapshots",
    allResources: true,
    conditions: ["aws:RequestTag/eks-cluster-name"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "New",
    allResources: true,
    conditions: ["ec2:CreateAction"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Shared",
    allResources: true,
    conditions: ["aws:ResourceTag/fleet.internal/shared-network"],
    reason: boundary,
  },
  { policy: "*-boundary", statement: "Join", actions: ["ec2:ModifyNet*"], allResources: true, reason: boundary },
  {
    policy: "*-boundary",
    statement: "VolumeKey",
    actions: ["kms:GenerateDataKey*", "kms:ReEncrypt*"],
    allResources: true,
    conditions: ["kms:ViaService", "kms:ResourceAliases"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Nodes",
    actions: ["ec2:*tachVolume"],
    allResources: true,
    conditions: ["aws:ResourceTag/eks:cluster-name"],
    reason: boundary,
  },
  // lib/iam/auto-mode.ts
  {
    policy: "*-auto-mode-boundary",
    statement: "UseWhatIsThere",
    allResources: true,
    reason: "images, subnets and security groups that instances name; what a call makes, another statement limits",
  },
  ...["MakeNodes", "MakeOthers"].map((statement) => ({
    policy: "*-auto-mode-boundary",
    statement,
    allResources: true,
    conditions: ["aws:RequestTag/eks:eks-cluster-name"],
    reason: boundary,
  })),
  {
    policy: "*-auto-mode-boundary",
    statement: "OfTheCluster",
    actions: ["ec2:*PrivateIpAddresses", "ec2:*tachNetworkInterface", "ec2:*tachVolume"],
    allResources: true,
    conditions: ["aws:ResourceTag/eks:eks-cluster-name"],
    reason: boundary,
  },
  {
    policy: "*-auto-mode-boundary",
    statement: "GroupsInVpc",
    allResources: true,
    conditions: [cluster],
    reason: boundary,
  },
  {
    policy: "*-cluster-api-boundary",
    statement: "NodeInterfaces",
    actions: ["ec2:*tachNetworkInterface", "ec2:ModifyNet*"],
    allResources: true,
    conditions: ["aws:ResourceTag/eks:cluster-name"],
    reason: boundary,
  },
  {
    policy: "*-cluster-api-boundary",
    statement: "FirstInterfaces",
    allResources: true,
    conditions: ["ec2:Vpc", "aws:ResourceTag/eks-cluster-name"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Balancers",
    actions: ["ec2:*SecurityGroupIngress", "ec2:*eSecurityGroup", "elasticloadbalancing:*"],
    allResources: true,
    conditions: identity,
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Linked",
    allResources: true,
    conditions: ["iam:AWSServiceName"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Orders",
    actions: [
      ...["dynamodb:*Table", "dynamodb:*agResource", "dynamodb:Describe*", "dynamodb:ListTags*"],
      ...["dynamodb:UpdateConti*", "dynamodb:UpdateTi*"],
      ...["iam:*agRole", "iam:Get*", "iam:List*", "iam:Update*"],
      ...["s3:*Bucket", "s3:*agResource", "s3:Get*Configuration", "s3:GetBucket*", "s3:ListTags*", "sqs:*Queue*"],
    ],
    conditions: identity,
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Rights",
    actions: ["iam:*RolePolicy"],
    conditions: [...identity, "iam:PermissionsBoundary"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Databases",
    actions: ["rds:*DBInstance", "rds:*DBSubnetGroup*", "rds:*Tags*"],
    reason: boundary,
  },
  {
    policy: "*-boundary",
    statement: "Decrypt",
    allResources: true,
    conditions: [...identity, ofFleet, "kms:ViaService"],
    reason: boundary,
  },
  {
    policy: crossplane,
    statement: "Clusters",
    actions: clusterWildcards,
    reason:
      "the calls on parts of clusters, of those under the prefix of the spokes only; IAM has too little room for their names",
  },
  ...(
    [
      [crossplane, "ControlPlaneLogs", ["logs:*agResource", "logs:*ssociateKmsKey", "logs:*teLogGroup"]],
      [crossplane, "SpokeKeyAliases", ["kms:*Alias"]],
      [crossplane, "OidcProviders", ["iam:*agOpenIDConnectProvider"]],
      [crossplane, "RoleUpkeep", ["iam:*agRole", "iam:UpdateRole*"]],
    ] as const
  ).map(([policy, statement, actions]) => ({ policy, statement, actions, reason: pairs })),
  {
    policy: crossplane,
    statement: "RulesOfClusters",
    actions: ["ec2:*SecurityGroupIngress"],
    allResources: true,
    conditions: ["aws:ResourceTag/aws:eks:cluster-name"],
    reason:
      "groups that EKS makes for clusters of spokes; their IDs are not known beforehand, EKS's tag stands for them",
  },
  {
    policy: crossplane,
    statement: "JoinGroups",
    actions: ["ec2:*VpcEndpoint"],
    allResources: true,
    reason:
      "endpoints join security groups of their own VPC only, which must have the fleet's tag, and change nothing of them",
  },
  {
    policy: crossplane,
    statement: "AttachToGateways",
    allResources: true,
    reason:
      "transit gateways of the company: those of the account need the tag of shared networks by a denial, those of other accounts are shared by AWS RAM and accept attachments",
  },
  {
    policy: crossplane,
    statement: "PrivateNames",
    allResources: true,
    reason: "EC2 has a VPC join a zone of AWS's, whose ID is not known beforehand",
  },
  ...networks(crossplane, [
    "ec2:*ssociateVpcCidrBlock",
    "ec2:*teFlowLogs",
    "ec2:*teTransitGatewayVpcAttachment",
    "ec2:RevokeSecurityGroup*",
  ]),
  {
    policy: crossplane,
    statement: "DefaultGroups",
    allResources: true,
    conditions: [...region, withTag, ofFleet],
    reason:
      "EC2 creates a VPC's default security group without a tag; groups with the fleet's or EKS's tag are excluded",
  },
  {
    policy: crossplane,
    statement: "UseLaunchTemplates",
    allResources: true,
    conditions: [...region, ofFleet],
    reason: byTag,
  },
  {
    policy: crossplane,
    statement: "TryLaunchTemplates",
    allResources: true,
    conditions: [...region, "ec2:LaunchTemplate"],
    reason: "instances can't be named before they exist; the launch template has the fleet's tag",
  },
  {
    policy: crossplane,
    statement: "MakeKeys",
    allResources: true,
    conditions: [withTag, ofFleet],
    reason: "a key can't be named before it exists; those that have the tag already are excluded",
  },
  {
    policy: crossplane,
    statement: "ChangeKeys",
    actions: ["kms:*Alias", "kms:*agResource"],
    allResources: true,
    conditions: [ofFleet],
    reason: byTag,
  },
  {
    policy: crossplane,
    statement: "ReadKeys",
    allResources: true,
    reason: "called before the tag of a new key counts; rotation harms nobody",
  },
  {
    policy: crossplane,
    statement: "ReadKeysOfClusters",
    allResources: true,
    reason: "called before the tag of a new key counts; a description harms nobody",
  },
  {
    policy: crossplane,
    statement: "GrantKeys",
    allResources: true,
    conditions: [ofFleet, "kms:GrantIsForAWSResource"],
    reason: byTag,
  },
  // lib/iam/ecr.ts
  ...["*-hub-source-controller", "*-hub-crossplane-packages"].map((policy) => ({
    policy,
    statement: "LogIn",
    allResources: true,
    reason: "a login to Amazon ECR knows no resource to name",
  })),
  // lib/iam/cluster-api.ts
  ...networks("*-hub-cluster-api"),
  {
    policy: "*-hub-cluster-api",
    statement: "Clusters",
    actions: [
      "*AccessEntry",
      "*Addon",
      "*Cluster",
      "*Nodegroup",
      "*agResource",
      "*ssociateAccessPolicy",
      "UpdateNodegroup*",
    ].map((call) => `eks:${call}`),
    reason:
      "the calls on clusters and their parts, of those under the prefix of the spokes only; another statement denies what Crossplane made",
  },
  { policy: "*-hub-cluster-api", statement: "TagOwnRoles", actions: ["iam:*agRole"], reason: pairs },
  {
    policy: "*-hub-cluster-api",
    statement: "TagGroups",
    allResources: true,
    conditions: ["aws:ResourceTag/eks:cluster-name"],
    reason:
      "groups that EKS makes for clusters of spokes; their IDs are not known beforehand, EKS's tag stands for them",
  },
  {
    policy: "*-hub-cluster-api",
    statement: "LookUpGroups",
    allResources: true,
    conditions: region,
    reason: "the action knows no resource to name",
  },
  {
    policy: "*-hub-cluster-api",
    statement: "MakeSecurityGroups",
    allResources: true,
    conditions: [...region, withTag],
    reason: "a group can't be named before it exists; it is made with the fleet's tag",
  },
  {
    policy: "*-hub-cluster-api",
    statement: "ChangeSecurityGroups",
    actions: ["ec2:RevokeSecurityGroup*gress"],
    allResources: true,
    conditions: [...region, ofFleet],
    reason: byTag,
  },
];

const isFor = ({ statement }: Exception, sid: string): boolean =>
  statement === (statement.endsWith("*") ? sid.replace(/\d+$/, "*") : sid);

/** The exceptions for a statement that has the conditions which they ask for. */
export function exceptionsFor(
  all: readonly Exception[],
  policy: string,
  statement: { readonly sid: string; readonly conditions: Readonly<Record<string, Readonly<Record<string, unknown>>>> },
): Exception[] {
  const keys = Object.values(statement.conditions).flatMap((condition) => Object.keys(condition));
  return all.filter(
    (exception) =>
      statement.sid !== "" &&
      isFor(exception, statement.sid) &&
      glob(exception.policy)(policy) &&
      (exception.conditions ?? []).every((key) => keys.includes(key)),
  );
}

/** Where policies of the fleet hold wildcards, and why they must. Anything else needs an entry here, or in the policy's configuration. */
import { glob } from "./values.ts";

/** Wildcards that one statement may hold. */
export interface Exception {
  /** Pattern of the policy's name. */
  readonly policy: string;
  /** The statement's Sid. */
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
const noResource = "the actions know no resource to name";

export const exceptions: readonly Exception[] = [
  {
    policy: "*-boundary",
    statement: "ClusterAndApplicationServices",
    actions: [
      "autoscaling",
      "cloudwatch",
      "dynamodb",
      "ec2",
      "ecr",
      "eks",
      "eks-auth",
      "elasticloadbalancing",
      "kms",
      "logs",
      "sqs",
    ].map((service) => `${service}:*`),
    allResources: true,
    conditions: region,
    reason: "a boundary gives no rights: it is the most that the policies of a role can give",
  },
  {
    policy: "*-boundary",
    statement: "ReadIamAndMakeServiceLinkedRoles",
    allResources: true,
    reason: "a boundary gives no rights, and the names of service-linked roles are AWS's own",
  },
  {
    policy: "*-tenant-boundary",
    statement: "TablesAndQueuesOfSpokes",
    actions: ["dynamodb:*", "sqs:*"],
    reason: "a boundary gives no rights; its resources are those under the prefix of the spokes",
  },
  {
    policy: "*-hub-crossplane",
    statement: "Clusters",
    actions: ["eks:*"],
    reason: "the whole life of clusters, and of those under the prefix of the spokes only",
  },
  { policy: "*-hub-crossplane", statement: "EksCatalogue", allResources: true, reason: noResource },
  { policy: "*-hub-crossplane", statement: "FindLogGroups", allResources: true, reason: noResource },
  { policy: "*-hub-crossplane", statement: "FindKeyAliases", allResources: true, reason: noResource },
  {
    policy: "*-hub-crossplane",
    statement: "DescribeNetwork",
    actions: ["ec2:Describe*"],
    allResources: true,
    conditions: region,
    reason: "EC2 lets nobody name what is described",
  },
  {
    policy: "*-hub-crossplane",
    statement: "MakeNetworks",
    actions: ["ec2:AuthorizeSecurityGroup*"],
    allResources: true,
    conditions: [...region, "aws:ResourceTag/fleet.internal/fleet"],
    reason: "a network can't be named before it exists",
  },
  {
    policy: "*-hub-crossplane",
    statement: "ChangeNetworksOfTheFleet",
    actions: ["ec2:ReplaceRoute*", "ec2:RevokeSecurityGroup*"],
    allResources: true,
    conditions: [...region, "aws:ResourceTag/fleet.internal/fleet"],
    reason: "IDs of EC2 are not known beforehand; the fleet's tag stands for them",
  },
  {
    policy: "*-hub-crossplane",
    statement: "InterfacesOfSpokeNodes",
    allResources: true,
    conditions: [...region, "aws:ResourceTag/cluster.k8s.amazonaws.com/name"],
    reason: "the CNI's interfaces carry its tag, with the name of the cluster",
  },
  {
    policy: "*-hub-crossplane",
    statement: "CreateKeys",
    allResources: true,
    conditions: ["aws:RequestTag/fleet.internal/fleet"],
    reason: "a key can't be named before it exists",
  },
  {
    policy: "*-hub-crossplane",
    statement: "TagNewKeys",
    allResources: true,
    conditions: ["aws:RequestTag/fleet.internal/fleet", "aws:ResourceTag/fleet.internal/fleet"],
    reason: "a key can't be named before it exists; those that have the tag already are excluded",
  },
  {
    policy: "*-hub-crossplane",
    statement: "SpokeKeys",
    allResources: true,
    conditions: ["aws:ResourceTag/fleet.internal/fleet"],
    reason: "IDs of keys are not known beforehand; the fleet's tag stands for them",
  },
  {
    policy: "*-hub-crossplane",
    statement: "ServiceLinkedRoles",
    allResources: true,
    conditions: ["iam:AWSServiceName"],
    reason: "the names of service-linked roles are AWS's own; the condition names the services",
  },
];

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
      exception.statement === statement.sid &&
      glob(exception.policy)(policy) &&
      (exception.conditions ?? []).every((key) => keys.includes(key)),
  );
}

import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const tags = { "fleet.internal/fleet": "acme", "fleet.internal/cluster": "hub", environment: "prod" };
const vpc = (props: Properties): Resource => ({ type: "aws:ec2/vpc:Vpc", props });
const named = (type: string, props: Properties): Resource => ({ type, props: { tags, ...props } });
const role = (name?: string) => named("aws:iam/role:Role", name === undefined ? {} : { name });

const required = examplesOf("tags-required");
const names = examplesOf("names-of-fleet");

const missing = (key: string) => `tag ${key} is missing: IAM policies and bills go by it`;
const foreign = (name: string) =>
  `name ${name} does not begin with the fleet's: IAM policies reach acme-… and acme/… only`;

export const tagExamples: readonly Example[] = [
  required("a resource with all tags passes", vpc({ tags: { ...tags, Name: "hub" } })),
  required("tags of the provider count", {
    ...vpc({ tags: { "fleet.internal/cluster": "hub" } }),
    provider: { defaultTags: JSON.stringify({ tags }) },
  }),
  required("types without tags pass", { type: "aws:ec2/route:Route", props: {} }),
  required("no tags at all are stopped", vpc({}), [
    missing("fleet.internal/fleet"),
    missing("fleet.internal/cluster"),
    missing("environment"),
  ]),
  ...[
    ...["ec2/eip:Eip", "ec2/flowLog:FlowLog", "ec2/instance:Instance", "ec2/internetGateway:InternetGateway"],
    ...["ec2/launchTemplate:LaunchTemplate", "ec2/natGateway:NatGateway", "ec2/routeTable:RouteTable"],
    ...["ec2/securityGroup:SecurityGroup", "ec2/subnet:Subnet", "ec2/vpcEndpoint:VpcEndpoint"],
    ...["cloudwatch/logGroup:LogGroup", "dynamodb/table:Table", "ecr/repository:Repository"],
    ...["eks/accessEntry:AccessEntry", "eks/addon:Addon", "eks/cluster:Cluster", "eks/nodeGroup:NodeGroup"],
    ...["iam/policy:Policy", "iam/role:Role", "kms/key:Key", "s3/bucket:Bucket", "secretsmanager/secret:Secret"],
    ...["sns/topic:Topic", "sqs/queue:Queue"],
  ].map((type) =>
    required(
      `a ${type.split(":")[1]} without a tag is stopped`,
      { type: `aws:${type}`, props: { tags: { ...tags, environment: "" } } },
      [missing("environment")],
    ),
  ),
  required("a missing and an empty tag are stopped", named("aws:kms/key:Key", { tags: { ...tags, environment: "" } }), [
    missing("environment"),
  ]),
  required("the tags are a parameter", vpc({ tags }), [missing("cost-center")], { keys: ["cost-center"] }),

  names("names of the fleet pass", [
    role("acme-hub-crossplane"),
    named("aws:secretsmanager/secret:Secret", { name: "acme/git/gitops-system" }),
    named("aws:cloudwatch/logGroup:LogGroup", { name: "/aws/eks/acme-hub/cluster" }),
    named("aws:eks/nodeGroup:NodeGroup", { nodeGroupName: "acme-hub-nodes" }),
  ]),
  names("without the fleet's tag there is nothing to compare", { type: "aws:iam/role:Role", props: { name: "other" } }),
  names("another name is stopped", role("crossplane"), [foreign("crossplane")]),
  ...[
    ["cloudwatch/logGroup:LogGroup", "name"],
    ["dynamodb/table:Table", "name"],
    ["ec2/launchTemplate:LaunchTemplate", "name"],
    ["eks/cluster:Cluster", "name"],
    ["eks/nodeGroup:NodeGroup", "nodeGroupName"],
    ["iam/policy:Policy", "name"],
    ["secretsmanager/secret:Secret", "name"],
    ["sqs/queue:Queue", "name"],
  ].map(([type = "", property = ""]) =>
    names(`another name of a ${type.split(":")[1]} is stopped`, named(`aws:${type}`, { [property]: "other" }), [
      foreign("other"),
    ]),
  ),
  names("a fleet whose name only begins alike is another one", role("acme2-hub"), [foreign("acme2-hub")]),
  names("a name that Pulumi makes up is stopped", role(), [foreign("(none)")]),
  names("names under Crossplane's prefix are stopped", role("acme-spoke-dev"), [
    "name acme-spoke-dev begins with acme-spoke-: what is called so belongs to Crossplane, which may change and delete it",
  ]),
];

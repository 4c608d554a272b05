/** Tags and names of AWS resources: IAM policies, bills and people tell fleets apart by them. */
import { clusterTag, fleetTag } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";
import { each, resourceRule, strings } from "./lib/rule.ts";
import { tagOf } from "./lib/tags.ts";
import { text } from "./lib/values.ts";

/** Types that take tags and that this program, or a change of it, is likely to make. */
const tagged = [
  ...[
    "eip:Eip",
    "flowLog:FlowLog",
    "instance:Instance",
    "internetGateway:InternetGateway",
    "launchTemplate:LaunchTemplate",
  ],
  ...["natGateway:NatGateway", "routeTable:RouteTable", "securityGroup:SecurityGroup", "subnet:Subnet", "vpc:Vpc"],
  ...["vpcEndpoint:VpcEndpoint"],
]
  .map((type) => `aws:ec2/${type}`)
  .concat([
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:dynamodb/table:Table",
    "aws:ecr/repository:Repository",
    "aws:eks/accessEntry:AccessEntry",
    "aws:eks/addon:Addon",
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
    "aws:iam/policy:Policy",
    "aws:iam/role:Role",
    "aws:kms/key:Key",
    "aws:s3/bucket:Bucket",
    "aws:secretsmanager/secret:Secret",
    "aws:sns/topic:Topic",
    "aws:sqs/queue:Queue",
  ]);

const required = resourceRule({
  id: "tags-required",
  description: "AWS resources carry the tags of their fleet, cluster and environment.",
  remediation: "Pass the tags of the stack (tags in infra/hub.ts) to the resource.",
  parameters: { keys: strings("Tags that must be there.", [fleetTag, clusterTag, "environment"]) },
  types: tagged,
  *check(resource, { keys }) {
    yield* each(keys, function* (key) {
      if (tagOf(resource, key) === undefined || tagOf(resource, key) === "")
        yield `tag ${key} is missing: IAM policies and bills go by it`;
    });
  },
});

/** Where the physical name of a resource stands. */
const nameProperties: Readonly<Record<string, string>> = {
  "aws:cloudwatch/logGroup:LogGroup": "name",
  "aws:dynamodb/table:Table": "name",
  "aws:ec2/launchTemplate:LaunchTemplate": "name",
  "aws:eks/cluster:Cluster": "name",
  "aws:eks/nodeGroup:NodeGroup": "nodeGroupName",
  "aws:iam/policy:Policy": "name",
  "aws:iam/role:Role": "name",
  "aws:secretsmanager/secret:Secret": "name",
  "aws:sqs/queue:Queue": "name",
};

const ofFleet = resourceRule({
  id: "names-of-fleet",
  description: "Names begin with the fleet's name, and never with the prefix that belongs to Crossplane.",
  remediation: "Take the name from fleetNames in lib/names.ts.",
  types: Object.keys(nameProperties),
  *check(resource) {
    const fleet = text(tagOf(resource, fleetTag));
    // Without the tag nobody knows the fleet; tags-required says so.
    if (fleet === "") return;
    const name = text(resource.props[nameProperties[resource.type] ?? "name"]);
    const own = name.replace(/^\/aws\/eks\//, "");
    const { spokePrefix } = fleetNames(fleet);
    if (!own.startsWith(`${fleet}-`) && !own.startsWith(`${fleet}/`))
      yield `name ${name || "(none)"} does not begin with the fleet's: IAM policies reach ${fleet}-… and ${fleet}/… only`;
    else if (own.startsWith(spokePrefix))
      yield `name ${name} begins with ${spokePrefix}: what is called so belongs to Crossplane, which may change and delete it`;
  },
});

export const tagPolicies = [required, ofFleet];

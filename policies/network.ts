/** Security groups and nodes. */
import type { PolicyResource } from "@pulumi/policy";
import { tooMany, tooWide, widths } from "./lib/cidr.ts";
import { each, resourceRule, stackRule, type Violation } from "./lib/rule.ts";
import { list, record, texts } from "./lib/values.ts";

const rule = "aws:ec2/securityGroupRule:SecurityGroupRule";
const ingressRule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule";
const groups = ["aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"];

/** Sources of the traffic that a security group or a rule admits, each as a function that reads it. */
function sources(type: string, props: Readonly<Record<string, unknown>>): (() => readonly string[])[] {
  if (type === ingressRule) return [() => texts(props["cidrIpv4"]), () => texts(props["cidrIpv6"])];
  const blocks = (of: Readonly<Record<string, unknown>>) => [
    () => texts(of["cidrBlocks"]),
    () => texts(of["ipv6CidrBlocks"]),
  ];
  if (type === rule) return props["type"] === "ingress" ? blocks(props) : [];
  const ingress = list(props["ingress"]);
  return Array.from({ length: ingress.length }, (_, index) =>
    [0, 1].map((kind) => () => blocks(record(ingress[index]))[kind]?.() ?? []),
  ).flat();
}

const openIngress = resourceRule({
  id: "network-no-open-ingress",
  description: "No security group admits the whole internet.",
  remediation: "Name the networks or the security groups that need access.",
  parameters: widths,
  types: [...groups, rule, ingressRule],
  *check({ type, props }, limits) {
    const message = (fault: string) =>
      `ingress admits too much: ${fault}; name the networks or security groups that need access`;
    const narrow: string[] = [];
    yield* each(sources(type, props), function* (read) {
      for (const cidr of read()) {
        const fault = tooWide(cidr, limits);
        if (fault) yield message(fault);
        else narrow.push(cidr);
      }
    });
    const together = tooMany(narrow, limits);
    if (together) yield message(together);
  },
});

const nodeAddresses = resourceRule({
  id: "network-no-public-node-addresses",
  description: "Launch templates give nodes no public address.",
  remediation: "Leave out associatePublicIpAddress, or set it to false.",
  types: ["aws:ec2/launchTemplate:LaunchTemplate"],
  *check({ props }) {
    yield* each(list(props["networkInterfaces"]), function* (networkInterface) {
      if (String(record(networkInterface)["associatePublicIpAddress"]) === "true")
        yield "associatePublicIpAddress gives every node a public address: set it to false";
    });
  },
});

const isA = (kind: string) => (resource: PolicyResource) => resource.type === kind;

/** The resources on which a property of another one depends: known at preview, when the IDs are not. */
const behind = (resource: PolicyResource, property: string): readonly PolicyResource[] =>
  resource.propertyDependencies[property] ?? [];

/** Whether a subnet gives out public addresses or has a route to an internet gateway. */
function isPublic(subnet: PolicyResource, resources: readonly PolicyResource[]): boolean {
  const tables = resources
    .filter(isA("aws:ec2/routeTableAssociation:RouteTableAssociation"))
    .filter((association) => behind(association, "subnetId").includes(subnet))
    .flatMap((association) => behind(association, "routeTableId"));
  const reachable = resources
    .filter(isA("aws:ec2/route:Route"))
    .filter((route) => behind(route, "routeTableId").some((table) => tables.includes(table)))
    .some((route) => behind(route, "gatewayId").some(isA("aws:ec2/internetGateway:InternetGateway")));
  return reachable || subnet.props["mapPublicIpOnLaunch"] === true;
}

const privateNodes = stackRule({
  id: "network-private-nodes",
  description: "Nodes run in subnets that the internet can't reach.",
  remediation:
    "Give the node group private subnets, with a route to the internet through a NAT gateway (natGateways: single or per-zone).",
  *check(resources) {
    yield* each(resources.filter(isA("aws:eks/nodeGroup:NodeGroup")), function* (nodes): Generator<Violation> {
      const subnets = behind(nodes, "subnetIds").filter(isA("aws:ec2/subnet:Subnet"));
      yield* each(subnets, function* (subnet) {
        if (isPublic(subnet, resources))
          yield {
            message: `subnet ${subnet.name} of the nodes is public: use private subnets behind a NAT gateway`,
            at: nodes,
          };
      });
    });
  },
});

export const networkPolicies = [openIngress, nodeAddresses, privateNodes];

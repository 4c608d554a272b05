import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const group = (...ingress: Properties[]): Resource => ({
  type: "aws:ec2/securityGroup:SecurityGroup",
  props: { ingress },
});
const groupRule = (props: Properties): Resource => ({ type: "aws:ec2/securityGroupRule:SecurityGroupRule", props });
const ingressRule = (props: Properties): Resource => ({
  type: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
  props,
});
const template = (...networkInterfaces: Properties[]): Resource => ({
  type: "aws:ec2/launchTemplate:LaunchTemplate",
  props: { networkInterfaces },
});

const open = examplesOf("network-no-open-ingress");
const addresses = examplesOf("network-no-public-node-addresses");
const nodes = examplesOf("network-private-nodes");

const internet =
  "ingress admits too much: 0.0.0.0/0 is the whole internet; name the networks or security groups that need access";

const nodeGroup = (...subnetIds: string[]): Resource => ({
  type: "aws:eks/nodeGroup:NodeGroup",
  props: {},
  propertyDependencies: { subnetIds },
});
const subnet = (name: string, mapPublicIpOnLaunch: boolean): Resource => ({
  type: "aws:ec2/subnet:Subnet",
  name,
  props: { mapPublicIpOnLaunch },
});
const table: Resource = { type: "aws:ec2/routeTable:RouteTable", name: "table", props: {} };
const association: Resource = {
  type: "aws:ec2/routeTableAssociation:RouteTableAssociation",
  name: "association",
  props: {},
  propertyDependencies: { subnetId: ["a"], routeTableId: ["table"] },
};
const routeTo = (type: string, property: string): Resource[] => [
  { type, name: "way-out", props: {} },
  {
    type: "aws:ec2/route:Route",
    name: "route",
    props: {},
    propertyDependencies: { routeTableId: ["table"], [property]: ["way-out"] },
  },
];

const publicSubnet = "subnet a of the nodes is public: use private subnets behind a NAT gateway";

export const networkExamples: readonly Example[] = [
  open(
    "named networks and other groups pass",
    group({ cidrBlocks: ["10.0.0.0/16"] }, { securityGroups: ["sg-1"] }, { self: true }),
  ),
  open("a way out to everywhere passes", groupRule({ type: "egress", cidrBlocks: ["0.0.0.0/0"] })),
  open(
    "a group open to the internet is stopped",
    group({ cidrBlocks: ["10.0.0.0/16"] }, { cidrBlocks: ["0.0.0.0/0"] }),
    [internet],
  ),
  open(
    "the default group too",
    { type: "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", props: { ingress: [{ cidrBlocks: ["0.0.0.0/0"] }] } },
    [internet],
  ),
  open(
    "a rule open to the internet is stopped",
    groupRule({ type: "ingress", cidrBlocks: ["0.0.0.0/0"], ipv6CidrBlocks: ["::/0"] }),
    [internet, internet.replace("0.0.0.0/0", "::/0")],
  ),
  open("also in the newer form of rules", ingressRule({ cidrIpv4: "0.0.0.0/0" }), [internet]),
  open("and for IPv6", ingressRule({ cidrIpv6: "::/0" }), [internet.replace("0.0.0.0/0", "::/0")]),
  open("half of the internet is too wide", ingressRule({ cidrIpv4: "128.0.0.0/1" }), [
    "ingress admits too much: 128.0.0.0/1 is wider than /8; name the networks or security groups that need access",
  ]),
  open("a block of the least width passes", ingressRule({ cidrIpv4: "8.0.0.0/8" })),
  open(
    "blocks that are too wide together are stopped, in one rule or in several",
    group({ cidrBlocks: ["8.0.0.0/8"] }, { cidrBlocks: ["203.0.113.1/32"] }),
    [
      "ingress admits too much: 8.0.0.0/8, 203.0.113.1/32 are 16777217 public addresses together, more than a /8; name the networks or security groups that need access",
    ],
  ),

  addresses("a template without interfaces passes", template()),
  addresses("an interface without a public address passes", template({ associatePublicIpAddress: "false" })),
  addresses("a public address is stopped", template({ associatePublicIpAddress: "true" }), [
    "associatePublicIpAddress gives every node a public address: set it to false",
  ]),

  nodes("private subnets pass", [nodeGroup("a", "b"), subnet("a", false), subnet("b", false), subnet("c", true)]),
  nodes("subnets behind a NAT gateway pass", [
    nodeGroup("a"),
    subnet("a", false),
    table,
    association,
    ...routeTo("aws:ec2/natGateway:NatGateway", "natGatewayId"),
  ]),
  nodes(
    "a subnet that gives out public addresses is stopped",
    [nodeGroup("b", "a"), subnet("a", true), subnet("b", false)],
    [publicSubnet],
  ),
  nodes(
    "a subnet with a route to an internet gateway is stopped",
    [
      nodeGroup("a"),
      subnet("a", false),
      table,
      association,
      ...routeTo("aws:ec2/internetGateway:InternetGateway", "gatewayId"),
    ],
    [publicSubnet],
  ),
];

import { fleetTag } from "../labels.ts";
import { arns, type Condition, perRegion, type Scope, type Statement } from "./policy.ts";

/** EC2 actions by the name of their call. */
export const ec2Actions = (calls: readonly string[]): string[] => calls.map((call) => `ec2:${call}`);

/**
 * Lets the calls of `made` make resources of their kind (Service Authorization Reference, "Amazon EC2"), under a condition on their tags.
 * What such a call names besides, e.g. the VPC of a subnet, exists already: no kind of the statement may be that of one, or the tags of
 * the request would stand for those of the resource.
 */
export function makeStatement(
  scope: Scope,
  Sid: string,
  made: Readonly<Record<string, string>>,
  Condition: Condition,
): Statement {
  return {
    Sid,
    Effect: "Allow",
    Action: ec2Actions(Object.keys(made)),
    Resource: arns(scope).ec2(...Object.values(made)),
    Condition,
  };
}

/**
 * Lets a call that makes something give it its tags; which calls and tags, the statement that allows the call says. The key is there in
 * such calls only (EC2 User Guide, "Grant permission to tag Amazon EC2 resources during creation").
 */
export const tagNewStatement: Statement = {
  Sid: "TagWhatIsMade",
  Effect: "Allow",
  Action: ["ec2:CreateTags"],
  Resource: ["*"],
  Condition: { Null: { "ec2:CreateAction": "false" } },
};

/**
 * Calls that make a network resource, with its kind. A NAT gateway is made in a subnet, a subnet in a VPC: two statements. A rule is made
 * only where another statement lets its security group be changed.
 */
const networks = {
  AllocateAddress: "elastic-ip",
  AuthorizeSecurityGroupIngress: "security-group-rule",
  CreateInternetGateway: "internet-gateway",
  CreateRouteTable: "route-table",
  CreateSubnet: "subnet",
} as const;
const launchTemplates = { CreateLaunchTemplate: "launch-template" } as const;
const vpcs = { CreateNatGateway: "natgateway", CreateVpc: "vpc" } as const;

/** What joins, changes and removes network resources, each of which the fleet tags. A wildcard stands for calls of one kind and for no others. */
const networkChanges = [
  "*tachInternetGateway",
  "*teNatGateway",
  "*teRoute",
  "*teRouteTable",
  "*teSubnet",
  "*teTags",
  "*VpcEndpoint",
  "DeleteInternetGateway",
  "DeleteVpc",
  "DeleteVpcEndpoints",
  "DisassociateAddress",
  "ModifySubnetAttribute",
  "ModifyVpcAttribute",
  "ReleaseAddress",
  "ReplaceRoute*",
];
const launchTemplateChanges = ["CreateLaunchTemplateVersion", "DeleteLaunchTemplate", "ModifyLaunchTemplate"];

type FleetScope = Scope & { readonly fleet: string };

/** Calls that make something, with its kind, and calls that change or remove it. */
interface Calls {
  readonly made: Readonly<Record<string, string>>;
  /** Calls that make something in VPCs and subnets that exist: apart from those that make VPCs and subnets. */
  readonly joins?: Readonly<Record<string, string>>;
  readonly changes: readonly string[];
}

/** Flow logs of VPCs. A call that makes one names the VPC too, which exists. */
export const flowLogCalls: Calls = {
  made: { CreateFlowLogs: "vpc-flow-log" },
  changes: ["*teFlowLogs"],
};

/** Attachments of VPCs to transit gateways. A call that makes one names the VPC and its subnets too, which have the fleet's tag. */
export const transitChanges: readonly string[] = ["*teTransitGatewayVpcAttachment"];

/** Secondary blocks of VPCs. */
export const podNetworkChanges: readonly string[] = ["*ssociateVpcCidrBlock"];

const noCalls: Calls = { made: {}, changes: [] };

/**
 * Networks and their gateway endpoints in the region, with what `also` names: new ones with the fleet's tag, and those that have it.
 * Where EC2 knows no tag to ask for stands in docs/guides/aws-account.md.
 */
export function networkStatements(scope: FleetScope, also: Calls = noCalls): Statement[] {
  const inRegion = { "aws:RequestedRegion": perRegion(scope) };
  const withTag = { StringEquals: { ...inRegion, [`aws:RequestTag/${fleetTag}`]: scope.fleet } };
  const made = Object.fromEntries(Object.entries({ ...networks, ...also.made }).sort());
  return [
    makeStatement(scope, "MakeNetworks", made, withTag),
    makeStatement(scope, "MakeVpcs", vpcs, withTag),
    makeStatement(scope, "MakeVpcEndpoints", { CreateVpcEndpoint: "vpc-endpoint", ...also.joins }, withTag),
    tagNewStatement,
    {
      Sid: "ChangeNetworks",
      Effect: "Allow",
      Action: ec2Actions([...networkChanges, ...also.changes].sort()),
      Resource: ["*"],
      Condition: { StringEquals: { ...inRegion, [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
  ];
}

/** {@link networkStatements} for who makes launch templates too. */
export const templateNetworkStatements = (scope: FleetScope, also: Calls = noCalls): Statement[] =>
  networkStatements(scope, {
    ...also,
    made: { ...launchTemplates, ...also.made },
    changes: [...launchTemplateChanges, ...also.changes],
  });

/** EKS tries with the caller's rights whether a launch template works. Instances have no tags yet. */
function tryTemplatesStatement(scope: FleetScope): Statement {
  const { ec2 } = arns(scope);
  return {
    Sid: "TryLaunchTemplates",
    Effect: "Allow",
    Action: ["ec2:RunInstances"],
    Resource: [
      ...ec2("instance", "network-interface", "security-group", "subnet", "volume"),
      `arn:${scope.partition}:ec2:*::image/*`,
    ],
    Condition: {
      StringEquals: { "aws:RequestedRegion": perRegion(scope) },
      ArnLike: { "ec2:LaunchTemplate": ec2("launch-template") },
    },
  };
}

/** What EKS asks of EC2 for whoever makes node groups: a launch template with the fleet's tag starts instances, and gives them tags. */
export const nodeStatements = (scope: FleetScope): Statement[] => [
  {
    Sid: "UseLaunchTemplates",
    Effect: "Allow",
    Action: ["ec2:RunInstances"],
    Resource: arns(scope).ec2("launch-template"),
    Condition: {
      StringEquals: { "aws:RequestedRegion": perRegion(scope), [`aws:ResourceTag/${fleetTag}`]: scope.fleet },
    },
  },
  tryTemplatesStatement(scope),
  tagNewStatement,
];

/** {@link templateNetworkStatements} for who makes node groups with them too. */
export const nodeNetworkStatements = (scope: FleetScope, also: Calls = noCalls): Statement[] => [
  ...templateNetworkStatements(scope, { ...also, changes: [...also.changes, "RunInstances"] }),
  tryTemplatesStatement(scope),
];

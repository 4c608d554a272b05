/** The requests by which AWS is asked for a kind of resource: what the action names, with the keys that AWS gives for it and no others. */
import { sharedNetworkTag } from "../../lib/labels.ts";
import type { IamRequest } from "./iam-evaluator.ts";
import { type ActionFacts, actionFacts, type ResourceType, supports } from "./iam-reference.ts";

type Values = Readonly<Record<string, string>>;

/** Who asks, and what is called how. */
export interface Asker {
  /** Name of the EKS cluster. */
  readonly cluster: string;
  /** Tags of everything that can have some. */
  readonly tags: Values;
  /** ARNs of roles, by the kind that passes them; `""` for the roles themselves. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** Names by type of resource, where they are not the same for everybody. */
  readonly names: Readonly<Record<string, string>>;
  /** Boundary that a role gets and has, as an ARN. */
  readonly boundary?: string;
  /** ARNs of the managed policies that are attached. */
  readonly attached: readonly string[];
}

const account = "000000000000";
const region = "us-east-1";

/** Rules of the groups that EKS makes for its clusters. */
const apiRule = "ec2/securitygroupingressrule";

/** The type of a kind's own resources, where the action alone does not say it. */
const typeOf: Readonly<Record<string, string>> = {
  "amp/alertmanagerdefinition": "workspace",
  "amp/rulegroupnamespace": "rulegroupsnamespace",
  "cloudwatchlogs/group": "log-group",
  "ec2/defaultsecuritygroup": "security-group",
  "ec2/eip": "elastic-ip",
  "ec2/flowlog": "vpc-flow-log",
  "ec2/internetgateway": "internet-gateway",
  "ec2/launchtemplate": "launch-template",
  "ec2/natgateway": "natgateway",
  "ec2/routetable": "route-table",
  "ec2/route": "route-table",
  "ec2/routetableassociation": "route-table",
  "ec2/transitgatewayvpcattachment": "transit-gateway-attachment",
  [apiRule]: "security-group-rule",
  "rds/instance": "db",
  "rds/subnetgroup": "subgrp",
  "s3/bucketversioning": "bucket",
  "ec2/vpcendpoint": "vpc-endpoint",
  "ec2/vpcendpointroutetableassociation": "vpc-endpoint",
  "ec2/vpcipv4cidrblockassociation": "vpc",
  "ec2/vpcendpointsecuritygroupassociation": "vpc-endpoint",
  "ec2/vpcendpointsubnetassociation": "vpc-endpoint",
  "eks/accessentry": "access-entry",
  "grafana/roleassociation": "workspace",
  "iam/openidconnectprovider": "oidc-provider",
  "secretsmanager/secret": "Secret",
};
const ownType = (kind: string): string => typeOf[kind] ?? (kind.split("/")[1] as string);

/** What our arguments name besides what an action must name. */
const besides: Readonly<Record<string, readonly string[]>> = {
  "ec2:AssociateRouteTable": ["route-table", "subnet"],
  "ec2:AuthorizeSecurityGroupIngress": ["security-group-rule"],
  "ec2:CreateFlowLogs": ["vpc"],
  "ec2:CreateNatGateway": ["elastic-ip", "subnet"],
  "ec2:CreateVpcEndpoint": ["route-table", "vpc"],
  "ec2:DisassociateRouteTable": ["route-table", "subnet"],
  "ec2:ModifyVpcEndpoint": ["route-table"],
  "ec2:ReplaceRouteTableAssociation": ["route-table", "subnet"],
  "ec2:RunInstances": ["launch-template"],
  "rds:CreateDBInstance": ["og", "pg", "subgrp"],
  "rds:ModifyDBInstance": ["og", "pg", "subgrp"],
};

/** The same of an action for one kind. */
const besidesOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "ec2/vpcendpointsecuritygroupassociation": { "ec2:ModifyVpcEndpoint": ["security-group"] },
  "ec2/vpcendpointsubnetassociation": {
    "ec2:ModifyVpcEndpoint": ["subnet"],
    "route53:AssociateVPCWithHostedZone": ["hostedzone"],
  },
};

/** What a call makes, where its name does not say it. */
const makes: Readonly<Record<string, readonly string[]>> = {
  "ec2:AllocateAddress": ["elastic-ip"],
  "ec2:AuthorizeSecurityGroupIngress": ["security-group-rule"],
  "ec2:CreateFlowLogs": ["vpc-flow-log"],
  "ec2:CreateTransitGatewayVpcAttachment": ["transit-gateway-attachment"],
  "ec2:RunInstances": ["instance", "network-interface", "volume"],
  "iam:CreateOpenIDConnectProvider": ["oidc-provider"],
  "rds:CreateDBInstance": ["db"],
  "rds:CreateDBSnapshot": ["snapshot"],
  "rds:CreateDBSubnetGroup": ["subgrp"],
};
const plain = (text: string) => text.replaceAll("-", "").toLowerCase();
const isNew = (action: string, type: string): boolean =>
  makes[action]?.includes(type) ?? plain(action.replace(/^.*:Create/, "")) === plain(type);

/** Types whose resources have no tags of ours: EKS's, AWS's, or none at all. */
const untagged = ["alias", "image", "instance-profile", "og", "pg", "security-group", "transit-gateway"];

/** Whether a call follows the tags that the provider gives to a default security group. */
const isTaggedGroup = (kind: string, action: string): boolean =>
  kind === "ec2/defaultsecuritygroup" && action !== "ec2:CreateTags";

/** The call that makes a kind: its tags come with it. */
const maker: Readonly<Record<string, string>> = {
  "ec2/eip": "AllocateAddress",
  "ec2/flowlog": "CreateFlowLogs",
  "ec2/internetgateway": "CreateInternetGateway",
  "ec2/launchtemplate": "CreateLaunchTemplate",
  "ec2/natgateway": "CreateNatGateway",
  "ec2/routetable": "CreateRouteTable",
  [apiRule]: "AuthorizeSecurityGroupIngress",
  "ec2/subnet": "CreateSubnet",
  "ec2/transitgatewayvpcattachment": "CreateTransitGatewayVpcAttachment",
  "ec2/vpc": "CreateVpc",
  "ec2/vpcendpoint": "CreateVpcEndpoint",
  "eks/nodegroup": "RunInstances",
};

function arnsOf(asker: Asker, kind: string, service: string, { key, arn }: ResourceType): readonly string[] {
  if (service === "iam" && key === "role") return asker.roles[kind] ?? asker.roles[""] ?? [];
  const { cluster } = asker;
  const resource = {
    "access-entry": `access-entry/${cluster}/role/${account}/x/uuid`,
    addon: `addon/${cluster}/vpc-cni/uuid`,
    cluster: `cluster/${cluster}`,
    image: "image/ami-x",
    "instance-profile": "instance-profile/eks-x",
    "log-group": `log-group:/aws/eks/${cluster}/cluster`,
    nodegroup: `nodegroup/${cluster}/${cluster}-nodes/uuid`,
    podidentityassociation: `podidentityassociation/${cluster}/a-x`,
    "oidc-provider": `oidc-provider/oidc.eks.${region}.amazonaws.com/id/A`,
    rulegroupsnamespace: "rulegroupsnamespace/ws-x/fleet",
    ...(service === "grafana" && { workspace: "/workspaces/g-x" }),
    ...asker.names,
  }[key];
  const [, , , place, owner] = arn.split(":");
  return [`arn:aws:${service}:${place === "" ? "" : region}:${owner === "" ? "" : account}:${resource ?? `${key}/x`}`];
}

const prefixed = (prefix: string, tags: Values): Values =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${prefix}/${key}`, value]));

/** The service that gets a kind's role, where it is not EKS. */
const receiver: Values = {
  "ec2/flowlog": "vpc-flow-logs.amazonaws.com",
  "eks/nodegroup": "ec2.amazonaws.com",
  "eks/podidentityassociation": "pods.eks.amazonaws.com",
  "grafana/workspace": "grafana.amazonaws.com",
};

/** The values that a request may have beside its tags; several where our arguments differ. */
function variants(asker: Asker, kind: string, action: string): readonly Values[] {
  const bounded: Values = asker.boundary === undefined ? {} : { "iam:PermissionsBoundary": asker.boundary };
  switch (action) {
    case "iam:AttachRolePolicy":
    case "iam:DetachRolePolicy":
      return asker.attached.map((policy) => ({ ...bounded, "iam:PolicyARN": policy }));
    case "iam:PassRole":
      return [{ "iam:PassedToService": receiver[kind] ?? "eks.amazonaws.com" }];
    case "iam:CreateServiceLinkedRole":
      return [{ "iam:AWSServiceName": linkedService(kind) }];
    case "kms:CreateGrant":
    case "kms:DescribeKey":
      return [kind.startsWith("rds/") ? ofRds : { "kms:GrantIsForAWSResource": "true" }];
    case "kms:Decrypt":
    case "kms:GenerateDataKey":
      return [{ "kms:ViaService": `secretsmanager.${region}.amazonaws.com` }];
    case "ec2:RunInstances":
      return [{ "ec2:LaunchTemplate": `arn:aws:ec2:${region}:${account}:launch-template/x` }];
    default:
      return [bounded];
  }
}

/** RDS uses its own key of the account. */
const ofRds: Values = { "kms:ViaService": `rds.${region}.amazonaws.com`, "kms:ResourceAliases": "alias/aws/rds" };

/** The service for which a service-linked role is looked for and made. */
const linkedServices: Values = {
  "eks/nodegroup": "eks-nodegroup",
  "ec2/transitgatewayvpcattachment": "transitgateway",
};
const linkedService = (kind: string): string =>
  `${kind.startsWith("rds/") ? "rds" : (linkedServices[kind] ?? "eks")}.amazonaws.com`;

/** The tag by which the owner of a transit gateway lets spokes of the fleet use it. */
const ofGateway: Values = { [`aws:ResourceTag/${sharedNetworkTag}`]: "fleet" };
const linkedRole = (kind: string) => `arn:aws:iam::${account}:role/aws-service-role/${linkedService(kind)}/x`;

interface Named {
  readonly arns: readonly string[];
  readonly type: ResourceType;
  /** Whether the call makes it, or its tags come with the call that does. */
  readonly made: boolean;
}

function named(asker: Asker, kind: string, action: ActionFacts): readonly Named[] {
  const service = action.name.split(":")[0] as string;
  const also = besidesOf[kind]?.[action.name] ?? besides[action.name] ?? [];
  const required = action.types.filter(({ required: must, key }) => must || also.includes(key));
  const types = required.length > 0 ? required : action.types.filter(({ key }) => key === ownType(kind));
  return types.map((type) => ({ type, made: isNew(action.name, type.key), arns: arnsOf(asker, kind, service, type) }));
}

/** Requests on what carries the tags, and, for calls that tag, on what is just being made. */
function taggings(asker: Asker, kind: string, action: ActionFacts): readonly Named[] {
  const service = action.name.split(":")[0] as string;
  const wanted =
    kind === "eks/nodegroup" && service === "ec2" ? ["instance", "network-interface", "volume"] : [ownType(kind)];
  const types = action.types.filter(({ key }) => wanted.includes(key));
  const existing = service === "ec2" && kind === "eks/nodegroup" ? [] : [false];
  return types.flatMap((type) =>
    [...existing, ...(/:(CreateTags|Tag)/.test(action.name) ? [true] : [])].map((made) => ({
      type,
      made,
      arns: arnsOf(asker, kind, service, type),
    })),
  );
}

const asksForTags = /:(CreateTags|DeleteTags|(Tag|Untag)[A-Z]\w*)$/;

/** Every request of an action for a kind. Empty where the action finds nothing of the kind to act on: a mistake of the table. */
export async function requestsFor(asker: Asker, kind: string, name: string): Promise<IamRequest[]> {
  const action = await actionFacts(name);
  const always = { "aws:RequestedRegion": region, "s3:ResourceAccount": account };
  if (name === "iam:CreateServiceLinkedRole")
    return variants(asker, kind, name).map((context) => ({ action: name, resource: linkedRole(kind), context }));
  if (action.types.length === 0) {
    const context = { ...always, ...prefixed("aws:RequestTag", asker.tags) };
    return [{ action: name, resource: "*", context: given(context, action.conditionKeys) }];
  }
  const all = asksForTags.test(name) ? taggings(asker, kind, action) : named(asker, kind, action);
  return all.flatMap(({ arns, type, made }) =>
    variants(asker, kind, name).flatMap((values) =>
      arns.map((resource): IamRequest => {
        const context = {
          ...always,
          ...values,
          ...prefixed("aws:RequestTag", asker.tags),
          ...(kind === apiRule && type.key === "security-group"
            ? { "aws:ResourceTag/aws:eks:cluster-name": asker.cluster }
            : {}),
          ...(made || (untagged.includes(type.key) && !isTaggedGroup(kind, name))
            ? {}
            : prefixed("aws:ResourceTag", asker.tags)),
          ...(type.key === "transit-gateway" ? ofGateway : {}),
          ...(made && name === "ec2:CreateTags" ? { "ec2:CreateAction": maker[kind] ?? "" } : {}),
        };
        return { action: name, resource, context: given(context, [...action.conditionKeys, ...type.conditionKeys]) };
      }),
    ),
  );
}

/** The values whose keys AWS gives for this action and resource. */
const given = (context: Values, keys: readonly string[]): Values =>
  Object.fromEntries(Object.entries(context).filter(([key]) => key === "aws:RequestedRegion" || supports(keys, key)));

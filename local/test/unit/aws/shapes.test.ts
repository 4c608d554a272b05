/** The tables of the AWS resources against the shapes that AWS publishes in its SDK. */
import * as amp from "@aws-sdk/client-amp";
import * as logs from "@aws-sdk/client-cloudwatch-logs";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as ec2 from "@aws-sdk/client-ec2";
import * as eks from "@aws-sdk/client-eks";
import * as grafana from "@aws-sdk/client-grafana";
import * as iam from "@aws-sdk/client-iam";
import * as kms from "@aws-sdk/client-kms";
import * as rds from "@aws-sdk/client-rds";
import * as s3 from "@aws-sdk/client-s3";
import * as secrets from "@aws-sdk/client-secrets-manager";
import { QueueAttributeName } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { type Fields, membersOf } from "../../../aws/define/fields.ts";
import { type Case, requestOf } from "../../../aws/define/mapping.ts";
import { type Handler, handlers } from "../../../aws/index.ts";

/** The SDK's own form of a structure: `[3, namespace, name, traits, members, schemas]`; of a list `[1, …, item]`. */
type Schema = readonly unknown[] | (() => Schema) | number;
interface Shape {
  readonly members: readonly string[];
  member(name: string): Shape | undefined;
}

/** What a member's schema leads to: a structure, or that of a list's items. */
function shapeOf(schema: Schema | undefined): Shape | undefined {
  if (typeof schema === "function") return shapeOf(schema());
  if (!Array.isArray(schema)) return undefined;
  if (schema[0] === 1) return shapeOf(schema[4] as Schema);
  if (schema[0] !== 3) return shapeOf(schema[0] as Schema); // with traits
  const members = schema[4] as string[];
  return { members, member: (name) => shapeOf((schema[5] as Schema[])[members.indexOf(name)]) };
}

/** Paths of the names that are not members of the shape. */
function strangers(fields: Fields, shape: Shape, written: Case, counts: (field: Fields[string]) => boolean): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.api === null || !counts(field)) return [];
    const probe = { [name]: { ...field, out: undefined, put: () => 0 } } as unknown as Fields;
    const api = Object.keys(requestOf(probe, { [name]: 0 }, written))[0] as string;
    if (!shape.members.includes(api)) return [name];
    const [members, inner] = [membersOf(field), shape.member(api)];
    if (!members || field.put || field.get) return [];
    return inner
      ? strangers(members, inner, written, counts).map((path) => `${name}.${path}`)
      : [`${name} (no structure)`];
  });
}

/** Names that a definition puts beside AWS's answer, from other answers. */
const also = (...names: string[]) => [3, "", "", 0, names, names.map(() => 0)] as const;

/** What creates a resource, and what describes it. */
const shapes: Readonly<Record<string, readonly [request: Schema, ...answers: (Schema | undefined)[]]>> = {
  "aws:amp/alertManagerDefinition:AlertManagerDefinition": [
    ...([amp.CreateAlertManagerDefinitionRequest$, amp.AlertManagerDefinitionDescription$] as const),
  ],
  "aws:amp/ruleGroupNamespace:RuleGroupNamespace": [
    ...([amp.CreateRuleGroupsNamespaceRequest$, amp.RuleGroupsNamespaceDescription$] as const),
  ],
  "aws:amp/workspace:Workspace": [amp.CreateWorkspaceRequest$, amp.WorkspaceDescription$],
  "aws:cloudwatch/logGroup:LogGroup": [logs.CreateLogGroupRequest$, logs.LogGroup$],
  "aws:dynamodb/table:Table": [dynamodb.CreateTableInput$, dynamodb.TableDescription$],
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": [also("VpcId"), ec2.SecurityGroup$],
  "aws:ec2/eip:Eip": [ec2.AllocateAddressRequest$, ec2.Address$],
  "aws:ec2/flowLog:FlowLog": [ec2.CreateFlowLogsRequest$, ec2.FlowLog$],
  "aws:ec2/internetGateway:InternetGateway": [ec2.CreateInternetGatewayRequest$, ec2.InternetGateway$],
  "aws:ec2/launchTemplate:LaunchTemplate": [
    ec2.RequestLaunchTemplateData$,
    ...[ec2.ResponseLaunchTemplateData$, ec2.LaunchTemplate$, ec2.LaunchTemplateVersion$, also("Arn")],
  ],
  "aws:ec2/natGateway:NatGateway": [ec2.CreateNatGatewayRequest$, ec2.NatGateway$],
  "aws:ec2/route:Route": [ec2.CreateRouteRequest$, ec2.Route$, also("RouteTableId")],
  "aws:ec2/routeTable:RouteTable": [ec2.CreateRouteTableRequest$, ec2.RouteTable$],
  "aws:ec2/routeTableAssociation:RouteTableAssociation": [ec2.AssociateRouteTableRequest$, ec2.RouteTableAssociation$],
  "aws:ec2/subnet:Subnet": [ec2.CreateSubnetRequest$, ec2.Subnet$],
  "aws:ec2transitgateway/vpcAttachment:VpcAttachment": [
    ec2.CreateTransitGatewayVpcAttachmentRequest$,
    ec2.TransitGatewayVpcAttachment$,
    also("Association", "Propagation"),
  ],
  "aws:ec2/vpc:Vpc": [
    ec2.CreateVpcRequest$,
    ...[ec2.Vpc$, ec2.DescribeVpcAttributeResult$],
    also("MainRouteTableId", "DefaultSecurityGroupId", "DefaultNetworkAclId"),
  ],
  "aws:ec2/vpcEndpoint:VpcEndpoint": [ec2.CreateVpcEndpointRequest$, ec2.VpcEndpoint$, also("PrefixListId")],
  "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation": [
    ...([also("RouteTableId", "VpcEndpointId"), also("RouteTableId", "VpcEndpointId")] as const),
  ],
  "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": [
    ec2.AssociateVpcCidrBlockRequest$,
    ec2.VpcCidrBlockAssociation$,
    also("VpcId"),
  ],
  "aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation": [
    ...([also("SubnetId", "VpcEndpointId"), also("SubnetId", "VpcEndpointId")] as const),
  ],
  "aws:ec2/securityGroupAssociation:SecurityGroupAssociation": [
    ...([also("SecurityGroupId", "VpcEndpointId"), also("SecurityGroupId", "VpcEndpointId")] as const),
  ],
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": [
    also("GroupId", "IpProtocol", "FromPort", "ToPort", "CidrIpv4", "Description"),
    ec2.SecurityGroupRule$,
  ],
  "aws:eks/accessEntry:AccessEntry": [eks.CreateAccessEntryRequest$, eks.AccessEntry$],
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [
    ...([eks.AssociateAccessPolicyRequest$, eks.AssociatedAccessPolicy$] as const),
    also("clusterName", "principalArn"),
  ],
  "aws:eks/addon:Addon": [eks.CreateAddonRequest$, eks.Addon$],
  "aws:eks/cluster:Cluster": [eks.CreateClusterRequest$, eks.Cluster$],
  "aws:eks/nodeGroup:NodeGroup": [eks.CreateNodegroupRequest$, eks.Nodegroup$],
  "aws:eks/podIdentityAssociation:PodIdentityAssociation": [
    ...([eks.CreatePodIdentityAssociationRequest$, eks.PodIdentityAssociation$] as const),
  ],
  "aws:grafana/roleAssociation:RoleAssociation": [
    also("workspaceId", "role", "groupIds", "userIds"),
    also("workspaceId", "role", "groupIds", "userIds"),
  ],
  "aws:grafana/workspace:Workspace": [
    grafana.CreateWorkspaceRequest$,
    ...[grafana.WorkspaceDescription$, grafana.DescribeWorkspaceConfigurationResponse$, also("arn")],
  ],
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": [
    ...([iam.CreateOpenIDConnectProviderRequest$, iam.GetOpenIDConnectProviderResponse$, also("Arn")] as const),
  ],
  "aws:iam/policy:Policy": [iam.CreatePolicyRequest$, iam.Policy$],
  "aws:iam/role:Role": [iam.CreateRoleRequest$, iam.Role$],
  "aws:iam/rolePolicy:RolePolicy": [iam.PutRolePolicyRequest$, iam.GetRolePolicyResponse$],
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment": [
    ...([iam.AttachRolePolicyRequest$, iam.AttachedPolicy$, also("RoleName")] as const),
  ],
  "aws:kms/alias:Alias": [kms.CreateAliasRequest$, kms.AliasListEntry$],
  "aws:kms/key:Key": [kms.CreateKeyRequest$, kms.KeyMetadata$, kms.GetKeyPolicyResponse$],
  "aws:rds/instance:Instance": [rds.CreateDBInstanceMessage$, rds.DBInstance$],
  "aws:rds/subnetGroup:SubnetGroup": [rds.CreateDBSubnetGroupMessage$, rds.DBSubnetGroup$],
  "aws:s3/bucket:Bucket": [s3.CreateBucketRequest$, s3.HeadBucketOutput$],
  "aws:s3/bucketVersioning:BucketVersioning": [s3.PutBucketVersioningRequest$, s3.GetBucketVersioningOutput$],
  "aws:secretsmanager/secret:Secret": [secrets.CreateSecretRequest$, secrets.DescribeSecretResponse$],
  "aws:kms/keyPolicy:KeyPolicy": [kms.PutKeyPolicyRequest$, kms.GetKeyPolicyResponse$],
  "aws:secretsmanager/secretPolicy:SecretPolicy": [
    secrets.PutResourcePolicyRequest$,
    secrets.GetResourcePolicyResponse$,
  ],
  "aws:secretsmanager/secretVersion:SecretVersion": [
    ...([secrets.PutSecretValueRequest$, secrets.GetSecretValueResponse$] as const),
  ],
  "aws:sqs/queue:Queue": [also("Name", ...Object.keys(QueueAttributeName)), also(...Object.keys(QueueAttributeName))],
};

/** Inputs that another call than the creation takes; the definition names it. */
const setLater: Readonly<Record<string, readonly string[]>> = {
  "aws:ec2/launchTemplate:LaunchTemplate": ["description", "name"],
  "aws:ec2/subnet:Subnet": ["mapPublicIpOnLaunch"],
  "aws:ec2/vpc:Vpc": ["enableDnsHostnames", "enableDnsSupport", "enableNetworkAddressUsageMetrics"],
};

describe.each([...handlers])("%s", (token: string, { definition }: Handler) => {
  const { fields, case: written } = definition as NonNullable<Handler["definition"]>;
  const [request, ...answers] = shapes[token] ?? [];

  test("sends names that AWS's request has", () => {
    const shape = shapeOf(request) as Shape;
    expect(strangers(fields, shape, written, ({ out }) => !out).sort()).toEqual([...(setLater[token] ?? [])].sort());
  });

  test("reads names that AWS's answer has", () => {
    const known = answers.flatMap((schema) => shapeOf(schema) ?? []);
    const shape: Shape = {
      members: known.flatMap(({ members }) => members),
      member: (name) => known.find(({ members }) => members.includes(name))?.member(name),
    };
    expect(strangers(fields, shape, written, ({ get, unread }) => !get && !unread)).toEqual([]);
  });
});

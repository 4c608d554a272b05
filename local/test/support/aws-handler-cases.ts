/** One case per handler: what it is made from, a change that needs no new resource, and what the change must show. */
import { EC2 } from "@aws-sdk/client-ec2";
import type { Aws, Properties } from "../../aws/index.ts";
import { addTransitGateway } from "./transit-gateways.ts";

/** Makes a resource that a case depends on and returns its id; it is deleted after the case, in reverse order. */
type Make = (token: string, inputs: Properties) => Promise<string>;

export interface HandlerCase {
  readonly token: string;
  inputs(make: Make, aws: Aws): Promise<Properties>;
  /** Missing: every change replaces. */
  readonly change?: Properties | ((inputs: Properties) => Properties);
}

const tags = { Name: "case", team: "platform" };
const otherTags = { Name: "case", stage: "two" };

const trust = (service: string) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: { Service: [service] }, Action: ["sts:AssumeRole"] }],
  });

const allow = (action: string) =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: action, Resource: "*" }] });

const resourcePolicy = (...actions: string[]) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: { AWS: "arn:aws:iam::000000000000:root" }, Action: actions, Resource: "*" },
    ],
  });

/** A policy of a key that encrypts log groups in a region. */
export const logsKeyPolicy = (region: string, group = "*") =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: { AWS: "arn:aws:iam::000000000000:root" }, Action: "kms:*", Resource: "*" },
      {
        Effect: "Allow",
        Principal: { Service: `logs.${region}.amazonaws.com` },
        Action: ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
        Resource: "*",
        Condition: {
          ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:aws:logs:${region}:000000000000:log-group:${group}` },
        },
      },
    ],
  });

const vpc = (make: Make) =>
  make("aws:ec2/vpc:Vpc", { cidrBlock: "10.9.0.0/16", instanceTenancy: "default", enableDnsSupport: true });
const subnet = async (make: Make, vpcId: string) => make("aws:ec2/subnet:Subnet", { vpcId, cidrBlock: "10.9.1.0/24" });
/** Subnets in two zones, as RDS wants them. */
async function zoneSubnets(make: Make): Promise<string[]> {
  const vpcId = await vpc(make);
  const inZone = (zone: string, cidrBlock: string) =>
    make("aws:ec2/subnet:Subnet", { vpcId, cidrBlock, availabilityZone: `us-east-1${zone}` });
  return [await inZone("a", "10.9.1.0/24"), await inZone("b", "10.9.2.0/24")];
}
const defaultGroup = async (make: Make) =>
  make("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", { vpcId: await vpc(make) });
const role = (make: Make) =>
  make("aws:iam/role:Role", {
    name: "case-role",
    path: "/",
    assumeRolePolicy: trust("ec2.amazonaws.com"),
    maxSessionDuration: 3600,
  });

/** The table to which the case of an association moves its subnet. */
let otherTable = "";

export const cases: HandlerCase[] = [
  {
    token: "aws:ec2/vpc:Vpc",
    inputs: async () => ({ cidrBlock: "10.8.0.0/16", enableDnsHostnames: true, tags }),
    change: { enableDnsHostnames: false, tags: otherTags },
  },
  {
    token: "aws:ec2/subnet:Subnet",
    inputs: async (make) => ({
      vpcId: await vpc(make),
      cidrBlock: "10.9.4.0/24",
      availabilityZone: "us-east-1b",
      tags,
    }),
    change: { mapPublicIpOnLaunch: true, tags: otherTags },
  },
  {
    token: "aws:ec2/internetGateway:InternetGateway",
    inputs: async (make) => ({ vpcId: await vpc(make), tags }),
    change: { tags: otherTags },
  },
  { token: "aws:ec2/eip:Eip", inputs: async () => ({ domain: "vpc", tags }), change: { tags: otherTags } },
  {
    token: "aws:ec2/natGateway:NatGateway",
    inputs: async (make) => ({
      subnetId: await subnet(make, await vpc(make)),
      allocationId: await make("aws:ec2/eip:Eip", { domain: "vpc" }),
      tags,
    }),
    change: { tags: otherTags },
  },
  {
    token: "aws:ec2/routeTable:RouteTable",
    inputs: async (make) => ({ vpcId: await vpc(make), tags }),
    change: { tags: otherTags },
  },
  {
    token: "aws:ec2/route:Route",
    inputs: async (make) => {
      const vpcId = await vpc(make);
      const gatewayId = await make("aws:ec2/internetGateway:InternetGateway", { vpcId });
      const routeTableId = await make("aws:ec2/routeTable:RouteTable", { vpcId });
      return { routeTableId, destinationCidrBlock: "0.0.0.0/0", gatewayId };
    },
  },
  {
    token: "aws:ec2/routeTableAssociation:RouteTableAssociation",
    inputs: async (make) => {
      const vpcId = await vpc(make);
      otherTable = await make("aws:ec2/routeTable:RouteTable", { vpcId });
      return {
        subnetId: await subnet(make, vpcId),
        routeTableId: await make("aws:ec2/routeTable:RouteTable", { vpcId }),
      };
    },
    // EC2 gives the association a new id.
    change: (inputs) => ({ ...inputs, routeTableId: otherTable }),
  },
  {
    token: "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    inputs: async (make) => ({ vpcId: await vpc(make), tags }),
    change: { tags: otherTags },
  },
  {
    token: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    inputs: async (make) => ({
      securityGroupId: await defaultGroup(make),
      ipProtocol: "tcp",
      fromPort: 443,
      toPort: 443,
      cidrIpv4: "10.0.0.0/8",
      description: "one",
      tags,
    }),
    change: { description: "two", toPort: 444, tags: otherTags },
  },
  {
    token: "aws:ec2/launchTemplate:LaunchTemplate",
    inputs: async () => ({
      name: "case",
      updateDefaultVersion: true,
      blockDeviceMappings: [
        {
          deviceName: "/dev/xvda",
          ebs: {
            ...{ volumeSize: 40, volumeType: "gp3", encrypted: "true", deleteOnTermination: "true" },
            kmsKeyId: "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab",
          },
        },
      ],
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
      tagSpecifications: [{ resourceType: "instance", tags }],
      tags,
    }),
    change: {
      metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 2 },
      tags: otherTags,
    },
  },
  {
    token: "aws:ec2/flowLog:FlowLog",
    inputs: async (make) => ({
      vpcId: await vpc(make),
      trafficType: "REJECT",
      iamRoleArn: `arn:aws:iam::000000000000:role/${await role(make)}`,
      logDestinationType: "cloud-watch-logs",
      logDestination: "arn:aws:logs:us-east-1:000000000000:log-group:case",
      tags,
    }),
    change: { tags: otherTags },
  },
  {
    token: "aws:ec2/vpcEndpoint:VpcEndpoint",
    inputs: async (make) => {
      const vpcId = await vpc(make);
      const routeTableIds = [await make("aws:ec2/routeTable:RouteTable", { vpcId })];
      return { vpcId, serviceName: "com.amazonaws.us-east-1.s3", vpcEndpointType: "Gateway", routeTableIds, tags };
    },
    change: { routeTableIds: [], tags: otherTags },
  },
  {
    token: "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
    inputs: async (make) => {
      const vpcId = await vpc(make);
      const vpcEndpointId = await make("aws:ec2/vpcEndpoint:VpcEndpoint", {
        vpcId,
        serviceName: "com.amazonaws.us-east-1.s3",
        vpcEndpointType: "Gateway",
        routeTableIds: [],
        tags,
      });
      return { vpcEndpointId, routeTableId: await make("aws:ec2/routeTable:RouteTable", { vpcId }) };
    },
  },
  {
    token: "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
    inputs: async (make, aws) => {
      const vpcId = await vpc(make);
      const subnetIds = [await subnet(make, vpcId)];
      return { vpcId, subnetIds, transitGatewayId: await addTransitGateway(aws.client(EC2)), tags };
    },
    change: { tags: otherTags },
  },
  {
    token: "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    inputs: async (make) => ({ vpcId: await vpc(make), cidrBlock: "100.64.0.0/16" }),
  },
  {
    token: "aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation",
    inputs: async (make) => {
      const vpcId = await vpc(make);
      const subnetId = await subnet(make, vpcId);
      const vpcEndpointId = await make("aws:ec2/vpcEndpoint:VpcEndpoint", {
        vpcId,
        serviceName: "com.amazonaws.us-east-1.sts",
        vpcEndpointType: "Interface",
        privateDnsEnabled: false,
        tags,
      });
      return { vpcEndpointId, subnetId };
    },
  },
  {
    token: "aws:iam/role:Role",
    inputs: async (make) => ({
      name: "case",
      path: "/cases/",
      assumeRolePolicy: trust("eks.amazonaws.com"),
      description: "one",
      permissionsBoundary: await make("aws:iam/policy:Policy", {
        name: "case-boundary",
        path: "/",
        policy: allow("*"),
      }),
      tags,
    }),
    change: (inputs) => ({
      ...inputs,
      assumeRolePolicy: trust("ec2.amazonaws.com"),
      description: "two",
      permissionsBoundary: undefined,
      tags: otherTags,
    }),
  },
  {
    token: "aws:iam/rolePolicy:RolePolicy",
    inputs: async (make) => ({ role: await role(make), name: "case", policy: allow("s3:GetObject") }),
    change: { policy: allow("s3:PutObject") },
  },
  {
    token: "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    inputs: async (make) => ({
      role: await role(make),
      policyArn: "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
    }),
  },
  {
    token: "aws:iam/policy:Policy",
    inputs: async () => ({ name: "case", description: "one", policy: allow("s3:GetObject"), tags }),
    change: { policy: allow("s3:PutObject"), tags: otherTags },
  },
  {
    token: "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    inputs: async () => ({
      url: "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
      clientIdLists: ["sts.amazonaws.com"],
      tags,
    }),
    // No change: ministack has neither AddClientIDToOpenIDConnectProvider nor UntagOpenIDConnectProvider.
  },
  {
    token: "aws:kms/key:Key",
    inputs: async () => ({ description: "one", enableKeyRotation: true, deletionWindowInDays: 7, tags }),
    change: { description: "two", enableKeyRotation: false, tags: otherTags },
  },
  {
    token: "aws:kms/alias:Alias",
    inputs: async (make) => ({
      name: "alias/case",
      targetKeyId: await make("aws:kms/key:Key", { enableKeyRotation: false, deletionWindowInDays: 7 }),
    }),
  },
  {
    token: "aws:kms/keyPolicy:KeyPolicy",
    inputs: async (make) => ({
      keyId: await make("aws:kms/key:Key", { enableKeyRotation: false, deletionWindowInDays: 7 }),
      policy: resourcePolicy("kms:*"),
    }),
    change: { policy: resourcePolicy("kms:*", "kms:Decrypt") },
  },
  {
    token: "aws:secretsmanager/secretPolicy:SecretPolicy",
    inputs: async (make) => ({
      secretArn: await make("aws:secretsmanager/secret:Secret", { name: "case/three", recoveryWindowInDays: 0 }),
      policy: resourcePolicy("secretsmanager:GetSecretValue"),
      blockPublicPolicy: true,
    }),
    change: { policy: resourcePolicy("secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret") },
  },
  {
    token: "aws:secretsmanager/secret:Secret",
    inputs: async () => ({ name: "case/one", description: "one", recoveryWindowInDays: 0, tags }),
    change: { description: "two", tags: otherTags },
  },
  {
    token: "aws:secretsmanager/secretVersion:SecretVersion",
    inputs: async (make) => ({
      secretId: await make("aws:secretsmanager/secret:Secret", { name: "case/two", recoveryWindowInDays: 0 }),
      secretString: JSON.stringify({ identity: "not a real key" }),
    }),
  },
  {
    token: "aws:cloudwatch/logGroup:LogGroup",
    inputs: async (make) => {
      const key = await make("aws:kms/key:Key", { policy: logsKeyPolicy("us-east-1"), deletionWindowInDays: 7 });
      const kmsKeyId = `arn:aws:kms:us-east-1:000000000000:key/${key}`;
      return { name: "/aws/eks/case/cluster", retentionInDays: 30, kmsKeyId, tags };
    },
    change: { retentionInDays: 90, kmsKeyId: undefined, tags: otherTags },
  },
  {
    token: "aws:sqs/queue:Queue",
    inputs: async () => ({ name: "case", visibilityTimeoutSeconds: 45, tags }),
    change: { visibilityTimeoutSeconds: 60, messageRetentionSeconds: 600, tags: otherTags },
  },
  {
    token: "aws:rds/subnetGroup:SubnetGroup",
    inputs: async (make) => ({ name: "case", subnetIds: await zoneSubnets(make), tags }),
    change: { description: "Databases", tags: otherTags },
  },
  {
    token: "aws:rds/instance:Instance",
    inputs: async (make) => ({
      identifier: "case-main",
      engine: "postgres",
      instanceClass: "db.t4g.micro",
      allocatedStorage: 20,
      username: "main",
      password: "case-password",
      storageEncrypted: true,
      backupRetentionPeriod: 7,
      skipFinalSnapshot: true,
      dbSubnetGroupName: await make("aws:rds/subnetGroup:SubnetGroup", {
        name: "case-databases",
        subnetIds: await zoneSubnets(make),
      }),
      tags,
    }),
    change: { allocatedStorage: 40, applyImmediately: true, backupRetentionPeriod: 14, tags: otherTags },
  },
  {
    token: "aws:s3/bucket:Bucket",
    inputs: async () => ({ bucket: "case-000000000000", tags }),
    change: { tags: otherTags },
  },
  {
    token: "aws:s3/bucketVersioning:BucketVersioning",
    inputs: async (make) => ({
      bucket: await make("aws:s3/bucket:Bucket", { bucket: "case-versions-000000000000" }),
      versioningConfiguration: { status: "Enabled" },
    }),
    change: { versioningConfiguration: { status: "Suspended" } },
  },
  {
    token: "aws:dynamodb/table:Table",
    inputs: async () => ({
      name: "case",
      billingMode: "PAY_PER_REQUEST",
      hashKey: "id",
      attributes: [{ name: "id", type: "S" }],
      pointInTimeRecovery: { enabled: true },
      ttl: { enabled: true, attributeName: "expires" },
      tags,
    }),
    change: { deletionProtectionEnabled: false, ttl: { enabled: false, attributeName: "expires" }, tags: otherTags },
  },
];

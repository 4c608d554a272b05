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

/** `aws:ec2/routeTable:RouteTable` of `ec2/RouteTable`. */
const named = (type: string): string =>
  `aws:${type.replace(/\/(.)(.*)/, (_, first: string, rest: string) => `/${first.toLowerCase()}${rest}:${first}${rest}`)}`;

/** A case of a type, whose inputs make what they need by its type. */
const plain = (type: string, inputs: HandlerCase["inputs"], change?: HandlerCase["change"]): HandlerCase => ({
  token: named(type),
  inputs: (make, aws) => inputs((of, given) => make(named(of), given), aws),
  ...(change && { change }),
});

/** One of a resource with tags: they change besides. */
const tagged = (type: string, inputs: HandlerCase["inputs"], change: Properties = {}): HandlerCase =>
  plain(type, async (...of) => ({ ...(await inputs(...of)), tags }), { ...change, tags: otherTags });

const policy = (...statements: object[]) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: statements.map((statement) => ({ Effect: "Allow", ...statement })),
  });
const trust = (service: string) => policy({ Principal: { Service: [service] }, Action: ["sts:AssumeRole"] });
const allow = (action: string) => policy({ Action: action, Resource: "*" });
const ofAccount = (Action: unknown) => ({
  Principal: { AWS: "arn:aws:iam::000000000000:root" },
  Action,
  Resource: "*",
});
const resourcePolicy = (...actions: string[]) => policy(ofAccount(actions));

/** A policy of a key that encrypts log groups in a region. */
export const logsKeyPolicy = (region: string, group = "*") =>
  policy(ofAccount("kms:*"), {
    Principal: { Service: `logs.${region}.amazonaws.com` },
    Action: ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
    Resource: "*",
    Condition: {
      ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:aws:logs:${region}:000000000000:log-group:${group}` },
    },
  });

const vpc = (make: Make) =>
  make("ec2/Vpc", { cidrBlock: "10.9.0.0/16", instanceTenancy: "default", enableDnsSupport: true });
const subnet = (make: Make, vpcId: string) => make("ec2/Subnet", { vpcId, cidrBlock: "10.9.1.0/24" });
/** Subnets in two zones, as RDS wants them. */
async function zoneSubnets(make: Make): Promise<string[]> {
  const vpcId = await vpc(make);
  const inZone = (zone: string, cidrBlock: string) =>
    make("ec2/Subnet", { vpcId, cidrBlock, availabilityZone: `us-east-1${zone}` });
  return [await inZone("a", "10.9.1.0/24"), await inZone("b", "10.9.2.0/24")];
}
const role = (make: Make) => {
  const settings = { name: "case-role", path: "/", maxSessionDuration: 3600 };
  return make("iam/Role", { ...settings, assumeRolePolicy: trust("ec2.amazonaws.com") });
};
const key = (make: Make) => make("kms/Key", { enableKeyRotation: false, deletionWindowInDays: 7 });
const secret = (make: Make, name: string) => make("secretsmanager/Secret", { name, recoveryWindowInDays: 0 });
const endpointIn = (make: Make, vpcId: string, service: string, more: Properties) =>
  make("ec2/VpcEndpoint", { vpcId, serviceName: `com.amazonaws.us-east-1.${service}`, ...more, tags });
const metadataOptions = { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 };

/** The table to which the case of an association moves its subnet. */
let otherTable = "";

export const cases: HandlerCase[] = [
  tagged("ec2/Vpc", async () => ({ cidrBlock: "10.8.0.0/16", enableDnsHostnames: true }), {
    enableDnsHostnames: false,
  }),
  tagged(
    "ec2/Subnet",
    async (make) => ({ vpcId: await vpc(make), cidrBlock: "10.9.4.0/24", availabilityZone: "us-east-1b" }),
    { mapPublicIpOnLaunch: true },
  ),
  tagged("ec2/InternetGateway", async (make) => ({ vpcId: await vpc(make) })),
  tagged("ec2/Eip", async () => ({ domain: "vpc" })),
  tagged("ec2/NatGateway", async (make) => ({
    subnetId: await subnet(make, await vpc(make)),
    allocationId: await make("ec2/Eip", { domain: "vpc" }),
  })),
  tagged("ec2/RouteTable", async (make) => ({ vpcId: await vpc(make) })),
  plain("ec2/Route", async (make) => {
    const vpcId = await vpc(make);
    const gatewayId = await make("ec2/InternetGateway", { vpcId });
    const routeTableId = await make("ec2/RouteTable", { vpcId });
    return { routeTableId, destinationCidrBlock: "0.0.0.0/0", gatewayId };
  }),
  plain(
    "ec2/RouteTableAssociation",
    async (make) => {
      const vpcId = await vpc(make);
      otherTable = await make("ec2/RouteTable", { vpcId });
      return { subnetId: await subnet(make, vpcId), routeTableId: await make("ec2/RouteTable", { vpcId }) };
    },
    // EC2 gives the association a new id.
    (inputs) => ({ ...inputs, routeTableId: otherTable }),
  ),
  tagged("ec2/DefaultSecurityGroup", async (make) => ({ vpcId: await vpc(make) })),
  tagged(
    "vpc/SecurityGroupIngressRule",
    async (make) => ({
      securityGroupId: await make("ec2/DefaultSecurityGroup", { vpcId: await vpc(make) }),
      ...{ ipProtocol: "tcp", fromPort: 443, toPort: 443, cidrIpv4: "10.0.0.0/8", description: "one" },
    }),
    { description: "two", toPort: 444 },
  ),
  tagged(
    "ec2/LaunchTemplate",
    async () => ({
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
      metadataOptions,
      tagSpecifications: [{ resourceType: "instance", tags }],
    }),
    { metadataOptions: { ...metadataOptions, httpPutResponseHopLimit: 2 } },
  ),
  tagged("ec2/FlowLog", async (make) => ({
    vpcId: await vpc(make),
    trafficType: "REJECT",
    iamRoleArn: `arn:aws:iam::000000000000:role/${await role(make)}`,
    logDestinationType: "cloud-watch-logs",
    logDestination: "arn:aws:logs:us-east-1:000000000000:log-group:case",
  })),
  tagged(
    "ec2/VpcEndpoint",
    async (make) => {
      const vpcId = await vpc(make);
      const routeTableIds = [await make("ec2/RouteTable", { vpcId })];
      return { vpcId, serviceName: "com.amazonaws.us-east-1.s3", vpcEndpointType: "Gateway", routeTableIds };
    },
    { routeTableIds: [] },
  ),
  plain("ec2/VpcEndpointRouteTableAssociation", async (make) => {
    const vpcId = await vpc(make);
    const vpcEndpointId = await endpointIn(make, vpcId, "s3", { vpcEndpointType: "Gateway", routeTableIds: [] });
    return { vpcEndpointId, routeTableId: await make("ec2/RouteTable", { vpcId }) };
  }),
  tagged("ec2transitgateway/VpcAttachment", async (make, aws) => {
    const vpcId = await vpc(make);
    const subnetIds = [await subnet(make, vpcId)];
    return { vpcId, subnetIds, transitGatewayId: await addTransitGateway(aws.client(EC2)) };
  }),
  plain("ec2/VpcIpv4CidrBlockAssociation", async (make) => ({ vpcId: await vpc(make), cidrBlock: "100.64.0.0/16" })),
  plain("ec2/VpcEndpointSubnetAssociation", async (make) => {
    const vpcId = await vpc(make);
    const subnetId = await subnet(make, vpcId);
    const settings = { vpcEndpointType: "Interface", privateDnsEnabled: false };
    return { vpcEndpointId: await endpointIn(make, vpcId, "sts", settings), subnetId };
  }),
  tagged(
    "iam/Role",
    async (make) => ({
      ...{ name: "case", path: "/cases/", assumeRolePolicy: trust("eks.amazonaws.com"), description: "one" },
      permissionsBoundary: await make("iam/Policy", { name: "case-boundary", path: "/", policy: allow("*") }),
    }),
    { assumeRolePolicy: trust("ec2.amazonaws.com"), description: "two", permissionsBoundary: undefined },
  ),
  plain("iam/RolePolicy", async (make) => ({ role: await role(make), name: "case", policy: allow("s3:GetObject") }), {
    policy: allow("s3:PutObject"),
  }),
  plain("iam/RolePolicyAttachment", async (make) => ({
    role: await role(make),
    policyArn: "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
  })),
  tagged("iam/Policy", async () => ({ name: "case", description: "one", policy: allow("s3:GetObject") }), {
    policy: allow("s3:PutObject"),
  }),
  // No change: ministack has neither AddClientIDToOpenIDConnectProvider nor UntagOpenIDConnectProvider.
  plain("iam/OpenIdConnectProvider", async () => ({
    url: "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
    clientIdLists: ["sts.amazonaws.com"],
    tags,
  })),
  tagged("kms/Key", async () => ({ description: "one", enableKeyRotation: true, deletionWindowInDays: 7 }), {
    description: "two",
    enableKeyRotation: false,
  }),
  plain("kms/Alias", async (make) => ({ name: "alias/case", targetKeyId: await key(make) })),
  plain("kms/KeyPolicy", async (make) => ({ keyId: await key(make), policy: resourcePolicy("kms:*") }), {
    policy: resourcePolicy("kms:*", "kms:Decrypt"),
  }),
  plain(
    "secretsmanager/SecretPolicy",
    async (make) => ({
      secretArn: await secret(make, "case/three"),
      policy: resourcePolicy("secretsmanager:GetSecretValue"),
      blockPublicPolicy: true,
    }),
    { policy: resourcePolicy("secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret") },
  ),
  tagged("secretsmanager/Secret", async () => ({ name: "case/one", description: "one", recoveryWindowInDays: 0 }), {
    description: "two",
  }),
  plain("secretsmanager/SecretVersion", async (make) => ({
    secretId: await secret(make, "case/two"),
    secretString: JSON.stringify({ identity: "not a real key" }),
  })),
  tagged(
    "cloudwatch/LogGroup",
    async (make) => {
      const id = await make("kms/Key", { policy: logsKeyPolicy("us-east-1"), deletionWindowInDays: 7 });
      const kmsKeyId = `arn:aws:kms:us-east-1:000000000000:key/${id}`;
      return { name: "/aws/eks/case/cluster", retentionInDays: 30, kmsKeyId };
    },
    { retentionInDays: 90, kmsKeyId: undefined },
  ),
  tagged("sqs/Queue", async () => ({ name: "case", visibilityTimeoutSeconds: 45 }), {
    visibilityTimeoutSeconds: 60,
    messageRetentionSeconds: 600,
  }),
  tagged("rds/SubnetGroup", async (make) => ({ name: "case", subnetIds: await zoneSubnets(make) }), {
    description: "Databases",
  }),
  tagged(
    "rds/Instance",
    async (make) => ({
      ...{ identifier: "case-main", engine: "postgres", instanceClass: "db.t4g.micro", allocatedStorage: 20 },
      ...{ username: "main", password: "case-password", storageEncrypted: true, backupRetentionPeriod: 7 },
      skipFinalSnapshot: true,
      dbSubnetGroupName: await make("rds/SubnetGroup", {
        name: "case-databases",
        subnetIds: await zoneSubnets(make),
      }),
    }),
    { allocatedStorage: 40, applyImmediately: true, backupRetentionPeriod: 14 },
  ),
  tagged("s3/Bucket", async () => ({ bucket: "case-000000000000" })),
  plain(
    "s3/BucketVersioning",
    async (make) => ({
      bucket: await make("s3/Bucket", { bucket: "case-versions-000000000000" }),
      versioningConfiguration: { status: "Enabled" },
    }),
    { versioningConfiguration: { status: "Suspended" } },
  ),
  tagged(
    "dynamodb/Table",
    async () => ({
      ...{ name: "case", billingMode: "PAY_PER_REQUEST", hashKey: "id", attributes: [{ name: "id", type: "S" }] },
      pointInTimeRecovery: { enabled: true },
      ttl: { enabled: true, attributeName: "expires" },
    }),
    { deletionProtectionEnabled: false, ttl: { enabled: false, attributeName: "expires" } },
  ),
];

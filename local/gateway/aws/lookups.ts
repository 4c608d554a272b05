import { randomInt } from "node:crypto";
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeNatGatewaysCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type IpPermission,
  type SecurityGroup,
} from "@aws-sdk/client-ec2";
import { GetOpenIDConnectProviderCommand, GetRoleCommand, GetUserCommand, IAMClient } from "@aws-sdk/client-iam";
import { DescribeKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { GetServiceQuotaCommand, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import type { Quota } from "../../product.ts";
import type { OidcProvider } from "../sts/token.ts";
import { type VpcNetwork, vpcNetwork } from "./peering.ts";

interface Role {
  readonly arn: string;
  readonly name: string;
  /** Parsed trust policy, as stored. */
  readonly trustPolicy: string;
}

interface Subnet {
  readonly id: string;
  readonly vpcId: string;
  readonly zone: string;
}

/** What the EKS API and STS look up in, or do to, other services: with the service's own rights, not the caller's. */
export interface AwsLookups {
  role(name: string): Promise<Role | undefined>;
  userArn(name: string): Promise<string | undefined>;
  oidcProvider(issuer: string): Promise<OidcProvider | undefined>;
  /** Those of the subnets that exist. */
  subnets(ids: readonly string[]): Promise<Subnet[]>;
  /** Public addresses of the NAT gateways of a VPC. */
  natAddresses(vpcId: string): Promise<string[]>;
  /** Blocks of a VPC, and its ways to other VPCs. */
  network(vpcId: string): Promise<VpcNetwork>;
  /** IPv4 blocks from which security groups admit a TCP port. */
  admittedCidrs(groupIds: readonly string[], port: number): Promise<string[]>;
  /** Those of the security groups that exist, as ids. */
  securityGroups(ids: readonly string[]): Promise<string[]>;
  /** Whether a KMS key exists and is enabled. */
  keyEnabled(arn: string): Promise<boolean>;
  /** The value of a quota that is in force. */
  quota(quota: Quota): Promise<number>;
  /** The cluster's own security group, made where missing; its id. */
  ensureClusterSecurityGroup(cluster: string, vpcId: string): Promise<string>;
  /** Removes the cluster's own security group, found by its tag, where there is one. */
  deleteClusterSecurityGroup(cluster: string, vpcId: string): Promise<void>;
}

export interface LookupOptions {
  /** URL of ministack. */
  readonly endpoint: string;
  readonly rootAccessKeyId: string;
  readonly region: string;
  readonly account: string;
  readonly partition: string;
}

/** Lookups with the root key, straight at ministack. */
export function awsLookups(options: LookupOptions): AwsLookups {
  const config = {
    endpoint: options.endpoint,
    region: options.region,
    // ministack checks no signature of its root: only the key id counts.
    credentials: { accessKeyId: options.rootAccessKeyId, secretAccessKey: "unused" },
  };
  const iam = new IAMClient(config);
  const ec2 = new EC2Client(config);
  const kms = new KMSClient(config);
  const serviceQuotas = new ServiceQuotasClient(config);
  return {
    role: (name) =>
      unlessMissing(async () => {
        const { Role: role } = await iam.send(new GetRoleCommand({ RoleName: name }));
        return {
          arn: role?.Arn ?? "",
          name: role?.RoleName ?? "",
          trustPolicy: decodeURIComponent(role?.AssumeRolePolicyDocument ?? ""),
        };
      }),
    userArn: (name) => unlessMissing(async () => (await iam.send(new GetUserCommand({ UserName: name }))).User?.Arn),
    oidcProvider: (issuer) =>
      unlessMissing(async () => {
        const arn = `arn:${options.partition}:iam::${options.account}:oidc-provider/${issuer.replace(/^https:\/\//, "")}`;
        const provider = await iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: arn }));
        return { clientIds: provider.ClientIDList ?? [] };
      }),
    subnets: async (ids) => {
      const found = await ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "subnet-id", Values: [...ids] }] }));
      return (found.Subnets ?? []).map((subnet) => ({
        id: subnet.SubnetId ?? "",
        vpcId: subnet.VpcId ?? "",
        zone: subnet.AvailabilityZone ?? "",
      }));
    },
    natAddresses: async (vpcId) => {
      const Filter = [
        { Name: "vpc-id", Values: [vpcId] },
        { Name: "state", Values: ["available"] },
      ];
      const found = await ec2.send(new DescribeNatGatewaysCommand({ Filter }));
      const addresses = (found.NatGateways ?? []).flatMap(({ NatGatewayAddresses = [] }) => NatGatewayAddresses);
      return addresses.flatMap(({ PublicIp }) => PublicIp ?? []);
    },
    network: (vpcId) => vpcNetwork(ec2, vpcId),
    admittedCidrs: async (groupIds, port) => {
      const rules = (await groupsOf(ec2, groupIds)).flatMap(({ IpPermissions = [] }) => IpPermissions);
      return rules
        .filter((rule) => admitsPort(rule, port))
        .flatMap(({ IpRanges = [] }) => IpRanges.flatMap(({ CidrIp }) => CidrIp ?? []));
    },
    securityGroups: async (ids) => (await groupsOf(ec2, ids)).map(({ GroupId = "" }) => GroupId),
    keyEnabled: async (arn) =>
      (await unlessMissing(() => kms.send(new DescribeKeyCommand({ KeyId: arn }))))?.KeyMetadata?.Enabled ?? false,
    quota: async ({ service, code, name }) => {
      const found = await serviceQuotas.send(new GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }));
      if (found.Quota?.Value === undefined) throw new Error(`Service Quotas gave no value of ${name} (${code})`);
      return found.Quota.Value;
    },
    ensureClusterSecurityGroup: (cluster, vpcId) => ensureClusterSecurityGroup(ec2, cluster, vpcId),
    deleteClusterSecurityGroup: async (cluster, vpcId) => {
      const id = await clusterSecurityGroup(ec2, cluster, vpcId);
      if (id !== undefined) await unlessMissing(() => ec2.send(new DeleteSecurityGroupCommand({ GroupId: id })));
    },
  };
}

/** Those of the groups that exist. */
async function groupsOf(ec2: EC2Client, ids: readonly string[]): Promise<SecurityGroup[]> {
  const Filters = [{ Name: "group-id", Values: [...ids] }];
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({ Filters }));
  // ministack takes no notice of this filter.
  return SecurityGroups.filter(({ GroupId = "" }) => ids.includes(GroupId));
}

/** Whether a rule is for a TCP port; protocol -1 is every protocol, with all its ports. */
function admitsPort({ IpProtocol, FromPort = 0, ToPort = 65_535 }: IpPermission, port: number): boolean {
  return IpProtocol === "-1" || (IpProtocol === "tcp" && FromPort <= port && port <= ToPort);
}

async function clusterSecurityGroup(ec2: EC2Client, cluster: string, vpcId: string): Promise<string | undefined> {
  const found = await ec2.send(
    new DescribeSecurityGroupsCommand({
      Filters: [
        { Name: "vpc-id", Values: [vpcId] },
        { Name: "tag:aws:eks:cluster-name", Values: [cluster] },
      ],
    }),
  );
  return found.SecurityGroups?.[0]?.GroupId;
}

async function ensureClusterSecurityGroup(ec2: EC2Client, cluster: string, vpcId: string): Promise<string> {
  const existing = await clusterSecurityGroup(ec2, cluster, vpcId);
  if (existing !== undefined) return existing;
  const name = `eks-cluster-sg-${cluster}-${randomInt(1e9)}`;
  const made = await ec2.send(
    new CreateSecurityGroupCommand({
      GroupName: name,
      VpcId: vpcId,
      Description:
        "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
      // With the call itself: a group without its tag would not be found again after a kill.
      TagSpecifications: [
        {
          ResourceType: "security-group",
          Tags: [
            { Key: "Name", Value: name },
            { Key: "aws:eks:cluster-name", Value: cluster },
            { Key: `kubernetes.io/cluster/${cluster}`, Value: "owned" },
          ],
        },
      ],
    }),
  );
  const id = made.GroupId ?? "";
  await ec2.send(
    new AuthorizeSecurityGroupIngressCommand({
      GroupId: id,
      IpPermissions: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: id }] }],
    }),
  );
  return id;
}

/** The codes with which IAM, KMS and EC2 say that something doesn't exist. */
const MISSING = /^(NoSuchEntity|NoSuchEntityException|NotFoundException|InvalidGroup\.NotFound)$/;

async function unlessMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && MISSING.test(error.name)) return undefined;
    throw error;
  }
}

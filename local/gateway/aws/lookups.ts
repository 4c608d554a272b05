import { randomInt } from "node:crypto";
import { EC2, type IpPermission, type SecurityGroup } from "@aws-sdk/client-ec2";
import { IAM, paginateListAttachedRolePolicies } from "@aws-sdk/client-iam";
import { KMS } from "@aws-sdk/client-kms";
import { ServiceQuotas } from "@aws-sdk/client-service-quotas";
import type { Quota } from "../../product.ts";
import type { rootCredentials } from "../key.ts";
import { launchedInstances } from "./instances.ts";
import { vpcNetwork } from "./peering.ts";
import { scalingGroups } from "./scaling-groups.ts";

/** What the EKS API and STS look up in, or do to, other services: with the service's own rights, not the caller's. */
export type AwsLookups = ReturnType<typeof awsLookups>;

interface LookupOptions extends Readonly<Record<"region" | "account" | "partition", string>> {
  /** Of the account's root. */
  readonly credentials: ReturnType<typeof rootCredentials>;
  /** URL of ministack. */
  readonly endpoint: string;
  /** Seconds in which a new role is not known here yet. */
  readonly newRolesUnknownSeconds: () => Promise<number>;
}

/** Lookups with the root key, straight at ministack. */
export function awsLookups(options: LookupOptions) {
  const config = {
    endpoint: options.endpoint,
    region: options.region,
    credentials: options.credentials,
  };
  const iam = new IAM(config);
  const ec2 = new EC2(config);
  const kms = new KMS(config);
  const serviceQuotas = new ServiceQuotas(config);
  return {
    ...scalingGroups(options),
    ...launchedInstances(options, ec2, iam),
    role: (name: string) =>
      unlessMissing(async () => {
        const { Role: role } = await iam.getRole({ RoleName: name });
        const age = (Date.now() - (role?.CreateDate?.getTime() ?? 0)) / 1000;
        if (age < (await options.newRolesUnknownSeconds())) return undefined;
        return {
          id: role?.RoleId ?? "",
          arn: role?.Arn ?? "",
          trustPolicy: decodeURIComponent(role?.AssumeRolePolicyDocument ?? ""),
        };
      }),
    /** Names of the managed policies that a role has. */
    attachedPolicies: async (name: string): Promise<string[]> => {
      const names: string[] = [];
      for await (const { AttachedPolicies = [] } of paginateListAttachedRolePolicies(
        { client: iam },
        { RoleName: name },
      ))
        names.push(...AttachedPolicies.flatMap(({ PolicyName }) => PolicyName ?? []));
      return names;
    },
    userArn: (name: string) => unlessMissing(async () => (await iam.getUser({ UserName: name })).User?.Arn),
    /** The IAM OIDC provider with this URL. */
    oidcProvider: (issuer: string) =>
      unlessMissing(async () => {
        const arn = `arn:${options.partition}:iam::${options.account}:oidc-provider/${issuer.replace(/^https:\/\//, "")}`;
        const provider = await iam.getOpenIDConnectProvider({ OpenIDConnectProviderArn: arn });
        return { clientIds: provider.ClientIDList ?? [] };
      }),
    /** Those of the subnets that exist. */
    subnets: async (ids: readonly string[]) => {
      const found = await ec2.describeSubnets({ Filters: [{ Name: "subnet-id", Values: [...ids] }] });
      return (found.Subnets ?? []).map((subnet) => ({
        id: subnet.SubnetId ?? "",
        vpcId: subnet.VpcId ?? "",
        zone: subnet.AvailabilityZone ?? "",
      }));
    },
    /** Public addresses of the NAT gateways of a VPC. */
    natAddresses: async (vpcId: string) => {
      const Filter = [
        { Name: "vpc-id", Values: [vpcId] },
        { Name: "state", Values: ["available"] },
      ];
      const found = await ec2.describeNatGateways({ Filter });
      const addresses = (found.NatGateways ?? []).flatMap(({ NatGatewayAddresses = [] }) => NatGatewayAddresses);
      return addresses.flatMap(({ PublicIp }) => PublicIp ?? []);
    },
    /** Blocks of a VPC, and its ways to other VPCs. */
    network: (vpcId: string) => vpcNetwork(ec2, vpcId),
    /** IPv4 blocks from which security groups admit a TCP port. */
    admittedCidrs: async (groupIds: readonly string[], port: number) => {
      const rules = (await groupsOf(ec2, groupIds)).flatMap(({ IpPermissions = [] }) => IpPermissions);
      return rules
        .filter((rule) => admitsPort(rule, port))
        .flatMap(({ IpRanges = [] }) => IpRanges.flatMap(({ CidrIp }) => CidrIp ?? []));
    },
    /** Those of the security groups that exist, as ids. */
    securityGroups: async (ids: readonly string[]) => (await groupsOf(ec2, ids)).map(({ GroupId = "" }) => GroupId),
    /** Whether a KMS key exists and is enabled. */
    keyEnabled: async (arn: string) =>
      (await unlessMissing(() => kms.describeKey({ KeyId: arn })))?.KeyMetadata?.Enabled ?? false,
    /** The value of a quota that is in force. */
    quota: async ({ service, code, name }: Quota) => {
      const found = await serviceQuotas.getServiceQuota({ ServiceCode: service, QuotaCode: code });
      if (found.Quota?.Value === undefined) throw new Error(`Service Quotas gave no value of ${name} (${code})`);
      return found.Quota.Value;
    },
    /** The cluster's own security group, made where missing; its id. */
    ensureClusterSecurityGroup: (cluster: string, vpcId: string) => ensureClusterSecurityGroup(ec2, cluster, vpcId),
    /** Removes the cluster's own security group, found by its tag, where there is one. */
    deleteClusterSecurityGroup: async (cluster: string, vpcId: string) => {
      const id = await clusterSecurityGroup(ec2, cluster, vpcId);
      if (id !== undefined) await unlessMissing(() => ec2.deleteSecurityGroup({ GroupId: id }));
    },
  };
}

/** Those of the groups that exist. */
async function groupsOf(ec2: EC2, ids: readonly string[]): Promise<SecurityGroup[]> {
  const Filters = [{ Name: "group-id", Values: [...ids] }];
  const { SecurityGroups = [] } = await ec2.describeSecurityGroups({ Filters });
  // ministack ignores this filter.
  return SecurityGroups.filter(({ GroupId = "" }) => ids.includes(GroupId));
}

/** Whether a rule is for a TCP port; protocol -1 is every protocol, with all its ports. */
function admitsPort({ IpProtocol, FromPort = 0, ToPort = 65_535 }: IpPermission, port: number): boolean {
  return IpProtocol === "-1" || (IpProtocol === "tcp" && FromPort <= port && port <= ToPort);
}

async function clusterSecurityGroup(ec2: EC2, cluster: string, vpcId: string): Promise<string | undefined> {
  const Filters = [
    { Name: "vpc-id", Values: [vpcId] },
    { Name: "tag:aws:eks:cluster-name", Values: [cluster] },
  ];
  return (await ec2.describeSecurityGroups({ Filters })).SecurityGroups?.[0]?.GroupId;
}

async function ensureClusterSecurityGroup(ec2: EC2, cluster: string, vpcId: string): Promise<string> {
  const existing = await clusterSecurityGroup(ec2, cluster, vpcId);
  if (existing !== undefined) return existing;
  const name = `eks-cluster-sg-${cluster}-${randomInt(1e9)}`;
  const tags = { Name: name, "aws:eks:cluster-name": cluster, [`kubernetes.io/cluster/${cluster}`]: "owned" };
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const { GroupId = "" } = await ec2.createSecurityGroup({
    GroupName: name,
    VpcId: vpcId,
    Description:
      "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
    // With the call itself: a group without its tag would not be found again after a kill.
    TagSpecifications: [{ ResourceType: "security-group", Tags }],
  });
  const IpPermissions = [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId }] }];
  await ec2.authorizeSecurityGroupIngress({ GroupId, IpPermissions });
  return GroupId;
}

/** The codes with which IAM, KMS and EC2 say that something doesn't exist; KMS answers so for keys of other accounts that are not shared. */
const MISSING = /^(NoSuchEntity|NoSuchEntityException|NotFoundException|AccessDeniedException|InvalidGroup\.NotFound)$/;

async function unlessMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && MISSING.test(error.name)) return undefined;
    throw error;
  }
}

import {
  DeleteNetworkInterfaceCommand,
  DeleteSecurityGroupCommand,
  EC2Client,
  type IpPermission,
  paginateDescribeNetworkInterfaces,
  paginateDescribeSecurityGroups,
  paginateDescribeVolumes,
  RevokeSecurityGroupIngressCommand,
} from "@aws-sdk/client-ec2";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { all, asking, tagsOf, unlessMissing } from "../aws-calls.ts";
import type { AwsConfig } from "../doctor/aws.ts";
import type { InVpc, Plan } from "./plan.ts";

export interface Sought {
  /** EKS name of the spoke's cluster. */
  readonly cluster: string;
  readonly vpc: string;
  readonly region: string;
}

export interface Found extends InVpc {
  readonly account: string;
  /** Whether EKS still has the cluster. */
  readonly hasCluster: boolean;
}

/** What AWS is asked, and has removed. */
export interface Aws {
  look(sought: Sought, config: AwsConfig): Promise<Found>;
  remove(sought: Sought, config: AwsConfig, plan: Pick<Plan, "interfaces" | "groups">): Promise<void>;
}

const policy = "docs/reference/deployer-policy/fleet-sweep.json";

export async function look({ cluster: name, vpc, region }: Sought, config: AwsConfig): Promise<Found> {
  const asked = asking(policy);
  const own = { ...config, region };
  const client = new EC2Client(own);
  const owned = `kubernetes.io/cluster/${name}`;
  const inVpc = [{ Name: "vpc-id", Values: [vpc] }];
  const ofCluster = [
    { Name: `tag:${owned}`, Values: ["owned"] },
    { Name: "status", Values: ["available"] },
  ];
  const [{ Account: account = "" }, found, interfaces, groups, volumes] = await Promise.all([
    asked("sts:GetCallerIdentity", () => new STSClient(own).send(new GetCallerIdentityCommand({}))),
    asked("eks:DescribeCluster", () => unlessMissing(new EKSClient(own).send(new DescribeClusterCommand({ name })))),
    asked("ec2:DescribeNetworkInterfaces", () =>
      all(paginateDescribeNetworkInterfaces({ client }, { Filters: inVpc }), (page) => page.NetworkInterfaces),
    ),
    asked("ec2:DescribeSecurityGroups", () =>
      all(paginateDescribeSecurityGroups({ client }, { Filters: inVpc }), (page) => page.SecurityGroups),
    ),
    asked("ec2:DescribeVolumes", () =>
      all(paginateDescribeVolumes({ client }, { Filters: ofCluster }), (page) => page.Volumes),
    ),
  ]);
  return {
    account,
    hasCluster: found !== undefined,
    // Also where the filters are not heeded, as by some endpoints that only look like AWS.
    interfaces: interfaces
      .filter(({ VpcId }) => VpcId === vpc)
      .map(({ NetworkInterfaceId: id = "", Description: description = "", Groups = [], Status, TagSet }) => ({
        ...{ id, description, tags: tagsOf(TagSet), isFree: Status === "available" },
        groups: Groups.flatMap(({ GroupId }) => GroupId ?? []),
      })),
    groups: groups
      .filter(({ GroupName, VpcId }) => VpcId === vpc && GroupName !== "default")
      .map(({ GroupId: id = "", GroupName = "", Description, IpPermissions: rules = [], Tags }) => ({
        ...{ id, description: `${GroupName}: ${Description ?? ""}`, tags: tagsOf(Tags), rules },
      })),
    volumes: volumes
      .map(({ VolumeId: id = "", Size, Tags }) => ({ id, description: `${Size ?? 0} GiB`, tags: tagsOf(Tags) }))
      .filter(({ tags }) => tags[owned] === "owned"),
  };
}

/** Rules that name one of these groups. */
const rulesNaming = (rules: readonly IpPermission[], ids: readonly string[]): IpPermission[] =>
  rules.flatMap(({ IpProtocol, FromPort, ToPort, UserIdGroupPairs = [] }) => {
    const pairs = UserIdGroupPairs.filter(({ GroupId = "" }) => ids.includes(GroupId));
    return pairs.length === 0 ? [] : [{ IpProtocol, FromPort, ToPort, UserIdGroupPairs: pairs }];
  });

/** Removes interfaces, then security groups, whose rules that name each other go first: they would keep one another. */
export async function remove(
  { region }: Sought,
  config: AwsConfig,
  { interfaces, groups }: Pick<Plan, "interfaces" | "groups">,
): Promise<void> {
  const asked = asking(policy, "What was removed before stays removed");
  const client = new EC2Client({ ...config, region });
  /** AWS or Crossplane may have been faster. */
  const gone = (action: string, call: () => Promise<unknown>) =>
    asked(action, () =>
      call().catch((error: Error) => (/\.NotFound$/.test(error.name) ? undefined : Promise.reject(error))),
    );
  for (const { id } of interfaces)
    await gone("ec2:DeleteNetworkInterface", () =>
      client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id })),
    );
  const ids = groups.map(({ id }) => id);
  for (const { id, rules } of groups) {
    const IpPermissions = rulesNaming(rules, ids);
    if (IpPermissions.length === 0) continue;
    await gone("ec2:RevokeSecurityGroupIngress", () =>
      client.send(new RevokeSecurityGroupIngressCommand({ GroupId: id, IpPermissions })),
    );
  }
  for (const id of ids)
    await gone("ec2:DeleteSecurityGroup", () => client.send(new DeleteSecurityGroupCommand({ GroupId: id })));
}

import { type EC2Client, paginateDescribeSecurityGroupRules } from "@aws-sdk/client-ec2";
import {
  type Cluster,
  DescribeClusterCommand,
  DescribePodIdentityAssociationCommand,
  type EKSClient,
  type PodIdentityAssociationSummary,
  paginateListNodegroups,
  paginateListPodIdentityAssociations,
} from "@aws-sdk/client-eks";
import { type IAMClient, ListOpenIDConnectProvidersCommand } from "@aws-sdk/client-iam";
import { clusterTag, identityTag, type Tags } from "../../lib/labels.ts";
import { type Ask, all, isTaggedFor, tagsOf, unlessMissing } from "../aws-calls.ts";

/** What AWS has of a spoke's cluster, by the cluster's name. */

export interface ClusterInAws {
  readonly tags: Tags;
  readonly version: string;
  readonly vpcId: string;
  /** Whether it has EKS Auto Mode. */
  readonly isAuto: boolean;
  /** ID of the key of its Kubernetes secrets. */
  readonly key: string | undefined;
  /** ARN of the IAM OIDC provider of its issuer, if there is one. */
  readonly oidcProvider: string | undefined;
  /** Names of its node groups. */
  readonly nodeGroups: readonly string[];
  /** IDs of the fleet's associations of EKS Pod Identity, by the role that they give. */
  readonly podIdentities: Readonly<Record<string, string>>;
  /** IDs of the fleet's rules that let networks in to its API, by network. */
  readonly rules: Readonly<Record<string, string>>;
}

/** Which cluster it is, of which spoke. */
export interface SpokeCluster {
  readonly fleet: string;
  readonly spoke: string;
  /** EKS name of its cluster. */
  readonly cluster: string;
}

const lastPart = (arn: string | undefined): string | undefined => arn?.split("/").at(-1);

async function providerOf(asked: Ask, iam: IAMClient, cluster: Cluster): Promise<string | undefined> {
  const issuer = cluster.identity?.oidc?.issuer?.replace(/^https:\/\//, "");
  const { OpenIDConnectProviderList = [] } = await asked("iam:ListOpenIDConnectProviders", () =>
    iam.send(new ListOpenIDConnectProvidersCommand({})),
  );
  return OpenIDConnectProviderList.flatMap(({ Arn }) => Arn ?? []).find((arn) =>
    arn.endsWith(`:oidc-provider/${issuer}`),
  );
}

const nodeGroupsOf = (asked: Ask, eks: EKSClient, clusterName: string): Promise<readonly string[]> =>
  asked("eks:ListNodegroups", () =>
    all(paginateListNodegroups({ client: eks }, { clusterName }), ({ nodegroups }) => nodegroups),
  );

/** The associations that the Composition made: its tags name the roles. */
async function podIdentitiesOf(
  asked: Ask,
  eks: EKSClient,
  { cluster: clusterName, fleet, spoke }: SpokeCluster,
): Promise<ClusterInAws["podIdentities"]> {
  const ids = await asked("eks:ListPodIdentityAssociations", () =>
    all(paginateListPodIdentityAssociations({ client: eks }, { clusterName }), ({ associations }) => associations),
  );
  const read = async ({ associationId = "" }: PodIdentityAssociationSummary) => {
    const { association } = await asked("eks:DescribePodIdentityAssociation", () =>
      eks.send(new DescribePodIdentityAssociationCommand({ clusterName, associationId })),
    );
    const { tags = {} } = association ?? {};
    const role = tags[identityTag];
    return role !== undefined && isTaggedFor({ fleet, cluster: spoke }, tags) ? [[role, associationId] as const] : [];
  };
  return Object.fromEntries((await Promise.all(ids.map(read))).flat());
}

/** The rules of the fleet for the private endpoint in the security group that EKS made. */
async function rulesOf(
  asked: Ask,
  ec2: EC2Client,
  group: string | undefined,
  spoke: string,
): Promise<ClusterInAws["rules"]> {
  if (group === undefined) return {};
  const Filters = [{ Name: "group-id", Values: [group] }];
  const rules = await asked("ec2:DescribeSecurityGroupRules", () =>
    all(paginateDescribeSecurityGroupRules({ client: ec2 }, { Filters }), (page) => page.SecurityGroupRules),
  );
  return Object.fromEntries(
    rules.flatMap(({ IsEgress, CidrIpv4, SecurityGroupRuleId, Tags }) =>
      IsEgress || CidrIpv4 === undefined || tagsOf(Tags)[clusterTag] !== spoke
        ? []
        : [[CidrIpv4, SecurityGroupRuleId ?? ""]],
    ),
  );
}

/** What EKS, IAM and EC2 have of the cluster; undefined where EKS has none of that name. */
export async function clusterOf(
  asked: Ask,
  { ec2, eks, iam }: { readonly ec2: EC2Client; readonly eks: EKSClient; readonly iam: IAMClient },
  sought: SpokeCluster,
): Promise<ClusterInAws | undefined> {
  const { cluster: name, spoke } = sought;
  const found = await asked("eks:DescribeCluster", () => unlessMissing(eks.send(new DescribeClusterCommand({ name }))));
  const cluster = found?.cluster;
  if (cluster === undefined) return undefined;
  const { computeConfig, encryptionConfig, resourcesVpcConfig, tags = {}, version = "" } = cluster;
  const [oidcProvider, nodeGroups, podIdentities, rules] = await Promise.all([
    providerOf(asked, iam, cluster),
    nodeGroupsOf(asked, eks, name),
    podIdentitiesOf(asked, eks, sought),
    rulesOf(asked, ec2, resourcesVpcConfig?.clusterSecurityGroupId, spoke),
  ]);
  const key = lastPart(encryptionConfig?.[0]?.provider?.keyArn);
  const vpcId = resourcesVpcConfig?.vpcId ?? "";
  const isAuto = computeConfig?.enabled === true;
  return { tags, version, vpcId, isAuto, key, oidcProvider, nodeGroups, podIdentities, rules };
}

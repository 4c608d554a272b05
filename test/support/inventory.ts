import { type CloudWatchLogsClient, paginateDescribeLogGroups } from "@aws-sdk/client-cloudwatch-logs";
import { type DynamoDBClient, paginateListTables } from "@aws-sdk/client-dynamodb";
import {
  DescribeAddressesCommand,
  type EC2Client,
  paginateDescribeFlowLogs,
  paginateDescribeInstances,
  paginateDescribeInternetGateways,
  paginateDescribeLaunchTemplates,
  paginateDescribeNatGateways,
  paginateDescribeNetworkInterfaces,
  paginateDescribeRouteTables,
  paginateDescribeSecurityGroups,
  paginateDescribeSubnets,
  paginateDescribeTransitGatewayVpcAttachments,
  paginateDescribeVolumes,
  paginateDescribeVpcEndpoints,
  paginateDescribeVpcs,
  type Tag,
} from "@aws-sdk/client-ec2";
import { type EKSClient, paginateListClusters } from "@aws-sdk/client-eks";
import {
  GetOpenIDConnectProviderCommand,
  type IAMClient,
  ListOpenIDConnectProvidersCommand,
  paginateListPolicies,
  paginateListRoles,
} from "@aws-sdk/client-iam";
import {
  DescribeKeyCommand,
  type KMSClient,
  ListResourceTagsCommand,
  paginateListAliases,
  paginateListKeys,
} from "@aws-sdk/client-kms";
import { paginateListSecrets, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { paginateListQueues, type SQSClient } from "@aws-sdk/client-sqs";
import type { Kind } from "./inventory-lines.ts";
import type { Scope, Tags } from "./inventory-scope.ts";

/** The clients of an account and region that an inventory asks. */
export interface Account {
  readonly cloudwatchlogs: CloudWatchLogsClient;
  readonly dynamodb: DynamoDBClient;
  readonly ec2: EC2Client;
  readonly eks: EKSClient;
  readonly iam: IAMClient;
  readonly kms: KMSClient;
  readonly secretsmanager: SecretsManagerClient;
  readonly sqs: SQSClient;
}

/**
 * What is in an account of a scope, as `<kind> <name>`. What waits for its deletion (a KMS key, a NAT gateway that is still shown)
 * counts as gone, but a secret does not: its name is taken.
 * @param everyKey every OIDC provider and customer managed key counts, whoever it is of: for an account that nobody else uses
 */
export async function inventoryOf(account: Account, scope: Scope, everyKey = false): Promise<string[]> {
  const found = await Promise.all([
    ofNetwork(account, scope),
    ofMachines(account, scope),
    ofNames(account, scope),
    ofProviders(account, everyKey ? { ...scope, tags: () => true } : scope),
    ofKeys(account, everyKey ? { ...scope, tags: () => true } : scope),
  ]);
  return found.flat().sort();
}

/** Of all pages what `pick` finds in each. */
async function gather<Page, Item>(
  pages: AsyncIterable<Page>,
  pick: (page: Page) => readonly Item[] | undefined,
): Promise<Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...(pick(page) ?? []));
  return found;
}

const tagsOf = (tags: readonly Tag[] = []): Tags => new Map(tags.map(({ Key = "", Value = "" }) => [Key, Value]));

interface Tagged {
  readonly Tags?: Tag[] | undefined;
}

async function ofNetwork({ ec2: client }: Account, scope: Scope): Promise<string[]> {
  const ec2 = { client };
  const ours = async <T extends Tagged>(kind: Kind, items: Promise<readonly T[]>, name: (item: T) => unknown) =>
    (await items).filter(({ Tags }) => scope.tags(tagsOf(Tags))).map((item) => `${kind} ${String(name(item))}`);
  const found = await Promise.all([
    ours(
      "VPC",
      gather(paginateDescribeVpcs(ec2, {}), ({ Vpcs }) => Vpcs),
      ({ VpcId }) => VpcId,
    ),
    ours(
      "subnet",
      gather(paginateDescribeSubnets(ec2, {}), ({ Subnets }) => Subnets),
      ({ SubnetId }) => SubnetId,
    ),
    ours(
      "internet gateway",
      gather(paginateDescribeInternetGateways(ec2, {}), ({ InternetGateways }) => InternetGateways),
      ({ InternetGatewayId }) => InternetGatewayId,
    ),
    ours(
      "NAT gateway",
      gather(paginateDescribeNatGateways(ec2, {}), ({ NatGateways }) =>
        NatGateways?.filter(({ State }) => State !== "deleted" && State !== "deleting"),
      ),
      ({ NatGatewayId }) => NatGatewayId,
    ),
    ours(
      "route table",
      gather(paginateDescribeRouteTables(ec2, {}), ({ RouteTables }) => RouteTables),
      ({ RouteTableId }) => RouteTableId,
    ),
    ours(
      "address",
      client.send(new DescribeAddressesCommand({})).then(({ Addresses = [] }) => Addresses),
      ({ AllocationId }) => AllocationId,
    ),
    ours(
      "VPC endpoint",
      gather(paginateDescribeVpcEndpoints(ec2, {}), ({ VpcEndpoints }) =>
        VpcEndpoints?.filter(({ State }) => String(State).toLowerCase() !== "deleted"),
      ),
      ({ VpcEndpointId }) => VpcEndpointId,
    ),
    ours(
      "transit gateway attachment",
      gather(paginateDescribeTransitGatewayVpcAttachments(ec2, {}), ({ TransitGatewayVpcAttachments }) =>
        TransitGatewayVpcAttachments?.filter(({ State }) => State !== "deleted"),
      ),
      ({ TransitGatewayAttachmentId }) => TransitGatewayAttachmentId,
    ),
    ours(
      "flow log",
      gather(paginateDescribeFlowLogs(ec2, {}), ({ FlowLogs }) => FlowLogs),
      ({ FlowLogId }) => FlowLogId,
    ),
    ours(
      "security group",
      gather(paginateDescribeSecurityGroups(ec2, {}), ({ SecurityGroups }) => SecurityGroups),
      ({ GroupName }) => GroupName,
    ),
    ours(
      "network interface",
      gather(paginateDescribeNetworkInterfaces(ec2, {}), ({ NetworkInterfaces }) =>
        // Tags have another name here.
        NetworkInterfaces?.map((each) => ({ ...each, Tags: each.TagSet })),
      ),
      ({ NetworkInterfaceId }) => NetworkInterfaceId,
    ),
  ]);
  return found.flat();
}

async function ofMachines({ ec2: client }: Account, scope: Scope): Promise<string[]> {
  const ec2 = { client };
  const [instances, volumes, templates] = await Promise.all([
    gather(paginateDescribeInstances(ec2, {}), ({ Reservations }) =>
      Reservations?.flatMap((each) => each.Instances ?? []),
    ),
    gather(paginateDescribeVolumes(ec2, {}), ({ Volumes }) => Volumes),
    gather(paginateDescribeLaunchTemplates(ec2, {}), ({ LaunchTemplates }) => LaunchTemplates),
  ]);
  const isOurs = ({ Tags }: Tagged) => scope.tags(tagsOf(Tags));
  return [
    // An instance is shown for about an hour after its end.
    ...instances
      .filter((each) => isOurs(each) && each.State?.Name !== "terminated")
      .map(({ InstanceId }) => `instance ${InstanceId}`),
    ...volumes.filter(isOurs).map(({ VolumeId }) => `volume ${VolumeId}`),
    ...templates.filter(isOurs).map(({ LaunchTemplateName }) => `launch template ${LaunchTemplateName}`),
  ];
}

/** What has a name that its fleet chose. */
async function ofNames(account: Account, scope: Scope): Promise<string[]> {
  const { cloudwatchlogs, dynamodb, eks, iam, kms, secretsmanager, sqs } = account;
  const named = async (kind: Kind, names: Promise<readonly (string | undefined)[]>) =>
    (await names).filter((name) => name !== undefined && scope.name(name)).map((name) => `${kind} ${name}`);
  const found = await Promise.all([
    named(
      "cluster",
      gather(paginateListClusters({ client: eks }, {}), ({ clusters }) => clusters),
    ),
    named(
      "role",
      gather(paginateListRoles({ client: iam }, {}), ({ Roles }) => Roles?.map(({ RoleName }) => RoleName)),
    ),
    named(
      "policy",
      gather(paginateListPolicies({ client: iam }, { Scope: "Local" }), ({ Policies }) =>
        Policies?.map(({ PolicyName }) => PolicyName),
      ),
    ),
    named(
      "alias",
      gather(paginateListAliases({ client: kms }, {}), ({ Aliases }) => Aliases?.map(({ AliasName }) => AliasName)),
    ),
    named(
      "secret",
      gather(paginateListSecrets({ client: secretsmanager }, { IncludePlannedDeletion: true }), ({ SecretList }) =>
        SecretList?.map(({ Name }) => Name),
      ),
    ),
    named(
      "log group",
      gather(paginateDescribeLogGroups({ client: cloudwatchlogs }, { logGroupNamePrefix: "/aws/eks/" }), (page) =>
        page.logGroups?.map(({ logGroupName }) => logGroupName),
      ),
    ),
    named(
      "table",
      gather(paginateListTables({ client: dynamodb }, {}), ({ TableNames }) => TableNames),
    ),
    named(
      "queue",
      // Without MaxResults SQS gives one page only.
      gather(paginateListQueues({ client: sqs }, { MaxResults: 1000 }), ({ QueueUrls }) =>
        QueueUrls?.map((url) => url.split("/").at(-1)),
      ),
    ),
  ]);
  return found.flat();
}

async function ofProviders({ iam }: Account, scope: Scope): Promise<string[]> {
  const { OpenIDConnectProviderList = [] } = await iam.send(new ListOpenIDConnectProvidersCommand({}));
  const found = await Promise.all(
    OpenIDConnectProviderList.map(async ({ Arn: OpenIDConnectProviderArn }) => {
      const { Tags } = await iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
      const tags = tagsOf(Tags?.map(({ Key, Value }) => ({ Key, Value })));
      return scope.tags(tags) ? [`OIDC provider ${OpenIDConnectProviderArn}`] : [];
    }),
  );
  return found.flat();
}

async function ofKeys({ kms }: Account, scope: Scope): Promise<string[]> {
  const keys = await gather(paginateListKeys({ client: kms }, {}), ({ Keys }) => Keys);
  const found = await Promise.all(
    keys.map(async ({ KeyId = "" }) => ((await isOurKey(kms, KeyId, scope)) ? [`key ${KeyId}`] : [])),
  );
  return found.flat();
}

async function isOurKey(kms: KMSClient, KeyId: string, scope: Scope): Promise<boolean> {
  try {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
    if (KeyMetadata?.KeyManager !== "CUSTOMER" || KeyMetadata.KeyState === "PendingDeletion") return false;
    if (scope.name(KeyMetadata.Description ?? "")) return true;
    const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId }));
    return scope.tags(new Map(Tags.map(({ TagKey = "", TagValue = "" }) => [TagKey, TagValue])));
  } catch (error) {
    // A key policy of others that does not let the account's IAM decide; the fleet's keys all do.
    if ((error as Error).name === "AccessDeniedException") return false;
    throw error;
  }
}

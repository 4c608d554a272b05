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

/** An item of EC2; a network interface has its tags as TagSet. */
type Item = Tagged & { readonly TagSet?: Tag[] | undefined; readonly State?: string | undefined };

const isThere = ({ State = "" }: Item) => !["deleted", "deleting"].includes(State);

async function ofNetwork({ ec2: client }: Account, scope: Scope): Promise<string[]> {
  const ec2 = { client };
  /** @param list the member of a page with the items @param name the member of an item that names it */
  async function ours<Page>(
    kind: Kind,
    pages: AsyncIterable<Page>,
    list: keyof Page,
    name: string,
    counts: (item: Item) => boolean = () => true,
  ): Promise<string[]> {
    const items = await gather(pages, (page) => page[list] as readonly Item[] | undefined);
    return items
      .filter((item) => counts(item) && scope.tags(tagsOf(item.Tags ?? item.TagSet)))
      .map((item) => `${kind} ${String((item as Readonly<Record<string, unknown>>)[name])}`);
  }
  async function* addresses() {
    yield await client.send(new DescribeAddressesCommand({}));
  }
  const isListed = ({ State = "" }: Item) => State.toLowerCase() !== "deleted";
  const attachments = paginateDescribeTransitGatewayVpcAttachments(ec2, {});
  const found = await Promise.all([
    ours("VPC", paginateDescribeVpcs(ec2, {}), "Vpcs", "VpcId"),
    ours("subnet", paginateDescribeSubnets(ec2, {}), "Subnets", "SubnetId"),
    ours("internet gateway", paginateDescribeInternetGateways(ec2, {}), "InternetGateways", "InternetGatewayId"),
    ours("NAT gateway", paginateDescribeNatGateways(ec2, {}), "NatGateways", "NatGatewayId", isThere),
    ours("route table", paginateDescribeRouteTables(ec2, {}), "RouteTables", "RouteTableId"),
    ours("address", addresses(), "Addresses", "AllocationId"),
    ours("VPC endpoint", paginateDescribeVpcEndpoints(ec2, {}), "VpcEndpoints", "VpcEndpointId", isListed),
    ours(
      "transit gateway attachment",
      attachments,
      "TransitGatewayVpcAttachments",
      "TransitGatewayAttachmentId",
      isListed,
    ),
    ours("flow log", paginateDescribeFlowLogs(ec2, {}), "FlowLogs", "FlowLogId"),
    ours("security group", paginateDescribeSecurityGroups(ec2, {}), "SecurityGroups", "GroupName"),
    ours("network interface", paginateDescribeNetworkInterfaces(ec2, {}), "NetworkInterfaces", "NetworkInterfaceId"),
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
  /** @param list the member of a page with the names, or with items whose member `name` has them */
  async function named<Page>(kind: Kind, pages: AsyncIterable<Page>, list: keyof Page, name?: string) {
    const items = await gather(pages, (page) => page[list] as readonly unknown[] | undefined);
    const names = items.map((item) => (name === undefined ? item : (item as Record<string, unknown>)[name]));
    return names
      .filter((each) => typeof each === "string")
      .map((each) => (kind === "queue" ? (each.split("/").at(-1) ?? "") : each))
      .filter((each) => scope.name(each))
      .map((each) => `${kind} ${each}`);
  }
  const secrets = paginateListSecrets({ client: secretsmanager }, { IncludePlannedDeletion: true });
  const logs = paginateDescribeLogGroups({ client: cloudwatchlogs }, { logGroupNamePrefix: "/aws/eks/" });
  const found = await Promise.all([
    named("cluster", paginateListClusters({ client: eks }, {}), "clusters"),
    named("role", paginateListRoles({ client: iam }, {}), "Roles", "RoleName"),
    named("policy", paginateListPolicies({ client: iam }, { Scope: "Local" }), "Policies", "PolicyName"),
    named("alias", paginateListAliases({ client: kms }, {}), "Aliases", "AliasName"),
    named("secret", secrets, "SecretList", "Name"),
    named("log group", logs, "logGroups", "logGroupName"),
    named("table", paginateListTables({ client: dynamodb }, {}), "TableNames"),
    // Without MaxResults SQS gives one page only.
    named("queue", paginateListQueues({ client: sqs }, { MaxResults: 1000 }), "QueueUrls"),
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

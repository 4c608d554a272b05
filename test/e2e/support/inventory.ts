import { DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import {
  DescribeAddressesCommand,
  DescribeInternetGatewaysCommand,
  DescribeLaunchTemplatesCommand,
  DescribeNatGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
  type Tag,
} from "@aws-sdk/client-ec2";
import { ListClustersCommand } from "@aws-sdk/client-eks";
import {
  GetOpenIDConnectProviderCommand,
  ListOpenIDConnectProvidersCommand,
  ListPoliciesCommand,
  ListRolesCommand,
} from "@aws-sdk/client-iam";
import { DescribeKeyCommand, ListAliasesCommand, ListKeysCommand } from "@aws-sdk/client-kms";
import { ListSecretsCommand } from "@aws-sdk/client-secrets-manager";
import { ListQueuesCommand } from "@aws-sdk/client-sqs";
import { clusterTag, fleetTag } from "../../../lib/labels.ts";
import { account } from "./fleet.ts";

type Tags = readonly Tag[] | undefined;

/** What is looked for: by tags in EC2 and of OIDC providers, by names elsewhere, keys by their descriptions. */
interface Scope {
  readonly tags: (tags: ReadonlyMap<string, string>) => boolean;
  /** Whether `name` begins with what all names of this scope begin with. */
  readonly name: (name: string) => boolean;
}

/**
 * Everything of the fleet in the emulated account, as `<kind> <name>`: by its tag in EC2, by its names elsewhere, and every OIDC
 * provider and customer managed key. What waits for its deletion (a KMS key, a NAT gateway that is still shown) counts as gone.
 */
export function inventory(fleet: string): Promise<string[]> {
  return inventoryOf(
    {
      tags: (tags) => tags.get(fleetTag) === fleet || tags.get(eksTag)?.startsWith(`${fleet}-`) === true,
      name: (name) => new RegExp(`^(alias/|/aws/eks/)?${fleet}[-/]`).test(name),
    },
    true,
  );
}

/** {@link inventory} of one spoke alone, with what its applications ordered. Names that begin with `<spoke>-` count too. */
export function spokeInventory(fleet: string, spoke: string): Promise<string[]> {
  const cluster = `${fleet}-spoke-${spoke}`;
  return inventoryOf(
    {
      tags: (tags) => tags.get(clusterTag) === spoke || tags.get(eksTag) === cluster,
      name: (name) => new RegExp(`^(alias/|/aws/eks/|Kubernetes secrets of )?${cluster}([-_/]|$)`).test(name),
    },
    false,
  );
}

async function inventoryOf(scope: Scope, whole: boolean): Promise<string[]> {
  const [network, others] = await Promise.all([networkOf(scope), othersOf(scope, whole)]);
  return [...network, ...others].sort();
}

/** EKS puts it on what it makes itself. */
const eksTag = "aws:eks:cluster-name";

async function networkOf(scope: Scope): Promise<string[]> {
  const { ec2 } = account;
  const isOurs = (tags: Tags) => scope.tags(new Map(tags?.map(({ Key = "", Value = "" }) => [Key, Value])));
  const [vpcs, subnets, gateways, nats, tables, addresses, templates, endpoints, groups] = await Promise.all([
    ec2.send(new DescribeVpcsCommand({})),
    ec2.send(new DescribeSubnetsCommand({})),
    ec2.send(new DescribeInternetGatewaysCommand({})),
    ec2.send(new DescribeNatGatewaysCommand({})),
    ec2.send(new DescribeRouteTablesCommand({})),
    ec2.send(new DescribeAddressesCommand({})),
    ec2.send(new DescribeLaunchTemplatesCommand({})),
    ec2.send(new DescribeVpcEndpointsCommand({})),
    ec2.send(new DescribeSecurityGroupsCommand({})),
  ]);
  const found: readonly (readonly [kind: string, id: string | undefined, tags: Tags])[] = [
    ...(vpcs.Vpcs ?? []).map(({ VpcId, Tags }) => ["VPC", VpcId, Tags] as const),
    ...(subnets.Subnets ?? []).map(({ SubnetId, Tags }) => ["subnet", SubnetId, Tags] as const),
    ...(gateways.InternetGateways ?? []).map(
      ({ InternetGatewayId, Tags }) => ["internet gateway", InternetGatewayId, Tags] as const,
    ),
    ...(nats.NatGateways ?? [])
      .filter(({ State }) => State !== "deleted" && State !== "deleting")
      .map(({ NatGatewayId, Tags }) => ["NAT gateway", NatGatewayId, Tags] as const),
    ...(tables.RouteTables ?? []).map(({ RouteTableId, Tags }) => ["route table", RouteTableId, Tags] as const),
    ...(addresses.Addresses ?? []).map(({ AllocationId, Tags }) => ["address", AllocationId, Tags] as const),
    ...(templates.LaunchTemplates ?? []).map(
      ({ LaunchTemplateName, Tags }) => ["launch template", LaunchTemplateName, Tags] as const,
    ),
    ...(endpoints.VpcEndpoints ?? [])
      .filter(({ State }) => String(State).toLowerCase() !== "deleted")
      .map(({ VpcEndpointId, Tags }) => ["VPC endpoint", VpcEndpointId, Tags] as const),
    ...(groups.SecurityGroups ?? []).map(({ GroupName, Tags }) => ["security group", GroupName, Tags] as const),
  ];
  return found.filter(([, , tags]) => isOurs(tags)).map(([kind, id = ""]) => `${kind} ${id}`);
}

async function othersOf(scope: Scope, whole: boolean): Promise<string[]> {
  const { cloudwatchlogs, dynamodb, eks, iam, kms, secretsmanager, sqs } = account;
  const [clusters, roles, policies, providers, keys, aliases, secrets, groups, tables, queues] = await Promise.all([
    eks.send(new ListClustersCommand({})),
    iam.send(new ListRolesCommand({ MaxItems: 1000 })),
    iam.send(new ListPoliciesCommand({ Scope: "Local", MaxItems: 1000 })),
    iam.send(new ListOpenIDConnectProvidersCommand({})),
    kms.send(new ListKeysCommand({})),
    kms.send(new ListAliasesCommand({})),
    secretsmanager.send(new ListSecretsCommand({ IncludePlannedDeletion: true, MaxResults: 100 })),
    cloudwatchlogs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: "/aws/eks/" })),
    dynamodb.send(new ListTablesCommand({})),
    sqs.send(new ListQueuesCommand({})),
  ]);
  const described = await Promise.all(
    (keys.Keys ?? []).map(async ({ KeyId }) => (await kms.send(new DescribeKeyCommand({ KeyId }))).KeyMetadata),
  );
  const tagged = await Promise.all(
    (providers.OpenIDConnectProviderList ?? []).map(async ({ Arn: OpenIDConnectProviderArn }) => {
      const { Tags = [] } = await iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
      return [OpenIDConnectProviderArn, new Map(Tags.map(({ Key = "", Value = "" }) => [Key, Value]))] as const;
    }),
  );
  const named = (kind: string, names: readonly (string | undefined)[] = []) =>
    names.filter((name) => name !== undefined && scope.name(name)).map((name) => `${kind} ${name}`);
  return [
    ...named("cluster", clusters.clusters),
    ...named(
      "role",
      roles.Roles?.map(({ RoleName }) => RoleName),
    ),
    ...named(
      "policy",
      policies.Policies?.map(({ PolicyName }) => PolicyName),
    ),
    ...tagged.filter(([, tags]) => whole || scope.tags(tags)).map(([arn]) => `OIDC provider ${arn}`),
    ...described
      .filter((key) => key?.KeyManager === "CUSTOMER" && key.KeyState !== "PendingDeletion")
      .filter((key) => whole || scope.name(key?.Description ?? ""))
      .map((key) => `key ${key?.KeyId}`),
    ...named(
      "alias",
      aliases.Aliases?.map(({ AliasName }) => AliasName),
    ),
    ...named(
      "secret",
      secrets.SecretList?.map(({ Name }) => Name),
    ),
    ...named(
      "log group",
      groups.logGroups?.map(({ logGroupName }) => logGroupName),
    ),
    ...named("table", tables.TableNames),
    ...named(
      "queue",
      queues.QueueUrls?.map((url) => url.split("/").at(-1)),
    ),
  ];
}

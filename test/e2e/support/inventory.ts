import { DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
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
import { ListOpenIDConnectProvidersCommand, ListPoliciesCommand, ListRolesCommand } from "@aws-sdk/client-iam";
import { DescribeKeyCommand, ListAliasesCommand, ListKeysCommand } from "@aws-sdk/client-kms";
import { ListSecretsCommand } from "@aws-sdk/client-secrets-manager";
import { fleetTag } from "../../../lib/labels.ts";
import { account } from "./fleet.ts";

type Tags = readonly Tag[] | undefined;

/**
 * Everything of the fleet in the emulated account, as `<kind> <name>`: by its tag in EC2, by its names elsewhere, and every customer
 * managed key. What waits for its deletion (a KMS key, a NAT gateway that is still shown) counts as gone.
 */
export async function inventory(fleet: string): Promise<string[]> {
  const [network, others] = await Promise.all([networkOf(fleet), othersOf(fleet)]);
  return [...network, ...others].sort();
}

async function networkOf(fleet: string): Promise<string[]> {
  const { ec2 } = account;
  const isOurs = (tags: Tags) =>
    tags?.some(
      ({ Key, Value = "" }) =>
        (Key === fleetTag && Value === fleet) || (Key === "aws:eks:cluster-name" && Value.startsWith(`${fleet}-`)),
    ) === true;
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

async function othersOf(fleet: string): Promise<string[]> {
  const { cloudwatchlogs, eks, iam, kms, secretsmanager } = account;
  const [clusters, roles, policies, providers, keys, aliases, secrets, groups] = await Promise.all([
    eks.send(new ListClustersCommand({})),
    iam.send(new ListRolesCommand({ MaxItems: 1000 })),
    iam.send(new ListPoliciesCommand({ Scope: "Local", MaxItems: 1000 })),
    iam.send(new ListOpenIDConnectProvidersCommand({})),
    kms.send(new ListKeysCommand({})),
    kms.send(new ListAliasesCommand({})),
    secretsmanager.send(new ListSecretsCommand({ IncludePlannedDeletion: true, MaxResults: 100 })),
    cloudwatchlogs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: `/aws/eks/${fleet}-` })),
  ]);
  const described = await Promise.all(
    (keys.Keys ?? []).map(async ({ KeyId }) => (await kms.send(new DescribeKeyCommand({ KeyId }))).KeyMetadata),
  );
  const named = (kind: string, prefix: string, names: readonly (string | undefined)[]) =>
    names.filter((name) => name?.startsWith(prefix)).map((name) => `${kind} ${name}`);
  return [
    ...(clusters.clusters ?? []).map((name) => `cluster ${name}`),
    ...named("role", `${fleet}-`, roles.Roles?.map(({ RoleName }) => RoleName) ?? []),
    ...named("policy", `${fleet}-`, policies.Policies?.map(({ PolicyName }) => PolicyName) ?? []),
    ...(providers.OpenIDConnectProviderList ?? []).map(({ Arn }) => `OIDC provider ${Arn}`),
    ...described
      .filter((key) => key?.KeyManager === "CUSTOMER" && key.KeyState !== "PendingDeletion")
      .map((key) => `key ${key?.KeyId}`),
    ...named("alias", `alias/${fleet}-`, aliases.Aliases?.map(({ AliasName }) => AliasName) ?? []),
    ...named("secret", `${fleet}/`, secrets.SecretList?.map(({ Name }) => Name) ?? []),
    ...(groups.logGroups ?? []).map(({ logGroupName }) => `log group ${logGroupName}`),
  ];
}

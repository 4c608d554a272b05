import {
  DescribeSubnetsCommand,
  DescribeVpcBlockPublicAccessExclusionsCommand,
  DescribeVpcBlockPublicAccessOptionsCommand,
  EC2Client,
  paginateDescribeVpcs,
  type Subnet,
} from "@aws-sdk/client-ec2";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Readable } from "../../infra/settings.ts";
import { clusterTag, fleetTag } from "../../lib/labels.ts";
import { hubName } from "../../lib/names.ts";
import { type AwsConfig, untold } from "./aws.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const title = (region: string) => `VPC Block Public Access in ${region}`;
const guide = "docs/guides/aws-account.md#in-an-organization";

/** The command that lets a VPC reach the internet again. */
const exclude = (region: string, vpcId: string) =>
  `aws ec2 create-vpc-block-public-access-exclusion --region ${region} --vpc-id ${vpcId} --internet-gateway-exclusion-mode allow-egress`;

/**
 * What a mode of VPC Block Public Access means for the hub (EC2 API Reference, VpcBlockPublicAccessOptions): `block-bidirectional` blocks
 * internet gateways, and so NAT gateways too; `block-ingress` leaves NAT gateways alone.
 */
function ofHub(region: string, mode: string, { vpcId, natGateways = "single" }: Readable): Finding[] {
  const name = title(region);
  if (mode === "block-bidirectional" && vpcId)
    return [
      note(
        name,
        `${mode}: nodes in ${vpcId} reach the internet only by a way that is no internet gateway of this account`,
        `route them over a transit gateway, or exclude the VPC: ${exclude(region, vpcId)}`,
      ),
    ];
  if (mode === "block-bidirectional")
    return [
      wrong(
        name,
        `${mode}: the NAT gateways of the VPC that the stack makes reach nothing, so nodes can neither pull images nor read Git`,
        `set vpcId to a VPC with another way out, or to one that is excluded: ${exclude(region, "<VPC>")}`,
      ),
    ];
  if (natGateways === "none" && !vpcId)
    return [
      wrong(
        name,
        `${mode}: it blocks nodes with public addresses of their own, which natGateways none gives them`,
        "pulumi config set natGateways single",
      ),
    ];
  return [];
}

/** What the mode means for every spoke with a VPC of its own. */
const ofSpokes = (region: string, mode: string): Finding =>
  mode === "block-bidirectional"
    ? note(
        title(region),
        `${mode}: a spoke with a VPC of its own reaches nothing`,
        `give spokes network.existing in a VPC with another way out, or natGateways: isolated (${guide})`,
      )
    : note(
        title(region),
        `${mode}: internet-facing load balancers can't be reached, and spokes with natGateways: none reach nothing`,
        `use NAT gateways and internal load balancers (${guide})`,
      );

/** The VPC of the hub: the one that the stack names, or that it has made. */
async function hubVpc(ec2: EC2Client, { vpcId, fleet }: Readable): Promise<string | undefined> {
  if (vpcId) return vpcId;
  const Filters = Object.entries({ [fleetTag]: fleet, [clusterTag]: hubName }).map(([key, value]) => ({
    Name: `tag:${key}`,
    Values: [value ?? ""],
  }));
  for await (const { Vpcs } of paginateDescribeVpcs({ client: ec2 }, { Filters }))
    for (const { VpcId } of Vpcs ?? []) return VpcId;
  return undefined;
}

/** Whether an exclusion lets the VPC reach the internet. */
async function isExcluded(ec2: EC2Client, vpcId: string | undefined): Promise<boolean> {
  if (vpcId === undefined) return false;
  const { VpcBlockPublicAccessExclusions = [] } = await ec2.send(new DescribeVpcBlockPublicAccessExclusionsCommand({}));
  return VpcBlockPublicAccessExclusions.some(
    ({ ResourceArn, State }) =>
      ResourceArn?.endsWith(`:vpc/${vpcId}`) && /^(create|update)-complete$/.test(State ?? ""),
  );
}

/** Whether the region lets clusters reach the internet. A region that the organization denies fails here, for spokes' regions too. */
async function checkRegion({ settings, region: own }: Stack, region: string, config: AwsConfig): Promise<Finding[]> {
  const ec2 = new EC2Client({ ...config, region });
  try {
    const { VpcBlockPublicAccessOptions } = await ec2.send(new DescribeVpcBlockPublicAccessOptionsCommand({}));
    const mode = VpcBlockPublicAccessOptions?.InternetGatewayBlockMode ?? "off";
    if (mode === "off") return [ok(title(region), mode)];
    const excluded = region !== own || (await isExcluded(ec2, await hubVpc(ec2, settings)));
    return [...(excluded ? [] : ofHub(region, mode, settings)), ofSpokes(region, mode)];
  } catch (error) {
    return [
      untold(
        title(region),
        error,
        "ec2:DescribeVpcBlockPublicAccessOptions, ec2:DescribeVpcBlockPublicAccessExclusions and ec2:DescribeVpcs",
      ),
    ];
  }
}

const idsOf = (subnets: readonly Subnet[]): string => subnets.map(({ SubnetId }) => SubnetId).join(", ");

/** What is wrong with the subnets that the stack names, of an account. */
function judged(subnets: readonly Subnet[], account: string | undefined, settings: Readable): Finding[] {
  const name = "subnets of the hub";
  const { vpcId, privateSubnetIds = [] } = settings;
  const elsewhere = subnets.filter(({ VpcId }) => VpcId !== vpcId);
  const zones = new Set(
    subnets
      .filter(({ SubnetId = "" }) => privateSubnetIds.includes(SubnetId))
      .map(({ AvailabilityZone }) => AvailabilityZone),
  );
  const shared = subnets.filter(({ OwnerId }) => OwnerId !== account);
  const owners = [...new Set(shared.map(({ OwnerId }) => OwnerId))].join(", ");
  const found = [
    ...(elsewhere.length > 0
      ? [wrong(name, `${idsOf(elsewhere)} are not in ${vpcId}`, "name subnets of one VPC, or change vpcId")]
      : []),
    ...(zones.size < 2
      ? [wrong(name, `privateSubnetIds are all in ${[...zones].join()}`, "EKS needs subnets in two availability zones")]
      : []),
    ...(shared.length > 0
      ? [
          note(
            name,
            `AWS RAM shares ${idsOf(shared)} of account ${owners}: the hub can be there, spokes can't, because the owner's tags are not visible here`,
            `ask ${owners} to tag them for load balancers, and give spokes VPCs of their own account (${guide})`,
          ),
        ]
      : []),
  ];
  return found.length > 0 ? found : [ok(name, `in ${zones.size} zones of ${vpcId}`)];
}

async function checkSubnets({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  if (!settings.vpcId || region === undefined) return [];
  const SubnetIds = [...(settings.privateSubnetIds ?? []), ...(settings.publicSubnetIds ?? [])];
  // Without IDs, EC2 describes all subnets of the region; the configuration's own rules require some.
  if (SubnetIds.length === 0) return [];
  const ec2 = new EC2Client({ ...config, region });
  try {
    const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds }));
    const { Account } = await new STSClient({ ...config, region }).send(new GetCallerIdentityCommand({}));
    return judged(Subnets, Account, settings);
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== "InvalidSubnetID.NotFound") return [untold("subnets of the hub", error, "ec2:DescribeSubnets")];
    const todo = "name subnets of the stack's region and account, or have their owner share them by AWS RAM";
    return [wrong("subnets of the hub", message, todo)];
  }
}

/** A proxy of this machine, which nothing in AWS has. */
export function checkProxy(env: Readonly<NodeJS.ProcessEnv>): Finding[] {
  const name = ["HTTPS_PROXY", "https_proxy"].find((variable) => env[variable]);
  if (name === undefined) return [];
  return [
    note(
      "proxy",
      `${name} is set here; nodes and controllers use no proxy`,
      `give their VPC a way to the internet without one, or natGateways: isolated to spokes (${guide})`,
    ),
  ];
}

/** What a company's network and rules do to the regions of the hub and of spokes. */
export async function checkNetwork(stack: Stack, config: AwsConfig): Promise<Finding[]> {
  const { settings, region } = stack;
  if (region === undefined) return [];
  const regions = [...new Set([region, ...(settings.spokeRegions ?? [])])];
  const found = await Promise.all([
    ...regions.map((each) => checkRegion(stack, each, config)),
    checkSubnets(stack, config),
  ]);
  return found.flat();
}

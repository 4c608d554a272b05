import {
  DescribeAddressesCommand,
  EC2Client,
  paginateDescribeFlowLogs,
  paginateDescribeInternetGateways,
  paginateDescribeLaunchTemplates,
  paginateDescribeNatGateways,
  paginateDescribeRouteTables,
  paginateDescribeSubnets,
  paginateDescribeTransitGatewayVpcAttachments,
  paginateDescribeVpcEndpoints,
  paginateDescribeVpcs,
  type Tag,
} from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { IAMClient } from "@aws-sdk/client-iam";
import { DescribeKeyCommand, KMSClient, paginateListKeys, paginateListResourceTags } from "@aws-sdk/client-kms";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { ManagedKind } from "../../functions/spoke/kinds.ts";
import { clusterTag, fleetTag, type Tags } from "../../lib/labels.ts";
import { type Ask, all, asking, isTaggedFor, tagsOf } from "../aws-calls.ts";
import { type AwsConfig, isDenied } from "../doctor/aws.ts";
import { type ClusterInAws, clusterOf, type SpokeCluster } from "./cluster.ts";

/** What AWS has of a spoke, found by its tags and its cluster's name. */

/** Something with an ID that carries the tags of the spoke. */
export interface Tagged {
  readonly kind: ManagedKind;
  readonly id: string;
  readonly tags: Tags;
  /** Of VPCs and subnets. */
  readonly cidr?: string | undefined;
  /** Of VPCs: the ID of the association of each IPv4 block, by block. */
  readonly blocks?: Readonly<Record<string, string | undefined>>;
  /** Of subnets. */
  readonly zone?: string | undefined;
  /** The VPC in which it lies; undefined for what lies in none. */
  readonly vpc?: string | undefined;
  /** Why AWS failed to make it: NAT gateways that failed are shown for about an hour. */
  readonly failed?: string;
  /** Of route tables: the ID of each subnet's association, by subnet. */
  readonly associations?: Readonly<Record<string, string>>;
  /** Of route tables: the IPv4 networks that they have a route to. */
  readonly routes?: readonly string[];
  /** Of keys: AWS is about to delete it. */
  readonly leaving?: boolean;
}

export interface InAws {
  readonly account: string;
  readonly tagged: readonly Tagged[];
  readonly cluster: ClusterInAws | undefined;
}

export interface Sought extends SpokeCluster {
  readonly region: string;
  /** Whether keys count that AWS is about to delete; default: no. */
  readonly leaving?: boolean;
}

/** @param policy the file with all rights that the command needs; default: that of fleet adopt */
export type Look = (sought: Sought, config: AwsConfig, policy?: string) => Promise<InAws>;

const ownPolicy = "docs/reference/deployer-policy/fleet-adopt.json";

/** States of what is no longer there, or never was. */
const gone: readonly (string | undefined)[] = ["deleted", "deleting", "failed"];

/** The network and the launch template, by the spoke's tags. */
async function taggedOf(asked: Ask, ec2: EC2Client, { fleet, spoke }: Sought): Promise<Tagged[]> {
  const Filters = [
    { Name: `tag:${clusterTag}`, Values: [spoke] },
    { Name: `tag:${fleetTag}`, Values: [fleet] },
  ];
  const of = { client: ec2 };
  const item = (kind: ManagedKind, id: string | undefined, tags: readonly Tag[] | undefined, more = {}): Tagged[] =>
    id === undefined ? [] : [{ kind, id, tags: tagsOf(tags), ...more }];
  const read = await Promise.all([
    asked("ec2:DescribeVpcs", async () =>
      (await all(paginateDescribeVpcs(of, { Filters }), ({ Vpcs }) => Vpcs)).flatMap(
        ({ VpcId, CidrBlock, CidrBlockAssociationSet = [], Tags }) => {
          const there = CidrBlockAssociationSet.filter(({ CidrBlockState }) => CidrBlockState?.State === "associated");
          const blocks = Object.fromEntries(there.map(({ CidrBlock: block, AssociationId }) => [block, AssociationId]));
          return item("VPC", VpcId, Tags, { cidr: CidrBlock, blocks });
        },
      ),
    ),
    asked("ec2:DescribeSubnets", async () =>
      (await all(paginateDescribeSubnets(of, { Filters }), ({ Subnets }) => Subnets)).flatMap(
        ({ SubnetId, CidrBlock, AvailabilityZone, Tags, VpcId }) =>
          item("Subnet", SubnetId, Tags, { cidr: CidrBlock, zone: AvailabilityZone, vpc: VpcId }),
      ),
    ),
    asked("ec2:DescribeInternetGateways", async () =>
      (
        await all(paginateDescribeInternetGateways(of, { Filters }), ({ InternetGateways }) => InternetGateways)
      ).flatMap(({ InternetGatewayId, Tags, Attachments }) =>
        item("InternetGateway", InternetGatewayId, Tags, { vpc: Attachments?.[0]?.VpcId }),
      ),
    ),
    asked("ec2:DescribeRouteTables", async () =>
      (await all(paginateDescribeRouteTables(of, { Filters }), ({ RouteTables }) => RouteTables)).flatMap(
        ({ RouteTableId, Associations = [], Routes = [], Tags, VpcId }) => {
          const used = Associations.filter(({ AssociationState }) => AssociationState?.State !== "disassociated");
          const ids = used.map(({ SubnetId, RouteTableAssociationId }) => [SubnetId, RouteTableAssociationId] as const);
          const associations = Object.fromEntries(ids.filter(([subnet]) => subnet !== undefined));
          const routes = Routes.flatMap(({ DestinationCidrBlock }) => DestinationCidrBlock ?? []);
          return item("RouteTable", RouteTableId, Tags, { associations, routes, vpc: VpcId });
        },
      ),
    ),
    asked("ec2:DescribeAddresses", async () =>
      ((await ec2.send(new DescribeAddressesCommand({ Filters }))).Addresses ?? []).flatMap(({ AllocationId, Tags }) =>
        item("EIP", AllocationId, Tags),
      ),
    ),
    asked("ec2:DescribeNatGateways", async () =>
      (await all(paginateDescribeNatGateways(of, { Filter: Filters }), ({ NatGateways }) => NatGateways))
        .filter(({ State }) => State === "failed" || !gone.includes(State))
        .flatMap(({ FailureCode, FailureMessage, NatGatewayId, State, Tags, VpcId }) => {
          const failed = State === "failed" && { failed: `${FailureCode}: ${FailureMessage}` };
          return item("NATGateway", NatGatewayId, Tags, { vpc: VpcId, ...failed });
        }),
    ),
    asked("ec2:DescribeTransitGatewayVpcAttachments", async () =>
      (
        await all(
          paginateDescribeTransitGatewayVpcAttachments(of, { Filters }),
          ({ TransitGatewayVpcAttachments }) => TransitGatewayVpcAttachments,
        )
      )
        .filter(({ State }) => !gone.includes(State))
        .flatMap(({ TransitGatewayAttachmentId, Tags, VpcId }) =>
          item("TransitGatewayVPCAttachment", TransitGatewayAttachmentId, Tags, { vpc: VpcId }),
        ),
    ),
    asked("ec2:DescribeVpcEndpoints", async () =>
      (await all(paginateDescribeVpcEndpoints(of, { Filters }), ({ VpcEndpoints }) => VpcEndpoints))
        .filter(({ State }) => !gone.includes(State?.toLowerCase()))
        .flatMap(({ VpcEndpointId, Tags, VpcId }) => item("VPCEndpoint", VpcEndpointId, Tags, { vpc: VpcId })),
    ),
    asked("ec2:DescribeFlowLogs", async () =>
      (await all(paginateDescribeFlowLogs(of, { Filter: Filters }), ({ FlowLogs }) => FlowLogs)).flatMap(
        ({ FlowLogId, Tags }) => item("FlowLog", FlowLogId, Tags),
      ),
    ),
    asked("ec2:DescribeLaunchTemplates", async () =>
      (await all(paginateDescribeLaunchTemplates(of, { Filters }), ({ LaunchTemplates }) => LaunchTemplates)).flatMap(
        // Karpenter's own carry the tags of its EC2NodeClass.
        ({ LaunchTemplateId, Tags }) =>
          tagsOf(Tags)["karpenter.sh/nodepool"] === undefined ? item("LaunchTemplate", LaunchTemplateId, Tags) : [],
      ),
    ),
  ]);
  // Also where the filters are not heeded, as by some endpoints that only look like AWS.
  return read.flat().filter(({ tags }) => isTaggedFor({ fleet, cluster: spoke }, tags));
}

/** Tags of a key, or why they are not told. */
const tagsOfKey = (kms: KMSClient, KeyId: string): Promise<Tags | Error> =>
  all(paginateListResourceTags({ client: kms }, { KeyId }), (page) => page.Tags).then(
    (tags) => tagsOf(tags.map(({ TagKey: Key, TagValue: Value }) => ({ Key, Value }))),
    (error: Error) => (isDenied(error) ? error : Promise.reject(error)),
  );

/** Whether a key can be used again, if it can't be used now. */
async function isKept(asked: Ask, kms: KMSClient, KeyId: string): Promise<boolean> {
  const { KeyMetadata } = await asked("kms:DescribeKey", () => kms.send(new DescribeKeyCommand({ KeyId })));
  return !/^Pending(Replica)?Deletion$/.test(KeyMetadata?.KeyState ?? "");
}

/** The spoke's KMS keys. KMS finds none by its tags, so that each of the region is asked. */
async function keysOf(asked: Ask, kms: KMSClient, sought: Sought): Promise<Tagged[]> {
  const { fleet, spoke } = sought;
  const keys = await asked("kms:ListKeys", () => all(paginateListKeys({ client: kms }, {}), ({ Keys }) => Keys));
  const own = await asked("kms:ListResourceTags", async () => {
    const read = await Promise.all(
      keys.map(async ({ KeyId: id = "" }) => ({ kind: "Key" as const, id, tags: await tagsOfKey(kms, id) })),
    );
    const told = read.flatMap(({ tags, ...key }) => (tags instanceof Error ? [] : [{ ...key, tags }]));
    // A single key's policy may leave nothing to IAM, that of none of the fleet does. Where no key tells its tags, it is the caller who may not.
    const [first] = read;
    if (told.length === 0 && first?.tags instanceof Error) throw first.tags;
    return told.filter(({ tags }) => isTaggedFor({ fleet, cluster: spoke }, tags));
  });
  const kept = await Promise.all(own.map(({ id }) => isKept(asked, kms, id)));
  return own.flatMap((key, at) => (kept[at] ? [key] : sought.leaving ? [{ ...key, leaving: true }] : []));
}

/** Asks AWS, with the caller's own credentials. */
export const look: Look = async (sought, config, policy = ownPolicy) => {
  const asked = asking(policy);
  const own = { ...config, region: sought.region };
  const ec2 = new EC2Client(own);
  const { Account: account = "" } = await asked("sts:GetCallerIdentity", () =>
    new STSClient(own).send(new GetCallerIdentityCommand({})),
  );
  const [tagged, keys, cluster] = await Promise.all([
    taggedOf(asked, ec2, sought),
    keysOf(asked, new KMSClient(own), sought),
    clusterOf(asked, { ec2, eks: new EKSClient(own), iam: new IAMClient(own) }, sought),
  ]);
  return { account, tagged: [...tagged, ...keys], cluster };
};

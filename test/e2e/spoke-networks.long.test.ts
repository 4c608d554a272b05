import {
  CreateSubnetCommand,
  CreateTagsCommand,
  CreateTransitGatewayCommand,
  CreateVpcCommand,
  DeleteSubnetCommand,
  DeleteTransitGatewayCommand,
  DeleteVpcCommand,
  DescribeFlowLogsCommand,
  DescribeInternetGatewaysCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeTransitGatewayVpcAttachmentsCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
  ModifyVpcAttributeCommand,
} from "@aws-sdk/client-ec2";
import {
  DescribeAddonCommand,
  DescribeClusterCommand,
  DescribeNodegroupCommand,
  ListNodegroupsCommand,
} from "@aws-sdk/client-eks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedNetworkTag } from "../../lib/labels.ts";
import { outcome } from "../support/process.ts";
import { account, eventually } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  condition,
  managedOf,
  removeSpoke,
  spoke,
  syncOf,
  system,
  untilReady,
} from "./support/spokes.ts";

/** A spoke in a VPC that the network team made (docs/guides/networks.md#networks-of-spokes). */

const SPOKE = "guest";
const FLEET = "fleet";
const CIDR = "10.251.0.0/16";
const { ec2 } = account;

interface Network {
  readonly vpcId: string;
  readonly privateSubnetIds: readonly string[];
}

/** As its owner makes it, without the tag that lets the fleet use it. */
async function make(): Promise<Network> {
  const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: CIDR }));
  const VpcId = Vpc?.VpcId ?? "";
  for (const attribute of ["EnableDnsSupport", "EnableDnsHostnames"])
    await ec2.send(new ModifyVpcAttributeCommand({ VpcId, [attribute]: { Value: true } }));
  const subnets = ["a", "b"].map(async (zone, index) => {
    const CidrBlock = `10.251.${index}.0/24`;
    const made = await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock, AvailabilityZone: `us-east-1${zone}` }));
    return made.Subnet?.SubnetId ?? "";
  });
  const privateSubnetIds = await Promise.all(subnets);
  await ec2.send(
    new CreateTagsCommand({ Resources: [VpcId, ...privateSubnetIds], Tags: [{ Key: "team", Value: "network" }] }),
  );
  return { vpcId: VpcId, privateSubnetIds };
}

const share = ({ vpcId, privateSubnetIds }: Network) =>
  ec2.send(
    new CreateTagsCommand({ Resources: [vpcId, ...privateSubnetIds], Tags: [{ Key: sharedNetworkTag, Value: FLEET }] }),
  );

/** What is in the VPC, and how it is described: what the fleet must leave as it was. */
async function described({ vpcId }: Network) {
  const Filters = [{ Name: "vpc-id", Values: [vpcId] }];
  const [{ Vpcs }, { Subnets = [] }, { RouteTables }, { SecurityGroups = [] }, { NetworkInterfaces = [] }] =
    await Promise.all([
      ec2.send(new DescribeVpcsCommand({ VpcIds: [vpcId] })),
      ec2.send(new DescribeSubnetsCommand({ Filters })),
      ec2.send(new DescribeRouteTablesCommand({ Filters })),
      ec2.send(new DescribeSecurityGroupsCommand({ Filters })),
      ec2.send(new DescribeNetworkInterfacesCommand({ Filters })),
    ]);
  // ministack heeds not every filter.
  const inVpc = <T extends { readonly VpcId?: string | undefined }>(all: readonly T[] = []) =>
    all.filter((each) => each.VpcId === vpcId);
  return {
    vpc: Vpcs,
    subnets: inVpc(Subnets).map(({ AvailableIpAddressCount: _, ...subnet }) => subnet),
    tables: inVpc(RouteTables),
    groups: inVpc(SecurityGroups).map(({ GroupName }) => GroupName),
    interfaces: inVpc(NetworkInterfaces).map(({ Description }) => Description),
  };
}

/** Flow logs that the fleet made for a spoke. */
async function flowLogsOf(name: string) {
  const { FlowLogs = [] } = await ec2.send(new DescribeFlowLogsCommand({}));
  return FlowLogs.filter(({ Tags = [] }) =>
    Tags.some(({ Key, Value }) => Key === "fleet.internal/cluster" && Value === name),
  );
}

let network: Network;
let repository: Awaited<ReturnType<typeof system>>;
beforeAll(async () => {
  [repository, network] = await Promise.all([system(), make()]);
  await addSpoke(repository, SPOKE, "dev", (added) => {
    added["spec"].network = { existing: network };
    return added;
  });
  await repository.push(`Add spoke ${SPOKE}`);
});
afterAll(async () => {
  for (const SubnetId of network?.privateSubnetIds ?? [])
    await outcome(ec2.send(new DeleteSubnetCommand({ SubnetId })));
  await outcome(ec2.send(new DeleteVpcCommand({ VpcId: network?.vpcId ?? "" })));
});

describe("a spoke in a VPC that is there", { timeout: 1_800_000 }, () => {
  test("makes nothing before the owner lets the fleet use it, and says how", async () => {
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await condition(SPOKE, "SpecAccepted")).toMatchObject({ status: "False", reason: "NetworkNotShared" });
    });
    const { message = "" } = (await condition(SPOKE, "SpecAccepted")) ?? {};
    for (const id of [network.vpcId, ...network.privateSubnetIds]) expect(message).toContain(id);
    expect(message).toContain(`Key=${sharedNetworkTag},Value=${FLEET}`);
    expect(new Set((await managedOf(SPOKE)).map(({ kind }) => kind))).toEqual(new Set(["VPC", "Subnet"]));
    expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
  });

  let before: Awaited<ReturnType<typeof described>>;
  test("comes up in it once the owner has tagged it, and changes nothing of it", async () => {
    await share(network);
    before = await described(network);
    await untilReady(SPOKE);
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: clusterOf(SPOKE) }));
    expect(cluster?.resourcesVpcConfig).toMatchObject({ vpcId: network.vpcId });
    expect([...(cluster?.resourcesVpcConfig?.subnetIds ?? [])].sort()).toEqual([...network.privateSubnetIds].sort());
    expect((await spoke(SPOKE)).status.network).toMatchObject({ vpcId: network.vpcId, cidr: CIDR });
    const { vpc, subnets, tables } = await described(network);
    expect({ vpc, subnets, tables }).toEqual({ vpc: before.vpc, subnets: before.subnets, tables: before.tables });
  });

  test("leaves it as it was when it is removed through Git", async () => {
    await removeSpoke(repository, SPOKE);
    expect(await described(network)).toEqual(before);
    expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
  });
});

describe("a spoke whose VPC has a flow log", { timeout: 1_800_000 }, () => {
  const LOGGED = "logged";
  const file = `spokes/fleet/${LOGGED}/spoke.yaml`;
  const group = `/aws/eks/${clusterOf(LOGGED)}/cluster-flow-logs`;

  test("has it for the traffic that it asks for, by a role of its own", async () => {
    await addSpoke(repository, LOGGED, "dev", (added) => {
      added["spec"].network = { flowLogs: "REJECT" };
      return added;
    });
    await repository.push(`Add spoke ${LOGGED}`);
    await untilReady(LOGGED);
    const [log, ...others] = await flowLogsOf(LOGGED);
    expect(others).toEqual([]);
    expect(log).toMatchObject({
      ResourceId: (await spoke(LOGGED)).status.network.vpcId,
      TrafficType: "REJECT",
      LogDestination: expect.stringContaining(group),
      DeliverLogsPermissionArn: expect.stringContaining(`role/${clusterOf(LOGGED)}-flow-logs`),
    });
    expect(await spokeInventory(FLEET, LOGGED)).toContain(`log group ${group}`);
  });

  test("gets another one for other traffic, and none when it asks for none, without a change of anything else", async () => {
    const { vpcId } = (await spoke(LOGGED)).status.network;
    const ask = async (flowLogs: string | undefined) => {
      await repository.edit(file, (edited) => {
        edited["spec"].network = flowLogs === undefined ? undefined : { flowLogs };
        return edited;
      });
      await repository.push(`Log ${flowLogs ?? "nothing"} of ${LOGGED}`);
    };
    await ask("ALL");
    await eventually(BOOTSTRAP_SECONDS, async () =>
      expect((await flowLogsOf(LOGGED)).map(({ TrafficType }) => TrafficType)).toEqual(["ALL"]),
    );
    await ask(undefined);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await flowLogsOf(LOGGED)).toEqual([]);
      expect((await spokeInventory(FLEET, LOGGED)).filter((line) => line.includes("flow-logs"))).toEqual([]);
    });
    expect((await spoke(LOGGED)).status.network.vpcId).toBe(vpcId);
    await ask("ALL");
    await eventually(BOOTSTRAP_SECONDS, async () => expect(await flowLogsOf(LOGGED)).toHaveLength(1));
  });

  test("goes with its flow log", async () => {
    await removeSpoke(repository, LOGGED);
    expect(await flowLogsOf(LOGGED)).toEqual([]);
    expect(await spokeInventory(FLEET, LOGGED)).toEqual([]);
  });
});

describe("a spoke without internet access, whose pods have a block of their own", { timeout: 2_400_000 }, () => {
  const APART = "apart";
  const PODS = "100.126.0.0/16";
  const file = `spokes/fleet/${APART}/spoke.yaml`;
  const services = ["ec2", "ecr.api", "ecr.dkr", "secretsmanager", "sts"];
  const inVpc = async () => {
    const { vpcId } = (await spoke(APART)).status.network;
    const Filters = [{ Name: "vpc-id", Values: [vpcId] }];
    const [{ VpcEndpoints = [] }, { Subnets = [] }, { Vpcs = [] }, { InternetGateways = [] }] = await Promise.all([
      ec2.send(new DescribeVpcEndpointsCommand({ Filters })),
      ec2.send(new DescribeSubnetsCommand({ Filters })),
      ec2.send(new DescribeVpcsCommand({ VpcIds: [vpcId] })),
      ec2.send(new DescribeInternetGatewaysCommand({})),
    ]);
    return {
      endpoints: VpcEndpoints.filter(({ VpcId }) => VpcId === vpcId),
      subnets: Subnets.filter(({ VpcId }) => VpcId === vpcId),
      blocks: Vpcs.flatMap(({ CidrBlockAssociationSet = [] }) =>
        CidrBlockAssociationSet.map(({ CidrBlock }) => CidrBlock),
      ),
      gateways: InternetGateways.filter(({ Attachments = [] }) => Attachments.some(({ VpcId }) => VpcId === vpcId)),
    };
  };
  const endpointOf = async (service: string) =>
    (await inVpc()).endpoints.find(({ ServiceName }) => ServiceName === `com.amazonaws.us-east-1.${service}`);
  const ask = async (endpoints: readonly string[]) => {
    await repository.edit(file, (edited) => {
      edited["spec"].network = { natGateways: "isolated", podCidr: PODS, endpoints };
      return edited;
    });
    await repository.push(`Endpoints of ${APART}: ${endpoints.join(" ")}`);
  };

  test("comes up by its endpoints, with nothing public in its VPC", async () => {
    await addSpoke(repository, APART, "dev", (added) => {
      added["spec"].network = { natGateways: "isolated", podCidr: PODS, endpoints: services };
      return added;
    });
    await repository.push(`Add spoke ${APART}`);
    await untilReady(APART);
    const { endpoints, subnets, gateways } = await inVpc();
    expect(gateways).toEqual([]);
    expect(subnets).toHaveLength(4);
    expect(subnets.filter(({ MapPublicIpOnLaunch }) => MapPublicIpOnLaunch)).toEqual([]);
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: clusterOf(APART) }));
    const group = cluster?.resourcesVpcConfig?.clusterSecurityGroupId;
    const interfaces = endpoints.filter(({ VpcEndpointType }) => VpcEndpointType === "Interface");
    expect(interfaces.map(({ ServiceName }) => ServiceName?.replace("com.amazonaws.us-east-1.", "")).sort()).toEqual(
      services,
    );
    for (const endpoint of interfaces) {
      expect(endpoint).toMatchObject({ State: "available", PrivateDnsEnabled: true });
      expect(endpoint.SubnetIds).toHaveLength(2);
      expect(endpoint.Groups?.map(({ GroupId }) => GroupId)).toContain(group);
    }
  });

  test("has its pods' block beside its own, and nodes in its own alone", async () => {
    const { blocks, subnets } = await inVpc();
    expect(blocks).toHaveLength(2);
    expect(blocks).toContain(PODS);
    const pods = subnets.filter(({ CidrBlock = "" }) => CidrBlock.startsWith("100.126."));
    expect(pods.map(({ CidrBlock }) => CidrBlock).sort()).toEqual(["100.126.0.0/18", "100.126.64.0/18"]);
    const clusterName = clusterOf(APART);
    const { addon } = await account.eks.send(new DescribeAddonCommand({ clusterName, addonName: "vpc-cni" }));
    const { eniConfig } = JSON.parse(addon?.configurationValues ?? "{}");
    const placed = Object.values(eniConfig.subnets as Record<string, { id: string }>).map(({ id }) => id);
    expect(placed.sort()).toEqual(pods.map(({ SubnetId = "" }) => SubnetId).sort());
    const { nodegroups: [nodegroupName] = [] } = await account.eks.send(new ListNodegroupsCommand({ clusterName }));
    const { nodegroup } = await account.eks.send(new DescribeNodegroupCommand({ clusterName, nodegroupName }));
    for (const subnet of nodegroup?.subnets ?? []) expect(placed).not.toContain(subnet);
  });

  test("gets and loses endpoints while it runs, but none that it needs", async () => {
    await ask([...services, "dynamodb", "logs"]);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await endpointOf("logs")).toMatchObject({ VpcEndpointType: "Interface", State: "available" });
      expect((await endpointOf("dynamodb"))?.RouteTableIds).toHaveLength(2);
    });
    await untilReady(APART);
    await ask(services);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect([await endpointOf("logs"), await endpointOf("dynamodb")]).toEqual([undefined, undefined]);
    });
    await untilReady(APART);
    const needed = services.filter((service) => service !== "sts");
    await ask(needed);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      const said = JSON.stringify((await syncOf(APART)).status);
      expect(said).toContain("network.natGateways isolated needs");
    });
    expect(await endpointOf("sts")).toBeDefined();
    await ask(services);
  });

  test("goes with all of it", async () => {
    await removeSpoke(repository, APART);
    expect(await spokeInventory(FLEET, APART)).toEqual([]);
  });
});

describe("a spoke whose way out is a transit gateway", { timeout: 2_400_000 }, () => {
  const DEPOT = "depot";
  let id = "";
  beforeAll(async () => {
    const { TransitGateway } = await ec2.send(new CreateTransitGatewayCommand({}));
    id = TransitGateway?.TransitGatewayId ?? "";
  });
  const attachment = async () => {
    const Filters = [{ Name: "transit-gateway-id", Values: [id] }];
    const found = await ec2.send(new DescribeTransitGatewayVpcAttachmentsCommand({ Filters }));
    return found.TransitGatewayVpcAttachments?.find(({ State }) => State !== "deleted");
  };

  test("has no attachment before the owner of the gateway permits it, and reports how", async () => {
    await addSpoke(repository, DEPOT, "dev", (added) => {
      added["spec"].network = { natGateways: "isolated", transitGateway: { id, destinationCidrs: ["0.0.0.0/0"] } };
      return added;
    });
    await repository.push(`Add spoke ${DEPOT}`);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await condition(DEPOT, "NetworkReady")).toMatchObject({
        status: "False",
        reason: "TransitGatewayNotShared",
      });
    });
    expect(await attachment()).toBeUndefined();
  });

  test("becomes Ready once the gateway has the tag, with a default route in each private table", async () => {
    await ec2.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: sharedNetworkTag, Value: FLEET }] }));
    await untilReady(DEPOT);
    const { vpcId } = (await spoke(DEPOT)).status.network;
    expect(await attachment()).toMatchObject({ VpcId: vpcId, State: "available" });
    const Filters = [{ Name: "vpc-id", Values: [vpcId] }];
    const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({ Filters }));
    const routes = RouteTables.flatMap(({ Routes = [] }) => Routes).filter(
      ({ TransitGatewayId }) => TransitGatewayId === id,
    );
    expect(routes.map(({ DestinationCidrBlock, State }) => [DestinationCidrBlock, State])).toEqual([
      ["0.0.0.0/0", "active"],
      ["0.0.0.0/0", "active"],
    ]);
  });

  test("leaves neither routes nor attachment, and the gateway to its owner", async () => {
    await removeSpoke(repository, DEPOT);
    expect(await spokeInventory(FLEET, DEPOT)).toEqual([]);
    expect(await attachment()).toBeUndefined();
    await ec2.send(new DeleteTransitGatewayCommand({ TransitGatewayId: id }));
  });
});

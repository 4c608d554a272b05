import {
  AcceptVpcPeeringConnectionCommand,
  CreateRouteCommand,
  CreateVpcPeeringConnectionCommand,
  DeleteRouteCommand,
  DeleteVpcPeeringConnectionCommand,
  DescribeRouteTablesCommand,
  DescribeVpcsCommand,
} from "@aws-sdk/client-ec2";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelKeys } from "../../lib/labels.ts";
import { account, eventually, execute, outputs } from "./support/fleet.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  condition,
  getOnSpoke,
  removeSpoke,
  system,
  untilReady,
} from "./support/spokes.ts";

const SPOKE = "inner";
const { ec2 } = account;

interface Vpc {
  readonly id: string;
  readonly cidr: string;
}

const hubVpc = async (): Promise<Vpc> => {
  const { aws_vpc_id, aws_vpc_cidr } = (await outputs()).bridgeData;
  return { id: aws_vpc_id, cidr: aws_vpc_cidr };
};

const spokeVpc = async (): Promise<Vpc> => {
  const Filters = [{ Name: `tag:${labelKeys.cluster}`, Values: [SPOKE] }];
  const { Vpcs: [vpc] = [] } = await ec2.send(new DescribeVpcsCommand({ Filters }));
  expect(vpc, `the VPC of ${SPOKE}`).toBeDefined();
  return { id: vpc?.VpcId ?? "", cidr: vpc?.CidrBlock ?? "" };
};

const tablesOf = async ({ id }: Vpc): Promise<string[]> => {
  const Filters = [{ Name: "vpc-id", Values: [id] }];
  const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({ Filters }));
  return RouteTables.map(({ RouteTableId = "" }) => RouteTableId);
};

const route = async (from: Vpc, to: Vpc, VpcPeeringConnectionId: string) => {
  const DestinationCidrBlock = to.cidr;
  for (const RouteTableId of await tablesOf(from))
    await ec2.send(new CreateRouteCommand({ RouteTableId, DestinationCidrBlock, VpcPeeringConnectionId }));
};

/** What docs/guides/deploy.md#private-endpoints tells people to do, in every route table of both. Returns the connection's id. */
async function connect(hub: Vpc, spoke: Vpc): Promise<string> {
  const made = await ec2.send(new CreateVpcPeeringConnectionCommand({ VpcId: hub.id, PeerVpcId: spoke.id }));
  const VpcPeeringConnectionId = made.VpcPeeringConnection?.VpcPeeringConnectionId ?? "";
  await ec2.send(new AcceptVpcPeeringConnectionCommand({ VpcPeeringConnectionId }));
  await route(hub, spoke, VpcPeeringConnectionId);
  await route(spoke, hub, VpcPeeringConnectionId);
  return VpcPeeringConnectionId;
}

/** Of the hub's VPC only: that of the spoke, with its tables, is gone. */
async function disconnect(hub: Vpc, to: string, VpcPeeringConnectionId: string): Promise<void> {
  for (const RouteTableId of await tablesOf(hub))
    await ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: to }));
  await ec2.send(new DeleteVpcPeeringConnectionCommand({ VpcPeeringConnectionId }));
}

let repository: Awaited<ReturnType<typeof system>>;
beforeAll(async () => {
  repository = await system();
  await addSpoke(repository, SPOKE, "dev", (spoke) => {
    spoke["spec"].endpoint = { public: false };
    return spoke;
  });
  await repository.push(`Add spoke ${SPOKE}`);
});
let connected: { readonly cidr: string; readonly connection: string } | undefined;
afterAll(async () => {
  if (connected !== undefined) await disconnect(await hubVpc(), connected.cidr, connected.connection);
});

describe("a spoke with a private endpoint only", { timeout: 1_200_000 }, () => {
  test("says that its VPC and the hub's are not connected, with both blocks, and is not Ready", async () => {
    const hub = await hubVpc();
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await condition(SPOKE, "Bootstrapped")).toMatchObject({ status: "False", reason: "NetworksNotConnected" });
    });
    const spoke = await spokeVpc();
    const { message = "" } = (await condition(SPOKE, "Bootstrapped")) ?? {};
    for (const part of [hub.id, hub.cidr, spoke.id, spoke.cidr]) expect(message).toContain(part);
    expect(await condition(SPOKE, "Ready")).toMatchObject({ status: "False" });
  });

  test("becomes Ready by itself once both are peered", async () => {
    const spoke = await spokeVpc();
    connected = { cidr: spoke.cidr, connection: await connect(await hubVpc(), spoke) };
    await untilReady(SPOKE);
    const { items } = await getOnSpoke(SPOKE, ["kustomizations", "--namespace", "flux-system"]);
    expect(items.length).toBeGreaterThan(0);
  });

  test("is reached by nobody from the internet", async () => {
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: clusterOf(SPOKE) }));
    const asked = await execute("curl", ["--silent", "--insecure", "--max-time", "5", `${cluster?.endpoint}/readyz`]);
    expect(asked.code, "curl's code for a timeout").toBe(28);
  });

  test("is removed through Git over the same way", () => removeSpoke(repository, SPOKE));
});

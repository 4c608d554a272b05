import { describe, expect, test } from "vitest";
import { vpcNetwork } from "../../gateway/aws/peering.ts";
import { ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

let hub: string;
useGatewayCloud(async () => {
  hub = await vpc("10.10.0.0/16");
});

const vpc = async (CidrBlock: string): Promise<string> => (await ec2.createVpc({ CidrBlock })).Vpc?.VpcId ?? "";
const peer = async (VpcId: string, PeerVpcId: string): Promise<string> =>
  (await ec2.createVpcPeeringConnection({ VpcId, PeerVpcId })).VpcPeeringConnection?.VpcPeeringConnectionId ?? "";
const accept = (VpcPeeringConnectionId: string) => ec2.acceptVpcPeeringConnection({ VpcPeeringConnectionId });

describe("VPC peering on the embedded cloud", () => {
  test("carries what both sides route to it, also when a route is replaced by it", async () => {
    const spoke = await vpc("10.11.0.0/16");
    const connection = await peer(hub, spoke);
    const { RouteTables: [main] = [] } = await ec2.describeRouteTables({
      Filters: [
        { Name: "association.main", Values: ["true"] },
        { Name: "vpc-id", Values: [hub] },
      ],
    });
    const route = { RouteTableId: main?.RouteTableId, DestinationCidrBlock: "10.11.0.0/16" };
    const toPeer = async () => (await vpcNetwork(ec2, hub)).peeredRoutes("subnet-of-the-main-table");
    await ec2.createRoute({ ...route, VpcPeeringConnectionId: connection });
    expect(await toPeer(), "before it is accepted").toEqual([]);
    await accept(connection);
    expect(await toPeer()).toEqual([{ cidr: "10.11.0.0/16", vpcId: spoke }]);
    const other = await peer(hub, await vpc("10.12.0.0/16"));
    await ec2.replaceRoute({ ...route, VpcPeeringConnectionId: other });
    expect(await toPeer(), "over one that nobody has accepted").toEqual([]);
    expect((await vpcNetwork(ec2, hub)).cidrs).toEqual(["10.10.0.0/16"]);
  });

  test("refuses a VPC that does not exist, fails where blocks overlap, and is accepted once", async () => {
    expect(await outcome(peer(hub, "vpc-0123456789abcdef0"))).toBe("InvalidVpcID.NotFound");
    expect(await outcome(peer("vpc-0123456789abcdef0", hub))).toBe("InvalidVpcID.NotFound");
    const failed = await peer(hub, await vpc("10.10.128.0/17"));
    const { VpcPeeringConnections = [] } = await ec2.describeVpcPeeringConnections({
      VpcPeeringConnectionIds: [failed],
    });
    expect(VpcPeeringConnections[0]?.Status?.Code).toBe("failed");
    expect(await outcome(accept(failed))).toBe("InvalidStateTransition");
  });
});

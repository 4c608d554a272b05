import { describe, expect, test } from "vitest";
import { peeredRoutes, tableOf } from "../../../../gateway/aws/peering.ts";

const own = { RouteTableId: "rtb-own", Associations: [{ SubnetId: "subnet-a" }] };
const main = { RouteTableId: "rtb-main", Associations: [{ Main: true }, { SubnetId: "subnet-c" }] };

describe("the route table of a subnet", () => {
  test("is the one that it is associated with", () => {
    expect(tableOf([main, own], "subnet-a")).toBe(own);
  });

  test("is the main one of the VPC without an association", () => {
    expect(tableOf([own, main], "subnet-b")).toBe(main);
  });
});

describe("routes to peered VPCs", () => {
  const active = [
    {
      VpcPeeringConnectionId: "pcx-1",
      RequesterVpcInfo: { VpcId: "vpc-hub" },
      AccepterVpcInfo: { VpcId: "vpc-spoke" },
    },
  ];
  const table = {
    Routes: [
      { DestinationCidrBlock: "10.0.0.0/16", GatewayId: "local" },
      { DestinationCidrBlock: "10.1.0.0/16", VpcPeeringConnectionId: "pcx-1" },
      { DestinationCidrBlock: "10.2.0.0/16", VpcPeeringConnectionId: "pcx-gone" },
    ],
  };

  test("lead to the other end, from either", () => {
    expect(peeredRoutes(table, active, "vpc-hub")).toEqual([{ cidr: "10.1.0.0/16", vpcId: "vpc-spoke" }]);
    expect(peeredRoutes(table, active, "vpc-spoke")).toEqual([{ cidr: "10.1.0.0/16", vpcId: "vpc-hub" }]);
  });

  test("lead nowhere over a connection of other VPCs", () => {
    expect(peeredRoutes(table, active, "vpc-third")).toEqual([]);
  });
});

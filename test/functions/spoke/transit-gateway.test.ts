import { describe, expect, test } from "vitest";
import { pendingAttachment } from "../../../functions/spoke/transit-gateway.ts";
import { hub, settings, spoke } from "./support/fixtures.ts";
import { failing, running, World } from "./support/world.ts";

const ID = "tgw-0a1b2c3d4e5f60718";
const ATTACHMENT = "transitgatewayvpcattachment-transit-gateway";
const attached = (destinationCidrs: readonly string[], network: object = {}, change: object = {}) =>
  spoke({ network: { transitGateway: { id: ID, destinationCidrs }, ...network }, ...change });
const egress = () => attached(["0.0.0.0/0"], { natGateways: "isolated" });
const own = (world: World) =>
  [...world.live.keys()].filter((key) => key === "transit-gateway" || /^route-private-\d-to-/.test(key)).sort();
const nodeGroupOf = (world: World) => [...world.live.keys()].find((key) => key.startsWith("node-group"));
const networkReady = (world: World) => world.answer?.conditions.find(({ type }) => type === "NetworkReady");
const creating = () => ({ conditions: [{ type: "Ready", status: "False", reason: "Creating" }] });

/** EC2's refusal of a route for an attachment that nobody accepted, as the provider reports it after five minutes. */
const refusal =
  "async create failed: failed to create the resource: creating Route in Route Table (rtb-1) with destination (10.0.0.0/8): operation error EC2: " +
  `CreateRoute, https response error StatusCode: 400, RequestID: 1, api error InvalidTransitGatewayID.NotFound: The transitGateway ID '${ID}' does not exist.`;

describe("a transit gateway of the company", () => {
  test("is not attached unless the Spoke names it", () => expect(own(running(spoke()))).toEqual([]));

  test("gets an attachment in the private subnets and a route in each private table for each destination", () => {
    const world = running(attached(["10.0.0.0/8", "192.168.7.0/24"]));
    expect(own(world)).toEqual([
      ...["route-private-0-to-10-0-0-0-8", "route-private-0-to-192-168-7-0-24", "route-private-1-to-10-0-0-0-8"],
      ...["route-private-1-to-192-168-7-0-24", "transit-gateway"],
    ]);
    expect(world.forProvider("transit-gateway")).toMatchObject({
      region: "us-east-1",
      transitGatewayId: ID,
      vpcId: world.spoke.status?.network?.vpcId,
      subnetIds: ["subnet-subnet-private-0", "subnet-subnet-private-1"],
      tags: {
        Name: "fleet-spoke-blue-transit-gateway",
        "fleet.internal/fleet": "fleet",
        "fleet.internal/cluster": "blue",
      },
    });
    expect(world.forProvider("route-private-1-to-10-0-0-0-8")).toEqual({
      region: "us-east-1",
      routeTableId: "routetable-route-table-private-1",
      destinationCidrBlock: "10.0.0.0/8",
      transitGatewayId: ID,
    });
  });

  test("starts in the gateway's default route tables, and stays where its owner moves it", () => {
    const world = running(attached(["10.0.0.0/8"]));
    const tables = (value: boolean) => ({
      transitGatewayDefaultRouteTableAssociation: value,
      transitGatewayDefaultRouteTablePropagation: value,
    });
    expect(world.forProvider("transit-gateway")).toMatchObject(tables(true));
    world.report("transit-gateway", () => ({ atProvider: tables(false) })).settle();
    expect(world.forProvider("transit-gateway")).toMatchObject(tables(false));
  });

  test("is the way out of a VPC without NAT gateways, whose nodes then need no endpoints", () => {
    const world = running(egress(), { settings: settings({ workloadIdentity: "pod-identity" }) });
    const keys = [...world.live.keys()];
    expect(keys.filter((key) => /^(nat|address)-|public|internet/.test(key))).toEqual([]);
    expect(own(world)).toEqual(["route-private-0-to-0-0-0-0-0", "route-private-1-to-0-0-0-0-0", "transit-gateway"]);
    expect(nodeGroupOf(world)).toBeDefined();
  });

  test("has routes once the attachment exists, and nodes once the routes do", () => {
    const world = new World(egress());
    world.report("transit-gateway", creating).settle();
    expect(own(world)).toEqual(["transit-gateway"]);
    world.reports.clear();
    world.report("route-private-1-to-0-0-0-0-0", failing(refusal)).settle();
    expect(nodeGroupOf(world)).toBeUndefined();
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupOf(world)).toBeDefined();
  });

  test("is named in the condition, with the command of its owner, while the attachment waits for acceptance", () => {
    const world = new World(attached(["10.0.0.0/8"]));
    world.report("route-private-0-to-10-0-0-0-8", creating).settle();
    expect(networkReady(world)).toEqual({
      type: "NetworkReady",
      status: "False",
      reason: "AttachmentPending",
      message:
        `the network: waiting for routes to ${ID}, which AWS creates when the attachment ${ATTACHMENT} is available; if another account owns the ` +
        "transit gateway and doesn't accept attachments automatically, its owner has to accept this one: aws ec2 " +
        `accept-transit-gateway-vpc-attachment --region us-east-1 --transit-gateway-attachment-id ${ATTACHMENT}`,
    });
    expect(world.answer?.status.phase).toBe("Network");
    world.report("route-private-0-to-10-0-0-0-8", failing(refusal)).settle();
    expect(networkReady(world)).toMatchObject({
      reason: "AttachmentPending",
      message: expect.stringContaining("aws ec2 accept-transit-gateway-vpc-attachment"),
    });
    expect(world.answer?.status.phase).toBe("Network");
  });

  test("is not waited for by other parts of the network", () => {
    const world = running(attached(["10.0.0.0/8"]));
    expect(pendingAttachment(world.spoke, { readyText: () => "x" } as never, ["vpc"])).toBeUndefined();
  });

  test.each([
    [
      "InvalidTransitGatewayID.NotFound: Transit Gateway tgw-1 was deleted or does not exist.",
      "TransitGatewayNotFound",
    ],
    ["InvalidTransitGatewayID.Malformed: Invalid id", "TransitGatewayNotFound"],
    ["DuplicateTransitGatewayAttachment: tgw-1 has non-deleted Transit Gateway Attachments", "AlreadyExists"],
    [
      "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::000000000000:assumed-role/fleet-hub-crossplane/x is not " +
        "authorized to perform: ec2:CreateTransitGatewayVpcAttachment on resource: arn:aws:ec2:us-east-1:000000000000:transit-gateway/tgw-1 because",
      "TransitGatewayNotShared",
    ],
    [
      "UnauthorizedOperation: is not authorized to perform: ec2:CreateTransitGatewayVpcAttachment with an explicit deny in an identity-based policy",
      "TransitGatewayNotShared",
    ],
    [
      "UnauthorizedOperation: is not authorized to perform: ec2:CreateTransitGatewayVpcAttachment on resource: arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1",
      "AccessDenied",
    ],
  ])("that can't be attached is explained: %s", (message, reason) => {
    const world = new World(attached(["10.0.0.0/8"]));
    world.report("transit-gateway", failing(message)).settle();
    expect(networkReady(world)?.reason).toBe(reason);
    expect(own(world)).toEqual(["transit-gateway"]);
  });

  test("comes, gets other destinations and goes while the cluster runs", () => {
    const world = running(spoke());
    const change = (network: object) => {
      world.spoke = {
        ...world.spoke,
        spec: { ...world.spoke.spec, network: { ...world.spoke.spec.network, ...network } },
      };
      expect(world.settle().ready).toBe(true);
    };
    change({ transitGateway: { id: ID, destinationCidrs: ["10.0.0.0/8"] } });
    change({ transitGateway: { id: ID, destinationCidrs: ["172.16.0.0/12"] } });
    expect(own(world)).toEqual([
      "route-private-0-to-172-16-0-0-12",
      "route-private-1-to-172-16-0-0-12",
      "transit-gateway",
    ]);
    change({ transitGateway: undefined });
    expect(own(world)).toEqual([]);
  });

  test("is left after the cluster: first the routes, then the attachment, then the subnets", () => {
    const world = running(attached(["10.0.0.0/8"]));
    world.delete().settle(80);
    const order = ["cluster", "route-private-0-to-10-0-0-0-8", "transit-gateway", "subnet-private-0", "vpc"];
    const places = order.map((key) => world.removed.indexOf(key));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(world.live.size).toBe(0);
  });
});

describe("the networks behind a transit gateway", () => {
  const small = { ...hub, spokeCidrPool: "10.64.0.0/17" };

  test("are not in the block that the pool gives the VPC, which can be part of a wider one", () => {
    const free = new World(attached(["10.64.0.0/18", "10.0.0.0/8"]), { hub: small });
    free.settle();
    expect(free.forProvider("vpc")["cidrBlock"]).toBe("10.64.64.0/18");
    const inside = new World(attached(["10.64.7.0/24"]), { hub: small });
    inside.settle();
    expect(inside.forProvider("vpc")["cidrBlock"]).toBe("10.64.64.0/18");
  });

  test("get no routes and are reported if a running VPC contains them", () => {
    const world = running(spoke(), { hub: small });
    const block = String(world.forProvider("vpc")["cidrBlock"]);
    const part = block.replace("/18", "/24");
    const transitGateway = { id: ID, destinationCidrs: [part, "192.168.0.0/16"] };
    world.spoke = {
      ...world.spoke,
      spec: { ...world.spoke.spec, network: { ...world.spoke.spec.network, transitGateway } },
    };
    const { conditions } = world.settle();
    expect(conditions.find(({ type }) => type === "SpecAccepted")).toMatchObject({
      status: "False",
      reason: "InvalidNetwork",
      message: expect.stringContaining(`destinationCidrs ${part} are part of the VPC (${block})`),
    });
    expect(own(world)).toEqual([
      "route-private-0-to-192-168-0-0-16",
      "route-private-1-to-192-168-0-0-16",
      "transit-gateway",
    ]);
  });
});

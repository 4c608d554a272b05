import {
  DescribeTransitGatewayVpcAttachmentsCommand,
  GetTransitGatewayRouteTableAssociationsCommand,
} from "@aws-sdk/client-ec2";
import { expect, test } from "vitest";
import { poll } from "../../aws/poll.ts";
import { crossplanePolicies, fleetTag, sharedNetworkTag } from "../../product.ts";
import { type Clients, cloud, outcome, useGatewayCloud } from "../support/gateway.ts";
import { addTransitGateway } from "../support/transit-gateways.ts";

/** Transit gateways of a company, in the account of the fleet and in another one. */

const OTHER = "222222222222";
const FLEET = "fleet";
const DESTINATION = "192.168.0.0/16";
const own = [{ Key: fleetTag, Value: FLEET }];
const tagged = (ResourceType: "vpc" | "subnet" | "route-table" | "transit-gateway-attachment") => ({
  TagSpecifications: [{ ResourceType, Tags: own }],
});

let company: Clients;
/** Crossplane's rights in the fleet's account. */
let crossplane: Clients;
useGatewayCloud(async () => {
  company = await cloud.account(OTHER);
  const { clusters, roles } = crossplanePolicies({
    ...{ partition: "aws", accountId: "000000000000", region: "us-east-1", dnsSuffix: "amazonaws.com", fleet: FLEET },
    ...{ spokePrefix: "fleet-spoke-", boundaryArn: "arn:aws:iam::000000000000:policy/fleet-boundary" },
  });
  const linkedRoles = roles.Statement.filter(({ Action }) => Action?.includes("iam:CreateServiceLinkedRole"));
  const Statement = [...clusters.Statement, ...linkedRoles];
  crossplane = await cloud.roleWith("crossplane", { Version: "2012-10-17", Statement });
});

/** A VPC with a subnet and a route table, as the fleet makes it. */
async function network({ ec2 }: Clients, CidrBlock = "10.64.0.0/18") {
  const vpc = (await ec2.createVpc({ CidrBlock, ...tagged("vpc") })).Vpc?.VpcId ?? "";
  const { Subnet } = await ec2.createSubnet({ VpcId: vpc, CidrBlock, ...tagged("subnet") });
  const { RouteTable } = await ec2.createRouteTable({ VpcId: vpc, ...tagged("route-table") });
  return { vpc, subnet: Subnet?.SubnetId ?? "", table: RouteTable?.RouteTableId ?? "" };
}

const attach = ({ ec2 }: Clients, TransitGatewayId: string, { vpc, subnet }: { vpc: string; subnet: string }) =>
  ec2.createTransitGatewayVpcAttachment({
    ...{ TransitGatewayId, VpcId: vpc, SubnetIds: [subnet] },
    ...tagged("transit-gateway-attachment"),
  });

const route = ({ ec2 }: Clients, RouteTableId: string, TransitGatewayId: string, DestinationCidrBlock = DESTINATION) =>
  ec2.createRoute({ RouteTableId, DestinationCidrBlock, TransitGatewayId });

async function stateOf({ ec2 }: Clients, id: string) {
  const request = new DescribeTransitGatewayVpcAttachmentsCommand({ TransitGatewayAttachmentIds: [id] });
  return (await ec2.send(request)).TransitGatewayVpcAttachments?.[0]?.State;
}

const until = (clients: Clients, id: string, state: string) =>
  poll({ what: `${id} to be ${state}`, timeout: 60_000 }, async () =>
    (await stateOf(clients, id)) === state ? true : undefined,
  );

async function routesOf({ ec2 }: Clients, table: string) {
  const { RouteTables } = await ec2.describeRouteTables({ RouteTableIds: [table] });
  return (RouteTables?.[0]?.Routes ?? []).filter(({ TransitGatewayId }) => TransitGatewayId !== undefined);
}

test("a gateway of the fleet's account is attached where its owner's tag permits it, and routes follow", async () => {
  const { deployer } = cloud;
  const forbidden = await addTransitGateway(deployer.ec2);
  const id = await addTransitGateway(deployer.ec2, { [sharedNetworkTag]: FLEET });
  const made = await network(crossplane);
  expect(await outcome(attach(crossplane, forbidden, made))).toBe("UnauthorizedOperation");
  expect(await outcome(route(crossplane, made.table, id))).toBe("InvalidTransitGatewayID.NotFound");

  const { TransitGatewayVpcAttachment } = await attach(crossplane, id, made);
  const attachment = TransitGatewayVpcAttachment?.TransitGatewayAttachmentId ?? "";
  expect(attachment).toMatch(/^tgw-attach-[0-9a-f]{17}$/);
  expect(TransitGatewayVpcAttachment).toMatchObject({ State: "pending", SubnetIds: [made.subnet], Tags: own });
  expect(await outcome(attach(crossplane, id, made))).toBe("DuplicateTransitGatewayAttachment");
  expect(await outcome(route(crossplane, made.table, id))).toBe("InvalidTransitGatewayID.NotFound");
  await until(crossplane, attachment, "available");
  await route(crossplane, made.table, id);
  expect(await outcome(route(crossplane, made.table, id))).toBe("RouteAlreadyExists");
  expect(await outcome(route(crossplane, made.table, id, "10.64.7.0/24"))).toBe("InvalidParameterValue");
  await route(crossplane, made.table, id, "10.0.0.0/8");
  expect(await routesOf(crossplane, made.table)).toMatchObject([
    { DestinationCidrBlock: DESTINATION, TransitGatewayId: id, State: "active" },
    { DestinationCidrBlock: "10.0.0.0/8", TransitGatewayId: id, State: "active" },
  ]);

  // Its network interfaces hold the subnet.
  expect(await outcome(deployer.ec2.deleteTransitGateway({ TransitGatewayId: id }))).toBe("IncorrectState");
  expect(await outcome(crossplane.ec2.deleteSubnet({ SubnetId: made.subnet }))).toBe("DependencyViolation");
  const remove = () => crossplane.ec2.deleteTransitGatewayVpcAttachment({ TransitGatewayAttachmentId: attachment });
  await remove();
  expect(await outcome(remove())).toBe("IncorrectState");
  expect(await routesOf(crossplane, made.table)).toMatchObject([{ State: "blackhole" }, { State: "blackhole" }]);
  await until(crossplane, attachment, "deleted");
  expect(await outcome(remove())).toBe("InvalidTransitGatewayAttachmentID.NotFound");
  expect(await outcome(crossplane.ec2.deleteSubnet({ SubnetId: made.subnet }))).toBe("allowed");
  expect(await outcome(deployer.ec2.deleteTransitGateway({ TransitGatewayId: id }))).toBe("allowed");
});

test("a gateway of another account has to be shared, and its owner accepts the attachment before routes exist", async () => {
  const made = await network(crossplane, "10.65.0.0/18");
  const hidden = await addTransitGateway(company.ec2);
  expect(await outcome(attach(cloud.deployer, hidden, made))).toBe("InvalidTransitGatewayID.NotFound");
  const id = await addTransitGateway(company.ec2, { "fleet.local/shared-with": "000000000000" });
  const { TransitGatewayVpcAttachment } = await attach(crossplane, id, made);
  const attachment = TransitGatewayVpcAttachment?.TransitGatewayAttachmentId ?? "";
  expect(TransitGatewayVpcAttachment?.State).toBe("pendingAcceptance");
  expect(await outcome(route(crossplane, made.table, id))).toBe("InvalidTransitGatewayID.NotFound");

  const accept = ({ ec2 }: Clients) =>
    ec2.acceptTransitGatewayVpcAttachment({ TransitGatewayAttachmentId: attachment });
  expect(await outcome(accept(cloud.deployer))).toBe("InvalidTransitGatewayAttachmentID.NotFound");
  expect(await stateOf(company, attachment)).toBe("pendingAcceptance");
  await accept(company);
  expect(await outcome(accept(company))).toBe("IncorrectState");
  await until(crossplane, attachment, "available");
  await route(crossplane, made.table, id);
  expect(await routesOf(crossplane, made.table)).toMatchObject([{ TransitGatewayId: id, State: "active" }]);
});

test("a gateway that accepts shared attachments needs no acceptance", async () => {
  const made = await network(crossplane, "10.66.0.0/18");
  const shared = { "fleet.local/shared-with": "000000000000" };
  const id = await addTransitGateway(company.ec2, shared, { AutoAcceptSharedAttachments: "enable" });
  const { TransitGatewayVpcAttachment } = await attach(crossplane, id, made);
  expect(TransitGatewayVpcAttachment?.State).toBe("pending");
});

test("the first attachment of an account needs the right to create the service-linked role of transit gateways", async () => {
  const { ec2 } = await cloud.account("333333333333", {
    network: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "ec2:*", Resource: "*" }] },
  });
  const limited = { ...company, ec2 };
  const id = await addTransitGateway(ec2);
  expect(await outcome(attach(limited, id, await network(limited)))).toBe("UnauthorizedOperation");
});

test("what does not exist is refused by the code that EC2 has for it", async () => {
  const made = await network(company, "10.64.0.0/18");
  const id = await addTransitGateway(company.ec2);
  expect(await outcome(attach(company, "tgw-0a1b2c3d4e5f60718", made))).toBe("InvalidTransitGatewayID.NotFound");
  expect(await outcome(attach(company, "tgw-office", made))).toBe("InvalidTransitGatewayID.Malformed");
  expect(await outcome(attach(company, id, { ...made, subnet: "subnet-0a1b2c3d" }))).toBe("InvalidSubnetID.NotFound");
  expect(await outcome(attach(company, id, { ...made, vpc: "vpc-0a1b2c3d" }))).toBe("InvalidVpcID.NotFound");
  const { TransitGateway } = await company.ec2.createTransitGateway({});
  expect(await outcome(attach(company, TransitGateway?.TransitGatewayId ?? "", made))).toBe("IncorrectState");
});

test("the default route table of a gateway has its attachments, and a route changes to another target", async () => {
  const made = await network(company, "10.65.0.0/18");
  const id = await addTransitGateway(company.ec2);
  const { TransitGatewayVpcAttachment } = await attach(company, id, made);
  const attachment = TransitGatewayVpcAttachment?.TransitGatewayAttachmentId ?? "";
  await until(company, attachment, "available");
  const another = await addTransitGateway(company.ec2);
  const second = (await attach(company, another, made)).TransitGatewayVpcAttachment?.TransitGatewayAttachmentId ?? "";
  await until(company, second, "available");
  await route(company, made.table, id);
  const target = { RouteTableId: made.table, DestinationCidrBlock: DESTINATION, TransitGatewayId: another };
  await company.ec2.replaceRoute(target);
  expect(await routesOf(company, made.table)).toMatchObject([{ TransitGatewayId: another }]);
  const request = new GetTransitGatewayRouteTableAssociationsCommand({
    TransitGatewayRouteTableId: "tgw-rtb-0a1b2c3d",
  });
  expect(await outcome(company.ec2.send(request))).toBe("InvalidRouteTableID.NotFound");
});

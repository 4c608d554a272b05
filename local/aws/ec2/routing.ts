/** Route tables, and what stands in them. */
import { crc32 } from "node:zlib";
import * as sdk from "@aws-sdk/client-ec2";
import { callSettings } from "../call-settings.ts";
import type { Aws } from "../connection.ts";
import { fixed, type Item, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { hasCode, orGone } from "../errors.ts";
import { composite } from "../handler.ts";
import { poll } from "../poll.ts";
import { api, arnOf, ec2, list } from "./define.ts";

async function tables(aws: Aws, id: string): Promise<sdk.RouteTable | undefined> {
  return (await api(aws).send(new sdk.DescribeRouteTablesCommand({ RouteTableIds: [id] }))).RouteTables?.[0];
}

export const routeTable = ec2({
  token: "aws:ec2/routeTable:RouteTable",
  crossplane: { kind: "ec2/RouteTable" },
  noun: "RouteTable",
  tag: "route-table",
  calls: {
    create: sdk.CreateRouteTableCommand,
    describe: sdk.DescribeRouteTablesCommand,
    delete: sdk.DeleteRouteTableCommand,
  },
  fields: {
    vpcId: { fixed },
    arn: arnOf("route-table"),
    ownerId: out(),
    propagatingVgws: out(({ PropagatingVgws }) => list(PropagatingVgws).map(({ GatewayId }) => GatewayId), {
      type: "set",
    }),
  },
  async delete(aws, id) {
    for (const { RouteTableAssociationId: AssociationId, Main } of (await tables(aws, id))?.Associations ?? [])
      if (AssociationId && !Main) await orGone(api(aws).send(new sdk.DisassociateRouteTableCommand({ AssociationId })));
    await api(aws).send(new sdk.DeleteRouteTableCommand({ RouteTableId: id }));
  },
});

interface RouteKey {
  readonly routeTableId?: string;
  readonly destinationCidrBlock?: string;
}

/** Id as Terraform makes it: `r-<table><crc32 of the destination>`. */
const routeId = ({ routeTableId: table, destinationCidrBlock: destination = "" }: RouteKey): string | undefined =>
  table && `r-${table}${crc32(destination)}`;

async function findRoute(aws: Aws, { routeTableId = "", destinationCidrBlock }: RouteKey) {
  const found = (await tables(aws, routeTableId))?.Routes?.find(
    (route) => route.DestinationCidrBlock === destinationCidrBlock,
  );
  return found && { ...found, RouteTableId: routeTableId };
}

const targets = ["gatewayId", "natGatewayId", "transitGatewayId"] as const;

/** How long Terraform repeats a call for a gateway whose attachment isn't available (terraform-provider-aws, vpc_route.go), in milliseconds. */
const attaching = 5 * 60_000;

/** Creates a route, and repeats the call while EC2 has no available attachment to its transit gateway. */
async function createRoute(aws: Aws, request: sdk.CreateRouteRequest): Promise<void> {
  let refusal: unknown;
  const attempt = async (): Promise<true | undefined> => {
    try {
      await api(aws).send(new sdk.CreateRouteCommand(request));
      return true;
    } catch (error) {
      if (!hasCode(error, "InvalidTransitGatewayID.NotFound")) throw error;
      refusal = error;
      return undefined;
    }
  };
  const timeout = Math.min(aws.timeout, attaching);
  await poll({ what: "the transit gateway to be attached", timeout }, attempt).catch((error) => {
    throw refusal ?? error;
  });
}

export const route = define({
  token: "aws:ec2/route:Route",
  crossplane: { kind: "ec2/Route", asynchronous: true },
  idOf: routeId,
  fields: {
    routeTableId: { fixed },
    destinationCidrBlock: { fixed },
    gatewayId: {},
    natGatewayId: {},
    transitGatewayId: {},
    instanceId: out(),
    instanceOwnerId: out(),
    origin: out(),
    state: out(),
  },
  validate(inputs) {
    const given = targets.filter((name) => inputs[name] !== undefined);
    if (given.length <= 1) return [];
    return [{ property: given[1] as string, reason: `a route has one target, not ${given.join(" and ")}` }];
  },
  create: (aws, request) => createRoute(aws, request as unknown as sdk.CreateRouteRequest),
  find: (aws, _id, last) => findRoute(aws, last),
  settings: [
    {
      // Once its id is known: an interruption here must not lose the route.
      fields: [],
      initially: () => true,
      call: (aws, id, inputs) =>
        poll({ what: `route ${id} to appear`, timeout: aws.timeout }, () => findRoute(aws, inputs)),
    },
    {
      fields: targets,
      call: (aws, _id, { routeTableId, destinationCidrBlock, gatewayId, natGatewayId, transitGatewayId }) =>
        api(aws).send(
          new sdk.ReplaceRouteCommand({
            RouteTableId: routeTableId,
            DestinationCidrBlock: destinationCidrBlock,
            GatewayId: gatewayId,
            NatGatewayId: natGatewayId,
            TransitGatewayId: transitGatewayId,
          }),
        ),
    },
  ],
  delete: (aws, _id, { routeTableId, destinationCidrBlock }) =>
    api(aws).send(
      new sdk.DeleteRouteCommand({ RouteTableId: routeTableId, DestinationCidrBlock: destinationCidrBlock }),
    ),
  importId(_aws, importId) {
    const properties = composite("_", "routeTableId", "destinationCidrBlock").partsOf(importId);
    return Promise.resolve({ id: routeId(properties) as string, properties });
  },
});

/** The association of a subnet with a table. A subnet has one association at most. */
async function associationOf(aws: Aws, subnetId: unknown, routeTableId: unknown) {
  const found = (await orGone(tables(aws, String(routeTableId))))?.Associations ?? [];
  return found.find(({ SubnetId }) => SubnetId === subnetId);
}

/**
 * An association by its id, in whatever table it is by now. EC2 gives it a new id when it is moved to another table; Pulumi can't
 * record one in an update, so an id that is not found stands for the association of the recorded subnet and table.
 */
async function association(aws: Aws, id: string, { subnetId, routeTableId }: Item) {
  const filter = { Name: "association.route-table-association-id", Values: [id] };
  const { RouteTables } = await api(aws).send(new sdk.DescribeRouteTablesCommand({ Filters: [filter] }));
  const found = (RouteTables ?? [])
    .flatMap(({ Associations }) => Associations ?? [])
    .find((item) => item.RouteTableAssociationId === id && item.AssociationState?.State !== "disassociated");
  return found ?? (subnetId && routeTableId ? associationOf(aws, subnetId, routeTableId) : undefined);
}

export const routeTableAssociation = define({
  token: "aws:ec2/routeTableAssociation:RouteTableAssociation",
  crossplane: { kind: "ec2/RouteTableAssociation" },
  deleteBeforeReplace: true,
  fields: {
    routeTableId: {},
    subnetId: { fixed },
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.AssociateRouteTableCommand(request as never))).AssociationId,
  find: association,
  settings: [
    {
      fields: ["routeTableId"],
      async call(aws, id, { routeTableId: RouteTableId }, { old }) {
        const AssociationId = (await association(aws, id, old))?.RouteTableAssociationId;
        const request = new sdk.ReplaceRouteTableAssociationCommand({ AssociationId, RouteTableId });
        const { NewAssociationId } = await api(aws).send(request);
        if (NewAssociationId) await callSettings().made?.(NewAssociationId);
      },
    },
  ],
  async delete(aws, id, last) {
    const AssociationId = (await association(aws, id, last))?.RouteTableAssociationId;
    if (AssociationId) await api(aws).send(new sdk.DisassociateRouteTableCommand({ AssociationId }));
  },
  async importId(aws, importId) {
    const { subnet, table } = composite("/", "subnet", "table").partsOf(importId);
    const found = (await associationOf(aws, subnet, table))?.RouteTableAssociationId;
    if (!found) throw new Error(`route table ${table} has no association with ${subnet}`);
    return { id: found, properties: {} };
  },
});

/** Route tables, and what stands in them. */
import { crc32 } from "node:zlib";
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { orGone } from "../errors.ts";
import { composite } from "../handler.ts";
import { poll } from "../poll.ts";
import { api, arnOf, ec2, list } from "./define.ts";

async function tables(aws: Aws, id: string): Promise<sdk.RouteTable | undefined> {
  return (await api(aws).send(new sdk.DescribeRouteTablesCommand({ RouteTableIds: [id] }))).RouteTables?.[0];
}

export const routeTable = ec2({
  token: "aws:ec2/routeTable:RouteTable",
  crossplane: { kind: "ec2/RouteTable" },
  ...{ noun: "RouteTable", tag: "route-table" },
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

const targets = ["gatewayId", "natGatewayId"] as const;

export const route = define({
  token: "aws:ec2/route:Route",
  crossplane: { kind: "ec2/Route" },
  idOf: routeId,
  fields: {
    routeTableId: { fixed },
    destinationCidrBlock: { fixed },
    gatewayId: {},
    natGatewayId: {},
    ...{ instanceId: out(), instanceOwnerId: out(), origin: out(), state: out() },
  },
  validate(inputs) {
    const given = targets.filter((name) => inputs[name] !== undefined);
    if (given.length <= 1) return [];
    return [{ property: given[1] as string, reason: `a route has one target, not ${given.join(" and ")}` }];
  },
  create: (aws, request) => api(aws).send(new sdk.CreateRouteCommand(request as never)),
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
      call: (aws, _id, { routeTableId, destinationCidrBlock, gatewayId, natGatewayId }) =>
        api(aws).send(
          new sdk.ReplaceRouteCommand({
            ...{ RouteTableId: routeTableId, DestinationCidrBlock: destinationCidrBlock },
            ...{ GatewayId: gatewayId, NatGatewayId: natGatewayId },
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

export const routeTableAssociation = define({
  token: "aws:ec2/routeTableAssociation:RouteTableAssociation",
  crossplane: {
    kind: "ec2/RouteTableAssociation",
    // A subnet has one association at most.
    async recover(aws, { subnetId, routeTableId }) {
      const found = (await orGone(tables(aws, String(routeTableId))))?.Associations ?? [];
      return found.find(({ SubnetId }) => SubnetId === subnetId)?.RouteTableAssociationId;
    },
  },
  deleteBeforeReplace: true,
  fields: {
    routeTableId: {},
    subnetId: { fixed },
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.AssociateRouteTableCommand(request as never))).AssociationId,
  // Any table may hold the association by now: somebody may have moved the subnet.
  async find(aws, id) {
    const filter = { Name: "association.route-table-association-id", Values: [id] };
    const { RouteTables } = await api(aws).send(new sdk.DescribeRouteTablesCommand({ Filters: [filter] }));
    const found = (RouteTables ?? [])
      .flatMap(({ Associations }) => Associations ?? [])
      .find((item) => item.RouteTableAssociationId === id && item.AssociationState?.State !== "disassociated");
    return found && { ...found };
  },
  settings: [
    {
      fields: ["routeTableId"],
      call: (aws, id, { routeTableId }) =>
        api(aws).send(new sdk.ReplaceRouteTableAssociationCommand({ AssociationId: id, RouteTableId: routeTableId })),
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DisassociateRouteTableCommand({ AssociationId: id })),
  async importId(aws, importId) {
    const { subnet, table } = composite("/", "subnet", "table").partsOf(importId);
    const all = (await tables(aws, table))?.Associations ?? [];
    const found = all.find(({ SubnetId }) => SubnetId === subnet)?.RouteTableAssociationId;
    if (!found) throw new Error(`route table ${table} has no association with ${subnet}`);
    return { id: found, properties: {} };
  },
});

import {
  AssociateRouteTableCommand,
  DescribeRouteTablesCommand,
  DisassociateRouteTableCommand,
  ReplaceRouteTableAssociationCommand,
  type RouteTableAssociation,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  routeTableId: string;
  subnetId?: string;
  gatewayId?: string;
}

async function associations(aws: Aws, table: string): Promise<RouteTableAssociation[]> {
  const found = await orGone(aws.ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [table] })));
  return found?.RouteTables?.[0]?.Associations ?? [];
}

/** Any table may hold the association by now: somebody may have moved the subnet. */
async function find(aws: Aws, id: string): Promise<RouteTableAssociation | undefined> {
  const filter = { Name: "association.route-table-association-id", Values: [id] };
  const { RouteTables } = await aws.ec2.send(new DescribeRouteTablesCommand({ Filters: [filter] }));
  const all = (RouteTables ?? []).flatMap(({ Associations }) => Associations ?? []);
  return all.find((item) => item.RouteTableAssociationId === id && item.AssociationState?.State !== "disassociated");
}

export const routeTableAssociation = resource<Inputs>({
  token: "aws:ec2/routeTableAssociation:RouteTableAssociation",
  inputs: ["routeTableId", "subnetId", "gatewayId"],
  replaceOn: ["subnetId", "gatewayId"],
  deleteBeforeReplace: true,

  validate({ subnetId, gatewayId }) {
    if (subnetId !== undefined && gatewayId !== undefined)
      return [{ property: "gatewayId", reason: "set subnetId or gatewayId, not both" }];
    return [];
  },

  async create(aws, inputs) {
    const { AssociationId } = await aws.ec2.send(
      new AssociateRouteTableCommand({
        RouteTableId: inputs.routeTableId,
        SubnetId: inputs.subnetId,
        GatewayId: inputs.gatewayId,
      }),
    );
    return AssociationId as string;
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    return { routeTableId: actual.RouteTableId, subnetId: actual.SubnetId, gatewayId: actual.GatewayId };
  },

  async update(aws, id, change) {
    await aws.ec2.send(
      new ReplaceRouteTableAssociationCommand({ AssociationId: id, RouteTableId: change.new.routeTableId }),
    );
  },

  async delete(aws, id) {
    await orGone(aws.ec2.send(new DisassociateRouteTableCommand({ AssociationId: id })));
  },

  async importId(aws, importId) {
    const { target, table } = splitImportId(importId, "/", "target", "table") as Record<string, string>;
    const all = await associations(aws, table as string);
    const found = all.find(({ SubnetId, GatewayId }) => SubnetId === target || GatewayId === target);
    if (!found?.RouteTableAssociationId) throw new Error(`route table ${table} has no association with ${target}`);
    return { id: found.RouteTableAssociationId, properties: {} };
  },
});

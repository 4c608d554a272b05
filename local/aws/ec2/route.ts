import { crc32 } from "node:zlib";
import {
  CreateRouteCommand,
  DeleteRouteCommand,
  DescribeRouteTablesCommand,
  ReplaceRouteCommand,
  type Route,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, type Properties, resource, splitImportId } from "../handler.ts";
import { poll } from "../poll.ts";

/** Targets of a route, by the input that names them. */
const routeTargets = {
  gatewayId: "GatewayId",
  natGatewayId: "NatGatewayId",
  networkInterfaceId: "NetworkInterfaceId",
  transitGatewayId: "TransitGatewayId",
  vpcPeeringConnectionId: "VpcPeeringConnectionId",
  egressOnlyGatewayId: "EgressOnlyInternetGatewayId",
} as const;
type Target = keyof typeof routeTargets;
export const targetNames = Object.keys(routeTargets) as Target[];

export interface RouteInputs extends Partial<Record<Target, string>> {
  routeTableId: string;
  destinationCidrBlock?: string;
  destinationIpv6CidrBlock?: string;
}

/** Id as Terraform makes it: `r-<table><crc32 of the destination>`. */
export const routeId = (table: string, destination: string): string => `r-${table}${crc32(destination)}`;

const destinationOf = (inputs: Partial<RouteInputs>): string =>
  inputs.destinationCidrBlock ?? inputs.destinationIpv6CidrBlock ?? "";

const apiDestination = (inputs: Partial<RouteInputs>) => ({
  DestinationCidrBlock: inputs.destinationCidrBlock,
  DestinationIpv6CidrBlock: inputs.destinationIpv6CidrBlock,
});

const apiRoute = (inputs: RouteInputs) => ({
  RouteTableId: inputs.routeTableId,
  ...apiDestination(inputs),
  ...Object.fromEntries(targetNames.map((name) => [routeTargets[name], inputs[name]])),
});

/** Creates one route; used by Route and by the inline routes of RouteTable. */
export async function createRoute(aws: Aws, inputs: RouteInputs): Promise<void> {
  await aws.ec2.send(new CreateRouteCommand(apiRoute(inputs)));
}

/** Gives an existing route another target. */
export async function replaceRoute(aws: Aws, inputs: RouteInputs): Promise<void> {
  await aws.ec2.send(new ReplaceRouteCommand(apiRoute(inputs)));
}

export async function deleteRoute(aws: Aws, inputs: Partial<RouteInputs>): Promise<void> {
  await orGone(aws.ec2.send(new DeleteRouteCommand({ RouteTableId: inputs.routeTableId, ...apiDestination(inputs) })));
}

export function routeProperties(route: Route): Properties {
  return Object.fromEntries(targetNames.map((name) => [name, route[routeTargets[name]]]));
}

async function find(aws: Aws, inputs: Partial<RouteInputs>): Promise<Route | undefined> {
  const tables = await orGone(
    aws.ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [inputs.routeTableId as string] })),
  );
  const destination = destinationOf(inputs);
  return tables?.RouteTables?.[0]?.Routes?.find(
    (route) => route.DestinationCidrBlock === destination || route.DestinationIpv6CidrBlock === destination,
  );
}

export const route = resource<RouteInputs>({
  token: "aws:ec2/route:Route",
  inputs: ["routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", ...targetNames],
  computed: ["networkInterfaceId"],
  replaceOn: ["routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock"],

  validate(inputs) {
    const targets = targetNames.filter((name) => inputs[name] !== undefined);
    if (targets.length > 1)
      return [{ property: targets[1] as string, reason: `a route has one target, not ${targets.join(" and ")}` }];
    return [];
  },

  async create(aws, inputs) {
    await createRoute(aws, inputs);
    const id = routeId(inputs.routeTableId, destinationOf(inputs));
    return finishing(id, () => poll({ what: `route ${id} to appear`, timeout: aws.timeout }, () => find(aws, inputs)));
  },

  async read(aws, _id, last) {
    const actual = await find(aws, last);
    if (!actual) return null;
    return {
      ...routeProperties(actual),
      routeTableId: last.routeTableId,
      destinationCidrBlock: actual.DestinationCidrBlock,
      destinationIpv6CidrBlock: actual.DestinationIpv6CidrBlock,
      instanceId: actual.InstanceId,
      instanceOwnerId: actual.InstanceOwnerId,
      origin: actual.Origin,
      state: actual.State,
    };
  },

  update: (aws, _id, change) => replaceRoute(aws, change.new),

  delete: (aws, _id, last) => deleteRoute(aws, last),

  importId(_aws, importId) {
    const { routeTableId, destination } = splitImportId(importId, "_", "routeTableId", "destination") as Record<
      string,
      string
    >;
    const key = destination?.includes(":") ? "destinationIpv6CidrBlock" : "destinationCidrBlock";
    return Promise.resolve({
      id: routeId(routeTableId as string, destination as string),
      properties: { routeTableId, [key]: destination },
    });
  },
});

import {
  CreateRouteTableCommand,
  DeleteRouteTableCommand,
  DescribeRouteTablesCommand,
  DisassociateRouteTableCommand,
  type Route,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { sameSet } from "../compare.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { createRoute, deleteRoute, type RouteInputs, replaceRoute, routeProperties, targetNames } from "./route.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

interface InlineRoute extends Omit<RouteInputs, "routeTableId" | "destinationCidrBlock" | "destinationIpv6CidrBlock"> {
  cidrBlock?: string;
  ipv6CidrBlock?: string;
}

interface Inputs extends Tagged {
  vpcId: string;
  routes?: InlineRoute[];
}

const asRoute = (table: string, { cidrBlock, ipv6CidrBlock, ...targets }: InlineRoute): RouteInputs => ({
  ...targets,
  routeTableId: table,
  ...(cidrBlock && { destinationCidrBlock: cidrBlock }),
  ...(ipv6CidrBlock && { destinationIpv6CidrBlock: ipv6CidrBlock }),
});

const destination = (route: InlineRoute): string => route.cidrBlock ?? route.ipv6CidrBlock ?? "";

/** Routes that somebody made: not the local one, not those that a gateway propagates. */
const isManual = (route: Route): boolean =>
  route.GatewayId !== "local" && (route.Origin ?? "CreateRoute") === "CreateRoute";

const inline = (route: Route) => ({
  cidrBlock: route.DestinationCidrBlock ?? "",
  ipv6CidrBlock: route.DestinationIpv6CidrBlock ?? "",
  ...routeProperties(route),
});

async function syncRoutes(aws: Aws, id: string, olds: InlineRoute[], news: InlineRoute[]): Promise<void> {
  const before = new Map(olds.map((route) => [destination(route), route]));
  const after = new Map(news.map((route) => [destination(route), route]));
  for (const [key, route] of before) if (!after.has(key)) await deleteRoute(aws, asRoute(id, route));
  for (const [key, route] of after) {
    const old = before.get(key);
    if (!old) await createRoute(aws, asRoute(id, route));
    else if (!sameSet(old, route)) await replaceRoute(aws, asRoute(id, route));
  }
}

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [id] })));
  return found?.RouteTables?.[0];
}

export const routeTable = resource<Inputs>({
  token: "aws:ec2/routeTable:RouteTable",
  tagged: true,
  inputs: ["vpcId", ...["cidrBlock", "ipv6CidrBlock", ...targetNames].map((name) => `routes.${name}`)],
  computed: ["routes"],
  replaceOn: ["vpcId"],
  sets: ["routes"],

  async create(aws, inputs) {
    const { RouteTable } = await aws.ec2.send(
      new CreateRouteTableCommand({ VpcId: inputs.vpcId, ...tagSpecifications("route-table", inputs.tagsAll) }),
    );
    return finishing(RouteTable?.RouteTableId, (id) => syncRoutes(aws, id, [], inputs.routes ?? []));
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    return {
      arn: ec2Arn(aws, actual.OwnerId, "route-table", id),
      ownerId: actual.OwnerId,
      propagatingVgws: (actual.PropagatingVgws ?? []).map(({ GatewayId }) => GatewayId),
      routes: (actual.Routes ?? []).filter(isManual).map(inline),
      vpcId: actual.VpcId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("routes")) await syncRoutes(aws, id, change.old.routes ?? [], change.new.routes ?? []);
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    const actual = await find(aws, id);
    for (const { RouteTableAssociationId, Main } of actual?.Associations ?? [])
      if (RouteTableAssociationId && !Main)
        await orGone(aws.ec2.send(new DisassociateRouteTableCommand({ AssociationId: RouteTableAssociationId })));
    await orGone(aws.ec2.send(new DeleteRouteTableCommand({ RouteTableId: id })));
  },
});

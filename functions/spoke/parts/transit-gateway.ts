import type { Context } from "../context.ts";
import { resources } from "../resources.ts";
import { routedCidrs } from "../transit-gateway.ts";
import { subnetIds } from "./network.ts";

/** The route of the private subnets of a zone to a network behind the transit gateway. EC2 creates it for an available attachment only. */
function transitRoute(context: Context, transitGatewayId: string, destinationCidrBlock: string, zone: number): void {
  const { composer, facts, spoke } = context;
  const needs = {
    routeTableId: facts.text(resources.routeTable(`private-${zone}`), "id"),
    attachment: facts.ready(resources.transitGateway),
  };
  composer.managed(resources.transitRoute(destinationCidrBlock, zone), "Route", needs, ({ routeTableId }) => ({
    forProvider: { region: spoke.spec.region, routeTableId, destinationCidrBlock, transitGatewayId },
  }));
}

/** What makes Terraform associate and propagate an attachment to the gateway's default route table; both are true by default. */
const defaultRouteTables = [
  "transitGatewayDefaultRouteTableAssociation",
  "transitGatewayDefaultRouteTablePropagation",
] as const;

/** The attachment of the VPC to the transit gateway that the Spoke names, with routes in the private route tables. */
export function composeTransitGateway(context: Context): void {
  const { composer, facts, observed, plan, spoke, tags } = context;
  const { region, network } = spoke.spec;
  const { transitGateway } = network;
  if (transitGateway === undefined || network.existing !== undefined) return;
  const needs = { vpcId: facts.text(resources.vpc, "id"), subnetIds: subnetIds(context, "private") };
  composer.managed(resources.transitGateway, "TransitGatewayVPCAttachment", needs, (ids) => ({
    forProvider: {
      ...{ region, ...ids, transitGatewayId: transitGateway.id, tags: tags("transit-gateway") },
      // The gateway's owner decides on its route tables, so what AWS reports is kept. Late initialization copies initProvider and defaults too.
      ...Object.fromEntries(
        defaultRouteTables.map((field) => [field, observed.flag(resources.transitGateway, field) ?? true]),
      ),
    },
  }));
  for (const cidr of routedCidrs(network, plan.network.cidr))
    for (let zone = 0; zone < network.zones; zone += 1) transitRoute(context, transitGateway.id, cidr, zone);
}

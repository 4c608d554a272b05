import { crc32 } from "node:zlib";
import type { Context } from "../context.ts";
import {
  type GatewayService,
  gatewayEndpointsOf,
  type InterfaceService,
  interfaceEndpointsOf,
  serviceName,
} from "../endpoints.ts";
import { type Fact, fact } from "../facts.ts";
import { needsEndpoints } from "../isolated.ts";
import { resources, type Table } from "../resources.ts";
import { tables } from "./network.ts";

/** A gateway endpoint, with a route in every table. It is free, and what goes through it causes no NAT traffic. */
function gatewayEndpoint(context: Context, service: GatewayService): void {
  const { composer, facts, spoke, tags } = context;
  const { region } = spoke.spec;
  const endpoint = resources.gatewayEndpoint(service);
  composer.managed(endpoint, "VPCEndpoint", { vpcId: facts.text(resources.vpc, "id") }, ({ vpcId }) => ({
    forProvider: {
      region,
      vpcId,
      vpcEndpointType: "Gateway",
      serviceName: serviceName(service, region),
      tags: tags(service),
    },
  }));
  const route = (table: Table): void => {
    const needs = {
      vpcEndpointId: facts.readyText(endpoint, "id"),
      routeTableId: facts.text(resources.routeTable(table), "id"),
    };
    composer.managed(resources.gatewayRoute(service, table), "VPCEndpointRouteTableAssociation", needs, (ids) => ({
      forProvider: { region, ...ids },
    }));
  };
  for (const table of tables(context)) route(table);
}

/** The gateway endpoints of a VPC that the fleet makes: layers of images are in S3, so that it always has that one. */
export function composeGatewayEndpoints(context: Context): void {
  const { endpoints, existing } = context.spoke.spec.network;
  if (existing !== undefined) return;
  for (const service of gatewayEndpointsOf(endpoints)) gatewayEndpoint(context, service);
}

/** The ID of an endpoint's membership in a security group, as Terraform makes it (vpcEndpointSecurityGroupAssociationCreateID). */
const membershipId = (endpointId: string, groupId: string): string => `a-${endpointId}${crc32(groupId)}`;

/**
 * An interface endpoint in a private subnet of every zone, which takes the public name of its service over in the VPC. The cluster's own security
 * group lets nodes and pods in: its members reach each other at every port. AWS puts it into the VPC's default group too, which lets nobody else in.
 */
function interfaceEndpoint(context: Context, service: InterfaceService): void {
  const { composer, facts, spoke, tags } = context;
  const { region, network } = spoke.spec;
  const endpoint = resources.interfaceEndpoint(service);
  composer.managed(endpoint, "VPCEndpoint", { vpcId: facts.text(resources.vpc, "id") }, ({ vpcId }) => ({
    forProvider: {
      region,
      vpcId,
      vpcEndpointType: "Interface",
      serviceName: serviceName(service, region),
      privateDnsEnabled: true,
      tags: tags(endpoint.key),
    },
  }));
  const vpcEndpointId = facts.readyText(endpoint, "id");
  for (let zone = 0; zone < network.zones; zone += 1) {
    const needs = { vpcEndpointId, subnetId: facts.text(resources.subnet("private", zone), "id") };
    composer.managed(resources.endpointSubnet(service, zone), "VPCEndpointSubnetAssociation", needs, (ids) => ({
      forProvider: { region, ...ids },
    }));
  }
  const needs = {
    vpcEndpointId,
    securityGroupId: facts.text(resources.cluster, "vpcConfig", "clusterSecurityGroupId"),
  };
  composer.managed(resources.endpointGroup(service), "VPCEndpointSecurityGroupAssociation", needs, (ids) => ({
    // Else a creation that was interrupted is made once more.
    externalName: membershipId(ids.vpcEndpointId, ids.securityGroupId),
    forProvider: { region, ...ids },
  }));
}

/** The interface endpoints that the Spoke names; it names none in a network of somebody else. */
export function composeInterfaceEndpoints(context: Context): void {
  for (const service of interfaceEndpointsOf(context.spoke.spec.network.endpoints)) interfaceEndpoint(context, service);
}

/** That nodes reach AWS: by interface endpoints if the VPC has no other way out. */
export function nodesReachAws(context: Context): Fact<true> {
  const { network } = context.spoke.spec;
  const [first, ...others] = interfaceEndpointsOf(network.endpoints).flatMap((service) => [
    resources.endpointGroup(service),
    ...Array.from({ length: network.zones }, (_, zone) => resources.endpointSubnet(service, zone)),
  ]);
  return first === undefined || !needsEndpoints(context)
    ? fact("network", true)
    : context.facts.ready(first, ...others);
}

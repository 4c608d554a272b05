/** The resources of EC2. */
import type { Handler } from "../handler.ts";
import {
  vpcEndpoint,
  vpcEndpointRouteTableAssociation,
  vpcEndpointSecurityGroupAssociation,
  vpcEndpointSubnetAssociation,
} from "./endpoints.ts";
import { flowLog } from "./flow-logs.ts";
import { launchTemplate } from "./launch-template.ts";
import { eip, internetGateway, natGateway, subnet, vpc, vpcIpv4CidrBlockAssociation } from "./network.ts";
import { route, routeTable, routeTableAssociation } from "./routing.ts";
import { defaultSecurityGroup, securityGroupIngressRule } from "./security-groups.ts";
import { transitGatewayVpcAttachment } from "./transit-gateways.ts";

export const ec2Resources: readonly Handler[] = [
  ...[defaultSecurityGroup, eip, flowLog, internetGateway, launchTemplate, natGateway, route, routeTable],
  ...[
    routeTableAssociation,
    securityGroupIngressRule,
    subnet,
    transitGatewayVpcAttachment,
    vpc,
    vpcEndpoint,
    vpcEndpointRouteTableAssociation,
  ],
  ...[vpcEndpointSecurityGroupAssociation, vpcEndpointSubnetAssociation, vpcIpv4CidrBlockAssociation],
];

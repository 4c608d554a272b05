/** The AWS handlers: one per resource type, over the AWS SDK, for the Pulumi plugin and for the Crossplane controller. */
export { createAws } from "./clients.ts";

import { logGroup } from "./cloudwatch/log-group.ts";
import { table } from "./dynamodb/table.ts";
import { defaultSecurityGroup } from "./ec2/default-security-group.ts";
import { eip } from "./ec2/eip.ts";
import { internetGateway } from "./ec2/internet-gateway.ts";
import { launchTemplate } from "./ec2/launch-template.ts";
import { natGateway } from "./ec2/nat-gateway.ts";
import { route } from "./ec2/route.ts";
import { routeTable } from "./ec2/route-table.ts";
import { routeTableAssociation } from "./ec2/route-table-association.ts";
import { securityGroup } from "./ec2/security-group.ts";
import { securityGroupRule } from "./ec2/security-group-rule.ts";
import { securityGroupEgressRule, securityGroupIngressRule } from "./ec2/security-group-single-rule.ts";
import { subnet } from "./ec2/subnet.ts";
import { tag } from "./ec2/tag.ts";
import { vpc } from "./ec2/vpc.ts";
import { vpcEndpoint } from "./ec2/vpc-endpoint.ts";
import { vpcEndpointRouteTableAssociation } from "./ec2/vpc-endpoint-route-table-association.ts";
import { accessEntry } from "./eks/access-entry.ts";
import { accessPolicyAssociation } from "./eks/access-policy-association.ts";
import { addon } from "./eks/addon.ts";
import { cluster } from "./eks/cluster.ts";
import { nodeGroup } from "./eks/node-group.ts";
import { podIdentityAssociation } from "./eks/pod-identity-association.ts";
import type { Handler } from "./handler.ts";
import { instanceProfile } from "./iam/instance-profile.ts";
import { openIdConnectProvider } from "./iam/open-id-connect-provider.ts";
import { policy } from "./iam/policy.ts";
import { role } from "./iam/role.ts";
import { rolePolicy } from "./iam/role-policy.ts";
import { rolePolicyAttachment } from "./iam/role-policy-attachment.ts";
import { alias } from "./kms/alias.ts";
import { key } from "./kms/key.ts";
import { secret } from "./secretsmanager/secret.ts";
import { secretVersion } from "./secretsmanager/secret-version.ts";
import { queue } from "./sqs/queue.ts";

export * from "./clients.ts";
export * from "./compare.ts";
export * from "./errors.ts";
export { functions } from "./functions.ts";
export * from "./handler.ts";
export * from "./lifecycle.ts";
export { withOperation } from "./operation.ts";

const all: Handler[] = [
  ...[accessEntry, accessPolicyAssociation, addon, alias, cluster, defaultSecurityGroup, eip, instanceProfile],
  ...[internetGateway, key, launchTemplate, logGroup, natGateway, nodeGroup, openIdConnectProvider],
  ...[podIdentityAssociation, policy, queue, role, rolePolicy, rolePolicyAttachment, route, routeTable],
  ...[routeTableAssociation, secret, secretVersion, securityGroup, securityGroupEgressRule, securityGroupIngressRule],
  ...[securityGroupRule, subnet, table, tag, vpc, vpcEndpoint, vpcEndpointRouteTableAssociation],
];

/** Handlers by Pulumi token. */
export const handlers: ReadonlyMap<string, Handler> = new Map(all.map((handler) => [handler.token, handler]));

import { flowLogPolicy, flowLogTrust } from "../../../lib/iam/flow-logs.ts";
import type { Context } from "../context.ts";
import { resources } from "../resources.ts";
import { composeLogGroup } from "./log-group.ts";
import { composeRole, type RoleArgs, roleResources } from "./roles.ts";

function writer({ names, scope }: Context): RoleArgs {
  return {
    role: "flow-logs",
    roleName: names.flowLogRole,
    description: `Flow log of the VPC of ${names.cluster}`,
    trust: flowLogTrust(scope),
    managedPolicies: [],
    inlinePolicy: flowLogPolicy(scope, names.cluster),
  };
}

/** The flow log of a VPC that the fleet makes, its log group, and the role by which AWS writes it. */
export function composeFlowLog(context: Context): void {
  const { composer, facts, names, spoke, tags } = context;
  const { region, network } = spoke.spec;
  const { flowLogs: trafficType } = network;
  if (trafficType === undefined) return;
  const role = writer(context);
  composeRole(context, role);
  composeLogGroup(context, resources.flowLogGroup, names.flowLogGroup);
  const flowLog = resources.flowLog(trafficType);
  const needs = {
    vpcId: facts.text(resources.vpc, "id"),
    iamRoleArn: facts.text(resources.role("flow-logs"), "arn"),
    rolePolicies: facts.ready(...roleResources(role)),
    logDestination: facts.readyText(resources.flowLogGroup, "arn"),
  };
  composer.managed(flowLog, "FlowLog", needs, ({ vpcId, iamRoleArn, logDestination }) => ({
    forProvider: {
      region,
      vpcId,
      trafficType,
      iamRoleArn,
      logDestinationType: "cloud-watch-logs",
      logDestination,
      tags: tags(flowLog.key),
    },
  }));
}

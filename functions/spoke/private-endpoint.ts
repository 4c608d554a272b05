import type { Context } from "./context.ts";
import type { Failure } from "./failures.ts";
import { resources } from "./resources.ts";

/**
 * What a spoke with a private endpoint needs and the fleet doesn't make: a way between the hub's network and its own. Only a hub that
 * does not get through shows that there is none, so that is reported by this name.
 */
export function withPrecondition({ spoke, hub, plan, observed }: Context, failure: Failure): Failure {
  if (spoke.spec.endpoint.public || failure.reason !== "SpokeUnreachable") return failure;
  const own = `${observed.text(resources.vpc, "id")} (${plan.network.cidr})`;
  return {
    ...failure,
    reason: "NetworksNotConnected",
    remedy:
      `the endpoint is private, and the hub does not reach it: connect the hub's VPC ${hub.aws.vpcId} (${hub.aws.vpcCidr}) and the spoke's ${own} ` +
      "by peering or a transit gateway, with routes both ways; the security group admits the hub already, and the hub's Flux retries until it gets through",
  };
}

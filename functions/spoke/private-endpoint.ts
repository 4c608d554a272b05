import type { Context } from "./context.ts";
import type { Failure } from "./failures.ts";
import { resources } from "./resources.ts";

/**
 * A spoke with a private endpoint needs a connection between the hub's network and its own, which the fleet does not make. Only a hub that
 * can't reach the spoke shows that it is missing, so such a failure gets this reason.
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

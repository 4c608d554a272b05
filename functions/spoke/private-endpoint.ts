import type { Context } from "./context.ts";
import { resources } from "./resources.ts";
import type { Trouble } from "./troubles.ts";

/**
 * What a spoke with a private endpoint needs and the fleet doesn't make: a way between the hub's network and its own. Only a hub that
 * does not get through shows that there is none, so that is reported by this name.
 */
export function withPrecondition({ spoke, hub, plan, observed }: Context, trouble: Trouble): Trouble {
  if (spoke.spec.endpoint.public || trouble.reason !== "SpokeUnreachable") return trouble;
  const own = `${observed.text(resources.vpc, "id")} (${plan.network.cidr})`;
  return {
    ...trouble,
    reason: "NetworksNotConnected",
    todo:
      `the endpoint is private, and the hub does not reach it: connect the hub's VPC ${hub.aws.vpcId} (${hub.aws.vpcCidr}) and the spoke's ${own} ` +
      "by peering or a transit gateway, with routes both ways; the security group admits the hub already, and it goes on by itself",
  };
}

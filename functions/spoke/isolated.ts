import type { Spoke, SpokeSpec } from "./api.ts";
import { type Side, sides } from "./resources.ts";
import { isEgress } from "./transit-gateway.ts";

/** Whether the VPC of a spoke has neither an internet gateway nor NAT gateways. */
export const isIsolated = ({ spoke }: { readonly spoke: Pick<Spoke, "spec"> }): boolean =>
  spoke.spec.network.natGateways === "isolated";

/** Whether nodes reach AWS by endpoints only: no transit gateway replaces the NAT gateways. */
export const needsEndpoints = ({ spoke }: { readonly spoke: Pick<Spoke, "spec"> }): boolean =>
  isIsolated({ spoke }) && !isEgress(spoke.spec.network);

/** Sides on which a network that the fleet makes has subnets: without an internet gateway none is public. */
export const sidesOf = ({ natGateways }: Pick<SpokeSpec["network"], "natGateways">): readonly Side[] =>
  sides.filter((side) => side === "private" || natGateways !== "isolated");

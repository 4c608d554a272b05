import type { Spoke, SpokeSpec } from "./api.ts";
import { type Side, sides } from "./resources.ts";

/** Whether the network of a spoke has no internet access, in either direction. */
export const isIsolated = ({ spoke }: { readonly spoke: Pick<Spoke, "spec"> }): boolean =>
  spoke.spec.network.natGateways === "isolated";

/** Sides on which a network that the fleet makes has subnets: without internet access none is public. */
export const sidesOf = ({ natGateways }: Pick<SpokeSpec["network"], "natGateways">): readonly Side[] =>
  sides.filter((side) => side === "private" || natGateways !== "isolated");

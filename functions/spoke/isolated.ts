import type { Spoke } from "./api.ts";

/** Whether the network of a spoke has no way to the internet, in either direction. */
export const isIsolated = ({ spoke }: { readonly spoke: Pick<Spoke, "spec"> }): boolean =>
  spoke.spec.network.natGateways === "isolated";

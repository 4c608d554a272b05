/** The embedded cloud's Crossplane packages and the definitions of their managed resources. */
export { packages } from "./packages/index.ts";
export { familyCrds, managedCrd } from "./provider-aws/crds.ts";
export { families } from "./provider-aws/kinds.ts";
export { parseOptions } from "./provider-aws/options.ts";

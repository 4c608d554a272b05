/** Pulumi on an instance, and the stand-ins of its plugins. */

export { CHECKOUT } from "../product-paths.ts";
export { prepareStack, pulumiPaths, runPulumi } from "./cli/index.ts";
export { Cluster } from "./eks/cluster.ts";
export { ManagedNodeGroup } from "./eks/managed-node-group.ts";

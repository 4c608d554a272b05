/** Pulumi on an instance, and the stand-ins of its plugins. */
export { prepareStack, pulumiPaths, runPulumi } from "./cli/index.ts";
export { CHECKOUT } from "./cli/paths.ts";
export { Cluster } from "./eks/cluster.ts";
export { ManagedNodeGroup } from "./eks/managed-node-group.ts";

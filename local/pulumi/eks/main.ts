/** Stand-in for pulumi-resource-eks: the components Cluster and ManagedNodeGroup, on the SDK's own server as the official plugin. */
// Registers the component types, so that a Cluster can be an argument of a ManagedNodeGroup.
import "@pulumi/eks";
import type { ClusterArgs, ManagedNodeGroupArgs } from "@pulumi/eks";
import { type ComponentResourceOptions, type Inputs, provider } from "@pulumi/pulumi";
import { onEnd } from "../framework/lifetime.ts";
import { openSdk } from "../framework/shape.ts";
import { Cluster } from "./cluster.ts";
import { ManagedNodeGroup } from "./managed-node-group.ts";

const { version } = openSdk("eks");

function construct(name: string, type: string, inputs: Inputs, options: ComponentResourceOptions) {
  if (type === "eks:index:Cluster") {
    const { urn, outputs } = new Cluster(name, inputs as ClusterArgs, options);
    return { urn, state: outputs };
  }
  if (type === "eks:index:ManagedNodeGroup") {
    const { urn, nodeGroup } = new ManagedNodeGroup(name, inputs as ManagedNodeGroupArgs, options);
    return { urn, state: { nodeGroup, placementGroupName: "" } };
  }
  throw new Error(
    `the stand-in provider eks ${version} does not implement the component ${type}; implemented: eks:index:Cluster, eks:index:ManagedNodeGroup`,
  );
}

// The SDK's server outlives an engine that is killed.
onEnd(() => process.exit(0));
await provider.main({ version, construct: async (...call) => construct(...call) }, process.argv.slice(2));

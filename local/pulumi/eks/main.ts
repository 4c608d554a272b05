/** Stand-in for pulumi-resource-eks: the components Cluster and ManagedNodeGroup over the aws and kubernetes packages. */
// Registers the component types, so that a Cluster can be an argument of a ManagedNodeGroup.
import "@pulumi/eks";
import type { ClusterArgs, ManagedNodeGroupArgs } from "@pulumi/eks";
import { openSdk, serveProvider } from "../framework/index.ts";
import { Cluster } from "./cluster.ts";
import { ManagedNodeGroup } from "./managed-node-group.ts";

const sdk = openSdk("eks");

await serveProvider<undefined>({
  name: "eks",
  version: sdk.version,
  config: sdk.provider(),
  accepts: [],
  configure: () => undefined,
  resource: () => undefined,
  resources: ["eks:index:Cluster", "eks:index:ManagedNodeGroup"],
  components: {
    "eks:index:Cluster": (name, inputs, options) => {
      const cluster = new Cluster(name, inputs as ClusterArgs, options);
      return Promise.resolve({ urn: cluster.urn, state: cluster.outputs });
    },
    "eks:index:ManagedNodeGroup": (name, inputs, options) => {
      const { urn, nodeGroup } = new ManagedNodeGroup(name, inputs as ManagedNodeGroupArgs, options);
      return Promise.resolve({ urn, state: { nodeGroup, placementGroupName: "" } });
    },
  },
});

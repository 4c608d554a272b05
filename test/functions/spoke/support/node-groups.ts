import type { NodeGroupSpec } from "../../../../functions/spoke/api.ts";
import { nodeDigest } from "../../../../lib/node-groups.ts";
import { spoke } from "./fixtures.ts";
import type { World } from "./world.ts";

/** Groups as a person writes them. */
export type Written = Partial<NodeGroupSpec> & Pick<NodeGroupSpec, "name">;
export const withGroups = (...nodeGroups: Written[]) => spoke({ nodeGroups });
/** With the defaults of the definition, as the API server has them. */
export const change = (world: World, ...nodeGroups: Written[]) =>
  world.change({ nodeGroups: withGroups(...nodeGroups).spec.nodeGroups });

export const gpu = {
  name: "gpu",
  instanceTypes: ["g6.xlarge"],
  taints: [{ key: "nvidia.com/gpu", value: "true", effect: "NoSchedule" }],
} as const satisfies Written;
export const batch = {
  name: "batch",
  instanceTypes: ["m7g.large"],
  amiFamily: "Bottlerocket",
} as const satisfies Written;

export const keyOf = (group: string, instanceTypes: readonly string[], amiType: string) =>
  `node-group-${group}-${nodeDigest({ instanceTypes, amiType, capacityType: "ON_DEMAND" })}`;
export const gpuKey = keyOf("gpu", gpu.instanceTypes, "AL2023_x86_64_NVIDIA");
export const batchKey = keyOf("batch", batch.instanceTypes, "BOTTLEROCKET_ARM_64");
export const ofNodes = (world: World) =>
  [...world.live.keys()].filter((key) => /^(node-group|launch-template)/.test(key)).sort();

export const creating = (status: Record<string, unknown>) => ({
  ...status,
  conditions: [{ type: "Ready", status: "False", reason: "Creating" }],
});

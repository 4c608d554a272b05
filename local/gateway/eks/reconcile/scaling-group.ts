import type { NodegroupRecord } from "../model.ts";
import { desiredSize, type Work } from "./nodegroup-nodes.ts";

/** Tags that EKS gives to the group; those of the node group are not among them (`officialASGTagsByEKS` of cluster-api-provider-aws). */
const tagsOf = (cluster: string, nodegroup: string): Readonly<Record<string, string>> => ({
  "eks:cluster-name": cluster,
  "eks:nodegroup-name": nodegroup,
  "k8s.io/cluster-autoscaler/enabled": "true",
  [`k8s.io/cluster-autoscaler/${cluster}`]: "owned",
  [`kubernetes.io/cluster/${cluster}`]: "owned",
});

const namesOf = ({ nodegroup }: NodegroupRecord): string[] =>
  (nodegroup.resources?.autoScalingGroups ?? []).flatMap(({ name }) => name ?? []);

/** Makes the Auto Scaling group of a node group what its record says, with its nodes. Asks nothing where it was so in the last pass. */
export async function keepScalingGroup(work: Work): Promise<void> {
  const { context, cluster, name } = work;
  const group = context.store.get(cluster).nodegroups[name];
  if (group === undefined) return;
  const { subnets, scalingConfig } = group.nodegroup;
  const desired = desiredSize(group);
  const wanted = {
    minSize: scalingConfig.minSize ?? desired,
    maxSize: scalingConfig.maxSize ?? desired,
    desiredSize: desired,
    subnets,
    tags: tagsOf(cluster, name),
    instances: group.nodes.map(({ instanceId, zone }) => ({ id: instanceId, zone })),
  };
  const asked = JSON.stringify(wanted);
  for (const scalingGroup of namesOf(group)) {
    if (context.scalingGroups.get(scalingGroup) === asked) continue;
    const zones = new Set((await context.aws.subnets(subnets)).map(({ zone }) => zone));
    await context.aws.keepScalingGroup({ ...wanted, name: scalingGroup, zones: [...zones] });
    context.scalingGroups.set(scalingGroup, asked);
  }
}

/** Removes it, when the nodes are gone. */
export async function removeScalingGroup({ context }: Work, group: NodegroupRecord): Promise<void> {
  for (const name of namesOf(group)) {
    await context.aws.removeScalingGroup(name);
    context.scalingGroups.delete(name);
  }
}

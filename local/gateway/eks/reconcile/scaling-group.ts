import type { ClusterRecord, NodegroupRecord } from "../model.ts";
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
  const record = context.store.get(cluster);
  const group = record.nodegroups[name];
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
    const found = await context.aws.subnets(subnets);
    const zones = [...new Set(found.map(({ zone }) => zone))];
    const subnetIn = new Map(found.map(({ id, zone }) => [zone, id]));
    const nodes = nodesOf(work, record, group, subnetIn);
    await context.aws.keepScalingGroup({ ...wanted, name: scalingGroup, zones, nodes });
    context.scalingGroups.set(scalingGroup, asked);
  }
}

/** The nodes of a group that run. @param subnetIn the group's subnet in each zone */
function nodesOf(
  { context, cluster }: Work,
  { number, cluster: { resourcesVpcConfig } }: ClusterRecord,
  { nodes }: NodegroupRecord,
  subnetIn: ReadonlyMap<string, string>,
) {
  const security = resourcesVpcConfig.clusterSecurityGroupId;
  return nodes.flatMap((node) => {
    const addresses = context.clusters.of(cluster).nodeAddresses(number, node.number);
    const subnet = subnetIn.get(node.zone);
    if (addresses === undefined || subnet === undefined || security === undefined) return [];
    const { address, podCidr: pods } = addresses;
    return [{ id: node.instanceId, zone: node.zone, subnet, address, pods, group: security }];
  });
}

/** Removes it, when the nodes are gone. */
export async function removeScalingGroup({ context }: Work, group: NodegroupRecord): Promise<void> {
  for (const name of namesOf(group)) {
    await context.aws.removeScalingGroup(name);
    context.scalingGroups.delete(name);
  }
}

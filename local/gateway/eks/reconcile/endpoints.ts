import { isAuto } from "../auto-mode.ts";
import { endpointAccess, type Reach } from "../endpoint-access.ts";
import type { ClusterRecord } from "../model.ts";
import type { EksContext } from "../operation.ts";

const API_PORT = 443;

/**
 * Gives a function that computes who may reach which endpoint, from the records of all clusters and the networks of their VPCs,
 * and puts it in force. `contextOf` gives what EKS sees in the account of a cluster. Calls run one after another; each resolves when its result is in force.
 */
export function endpointKeeper(
  context: EksContext,
  contextOf = (_record: ClusterRecord) => context,
): () => Promise<void> {
  let inForce = "";
  let last = Promise.resolve();
  const keep = async () => {
    const reaches = (
      await Promise.all(context.store.list().map((record) => reachOf(contextOf(record), record)))
    ).flat();
    const endpoints = reaches.map((own) =>
      endpointAccess(
        own,
        reaches.filter((each) => each !== own),
      ),
    );
    const wanted = JSON.stringify(endpoints);
    if (wanted === inForce) return;
    await context.clusters.filterEndpoints(endpoints);
    inForce = wanted;
  };
  return () => {
    last = last.catch(() => {}).then(keep);
    return last;
  };
}

async function reachOf({ clusters, aws }: EksContext, record: ClusterRecord): Promise<Reach[]> {
  const { number, cluster, nodegroups, selfManagedNodes } = record;
  const { apiAddress: address, nodesCidr } = clusters.of(cluster.name).addresses(number);
  if (address === undefined || nodesCidr === undefined) return [];
  const { vpcId = "", clusterSecurityGroupId, securityGroupIds = [], subnetIds = [] } = cluster.resourcesVpcConfig;
  const groups = [...securityGroupIds, ...(clusterSecurityGroupId === undefined ? [] : [clusterSecurityGroupId])];
  const [egress, groupCidrs, network] = await Promise.all([
    aws.natAddresses(vpcId),
    groups.length === 0 ? [] : aws.admittedCidrs(groups, API_PORT),
    aws.network(vpcId),
  ]);
  const nodeSubnets = [
    ...Object.values(nodegroups).flatMap(({ nodegroup }) => nodegroup.subnets),
    ...selfManagedNodes.map(({ subnet }) => subnet),
    ...(isAuto(cluster) ? subnetIds : []),
  ];
  const vpc = { id: vpcId, cidrs: network.cidrs };
  const routes = {
    nodes: [...new Set(nodeSubnets)].map(network.peeredRoutes),
    controlPlane: subnetIds.map(network.peeredRoutes),
  };
  return [{ access: cluster.resourcesVpcConfig, address, nodesCidr, egress, groupCidrs, vpc, routes }];
}

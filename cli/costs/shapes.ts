import type { NodeGroupSpec, SpokeSpec } from "../../functions/spoke/api.ts";
import { isAuto } from "../../functions/spoke/auto-mode.ts";
import { interfaceEndpointsOf } from "../../functions/spoke/endpoints.ts";
import { isMadeElsewhere } from "../../functions/spoke/made-elsewhere.ts";
import type { Readable } from "../../infra/settings.ts";
import type { ClusterShape } from "../../lib/costs/cluster.ts";
import { bottlerocketDisk } from "../../lib/eks-baseline.ts";
import { natGatewayCount } from "../../lib/nat-gateways.ts";

type Counted = Pick<SpokeSpec, "compute" | "existing" | "network" | "nodes" | "nodeGroups" | "region">;

/** What is paid for of a spoke, by its specification with the defaults filled in (functions/spoke/parts). */
export function spokeShape(spec: Counted): ClusterShape {
  const { region, network } = spec;
  // Nodes and NAT gateways of the Spoke have no effect there, and the key is the hub's, for all of these clusters.
  if (isMadeElsewhere({ spec })) return { region, natGateways: 0, endpointZones: 0, keys: 0, secrets: 0 };
  const groups: readonly (SpokeSpec["nodes"] | NodeGroupSpec)[] = isAuto({ spec })
    ? []
    : (spec.nodeGroups ?? [spec.nodes]);
  return {
    region,
    nodes: groups.map(({ diskSize, instanceTypes, min, desired, max, ...more }) => ({
      ...{ instanceTypes, min, desired, max },
      diskSize: "amiFamily" in more && more.amiFamily === "Bottlerocket" ? diskSize + bottlerocketDisk : diskSize,
      // Without a NAT gateway nodes are in the public subnets.
      arePublic: network.natGateways === "none",
    })),
    ...(isAuto({ spec }) ? { isAuto: true } : {}),
    // Of a network that is there its owner pays them.
    natGateways: network.existing === undefined ? natGatewayCount(network.natGateways, network.zones) : 0,
    endpointZones: interfaceEndpointsOf(network.endpoints).length * network.zones,
    keys: 1,
    // Its sealing keys are the hub's, and its deploy keys are sealed in Git.
    secrets: 0,
  };
}

/**
 * The same of a hub, by the configuration of its stack; undefined where that lacks what counts. Secrets are those of sealing keys and of the
 * two repositories, keys those of the control plane and of the secrets, and one for all clusters that Cluster API makes.
 */
export function hubShape(settings: Readable, region: string | undefined): ClusterShape | undefined {
  const { nodeInstanceTypes, nodeDiskSize, nodeMin, nodeDesired, nodeMax, natGateways, zones, sealingKeys } = settings;
  const { formerSealingKeys = [] } = settings;
  if (region === undefined || nodeInstanceTypes === undefined || nodeDiskSize === undefined) return undefined;
  if (nodeMin === undefined || nodeDesired === undefined || nodeMax === undefined) return undefined;
  if (natGateways === undefined || zones === undefined || sealingKeys === undefined) return undefined;
  const hasOwnNetwork = !settings.vpcId;
  return {
    region,
    nodes: [
      {
        ...{ instanceTypes: nodeInstanceTypes, diskSize: nodeDiskSize },
        ...{ min: nodeMin, desired: nodeDesired, max: nodeMax },
        arePublic: hasOwnNetwork && natGateways === "none",
      },
    ],
    natGateways: hasOwnNetwork ? natGatewayCount(natGateways, zones) : 0,
    endpointZones: 0,
    keys: 2 + (settings.clusterApi ? 1 : 0),
    secrets: sealingKeys.length + formerSealingKeys.length + 2,
  };
}

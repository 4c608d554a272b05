import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { adminKubeconfig } from "../../clusters/index.ts";
import { kubeApi } from "../../gateway/eks/kube.ts";
import type { KubeApi } from "../../gateway/eks/runtime.ts";
import type { NodeAddresses } from "../../instance/addresses.ts";
import { createNodeGroup, createNodeRole, type GatewayCloud, startGatewayCloud, wait } from "./gateway.ts";
import { type Network, networkAt, nodeOf, nodePath, podNetwork } from "./pod-network.ts";

/** EKS name of the cluster. */
export const CLUSTER = "one";
const vpcCni = { clusterName: CLUSTER, addonName: "vpc-cni" };

/** A place in the network. */
export interface Place {
  readonly address: string;
  readonly network: Network;
}

/** A cluster of one node with CoreDNS and without vpc-cni, on an AWS API of its own. */
export interface PolicyCluster {
  readonly cloud: GatewayCloud;
  readonly kube: KubeApi;
  readonly node: NodeAddresses & Place;
  /** Pod of CoreDNS, of the platform: no NetworkPolicy selects it. */
  readonly dns: Place;
  /** Waits until a pod is Ready. */
  pod(namespace: string, name: string): Promise<Place>;
  /** Adds or updates vpc-cni, and waits until it is ACTIVE. */
  vpcCni(values: Readonly<Record<string, string>>): Promise<void>;
}

export async function startPolicyCluster(): Promise<PolicyCluster> {
  const cloud = await startGatewayCloud();
  try {
    return await build(cloud);
  } catch (error) {
    await cloud.remove();
    throw error;
  }
}

async function build(cloud: GatewayCloud): Promise<PolicyCluster> {
  const { instance, deployer } = cloud;
  const { eks } = deployer;
  await cloud.cluster(CLUSTER);
  await createNodeRole(deployer);
  await createNodeGroup({ clusterName: CLUSTER, nodegroupName: "main" }, {}, cloud);
  const coredns = { clusterName: CLUSTER, addonName: "coredns" };
  await eks.createAddon(coredns);
  await eks.waitUntilAddonActive(coredns, wait);
  const kube = await kubeApi(adminKubeconfig(instance, CLUSTER));
  const ready = async (what: string, isIt: (pod: V1Pod) => boolean): Promise<Place> => {
    for (let tries = 0; tries < 240; tries++) {
      const found = (await kube.list<KubernetesObject & V1Pod>("v1", "Pod")).find((pod) => isIt(pod) && isReady(pod));
      if (found !== undefined)
        return { address: found.status?.podIP ?? "", network: await podNetwork(instance, CLUSTER, found) };
      await sleep(500);
    }
    throw new Error(`${what} is not Ready after two minutes`);
  };
  const node = await nodeOf(instance, CLUSTER, 0);
  let added = false;
  return {
    cloud,
    kube,
    node: { ...node, network: networkAt(nodePath(node)) },
    dns: await ready("CoreDNS", ({ metadata }) => metadata?.labels?.["k8s-app"] === "kube-dns"),
    pod: (namespace, name) =>
      ready(`pod ${namespace}/${name}`, ({ metadata }) => metadata?.namespace === namespace && metadata.name === name),
    vpcCni: async (values) => {
      const settings = { ...vpcCni, configurationValues: JSON.stringify(values) };
      if (added) await eks.updateAddon(settings);
      else await eks.createAddon(settings);
      added = true;
      await eks.waitUntilAddonActive(vpcCni, wait);
    },
  };
}

const isReady = ({ status }: V1Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

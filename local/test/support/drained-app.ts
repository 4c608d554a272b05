/** An application with a PodDisruptionBudget, to be watched while the nodes under it go. */
import { AppsV1Api, CoreV1Api, KubeConfig, PolicyV1Api, type V1Deployment, Watch } from "@kubernetes/client-node";
import { expect } from "vitest";
import { adminKubeconfig } from "../../clusters/index.ts";
import type { Instance } from "../../instance/index.ts";

const NODEGROUP = "eks.amazonaws.com/nodegroup";
const NAME = "steadfast";

function configOf(instance: Instance, cluster: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(adminKubeconfig(instance, cluster));
  return config;
}

const isAvailable = ({ spec, status }: V1Deployment): boolean => status?.availableReplicas === spec?.replicas;

/**
 * Runs two replicas, of which one may be missing, on the nodes of a node group as long as there are any. Resolves with its names
 * when both are available.
 */
export async function deployed(
  instance: Instance,
  cluster: string,
  nodegroup: string,
): Promise<{ namespace: string; name: string }> {
  const config = configOf(instance, cluster);
  const names = { namespace: NAME, name: NAME };
  const metadata = { name: NAME, namespace: NAME };
  const matchLabels = { app: NAME };
  await config.makeApiClient(CoreV1Api).createNamespace({ body: { metadata: { name: NAME } } });
  await config.makeApiClient(PolicyV1Api).createNamespacedPodDisruptionBudget({
    namespace: NAME,
    body: { metadata, spec: { minAvailable: 1, selector: { matchLabels } } },
  });
  const preference = { matchExpressions: [{ key: NODEGROUP, operator: "In", values: [nodegroup] }] };
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
  };
  const container = { name: "app", image: "registry.k8s.io/pause:3.10" };
  const apps = config.makeApiClient(AppsV1Api);
  await apps.createNamespacedDeployment({
    namespace: NAME,
    body: {
      metadata,
      spec: {
        replicas: 2,
        selector: { matchLabels },
        template: {
          metadata: { labels: matchLabels },
          spec: { affinity, terminationGracePeriodSeconds: 1, containers: [container] },
        },
      },
    },
  });
  await expect
    .poll(async () => isAvailable(await apps.readNamespacedDeployment(names)), { timeout: 120_000, interval: 500 })
    .toBe(true);
  return names;
}

/** Removes it; resolves when its namespace is gone. */
export async function removed(instance: Instance, cluster: string, namespace: string): Promise<void> {
  const api = configOf(instance, cluster).makeApiClient(CoreV1Api);
  await api.deleteNamespace({ name: namespace });
  const names = async () => (await api.listNamespace()).items.map(({ metadata }) => metadata?.name);
  await expect.poll(names, { timeout: 120_000, interval: 500 }).not.toContain(namespace);
}

/** The node groups on which the application's pods run, sorted; those that are going don't count. */
export async function nodeGroupsOf(instance: Instance, cluster: string, namespace: string): Promise<string[]> {
  const api = configOf(instance, cluster).makeApiClient(CoreV1Api);
  const groups = new Map(
    (await api.listNode()).items.map(({ metadata }) => [metadata?.name, metadata?.labels?.[NODEGROUP] ?? ""]),
  );
  const { items } = await api.listNamespacedPod({ namespace });
  return items
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ spec }) => groups.get(spec?.nodeName ?? "") ?? "")
    .sort();
}

/** Notes every number of available replicas that the API server tells, until it is stopped; fails when the watch broke off. */
export function watchAvailability(
  instance: Instance,
  cluster: string,
  namespace: string,
  name: string,
): { stop(): Promise<number[]> } {
  const seen: number[] = [];
  let broken: unknown;
  let isStopped = false;
  let resourceVersion: string | undefined;
  const watch = () =>
    new Watch(configOf(instance, cluster)).watch(
      `/apis/apps/v1/namespaces/${namespace}/deployments`,
      { fieldSelector: `metadata.name=${name}`, resourceVersion },
      (_type, { metadata, status }: V1Deployment) => {
        resourceVersion = metadata?.resourceVersion;
        seen.push(status?.availableReplicas ?? 0);
      },
      (error) => {
        if (isStopped) return;
        // The client gives up where nothing has changed for 30 s: on from there, so that no change is missed.
        if (error?.name === "TimeoutError") watching = watch();
        else broken = error ?? new Error("the API server ended the watch");
      },
    );
  let watching = watch();
  return {
    stop: async () => {
      isStopped = true;
      (await watching).abort();
      if (broken !== undefined) throw broken;
      expect(seen).not.toEqual([]);
      return seen;
    },
  };
}

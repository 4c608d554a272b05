import { setTimeout as sleep } from "node:timers/promises";
import { ApiException, CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import type { ClusterAddresses, Instance } from "../instance/addresses.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { errorWithLog } from "../supervisor/logs.ts";
import { kubeconfigPath, processId } from "./control-plane.ts";

/**
 * Resolves when the Node object says Ready; rejects after some seconds with what it says instead, and the end of its kubelet's log.
 * @param log path of that log
 */
export async function untilNodeReady(
  cluster: ClusterAddresses,
  nodeName: string,
  seconds: number,
  log: string,
): Promise<void> {
  const api = client(cluster);
  const deadline = Date.now() + seconds * 1000;
  let problem = "";
  while (Date.now() < deadline) {
    try {
      const { status } = await api.readNode({ name: nodeName });
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status === "True") return;
      problem = ready?.message ?? "it has no condition Ready yet";
    } catch (error) {
      problem = isNotFound(error) ? "it has not registered" : (error as Error).message.replaceAll("\n", " ");
    }
    await sleep(200);
  }
  const message = `node ${nodeName} of cluster ${cluster.name} is not Ready (${problem})`;
  throw await errorWithLog(message, log);
}

/** Deletes a Node object, unless the cluster's API server is not running: then the whole cluster is being removed. */
export async function deleteNode(instance: Instance, cluster: ClusterAddresses, nodeName: string): Promise<void> {
  const server = processId(cluster.name, "kube-apiserver");
  if (!(await supervisorOf(instance).list()).some(({ id, state }) => id === server && state === "ready")) return;
  try {
    await client(cluster).deleteNode({ name: nodeName });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

const isNotFound = (error: unknown): boolean => error instanceof ApiException && error.code === 404;

function client(cluster: ClusterAddresses): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath(cluster, "admin"));
  return config.makeApiClient(CoreV1Api);
}

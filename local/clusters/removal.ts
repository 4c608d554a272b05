import type { Instance } from "../instance/addresses.ts";
import { listClusters, stopControlPlane } from "./cluster.ts";
import { removeEtcd } from "./etcd.ts";

/** Removes every cluster of an instance, and its etcd. Idempotent, and finishes what a kill has interrupted. */
export async function removeAll(instance: Instance): Promise<void> {
  await Promise.all((await listClusters(instance)).map((name) => stopControlPlane(instance, name)));
  await removeEtcd(instance);
}

import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ClusterAddresses, clusterAt, type Instance } from "../instance/addresses.ts";
import { addEndpoint, removeEndpoint } from "../instance/endpoints.ts";
import { readFolder, readText, writeAtomic } from "../instance/files.ts";
import { withLock } from "../instance/lock.ts";
import { addAddress, removeAddress } from "../instance/network.ts";
import { supervisorOf } from "../supervisor/client.ts";
import * as plane from "./control-plane.ts";
import { deletePrefix, ensureEtcd, removeEtcd } from "./etcd.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { stopNode } from "./node.ts";
import { type ControlPlaneOptions, checkOptions, loadOptions, saveOptions } from "./options.ts";
import { type Authority, clusterAuthority, ensureServiceAccountKey, type KeyFiles, pkiFolder } from "./pki.ts";
import { toolchain } from "./toolchain.ts";

const LOCK_SECONDS = 300;

/** How a control plane is reached. */
export interface ControlPlane {
  /** `https://<address>`. */
  readonly endpoint: string;
  /** PEM. */
  readonly certificateAuthority: string;
}

/**
 * Starts the control plane of a cluster (and the instance's etcd), and resolves when the API server is ready and
 * controller manager and scheduler are healthy. Idempotent. With another Kubernetes version (or webhook, or encryption)
 * the processes are restarted with it; number and issuer stay for the cluster's life.
 */
export async function startControlPlane(instance: Instance, options: ControlPlaneOptions): Promise<ControlPlane> {
  checkOptions(options);
  const cluster = clusterAt(instance, options.name, options.number);
  return await withLock(lockOf(instance, options.name), () => start(instance, cluster, options), LOCK_SECONDS);
}

/**
 * Removes a cluster: its nodes, control plane, keys in etcd, address and folder; with the last cluster etcd goes too.
 * Idempotent, and finishes what a kill has interrupted.
 */
export async function stopControlPlane(instance: Instance, name: string): Promise<void> {
  await withLock(lockOf(instance, name), () => stop(instance, name), LOCK_SECONDS);
}

/** Removes every cluster of an instance, and its etcd. Idempotent, and finishes what a kill has interrupted. */
export async function removeAll(instance: Instance): Promise<void> {
  await Promise.all((await listClusters(instance)).map((name) => stopControlPlane(instance, name)));
  await removeEtcd(instance);
}

/** Path of a kubeconfig (0600) with all rights on a cluster, past every access entry: for the gateway's own use. */
export function adminKubeconfig(instance: Instance, name: string): string {
  return plane.kubeconfigPath(clusterAt(instance, name, 0), "admin");
}

/** Names of the clusters of an instance, also of those that are half made or half removed. */
async function listClusters(instance: Instance): Promise<string[]> {
  const entries = await readdir(instance.paths.clusters, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function start(
  instance: Instance,
  cluster: ClusterAddresses,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  await expectUnchanged(instance, options);
  const { bin } = await toolchain();
  await mkdir(cluster.dir, { recursive: true, mode: 0o700 });
  await saveOptions(cluster, options);
  const files = await makeFiles(cluster, options);
  await addAddress(cluster.apiAddress);
  await addAddress(cluster.internalAddress);
  await addEndpoint(instance, cluster);
  await ensureEtcd(instance, bin("etcd"));
  const supervisor = supervisorOf(instance);
  await supervisor.start(plane.apiServerSpec(instance, cluster, options, files, bin("kube-apiserver")));
  await Promise.all([
    supervisor.start(plane.controllerManagerSpec(cluster, options, files, bin("kube-controller-manager"))),
    supervisor.start(plane.schedulerSpec(cluster, options, files, bin("kube-scheduler"))),
  ]);
  return { endpoint: cluster.endpoint, certificateAuthority: files.authority.certificate };
}

async function expectUnchanged(instance: Instance, options: ControlPlaneOptions): Promise<void> {
  const present = await loadOptions(instance, options.name);
  for (const key of ["number", "issuer"] as const) {
    if (present === undefined || present[key] === options[key]) continue;
    throw new Error(
      `cluster ${options.name}: ${key} is ${present[key]} and can't become ${options[key]}: stop the control plane first`,
    );
  }
  const names = (await listClusters(instance)).filter((name) => name !== options.name);
  for (const name of names) {
    if ((await loadOptions(instance, name))?.number !== options.number) continue;
    throw new Error(`cluster ${options.name}: number ${options.number} belongs to cluster ${name}: take another one`);
  }
}

async function stop(instance: Instance, name: string): Promise<void> {
  const options = await loadOptions(instance, name);
  const supervisor = supervisorOf(instance);
  if (options !== undefined) {
    const cluster = clusterAt(instance, name, options.number);
    const nodes = (await readFolder(join(cluster.dir, "nodes"))) ?? [];
    await Promise.all(nodes.map((number) => stopNode(instance, name, Number(number))));
    const programs = ["kube-controller-manager", "kube-scheduler", "kube-apiserver"];
    await Promise.all(programs.map((program) => supervisor.stop(plane.processId(name, program))));
    await removeEndpoint(instance, cluster);
    await removeAddress(cluster.apiAddress);
    await removeAddress(cluster.internalAddress);
    await ensureEtcd(instance, (await toolchain()).bin("etcd"));
    await deletePrefix(instance, cluster.etcdPrefix);
  }
  await rm(join(instance.paths.clusters, name), { recursive: true, force: true });
  await withLock(`${instance.index}/clusters`, async () => {
    if ((await listClusters(instance)).length === 0) await removeEtcd(instance);
  });
}

async function makeFiles(cluster: ClusterAddresses, options: ControlPlaneOptions): Promise<plane.ControlPlaneFiles> {
  const authority = await clusterAuthority(cluster);
  const frontProxy = await clusterAuthority(cluster, "front-proxy-ca");
  const admin = await authority.issue("admin", { commonName: "admin", organizations: ["system:masters"] });
  await writeKubeconfig(plane.kubeconfigPath(cluster, "admin"), plane.internalEndpoint(cluster), authority, admin);
  const component = (name: string) => issueComponent(cluster, authority, name);
  return {
    authority,
    frontProxy,
    serviceAccount: await ensureServiceAccountKey(pkiFolder(cluster)),
    server: await authority.issue("api-server", {
      commonName: "kube-apiserver",
      addresses: plane.apiServerNames(cluster),
    }),
    kubeletClient: await authority.issue("kube-apiserver-kubelet-client", {
      commonName: "kube-apiserver-kubelet-client",
      organizations: ["system:masters"],
    }),
    frontProxyClient: await frontProxy.issue("front-proxy-client", { commonName: "front-proxy-client" }),
    controllerManager: await component("kube-controller-manager"),
    scheduler: await component("kube-scheduler"),
    authentication: await writeConfig(cluster, "authentication.json", plane.authenticationConfiguration()),
    tokenWebhook: await writeConfig(
      cluster,
      "token-webhook.json",
      plane.tokenWebhookConfiguration(options.tokenWebhookUrl),
    ),
    encryption: options.encryption && (await ensureEncryption(cluster)),
  };
}

async function issueComponent(
  cluster: ClusterAddresses,
  authority: Authority,
  name: string,
): Promise<KeyFiles & { kubeconfig: string }> {
  const commonName = `system:${name}`;
  const pair = await authority.issue(name, { commonName, addresses: [cluster.loopbackAddress] });
  const kubeconfig = plane.kubeconfigPath(cluster, name);
  await writeKubeconfig(kubeconfig, plane.internalEndpoint(cluster), authority, pair);
  return { ...pair, kubeconfig };
}

async function writeConfig(cluster: ClusterAddresses, name: string, content: object): Promise<string> {
  const path = join(cluster.dir, name);
  await writeAtomic(path, `${JSON.stringify(content, null, 2)}\n`);
  return path;
}

/** The key is made once: what it has encrypted must stay readable. */
async function ensureEncryption(cluster: ClusterAddresses): Promise<string> {
  const path = join(cluster.dir, "encryption.json");
  if ((await readText(path)) !== undefined) return path;
  return await writeConfig(
    cluster,
    "encryption.json",
    plane.encryptionConfiguration(randomBytes(32).toString("base64")),
  );
}

function lockOf(instance: Instance, name: string): string {
  return `${instance.index}/cluster/${name}`;
}

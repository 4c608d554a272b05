import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readFolder, run } from "@eks-gitops-fleet/local/instance";
import { tryProbe } from "@eks-gitops-fleet/local/supervisor";
import {
  claimPolicyAddresses,
  type Network,
  networkAt,
  type Place,
  startControlPlane,
} from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";

const API_PORT = 6443;

/** A node that is nothing but its network, with what enforces NetworkPolicies, on a real API server. */
export interface PolicyNode {
  /** The machine, as the node reaches it. */
  readonly host: string;
  /** The machine's own network. */
  readonly outside: Network;
  readonly node: Place;
  apply(...objects: readonly object[]): Promise<void>;
  /** Adds a running pod that listens on the ports that it names. */
  pod(namespace: string, name: string, labels: Record<string, string>, ports: Record<string, number>): Promise<Place>;
  remove(): Promise<void>;
}

const PREFIX = "fleet-policy-";
const id = `${PREFIX}${process.pid}`;

/** Removes the namespaces, and with them the links, of a process that was killed before it could. */
async function removeAbandoned(): Promise<void> {
  for (const name of (await readFolder("/run/netns")) ?? []) {
    const [pid = ""] = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split("-") : [];
    if (pid !== "" && !existsSync(`/proc/${pid}`)) await run(["ip", "netns", "del", name]);
  }
}

/** Path of the node's network namespace. */
export const nodeNetworkPath = (): string => `/run/netns/${id}`;

/** Starts one. Needs root. */
export async function startPolicyNode(): Promise<PolicyNode> {
  const tools = await ensureToolchain();
  const plane = await startControlPlane(tools);
  const addresses = await claimPolicyAddresses();
  const link = `flp${process.pid}`;
  const children: ChildProcess[] = [];
  const namespaces: string[] = [];
  const servers: Server[] = [];
  const kubectl = (args: readonly string[], input?: string) =>
    run([tools.bin("kubectl"), "--kubeconfig", plane.kubeconfigFile, ...args], input === undefined ? {} : { input });
  const apply = async (...objects: readonly object[]) => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    await kubectl(["apply", "--filename", "-"], input);
  };
  const setStatus = (kind: string, name: string, status: object, flags: readonly string[] = []) =>
    kubectl([
      "patch",
      kind,
      name,
      ...flags,
      "--subresource=status",
      "--type=merge",
      "--patch",
      JSON.stringify({ status }),
    ]);
  const inNode = (...argv: string[]) => run(["nsenter", `--net=/run/netns/${id}`, "--", ...argv]);
  const addNamespace = async (name: string) => {
    await run(["ip", "netns", "add", name]);
    namespaces.push(name);
    await run(["nsenter", `--net=/run/netns/${name}`, "--", "ip", "link", "set", "lo", "up"]);
  };
  const remove = async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.close();
    for (const name of namespaces) await run(["ip", "netns", "del", name]);
    await addresses.release();
    await plane.stop();
  };
  const place = (name: string, address: string): Place => ({ address, network: networkAt(`/run/netns/${name}`) });

  const network = async () => {
    await removeAbandoned();
    await addNamespace(id);
    await run(["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", id]);
    await run(["ip", "address", "add", `${addresses.host}/30`, "dev", link]);
    await run(["ip", "link", "set", link, "up"]);
    await inNode("ip", "address", "add", `${addresses.node}/30`, "dev", "eth0");
    await inNode("ip", "link", "set", "eth0", "up");
    await inNode("ip", "route", "add", "default", "via", addresses.host);
    await inNode("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward");
    await run(["ip", "route", "replace", addresses.podRange, "via", addresses.node]);
    // The API server listens on a loopback address, which no other network namespace reaches.
    const forward = createServer((client) => {
      const server = connect(API_PORT, plane.address);
      client.on("error", () => server.destroy()).pipe(server);
      server.on("error", () => client.destroy()).pipe(client);
    });
    servers.push(forward);
    await new Promise<void>((resolve) => forward.listen(API_PORT, addresses.host, resolve));
  };

  const enforce = async () => {
    await apply({ apiVersion: "v1", kind: "Node", metadata: { name: id } });
    await setStatus("node", id, { addresses: [{ type: "InternalIP", address: addresses.node }] });
    const config = JSON.parse(plane.kubeconfig);
    config.users[0].user = { token: plane.token };
    config.clusters[0].cluster.server = `https://${addresses.host}:${API_PORT}`;
    const kubeconfig = join(plane.dir, "network-policy.kubeconfig");
    await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const socket = join(plane.dir, "ready.sock");
    const file = join(plane.dir, "network-policy.log");
    const log = openSync(file, "a");
    const flags = [
      `--kubeconfig=${kubeconfig}`,
      `--node=${id}`,
      "--service-cidr=10.213.0.0/24",
      `--ready-socket=${socket}`,
    ];
    const argv = [`--net=/run/netns/${id}`, "--", tools.bin("network-policy"), ...flags];
    children.push(spawn("nsenter", argv, { stdio: ["ignore", log, log] }));
    closeSync(log);
    for (let tries = 0; tries < 300; tries++) {
      const ready = await tryProbe({ unix: socket }).then(
        () => true,
        () => false,
      );
      if (ready) return;
      await sleep(200);
    }
    throw new Error(`what enforces policies is not ready:\n${await readFile(file, "utf8")}`);
  };

  let pods = 0;
  const pod: PolicyNode["pod"] = async (namespace, name, labels, ports) => {
    const address = addresses.pod(++pods);
    const own = `${id}-${pods}`;
    const veth = `${link}p${pods}`;
    await addNamespace(own);
    const inPod = (...argv: string[]) => run(["nsenter", `--net=/run/netns/${own}`, "--", ...argv]);
    // As the CNI plugin ptp does it.
    await inNode("ip", "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", own);
    await inNode("ip", "address", "add", `${addresses.gateway}/32`, "dev", veth);
    await inNode("ip", "link", "set", veth, "up");
    await inNode("ip", "route", "add", `${address}/32`, "dev", veth);
    await inPod("ip", "address", "add", `${address}/32`, "dev", "eth0");
    await inPod("ip", "link", "set", "eth0", "up");
    await inPod("ip", "route", "add", `${addresses.gateway}/32`, "dev", "eth0");
    await inPod("ip", "route", "add", "default", "via", addresses.gateway);
    const made = place(own, address);
    children.push(await made.network.listen("0.0.0.0", ...Object.values(ports)));
    const container = {
      name: "main",
      image: "none",
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
    };
    // As namespaces of applications ask for it (Pod Security: restricted).
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
    const spec = { nodeName: id, securityContext, automountServiceAccountToken: false, containers: [container] };
    const metadata = { name, namespace, labels };
    for (let tries = 0; (await kubectl(["get", "serviceaccounts", "-n", namespace, "-o", "name"])) === ""; tries++) {
      if (tries > 100) throw new Error(`namespace ${namespace} has no service account`);
      await sleep(200);
    }
    await apply({ apiVersion: "v1", kind: "Pod", metadata, spec });
    const status = { phase: "Running", hostIP: addresses.node, podIP: address, podIPs: [{ ip: address }] };
    await setStatus("pod", name, status, ["--namespace", namespace]);
    return made;
  };

  try {
    await network();
    await enforce();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    host: addresses.host,
    outside: networkAt("/proc/self/ns/net"),
    node: place(id, addresses.node),
    apply,
    pod,
    remove,
  };
}

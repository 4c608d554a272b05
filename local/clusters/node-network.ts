import { existsSync } from "node:fs";
import type { ClusterAddresses, NodeAddresses } from "../instance/addresses.ts";
import { run } from "../instance/command.ts";
import { tolerate } from "../instance/network.ts";

/** The range of Services is reached over the node with the lowest number; the others stand by with a higher metric. */
const SERVICE_METRIC = 100;

/** Runs a command in a node's network namespace. (`ip netns exec` would also remount /sys, and with it all cgroups.) */
export function inNamespace(node: NodeAddresses, argv: readonly string[]): Promise<string> {
  return run(["nsenter", `--net=/run/netns/${node.namespace}`, "--", ...argv]);
}

/**
 * Makes a node's network namespace and its link to the host, and the host's routes to its pods and the cluster's
 * Services (the API server on the host calls webhooks in pods). Idempotent.
 */
export async function ensureNetwork(cluster: ClusterAddresses, node: NodeAddresses): Promise<void> {
  const whole = existsSync(`/run/netns/${node.namespace}`) && existsSync(`/sys/class/net/${node.link}`);
  if (!whole) {
    await removeNetwork(node);
    await run(["ip", "netns", "add", node.namespace]);
    await run(["ip", "link", "add", node.link, "type", "veth", "peer", "name", "eth0", "netns", node.namespace]);
  }
  await run(["ip", "address", "replace", `${node.hostAddress}/30`, "dev", node.link]);
  await run(["ip", "link", "set", node.link, "up"]);
  await inNamespace(node, ["ip", "link", "set", "lo", "up"]);
  await inNamespace(node, ["ip", "address", "replace", `${node.address}/30`, "dev", "eth0"]);
  await inNamespace(node, ["ip", "link", "set", "eth0", "up"]);
  await inNamespace(node, ["ip", "route", "replace", "default", "via", node.hostAddress]);
  await inNamespace(node, ["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]);
  const via = ["via", node.address, "dev", node.link];
  await run(["ip", "route", "replace", node.podCidr, ...via]);
  await run(["ip", "route", "replace", cluster.serviceCidr, ...via, "metric", String(SERVICE_METRIC + node.number)]);
}

/** Removes a node's namespace and link; the kernel removes addresses and routes with them. Idempotent. */
export async function removeNetwork(node: NodeAddresses): Promise<void> {
  await tolerate(/Cannot find device/, run(["ip", "link", "del", node.link]));
  await tolerate(/No such file or directory/, run(["ip", "netns", "del", node.namespace]));
}

import { readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Instance } from "./addresses.ts";
import { cgroupFolders } from "./cgroups.ts";
import { run } from "./command.ts";
import { readFolder } from "./files.ts";
import { mountsUnder } from "./mounts.ts";
import { ownForwardRules } from "./network.ts";
import { processesOf } from "./processes.ts";

const CONTAINER_LOGS = "/var/log/containers";

/** How what an instance has on this machine is found, by kind: by its marks and names, and not by any record. */
const finders = {
  process: (instance: Instance) => processesOf(instance).map((p) => `${p.pid} ${p.id ?? p.command}`),
  mount: mounts,
  "network namespace": namespaces,
  link: links,
  address: addresses,
  route: routes,
  "nft table": tables,
  "iptables rule": ({ kernel }: Instance) => ownForwardRules(kernel),
  "log link": logLinks,
  cgroup: ({ kernel }: Instance) => cgroupFolders(kernel.cgroup),
};

/** Something of an instance that still exists on this machine. */
export interface Leftover {
  readonly kind: keyof typeof finders;
  readonly name: string;
}

/** Everything of an instance that the kernel still holds. */
export async function leftovers(instance: Instance): Promise<Leftover[]> {
  const kinds = Object.keys(finders) as Leftover["kind"][];
  const found = kinds.map(async (kind) => (await finders[kind](instance)).map((name) => ({ kind, name })));
  return (await Promise.all(found)).flat();
}

async function mounts({ paths }: Instance): Promise<string[]> {
  return [...(await mountsUnder(paths.clusters)), ...(await mountsUnder(paths.run))];
}

/** Names of the network namespaces of an instance. */
export async function namespaces(instance: Instance): Promise<string[]> {
  return ((await readFolder("/run/netns")) ?? []).filter((name) => name.startsWith(`fleet-${instance.index}-`));
}

/** Names of the host's links to nodes of an instance. */
export async function links(instance: Instance): Promise<string[]> {
  const all = JSON.parse(await run(["ip", "-json", "link"])) as { ifname: string }[];
  return all.map((link) => link.ifname).filter((name) => name.startsWith(instance.kernel.linkPrefix));
}

/** Addresses of an instance on `lo`. */
export async function addresses(instance: Instance): Promise<string[]> {
  const all = JSON.parse(await run(["ip", "-json", "address", "show", "dev", "lo"])) as {
    addr_info?: { local: string }[];
  }[];
  return all
    .flatMap((link) => link.addr_info ?? [])
    .map((info) => info.local)
    .filter((address) => within(instance, address));
}

/** Routes of the host into the range of an instance. */
async function routes(instance: Instance): Promise<string[]> {
  const all = JSON.parse(await run(["ip", "-4", "-json", "route"])) as { dst: string }[];
  return all.map((route) => route.dst).filter((destination) => within(instance, destination));
}

async function tables({ kernel: { nftTable, endpointTable } }: Instance): Promise<string[]> {
  const { nftables } = JSON.parse(await run(["nft", "-j", "list", "tables"])) as {
    nftables: { table?: { name: string } }[];
  };
  return nftables
    .flatMap((entry) => entry.table?.name ?? [])
    .filter((name) => [nftTable, endpointTable].includes(name));
}

/** Links that kubelets make in a fixed place, to logs of an instance. */
export async function logLinks({ paths }: Instance): Promise<string[]> {
  const names = (await readFolder(CONTAINER_LOGS)) ?? [];
  const targets = await Promise.all(
    names.map((name) => readlink(join(CONTAINER_LOGS, name)).catch(() => "")), // no link, or gone meanwhile
  );
  return names
    .filter((_, index) => targets[index]?.startsWith(`${paths.run}/`))
    .map((name) => join(CONTAINER_LOGS, name));
}

function within(instance: Instance, address: string): boolean {
  return address.startsWith(instance.cidr.replace(/0\.0\/16$/, ""));
}

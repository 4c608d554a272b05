import { readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RUN_ROOT } from "./addresses.ts";
import { rootControllers, withoutRootControllers } from "./cgroups.ts";
import { run } from "./command.ts";
import { readFolder, readJson, readText, writeAtomic } from "./files.ts";
import { mountsUnder } from "./mounts.ts";

/**
 * Settings that an instance needs, and the least that they must be: packets go between nodes; and a cluster's programs have
 * about 25 inotify instances, where the kernel's default for all programs of a user is 128.
 */
const RAISED: Readonly<Record<string, number>> = { "net/ipv4/ip_forward": 1, "fs/inotify/max_user_instances": 8192 };

/** What a kubelet sets for the whole machine (Kubernetes, pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables). */
const KUBELETS: Readonly<Record<string, number>> = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
};

const SET: Readonly<Record<string, number>> = { ...RAISED, ...KUBELETS };

/** Folders in fixed places that `ip netns`, shims, libcni and kubelets make, each before those below it. */
const FOLDERS = [
  "run/netns",
  ...["run/containerd", "run/containerd/s"],
  ...["var/lib/cni", "var/lib/cni/results", "var/lib/cni/cache"],
  "var/log/containers",
  ...["var/lib/kubelet", "var/lib/kubelet/device-plugins"],
];

// What a kubelet leaves in its folder of device plugins.
const KUBELET_FILES = ["kubelet.sock", "kubelet_internal_checkpoint"];

/** How the machine was before the first instance. */
interface Note {
  /** Values by file below /proc/sys. */
  readonly settings: Readonly<Record<string, string>>;
  /** Those of FOLDERS that were not there. */
  readonly absent: readonly string[];
  /** Controllers that the root cgroup passes on (v2). */
  readonly controllers: readonly string[];
}

/** Where the machine's state is; tests have a folder in place of `/`. */
export interface Host {
  readonly root: string;
  /** File of the note: gone after a reboot, like the changes (the folders in /var aside). */
  readonly note: string;
}

const MACHINE: Host = { root: "/", note: join(RUN_ROOT, "host.json") };

/** Notes how the machine is, unless an instance is open already, and raises what is too low. */
export async function prepareHost(host: Host = MACHINE): Promise<void> {
  const note = (await readJson<Note>(host.note)) ?? (await look(host));
  await writeAtomic(host.note, `${JSON.stringify(note)}\n`);
  for (const [name, least] of Object.entries(RAISED)) {
    const file = setting(host, name);
    const value = (await readFile(file, "utf8")).trim();
    if (Number(value) >= least) continue;
    await writeFile(file, `${least}\n`).catch((error: Error) => {
      const key = name.replaceAll("/", ".");
      throw new Error(
        `${key} is ${value}, at least ${least} is needed, and it can't be set from here (${error.message}): ` +
          `on the machine itself run sysctl -w ${key}=${least}`,
      );
    });
  }
}

async function look(host: Host): Promise<Note> {
  const names = [...Object.keys(SET), ...(await forwardingSettings(host))];
  const settings = await Promise.all(names.map(async (name) => [name, await readText(setting(host, name))] as const));
  const folders = await Promise.all(
    FOLDERS.map(async (folder) => ((await readFolder(join(host.root, folder))) === undefined ? [folder] : [])),
  );
  return {
    settings: Object.fromEntries(settings.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    absent: folders.flat(),
    controllers: await rootControllers(),
  };
}

/** The kernel sets these for every link when ip_forward changes (Linux, net/ipv4/devinet.c, inet_forward_change). */
async function forwardingSettings(host: Host): Promise<string[]> {
  if ((await readText(setting(host, "net/ipv4/ip_forward")))?.trim() !== "0") return [];
  const links = (await readFolder(setting(host, "net/ipv4/conf"))) ?? [];
  return ["net/ipv4/conf/all/accept_redirects", ...links.map((link) => `net/ipv4/conf/${link}/forwarding`)];
}

/**
 * Puts the machine back to what was noted; for when no instance is left. A setting that somebody else changed meanwhile, to
 * another value than a run does, and a folder that somebody else uses now, stay as they are.
 * @throws with all that could not be put back; the note then stays, for another attempt
 */
export async function restoreHost(host: Host = MACHINE): Promise<void> {
  const note = await readJson<Note>(host.note);
  if (note === undefined) return;
  const left: string[] = [];
  // In this order: setting ip_forward back changes the settings of links, which come after it.
  for (const [name, before] of Object.entries(note.settings)) {
    const file = setting(host, name);
    const now = await readText(file);
    const others = SET[name] !== undefined && Number(now) !== SET[name];
    // A link that is gone has no settings.
    if (now === undefined || now === before || others) continue;
    await writeFile(file, before).catch((error: Error) => {
      left.push(`sysctl ${name.replaceAll("/", ".")} is ${now.trim()}, it was ${before.trim()} (${error.message})`);
    });
  }
  for (const folder of note.absent.toReversed()) await removeFolder(join(host.root, folder));
  await withoutRootControllers(note.controllers);
  if (left.length > 0) throw new Error(`not put back on this machine: ${left.join("; ")}: set it by hand`);
  await rm(host.note);
}

async function removeFolder(folder: string): Promise<void> {
  if (folder.endsWith("/device-plugins"))
    for (const name of KUBELET_FILES) await rm(join(folder, name), { force: true });
  const names = await readFolder(folder);
  if (names === undefined || names.length > 0) return;
  // `ip netns add` mounts the folder on itself.
  if (folder === "/run/netns" && (await mountsUnder(dirname(folder))).includes(folder)) await run(["umount", folder]);
  await rmdir(folder);
}

const setting = (host: Host, name: string): string => join(host.root, "proc", "sys", name);

import { existsSync } from "node:fs";
import { readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";
import { RUN_ROOT } from "./addresses.ts";
import { rootControllers, withoutRootControllers } from "./cgroups.ts";
import { run } from "./command.ts";
import { readFolder, readJson, readText, writeAtomic } from "./files.ts";
import { mountsUnder } from "./mounts.ts";
import { allProcesses, seesOurFiles } from "./processes.ts";

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

/** Programs that use these folders, by the beginnings of their commands (15 letters are known): containers of others keep theirs. */
const RUNTIMES = /^(conmon|containerd|crio|dockerd|k0s|k3s|kubelet|podman)/;

/**
 * What a node leaves in these folders when its instance's folder was removed while it ran: sockets of shims that have ended, CNI's
 * results of our nodes, links to logs that are gone, a kubelet's files for device plugins.
 */
const DEAD: Readonly<Record<string, (path: string, others: boolean) => boolean | Promise<boolean>>> = {
  "run/containerd/s": nobodyListens,
  // Of a loopback link nobody can tell whose it was.
  "var/lib/cni/results": (path, others) =>
    (others ? /^fleet-\d+-.+-eth0$/ : /^fleet-\d+-.+-eth0$|^cni-loopback-[0-9a-f]{64}-lo$/).test(basename(path)),
  "var/log/containers": (path) => !existsSync(path),
  "var/lib/kubelet/device-plugins": (path) => ["kubelet.sock", "kubelet_internal_checkpoint"].includes(basename(path)),
};

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
  /** Commands of the programs that run here and see these files. */
  readonly commands: () => readonly string[];
  /** Writes to a file of a cgroup; default: as to any file. */
  readonly writeCgroup?: (file: string, text: string) => Promise<void>;
}

const MACHINE: Host = {
  root: "/",
  note: join(RUN_ROOT, "host.json"),
  commands: () => allProcesses().flatMap(({ pid, command }) => (seesOurFiles(pid) ? [command] : [])),
};

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
    controllers: await rootControllers(cgroupRoot(host)),
  };
}

/** The kernel sets these for every link when ip_forward changes (Linux, net/ipv4/devinet.c, inet_forward_change). */
async function forwardingSettings(host: Host): Promise<string[]> {
  if ((await readText(setting(host, "net/ipv4/ip_forward")))?.trim() !== "0") return [];
  const links = (await readFolder(setting(host, "net/ipv4/conf"))) ?? [];
  return ["net/ipv4/conf/all/accept_redirects", ...links.map((link) => `net/ipv4/conf/${link}/forwarding`)];
}

/**
 * Puts the machine back to what was noted, once no instance is left, and checks the result. Three things stay as they are: a setting
 * that another program has changed to a value of its own, a folder that other containers use, and a controller that another cgroup
 * passes on.
 * @throws with all that is not as it was; the note then stays, for another attempt
 */
export async function restoreHost(host: Host = MACHINE): Promise<void> {
  const note = await readJson<Note>(host.note);
  if (note === undefined) return;
  const refused = await restoreSettings(host, note);
  for (const folder of note.absent.toReversed()) await removeFolder(host, folder);
  const controllers = await withoutRootControllers(cgroupRoot(host), note.controllers, host.writeCgroup);
  const left = [
    ...(await changedSettings(host, note)).map(
      ({ name, now, before }) =>
        `sysctl ${name.replaceAll("/", ".")} is ${now.trim()}, it was ${before.trim()}${refused.get(name) ?? ""}`,
    ),
    ...(await leftFolders(host, note)),
    ...controllers.map((name) => `the root cgroup passes on ${name}, it did not (cgroup.subtree_control)`),
  ];
  if (left.length > 0)
    throw new Error(`not put back on this machine: ${left.join("; ")}: set it by hand, then run npm run down again`);
  await rm(host.note);
}

/** Settings that an instance changed and nobody put back, in the order in which they were noted. */
async function changedSettings(
  host: Host,
  { settings }: Note,
): Promise<{ name: string; now: string; before: string }[]> {
  const all = Object.entries(settings).map(async ([name, before]) => {
    const now = await readText(setting(host, name));
    const others = SET[name] !== undefined && Number(now) !== SET[name];
    // A link that is gone has no settings.
    return now === undefined || now === before || others ? [] : [{ name, now, before }];
  });
  return (await Promise.all(all)).flat();
}

/** Puts settings back. @returns why not, by setting. */
async function restoreSettings(host: Host, note: Note): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  const put = async (name: string, before: string) =>
    await writeFile(setting(host, name), before).catch((error: Error) => refused.set(name, ` (${error.message})`));
  for (const { name, before } of await changedSettings(host, note)) await put(name, before);
  // Setting ip_forward back changed the settings of links.
  for (const { name, before } of await changedSettings(host, note)) if (!refused.has(name)) await put(name, before);
  return refused;
}

async function removeFolder(host: Host, name: string): Promise<void> {
  const folder = join(host.root, name);
  for (const entry of (await readFolder(folder)) ?? []) {
    const path = join(folder, entry);
    if (await DEAD[name]?.(path, othersRun(host))) await rm(path, { force: true });
  }
  const names = await readFolder(folder);
  if (names === undefined || names.length > 0) return;
  // `ip netns add` mounts the folder on itself.
  if (folder === "/run/netns" && (await mountsUnder(dirname(folder))).includes(folder)) await run(["umount", folder]);
  await rmdir(folder);
}

/** Whether the process behind a socket has ended. */
function nobodyListens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const end = (isDead: boolean) => {
      socket.destroy();
      resolve(isDead);
    };
    socket.once("connect", () => end(false));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => end(code === "ECONNREFUSED"));
  });
}

/** Whether container runtimes or kubelets run here that aren't an instance's. */
const othersRun = (host: Host): boolean => host.commands().some((command) => RUNTIMES.test(command));

/** What instances left in folders that were not there before them. */
async function leftFolders(host: Host, { absent }: Note): Promise<string[]> {
  const others = othersRun(host);
  const all = absent.map(async (folder) => {
    const names = (await readFolder(join(host.root, folder))) ?? [];
    const isOurs = (name: string) =>
      // Each of FOLDERS is looked at for itself.
      !FOLDERS.includes(`${folder}/${name}`) && (folder === "run/netns" ? name.startsWith("fleet-") : !others);
    const ours = names.filter(isOurs);
    return ours.length > 0 ? [`/${folder} has ${ours.join(", ")}, it was not there`] : [];
  });
  return (await Promise.all(all)).flat();
}

const cgroupRoot = (host: Host): string => join(host.root, "sys", "fs", "cgroup");

const setting = (host: Host, name: string): string => join(host.root, "proc", "sys", name);

import { existsSync, readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { APP_PORT } from "../app/process.ts";
import { MINISTACK_PORT } from "../gateway/ministack.ts";
import { GIT_HTTPS_PORT, GIT_SSH_PORT } from "../git/index.ts";
import { CommandError, folderProblem, hierarchies, INSTANCE_FOLDER, run } from "../instance/index.ts";
import { allProcesses, markIn, seesOurFiles } from "../instance/processes.ts";
import { REGISTRY_PORT } from "../registry/index.ts";
import { CACHE_FOLDER } from "../toolchain/cache.ts";
import { hasApt } from "../toolchain/debian.ts";
import { BUILD_DISK, findTools, toolProblems } from "../toolchain/preflight.ts";
import { findOwn, lackingWithoutApt } from "../toolchain/system.ts";

/** The toolchain's cache, and where what it lacks comes from. */
export interface Cache {
  readonly path: string;
  /** Nothing of what takes Go is lacking. */
  readonly complete: boolean;
  /** The Go programs are there already; charts and images may be lacking. */
  readonly built: boolean;
  /** A release has what is lacking: nothing is compiled here. */
  readonly offered: boolean;
}

/** What filling the cache takes: Go, and bytes of disk. A release's archive comes whole, whatever is lacking. */
export function toFill({ complete, built, offered }: Cache): { readonly go: boolean; readonly disk: number } {
  if (complete) return { go: false, disk: GIB };
  if (offered) return { go: false, disk: ARCHIVE_DISK };
  return { go: true, disk: built ? GIB : BUILD_DISK };
}

/** What the checks found about this machine. */
export interface Machine {
  readonly platform: string;
  readonly architecture: string;
  /** Effective user id. */
  readonly user: number;
  /** Names of `NEEDED_COMMANDS` that are on PATH, or not needed this time. */
  readonly commands: ReadonlySet<string>;
  /** What neither the machine nor its distribution's packages have; empty where there is apt. */
  readonly systemProblems: readonly string[];
  /** Why the folders of instance and cache can't be that: what else is in them. */
  readonly folderProblems: readonly string[];
  /** Id of the machine's own kubelet. */
  readonly kubelet: number | undefined;
  /** Why no network namespace can be made; undefined when one can. */
  readonly namespaceProblem: string | undefined;
  /** Why there is no usable cgroup hierarchy; undefined when there is one. */
  readonly cgroupProblem: string | undefined;
  /** Bytes. */
  readonly memory: number;
  readonly disks: readonly {
    readonly path: string;
    readonly purpose: string;
    readonly free: number;
    readonly needed: number;
  }[];
  /** TCP ports in LISTEN state on every address (0.0.0.0 or ::). */
  readonly wildcardPorts: ReadonlySet<number>;
  /** The addresses of an instance are in the range 100.64.0.0/10; another user of it, such as a VPN. */
  readonly foreignRoutes: readonly string[];
}

const GIB = 1024 ** 3;
/** What a release's archive takes, and what comes out of it. */
const ARCHIVE_DISK = 6 * GIB;

/** What has to be on the machine before anything is built; Node is there, or this would not run. */
export const NEEDED_COMMANDS = ["git", "go", "python3"] as const;

/** Ports that an instance serves on addresses of its own. */
const PORTS: Readonly<Record<number, string>> = {
  443: "AWS endpoints, API servers and charts over TLS",
  [GIT_SSH_PORT]: "Git over SSH",
  [MINISTACK_PORT]: "the AWS API for tools on this machine",
  [REGISTRY_PORT]: "the container registry",
  [GIT_HTTPS_PORT]: "Git over HTTPS",
  [APP_PORT]: "the demo's application",
};

const MEMORY_NEEDED = 4 * GIB;

const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`;

/** All that keeps the embedded cloud from running here; empty when nothing does. */
export function missing(machine: Machine): string[] {
  const lacks: (string | false)[] = [
    machine.platform !== "linux" &&
      `the nodes are Linux network namespaces and cgroups, this machine is ${machine.platform}: use a Linux machine or VM`,
    machine.architecture !== "x64" &&
      machine.architecture !== "arm64" &&
      `the architecture must be x64 or arm64, got ${machine.architecture}`,
    machine.user !== 0 &&
      `root is needed (namespaces, mounts, addresses), got user id ${machine.user}: run it with sudo, or in a VM or CI runner`,
    ...NEEDED_COMMANDS.map((name) => !machine.commands.has(name) && `the command ${name} is not on PATH: install it`),
    ...machine.systemProblems,
    ...machine.folderProblems,
    machine.kubelet !== undefined &&
      `a kubelet runs on this machine (process ${machine.kubelet}): ours would remove its device plugins' sockets in /var/lib/kubelet and change its settings; use another machine or a VM`,
    machine.namespaceProblem !== undefined &&
      `no network namespace can be made (CAP_SYS_ADMIN is needed): ${machine.namespaceProblem}`,
    machine.cgroupProblem !== undefined && machine.cgroupProblem,
    machine.memory < MEMORY_NEEDED &&
      `${gib(MEMORY_NEEDED)} of memory are needed for a hub, the machine has ${gib(machine.memory)}`,
    ...machine.disks.map(
      ({ path, purpose, free, needed }) =>
        free < needed &&
        `${gib(needed)} of disk are needed under ${path} for ${purpose}, ${gib(free)} are free: make room, or choose another folder`,
    ),
    ...Object.entries(PORTS).map(
      ([port, purpose]) =>
        machine.wildcardPorts.has(Number(port)) &&
        `port ${port} is taken on all addresses, it is needed for ${purpose}: end the program that listens there (ss -ltnp 'sport = :${port}'), or bind it to one address`,
    ),
    machine.foreignRoutes.length > 0 &&
      `the range 100.64.0.0/10 is used by something else here (a VPN?): ${machine.foreignRoutes.join(", ")}; switch that off`,
  ];
  return lacks.filter((lack) => lack !== false);
}

/** The ports of /proc/net/tcp and tcp6 that are in LISTEN state (0A) on every address. */
export function wildcardPorts(table: string): Set<number> {
  const sockets = table.split("\n").map((line) => line.trim().split(/\s+/));
  const listening = sockets.filter(([, local, , state]) => state === "0A" && /^0+:/.test(local ?? ""));
  return new Set(listening.map(([, local]) => Number.parseInt(local?.split(":")[1] ?? "", 16)));
}

/** The routes in /proc/net/route: addresses are hexadecimal, the last byte first (Linux on a little-endian processor). */
export function routesIn(table: string): { dst: string; dev: string }[] {
  const lines = table.trim().split("\n").slice(1);
  return lines.map((line) => {
    const [dev = "", destination = ""] = line.split("\t");
    const bytes = destination.match(/../g)?.reverse() ?? [];
    return { dst: bytes.map((byte) => Number.parseInt(byte, 16)).join("."), dev };
  });
}

/** Links whose routes into 100.64.0.0/10 are neither an instance's (`fl<index>c…`) nor of the tests of tenants' networks (`flp…`). */
export function foreignRoutes(routes: readonly { dst: string; dev: string }[]): string[] {
  const shared = (address: string) => {
    const [first, second] = address.split(".").map(Number);
    return first === 100 && second !== undefined && second >= 64 && second < 128;
  };
  return routes
    .filter(({ dst, dev }) => shared(dst) && !/^fl(\d+c|p)\d/.test(dev))
    .map(({ dst, dev }) => `${dst} on ${dev}`);
}

const onPath = (name: string) =>
  `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`.split(delimiter).some((folder) => existsSync(join(folder, name)));

async function problem(probe: Promise<unknown>): Promise<string | undefined> {
  try {
    await probe;
    return undefined;
  } catch (error) {
    return error instanceof CommandError ? error.stderr.trim() || error.message : String((error as Error).message);
  }
}

function freeBytes(path: string): number {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  return bavail * bsize;
}

/** The kubelet of this machine itself: neither an instance's nor one in a container, which has folders of its own (kind, k3d). */
export const ownKubelet = (): number | undefined =>
  allProcesses().find(({ pid, command }) => command === "kubelet" && !isInstances(pid) && seesOurFiles(pid))?.pid;

/** Whether a process carries the mark of an instance. */
const isInstances = (pid: number) => markIn(text(`/proc/${pid}/environ`)) !== undefined;

const text = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** Looks at this machine; `dir` is the instance's folder. Changes nothing. */
async function inspect(cache: Cache, dir: string): Promise<Machine> {
  const { go, disk } = toFill(cache);
  return {
    platform: process.platform,
    architecture: process.arch,
    user: process.geteuid?.() ?? -1,
    commands: new Set(NEEDED_COMMANDS.filter((name) => onPath(name) || (name === "go" && !go))),
    systemProblems: hasApt() ? [] : lackingWithoutApt(await findOwn()),
    folderProblems: (
      await Promise.all([folderProblem(INSTANCE_FOLDER, dir), folderProblem(CACHE_FOLDER, cache.path)])
    ).filter((found) => found !== undefined),
    kubelet: ownKubelet(),
    namespaceProblem: await problem(run(["unshare", "--net", "true"])),
    cgroupProblem: await problem(hierarchies()),
    memory: totalmem(),
    disks: [
      {
        path: cache.path,
        purpose: go ? "the toolchain and its build" : "the toolchain",
        free: freeBytes(cache.path),
        needed: disk,
      },
      { path: dir, purpose: "the instance (images, logs, state)", free: freeBytes(dir), needed: 4 * GIB },
    ],
    wildcardPorts: wildcardPorts(text("/proc/net/tcp") + text("/proc/net/tcp6")),
    foreignRoutes: foreignRoutes(routesIn(text("/proc/net/route"))),
  };
}

/** Rejects with everything that this machine lacks. */
export async function preflight(cache: Cache, dir: string): Promise<void> {
  const machine = await inspect(cache, dir);
  // Not beside it, nor in a folder of somebody else: the probe of overlay mounts writes into the folder.
  const found = machine.folderProblems.length === 0 ? await findTools(dir) : undefined;
  const tools = found === undefined ? [] : toolProblems(toFill(cache).go ? found : { ...found, go: undefined });
  const lacks = [...missing(machine), ...tools];
  if (lacks.length > 0)
    throw new Error(`this machine lacks something:\n${lacks.map((lack) => `- ${lack}`).join("\n")}`);
}

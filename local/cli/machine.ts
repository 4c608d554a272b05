import { existsSync, readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import { OVERLAY_PROBE_PREFIX } from "../instance/folder.ts";
import { CommandError, folderProblem, hierarchies, INSTANCE_FOLDER, run } from "../instance/index.ts";
import { allProcesses, markIn, seesOurFiles } from "../instance/processes.ts";
import { hasApt } from "../product.ts";
import { CHECKOUT } from "../product-paths.ts";
import { CACHE_FOLDER } from "../toolchain/cache.ts";
import { findOwn, lackingWithoutApt } from "../toolchain/system.ts";
import { type Cache, GIB, type Machine, missing, neededTools, toFill } from "./preflight.ts";

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

/** Why something fails, in the words of the command that was tried; undefined when it doesn't. */
async function problem(probe: Promise<unknown>): Promise<string | undefined> {
  try {
    await probe;
    return undefined;
  } catch (error) {
    return error instanceof CommandError ? error.stderr.trim() || error.message : String((error as Error).message);
  }
}

/** What a command says; nothing when it fails, undefined where there is none of that name. */
async function output(argv: readonly [string, ...string[]]): Promise<string | undefined> {
  try {
    return await run(argv);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return error.exitCode === undefined ? undefined : "";
  }
}

const python = async (program: string): Promise<boolean> =>
  Boolean(await output(["python3", "-c", `${program}; print(1)`]));

const OVERLAY_PROBE = `
dir=$(mktemp -d "$1/${OVERLAY_PROBE_PREFIX}XXXXXX") || exit
trap 'umount "$dir/merged" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" && mkdir lower upper work merged &&
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged`;

/** The folder, or the nearest above it that exists. */
const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)));

/** Why no overlay file system can be mounted in a directory, or above it where it doesn't exist yet. Leaves nothing behind. */
export const overlayProblem = (dir: string): Promise<string | undefined> =>
  problem(run(["unshare", "--mount", "sh", "-c", OVERLAY_PROBE, "sh", existing(dir)]));

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(existing(path));
  return bavail * bsize;
}

/** The kubelet of this machine itself: neither an instance's nor one in a container, which has folders of its own (kind, k3d). */
export const ownKubelet = (): number | undefined =>
  allProcesses().find(({ pid, command }) => command === "kubelet" && !isInstances(pid) && seesOurFiles(pid))?.pid;

/** Whether a process carries the mark of an instance. */
const isInstances = (pid: number) => markIn(text(`/proc/${pid}/environ`)) !== undefined;

const text = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** The directories whose paths programs read; that of the instance only where it isn't in the checkout. */
export const placesOf = (dir: string, cache: string): Machine["places"] => [
  { path: CHECKOUT, what: "this clone", otherwise: "Move it to another directory" },
  ...(dir.startsWith(`${CHECKOUT}/`) ? [] : [{ path: dir, what: "FLEET_LOCAL_DIR", otherwise: "Name another" }]),
  { path: cache, what: "the toolchain's cache", otherwise: "Set FLEET_CACHE_DIR to another directory" },
];

/** Looks at this machine, and tries an overlay mount beside `dir`, the instance's folder. Leaves nothing behind. */
async function inspect(cache: Cache, dir: string): Promise<Machine> {
  const { go, disk } = toFill(cache);
  const folders = await Promise.all([folderProblem(INSTANCE_FOLDER, dir), folderProblem(CACHE_FOLDER, cache.path)]);
  const folderProblems = folders.filter((found) => found !== undefined);
  return {
    platform: process.platform,
    architecture: process.arch,
    user: process.geteuid?.() ?? -1,
    tools: await Promise.all(neededTools(go).map(async (tool) => ({ ...tool, found: await output(tool.argv) }))),
    venv: (await python("import ensurepip, venv")) || ((await python("import venv")) && hasApt()),
    systemProblems: hasApt() ? [] : lackingWithoutApt(await findOwn()),
    places: placesOf(dir, cache.path),
    folderProblems,
    kubelet: ownKubelet(),
    namespaceProblem: await problem(run(["unshare", "--net", "true"])),
    // It writes into the folder, which may be somebody else's.
    overlayProblem: folderProblems.length > 0 ? undefined : await overlayProblem(dir),
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

/** Rejects with everything that this machine lacks. `dir` is the instance's folder. */
export async function preflight(cache: Cache, dir: string): Promise<void> {
  const lacks = missing(await inspect(cache, dir));
  if (lacks.length > 0)
    throw new Error(`this machine lacks something:\n${lacks.map((lack) => `- ${lack}`).join("\n")}`);
}

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, realpath, rm, rmdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { CHECKOUT } from "../product-paths.ts";
import { quote } from "./command.ts";
import { orMissing, readJson, readText, writeAtomic } from "./files.ts";
import { mountsUnder } from "./mounts.ts";

/** A kind of folder that our commands fill and remove, as root, wherever a variable says. */
export interface OwnedKind {
  /** What such a folder is, in a sentence: "an instance of the embedded cloud". */
  readonly what: string;
  /** The environment variable that names one. */
  readonly variable: string;
  /** Whether an entry of the folder is a part of it; only parts are ever removed. */
  readonly isPart: (dir: string, name: string) => boolean;
}

/** Written into an empty folder before anything else, removed last: only a folder with it is filled or removed. */
const MARKER = ".eks-gitops-fleet.json";

interface Marker {
  readonly what: string;
  /** Different for every folder that was ever made. */
  readonly id: string;
}

/** IDs of the users whose folders this process trusts: root, its own, and the one who called sudo. */
const owners = (): number[] => [0, process.getuid?.() ?? 0, Number(process.env["SUDO_UID"] ?? 0)];

/** Why a folder can't be of this kind; undefined when it can, or is. Changes nothing. */
export async function folderProblem(kind: OwnedKind, dir: string): Promise<string | undefined> {
  const wrong = (why: string) =>
    `${kind.variable}: ${dir} can't be ${kind.what}: it ${why}. Allowed is a folder that doesn't exist, an empty one, or one that this command made; ` +
    `name another, such as ${join(dir, "fleet")}`;
  const link = await orMissing(lstat(dir), undefined);
  if (link?.isSymbolicLink()) return wrong("is a symbolic link (name the folder that it leads to)");
  const held = (await precious()).find((path) => isWithin(dir, path));
  if (held !== undefined) return wrong(`holds ${held}`);
  if (link === undefined) return undefined;
  if (!link.isDirectory()) return wrong("is not a folder");
  // Its marker decides what is removed, so nobody else may have written it.
  if (!owners().includes(link.uid)) return wrong(`belongs to the user with ID ${link.uid}`);
  if ((link.mode & 0o022) !== 0)
    return wrong(`can be written by other users (mode ${(link.mode & 0o777).toString(8)})`);
  const real = await realpath(dir);
  const heldReally = (await precious()).find((path) => isWithin(real, path));
  if (heldReally !== undefined) return wrong(`is ${real}, which holds ${heldReally}`);
  const names = (await readdir(dir)).filter((name) => !isDraft(name));
  if (names.length === 0) return undefined;
  const marker = await readJson<Marker>(join(dir, MARKER));
  if (marker?.what === kind.what) return undefined;
  if (marker !== undefined) return wrong(`is ${marker.what}`);
  const foreign = names.filter((name) => !kind.isPart(dir, name)).slice(0, 5);
  return wrong(
    foreign.length > 0 ? `is not empty (it has ${foreign.join(", ")})` : `is not empty and has no ${MARKER}`,
  );
}

/** Takes a folder for this kind: makes it, and its marker when it is empty. @returns its identity. @throws folderProblem. */
export async function ensureOwned(kind: OwnedKind, dir: string): Promise<string> {
  const problem = await folderProblem(kind, dir);
  if (problem !== undefined) throw new Error(problem);
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const path = join(dir, MARKER);
  const marker = (await readJson<Marker>(path)) ?? { what: kind.what, id: randomUUID() };
  if (!existsSync(path)) await writeAtomic(path, `${JSON.stringify(marker)}\n`, 0o644);
  return marker.id;
}

/**
 * Removes what such a folder is made of, its marker last, and the folder when nothing else is in it. Idempotent.
 * @returns the names of what stays, because it is not part of it
 * @throws folderProblem, and while something is mounted below the folder
 */
export async function removeOwned(kind: OwnedKind, dir: string): Promise<string[]> {
  const problem = await folderProblem(kind, dir);
  if (problem !== undefined) throw new Error(problem);
  if (!existsSync(dir)) return [];
  await expectUnmounted(dir);
  const names = (await readdir(dir)).filter((name) => name !== MARKER);
  const parts = names.filter((name) => isDraft(name) || kind.isPart(dir, name));
  for (const name of parts) await rm(join(dir, name), { recursive: true, force: true, maxRetries: 5 });
  const others = names.filter((name) => !parts.includes(name));
  await rm(join(dir, MARKER), { force: true });
  // EBUSY: a file system of its own is mounted there.
  if (others.length === 0)
    await rmdir(dir).catch((error: NodeJS.ErrnoException) => error.code === "EBUSY" || Promise.reject(error));
  return others;
}

/** @throws while something is mounted below a folder: removing the folder would remove what is mounted */
export async function expectUnmounted(dir: string): Promise<void> {
  const mounted = await mountsUnder(await orMissing(realpath(dir), dir));
  if (mounted.length > 0)
    throw new Error(
      `${dir} is not removed while something is mounted below it: umount ${mounted.map(quote).join(" ")}`,
    );
}

/** What nobody may lose: this checkout, and every home of this machine. */
async function precious(): Promise<string[]> {
  const users = ((await readText("/etc/passwd")) ?? "").split("\n").map((line) => line.split(":")[5]);
  const homes = [homedir(), process.env["HOME"], ...users].filter((home) => home?.startsWith("/") && home !== "/");
  const existing = [CHECKOUT, ...homes].filter((path) => path !== undefined && existsSync(path)) as string[];
  return [...new Set(await Promise.all(existing.map((path) => realpath(path))))];
}

/** Whether `path` is `dir` or below it. */
export const isWithin = (dir: string, path: string): boolean => {
  const way = relative(dir, path);
  return way === "" || !(way === ".." || way.startsWith("../"));
};

/** Begins the name of a folder in which preflight tries overlay mounts. */
export const OVERLAY_PROBE_PREFIX = ".overlay-probe.";

// Of a process that was killed while it wrote the marker, or tried the folder's file system.
const isDraft = (name: string): boolean => name.startsWith(`${MARKER}.`) || name.startsWith(OVERLAY_PROBE_PREFIX);

/** What an instance's folder is made of: the paths of addresses.ts, and what gateway and registry keep there. */
const INSTANCE_PARTS = [
  ...["addons.json", "aps", "aws", "bin", "ca", "clusters", "eks", "env", "etcd", "faults.json", "git", "grafana"],
  ...["instance.json", "kubeconfig", "logs", "ministack", "ministack.key", "pulumi", "record.json", "registry"],
];

export const INSTANCE_FOLDER: OwnedKind = {
  what: "an instance of the embedded cloud",
  variable: "FLEET_LOCAL_DIR",
  // writeAtomic's drafts, of a process that was killed: <name>.<pid>.<random>.
  isPart: (_, name) => INSTANCE_PARTS.includes(name.replace(/\.\d+\.[0-9a-f]{8}$/, "")),
};

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type Instance, PROCESS_MARK } from "../instance/addresses.ts";
import { makeCgroup, procsFiles } from "../instance/cgroups.ts";
import { kill, markOf, processesOf, statOf } from "../instance/processes.ts";
import { logOf } from "./logs.ts";
import type { ProcessSpec } from "./spec.ts";

/** A process that was started. `pid` and `startTime` together name it for good. */
export interface Running {
  readonly pid: number;
  readonly startTime: number;
  readonly startedAt: string;
}

/** What a process inherits from the supervisor: nothing that could hold a secret. */
const INHERITED = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "XDG_CACHE_HOME", "FLEET_CACHE_DIR"];

/** The environment for processes of an instance, without a spec's own additions. */
export function baseEnv(instance: Instance, id: string, from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]] as const]));
  return { ...Object.fromEntries(inherited), [PROCESS_MARK]: markOf(instance, id) };
}

// Enters the cgroups (file list first, counted) and becomes the program: the id of the process stays the same.
const ENTER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 1; shift; n=$((n-1)); done; exec "$@"';

/** The command line that enters the spec's network namespace and cgroups. Pure but for the list of files. */
export function enter(spec: ProcessSpec, cgroupFiles: readonly string[]): [string, ...string[]] {
  const inNetwork: [string, ...string[]] =
    spec.netns === undefined ? [...spec.argv] : ["nsenter", `--net=/run/netns/${spec.netns}`, "--", ...spec.argv];
  if (cgroupFiles.length === 0) return inNetwork;
  return ["sh", "-c", ENTER, "sh", String(cgroupFiles.length), ...cgroupFiles, ...inNetwork];
}

/**
 * Starts a process as leader of a session of its own, writing to its log, so that it outlives the supervisor.
 * `onExit` is called with a description once it ends, as long as this supervisor lives.
 */
export async function launch(instance: Instance, spec: ProcessSpec, onExit: (how: string) => void): Promise<Running> {
  if (spec.cgroup !== undefined) await makeCgroup(spec.cgroup);
  const [file, ...args] = enter(spec, spec.cgroup === undefined ? [] : await procsFiles(spec.cgroup));
  const env = { ...baseEnv(instance, spec.id), ...spec.env };
  const { pid } = await spawnLogged([file, ...args], env, logOf(instance, spec.id), onExit);
  return { pid, startTime: statOf(pid)?.startTime ?? 0, startedAt: new Date().toISOString() };
}

/**
 * Starts a program in a session of its own, so that it outlives this process; it appends to a log.
 * @param onExit is told how it ended, as long as this process lives
 */
export async function spawnLogged(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  path: string,
  onExit: (how: string) => void = () => {},
): Promise<ChildProcess & { readonly pid: number }> {
  const [file, ...args] = argv;
  const log = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
  try {
    const child = spawn(file, args, { cwd: "/", env, detached: true, stdio: ["ignore", log.fd, log.fd] });
    // At once: a program that ends immediately must not end unseen.
    child.once("exit", (code, signal) => onExit(signal === null ? `exit code ${code}` : `signal ${signal}`));
    await once(child, "spawn");
    return Object.assign(child, { pid: child.pid as number });
  } finally {
    await log.close();
  }
}

/** Whether this very process still lives. */
export function lives({ pid, startTime }: Running): boolean {
  return statOf(pid)?.startTime === startTime;
}

/**
 * The run of a process that was started without being recorded (its supervisor was killed in between), found by its
 * mark. Only a session's leader is it: what it starts itself inherits the mark but not the session's lead.
 */
export function findRunning(instance: Instance, id: string): Running | undefined {
  const leader = processesOf(instance, ({ session, pid }) => session === pid).find((process) => process.id === id);
  return leader && { pid: leader.pid, startTime: leader.startTime, startedAt: new Date().toISOString() };
}

/** Sends a signal (or none) to all processes of a run's process group that carry its mark. Gives how many there were. */
export function signalGroup(instance: Instance, id: string, pid: number, signal: NodeJS.Signals | undefined): number {
  const members = processesOf(instance, ({ group }) => group === pid).filter((process) => process.id === id);
  if (signal !== undefined) for (const { pid: member } of members) kill(member, signal);
  return members.length;
}

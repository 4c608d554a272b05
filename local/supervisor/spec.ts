import { isAbsolute } from "node:path";
import type { Exits } from "./exits.ts";

/** How to tell that a process is ready; tried every 100 ms. */
export type Probe =
  /** A TCP connection is accepted. */
  | { readonly tcp: { readonly host: string; readonly port: number } }
  /** A GET answers with 200; `caFile` is the only root trusted for https. */
  | { readonly http: { readonly url: string; readonly caFile?: string } }
  /** A connection to a unix socket is accepted. */
  | { readonly unix: string }
  /** A gRPC method (`/package.Service/Method`) answers an empty request at a unix socket. */
  | { readonly grpc: { readonly unix: string; readonly method: string } }
  /** A command ends with exit code 0. */
  | { readonly command: readonly [string, ...string[]] };

/** A long-running process. Everything here is recorded and can be listed: what is secret, it reads from a file. */
export interface ProcessSpec {
  /** Name of the process and of its log, `<dir>/logs/<id>.log`. */
  readonly id: string;
  /** Program and arguments; visible to everybody on the machine. */
  readonly argv: readonly [string, ...string[]];
  /** Added to a small inherited set (PATH, HOME, …). */
  readonly env?: Readonly<Record<string, string>>;
  /** Name of a network namespace under /run/netns. */
  readonly netns?: string;
  /** Absolute path of a cgroup, made when missing, in every hierarchy. */
  readonly cgroup?: string;
  /** Without a probe, a process is ready as soon as it runs. */
  readonly ready?: Probe;
  /** How long `start` waits for readiness, in seconds (60). */
  readonly readySeconds?: number;
  /** How long a stop waits between TERM and KILL, in seconds (10). */
  readonly stopSeconds?: number;
}

/**
 * - `starting`: runs, not ready yet
 * - `ready`: runs and was ready
 * - `waiting`: exited, is started again after a pause
 * - `stopping`: was asked to end
 * - `failed`: exited or wasn't ready in time at its first start; not started again by itself
 */
export type ProcessState = "starting" | "ready" | "waiting" | "stopping" | "failed";

/** What the supervisor says about a process. */
export interface ProcessStatus extends Exits {
  readonly id: string;
  readonly state: ProcessState;
  readonly pid: number | undefined;
  /** Restarts after an exit that nobody asked for, since the first start. */
  readonly restarts: number;
  /** Why it isn't as it should be, or why it was restarted last. */
  readonly message: string | undefined;
  readonly log: string;
}

/** Checks a spec that came over the socket; throws with all that is wrong. */
export function checkSpec(spec: ProcessSpec): ProcessSpec {
  const problems: string[] = [];
  if (!isProcessId(spec.id))
    problems.push(`id: got ${JSON.stringify(spec.id)}, allowed are letters, digits, ".", "_", "-"`);
  if (!Array.isArray(spec.argv) || spec.argv.length === 0 || !spec.argv.every((arg) => typeof arg === "string"))
    problems.push("argv: must be a list of at least one string");
  if (spec.cgroup !== undefined && !isAbsolute(spec.cgroup))
    problems.push(`cgroup: got ${spec.cgroup}, must be an absolute path`);
  if (problems.length > 0) throw new Error(`process ${spec.id} can't be started: ${problems.join("; ")}`);
  return spec;
}

/** Whether this can name a process (and its log file). */
function isProcessId(id: unknown): id is string {
  return typeof id === "string" && /^[0-9A-Za-z][0-9A-Za-z._-]{0,199}$/.test(id);
}

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Instance, PROCESS_MARK } from "./addresses.ts";
import { isMissing } from "./files.ts";
import { isWithin } from "./folder.ts";

/** What the kernel says about a process. Its id and its start time together are never used twice in one boot. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** One letter, see proc_pid_stat(5): Z is a zombie. */
  readonly state: string;
  /** Clock ticks after boot. */
  readonly startTime: number;
  readonly command: string;
}

/** Reads a line of /proc/<pid>/stat (proc_pid_stat(5)). */
export function parseStat(line: string): ProcessStat {
  // The command is in brackets and may itself hold brackets and spaces: the last bracket ends it.
  const end = line.lastIndexOf(")");
  const fields = line.slice(end + 2).split(" ");
  return {
    pid: Number.parseInt(line, 10),
    command: line.slice(line.indexOf("(") + 1, end),
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
  };
}

/** The process with this id, or undefined when it has ended (a zombie has ended). */
export function statOf(pid: number): ProcessStat | undefined {
  const line = readProc(pid, "stat");
  if (line === undefined) return undefined;
  const stat = parseStat(line);
  return stat.state === "Z" || stat.state === "X" ? undefined : stat;
}

/** Every living process of this machine. */
export function allProcesses(): ProcessStat[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => statOf(Number(pid)) ?? []);
}

/** Whether a process may see the files that this one sees; one in a container has a mount namespace of its own. */
export function seesOurFiles(pid: number): boolean {
  const own = mountNamespace("self");
  const other = mountNamespace(pid);
  return other === undefined || own === other;
}

/** The mount namespace of a process; undefined when it has ended, or has more rights than this one. */
const mountNamespace = (id: number | "self"): string | undefined => ofProcess(() => readlinkSync(`/proc/${id}/ns/mnt`));

/** A process of an instance, with the mark that the supervisor gave to it or to the process that started it. */
export interface OwnedProcess extends ProcessStat {
  /** Id of the supervised process; undefined for processes in containers, which are known by their cgroup. */
  readonly id: string | undefined;
}

/**
 * All living processes of an instance: those with its mark in their environment, and those in its cgroups. With `chosen`,
 * only the marks of processes that it chooses are looked at.
 */
export function processesOf(instance: Instance, chosen: (stat: ProcessStat) => boolean = () => true): OwnedProcess[] {
  return allProcesses()
    .filter(chosen)
    .flatMap((stat): OwnedProcess[] => {
      const mark = markIn(readProc(stat.pid, "environ") ?? "");
      if (mark?.index === instance.index) return [{ ...stat, id: mark.id }];
      return inCgroup(readProc(stat.pid, "cgroup") ?? "", instance.kernel.cgroup) ? [{ ...stat, id: undefined }] : [];
    });
}

/** All other living processes with their temporary files (TMPDIR) in one of these folders, without those of instances. */
export function processesWithin(folders: readonly string[]): ProcessStat[] {
  return allProcesses().filter(({ pid }) => {
    const environ = pid === process.pid ? "" : (readProc(pid, "environ") ?? "");
    const temporary = /(?:^|\0)TMPDIR=([^\0]+)/.exec(environ)?.[1];
    if (temporary === undefined || markIn(environ) !== undefined) return false;
    return folders.some((folder) => isWithin(folder, temporary));
  });
}

/** The value of PROCESS_MARK for a supervised process. */
export function markOf(instance: Instance, id: string): string {
  return `${instance.index}:${id}`;
}

/** Finds PROCESS_MARK in the content of /proc/<pid>/environ. */
export function markIn(environ: string): { index: number; id: string } | undefined {
  const entry = environ.split("\0").find((pair) => pair.startsWith(`${PROCESS_MARK}=`));
  const match = /^(\d+):(.+)$/s.exec(entry?.slice(PROCESS_MARK.length + 1) ?? "");
  return match === null ? undefined : { index: Number(match[1]), id: match[2] as string };
}

/** Whether the content of /proc/<pid>/cgroup names this cgroup or one below it, in any hierarchy. */
export function inCgroup(cgroups: string, cgroup: string): boolean {
  return cgroups.split("\n").some((line) => {
    const path = line.split(":").slice(2).join(":");
    return path === cgroup || path.startsWith(`${cgroup}/`);
  });
}

/** Kills a process, or with a negative id a process group; nothing happens when it has ended. */
export function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Kills processes until `find` gives none any more: one of them may just have started another. */
export async function killAll(find: () => readonly ProcessStat[]): Promise<void> {
  for (let found = find(); found.length > 0; found = find()) {
    for (const { pid } of found) kill(pid);
    await sleep(50);
  }
}

// These files are made by the kernel as they are read: without the detour of a thread pool that costs microseconds.
const readProc = (pid: number, file: string): string | undefined =>
  ofProcess(() => readFileSync(`/proc/${pid}/${file}`, "utf8"));

function ofProcess(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    // EACCES: a process with more rights than ours, so none that we started.
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "EACCES") return undefined;
    throw error;
  }
}

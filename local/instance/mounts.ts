import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { run } from "./command.ts";
import { tolerate } from "./network.ts";

/** Mount points under a folder, in the order in which they were mounted. */
export async function mountsUnder(folder: string): Promise<string[]> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
  return lines.map((line) => unescapeMount(line.split(" ")[4] ?? "")).filter((point) => point.startsWith(`${folder}/`));
}

/** Mounts a file system in memory at a folder, which is made; of at most so many MiB. Idempotent. */
export async function ensureInMemory(folder: string, mebibytes: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await mountsUnder(dirname(folder))).includes(folder)) return;
  await run(["mount", "--types", "tmpfs", "--options", `size=${mebibytes}m,mode=0750`, "tmpfs", folder]);
}

/**
 * Lets mounts of this machine reach containers that ask for them (`mountPropagation: HostToContainer`), as on a node of EKS: systemd shares
 * the root file system, and a machine without systemd may not. It stays shared. Idempotent.
 */
export async function shareRoot(): Promise<void> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").map((line) => line.split(" "));
  const root = lines.findLast((fields) => fields[4] === "/");
  if (!root?.some((field) => field.startsWith("shared:"))) await run(["mount", "--make-rshared", "/"]);
}

/** Unmounts everything under a folder, the latest first. What is still in use for a moment goes with its last user. */
export async function unmountUnder(folder: string): Promise<void> {
  for (const point of (await mountsUnder(folder)).reverse())
    await tolerate(/not mounted|no mount point|No such file/, run(["umount", "--lazy", point]));
}

// Space, tab, newline and backslash are written as octal escapes (proc_pid_mountinfo(5)).
function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

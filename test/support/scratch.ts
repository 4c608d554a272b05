import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Set-up of the unit tests: their temporary files are in one folder, in memory where that can be, and go with it. */

const memory = "/dev/shm";
const leastBytes = 2 ** 30;

/** A new folder for programs and other files below `parent`; undefined where that is missing, small, or runs no programs. */
function folderIn(parent: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < leastBytes) return undefined;
    const folder = mkdtempSync(join(parent, "fleet-unit-"));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    if (spawnSync(program).status === 0) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // Not on this system.
  }
  return undefined;
}

export default function setup(): () => void {
  const before = process.env["TMPDIR"];
  const folder = folderIn(memory) ?? mkdtempSync(join(tmpdir(), "fleet-unit-"));
  // Removed with the run when it is interrupted: local/cli/interruptible.ts.
  const list = process.env["FLEET_TEMPORARY_FOLDERS"];
  if (list !== undefined) appendFileSync(list, `${folder}\n`);
  process.env["TMPDIR"] = folder;
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, maxRetries: 5 });
  };
}

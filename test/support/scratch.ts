import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Set-up of the unit tests: their temporary files are in one folder, in memory where that can be, and go with it; so is what configures Git. */

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

/** Git's configuration: nothing of this machine, no sample hooks, and no program beside the one that was started. */
const gitConfig = (template: string) => `[init]
\ttemplateDir = ${template}
[core]
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
`;

/** Has processes that start after this use these files. */
function configureGit(folder: string): Readonly<Record<string, string>> {
  const template = join(folder, "git-template");
  for (const name of ["hooks", "info"]) mkdirSync(join(template, name), { recursive: true });
  const file = join(folder, "gitconfig");
  writeFileSync(file, gitConfig(template));
  return { GIT_CONFIG_GLOBAL: file, GIT_CONFIG_NOSYSTEM: "1" };
}

export default function setup(): () => void {
  const folder = folderIn(memory) ?? mkdtempSync(join(tmpdir(), "fleet-unit-"));
  // Removed with the run when it is interrupted: local/cli/interruptible.ts.
  const list = process.env["FLEET_TEMPORARY_FOLDERS"];
  if (list !== undefined) appendFileSync(list, `${folder}\n`);
  const own = { TMPDIR: folder, ...configureGit(folder) };
  const before = Object.keys(own).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, own);
  return () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    rmSync(folder, { recursive: true, maxRetries: 5 });
  };
}

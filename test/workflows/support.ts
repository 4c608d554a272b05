import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A new folder for each test of a file, with programs in place of those that a script of a workflow calls. */
export function scriptFolder() {
  const at = { dir: "" };
  beforeEach(() => {
    at.dir = mkdtempSync(join(tmpdir(), "workflow-"));
    mkdirSync(join(at.dir, "bin"));
  });
  afterEach(() => rmSync(at.dir, { recursive: true }));

  /** A program that notes its arguments in the file `called` and goes on with `script`. */
  const program = (name: string, script: string) =>
    writeFileSync(
      join(at.dir, "bin", name),
      `#!/usr/bin/env bash\necho "$*" >> '${join(at.dir, "called")}'\n${script}\n`,
      { mode: 0o755 },
    );
  const read = (name: string) => readFileSync(join(at.dir, name), "utf8");

  /** What GitHub does with `shell: bash`. */
  function bash(script: string, env: Readonly<Record<string, string>>, cwd = at.dir) {
    const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
      cwd,
      encoding: "utf8",
      env: {
        PATH: `${join(at.dir, "bin")}:${process.env["PATH"]}`,
        ...env,
        GITHUB_OUTPUT: join(at.dir, "output"),
        GITHUB_STEP_SUMMARY: join(at.dir, "summary"),
      },
    });
    return { status, text: stdout + stderr };
  }
  return { at, program, read, bash };
}

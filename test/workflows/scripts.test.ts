import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { marker } from "../../cli/diff/markdown.ts";
import type { Workflow } from "./rules.ts";

/** The scripts of pull-request.yml as GitHub runs them, by bash, with a program in place of what they call. */

const root = join(import.meta.dirname, "..", "..");
const { jobs } = parse(readFileSync(join(root, ".github", "workflows", "pull-request.yml"), "utf8")) as Workflow;

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "workflow-"));
  mkdirSync(join(dir, "bin"));
  mkdirSync(join(dir, "previews"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A program that notes its arguments in the file `called` and goes on with `script`. */
const program = (name: string, script: string) =>
  writeFileSync(join(dir, "bin", name), `#!/usr/bin/env bash\necho "$*" >> called\n${script}\n`, { mode: 0o755 });

const read = (name: string) => readFileSync(join(dir, name), "utf8");

/** What GitHub does with `shell: bash`. */
function runs(job: string, step: string, env: Record<string, string>) {
  const script = jobs[job]?.steps?.find(({ name }) => name === step)?.run;
  if (script === undefined) throw new Error(`the job ${job} has no step "${step}"`);
  const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
    cwd: dir,
    encoding: "utf8",
    env: {
      ...{ PATH: `${join(dir, "bin")}:${process.env["PATH"]}`, ...env },
      ...{ GITHUB_OUTPUT: join(dir, "output"), GITHUB_STEP_SUMMARY: join(dir, "summary") },
    },
  });
  return { status, text: stdout + stderr };
}

describe("the comparison of a pull request", () => {
  const compare = () => runs("diff", "Compare", { HUB_STACK: "prod" });
  const answers = (code: number, comment: string) => program("npx", `printf '%s' '${comment}'\nexit ${code}`);

  test("is with main as it is now, the first parent of the merge commit, whatever main was when the request was opened", () => {
    answers(0, marker);
    expect(compare()).toEqual({
      status: 0,
      text: expect.stringContaining("::notice::The stack prod has told nothing"),
    });
    expect(read("called")).toBe("fleet diff HEAD^1 HEAD --fail-on-refused\n");
    expect(jobs["diff"]?.steps?.find(({ uses }) => uses?.startsWith("actions/checkout@"))?.with).toMatchObject({
      "fetch-depth": 0,
    });
  });

  test("takes every preview, the facts of the hub's stack, and the recorded state if the repository has one", () => {
    answers(0, marker);
    for (const name of ["preview-dev", "preview-prod", "bridge-dev", "bridge-prod"])
      writeFileSync(join(dir, "previews", `${name}.json`), "{}");
    mkdirSync(join(dir, "observed"));
    expect(compare()).toEqual({ status: 0, text: "" });
    expect(read("called")).toBe(
      "fleet diff HEAD^1 HEAD --fail-on-refused --preview dev=previews/preview-dev.json " +
        "--preview prod=previews/preview-prod.json --bridge previews/bridge-prod.json --observed observed\n",
    );
    const command = readFileSync(join(root, "cli", "diff.ts"), "utf8");
    for (const [option] of read("called").matchAll(/--\S+/g)) expect(command).toContain(`\n  ${option} `);
  });

  test.for([0, 1])("keeps the comment and the exit code %i for the steps behind it", (code) => {
    answers(code, marker);
    expect(compare().status).toBe(0);
    expect([read("comment.md"), read("summary"), read("output")]).toEqual([marker, marker, `code=${code}\n`]);
  });

  test.for<[number, string]>([
    [2, "half of it"],
    [1, ""],
  ])("fails when fleet diff could not run: exit code %i with %j", ([code, comment]) => {
    answers(code, comment);
    expect(compare()).toEqual({
      status: 1,
      text: expect.stringContaining(`::error::fleet diff could not run (exit code ${code})`),
    });
    expect(existsSync(join(dir, "output"))).toBe(false);
  });
});

describe("the facts about a hub", () => {
  const facts = () => runs("preview", "Facts about the hub", { STACK: "dev" });
  const stack = (outputs: string) =>
    program("pulumi", `if [ "$4" = bridgeData ]; then echo '{"a":"b"}'; else echo '${outputs}'; fi`);

  test("are the stack's output, in which Pulumi masks secrets", () => {
    stack('{\n  "bridgeData": {\n    "a": "b"\n  }\n}');
    expect(facts()).toEqual({ status: 0, text: "" });
    expect(read("bridge-dev.json")).toBe('{"a":"b"}\n');
    expect(read("called")).toBe("stack output --json --stack dev\nstack output --json bridgeData --stack dev\n");
  });

  test("are left out with a notice while the stack is not deployed", () => {
    stack("{}");
    expect(facts()).toEqual({
      status: 0,
      text: expect.stringContaining("::notice::The stack dev is not deployed yet"),
    });
    expect(existsSync(join(dir, "bridge-dev.json"))).toBe(false);
  });

  test("are not left out when the stack can't be read", () => {
    program("pulumi", "exit 6");
    expect(facts().status).toBe(6);
  });
});

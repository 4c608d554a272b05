import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GO_ENVIRONMENT } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledIn, repositoryNames, workflowFile } from "../workflows/repositories.ts";

/** The workflows under actionlint, which Go builds from the module that actionlint/go.mod pins. */

const folder = join(import.meta.dirname, "..", "..", ".github", "workflows");

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "workflow-"));
  // Not `go tool`: what Go says about a download would be among the linter's findings.
  execFileSync("go", ["build", "-o", join(dir, "actionlint"), "github.com/rhysd/actionlint/cmd/actionlint"], {
    cwd: join(import.meta.dirname, "actionlint"),
    env: { ...process.env, ...GO_ENVIRONMENT },
    stdio: ["ignore", "ignore", "inherit"],
  });
});
afterAll(() => rmSync(dir, { recursive: true }));

/** shellcheck and pyflakes are not everywhere: a result must not depend on them. */
function actionlint(files: readonly string[]): { readonly code: number | null; readonly text: string } {
  const flags = ["-no-color", "-shellcheck=", "-pyflakes="];
  const { status, stdout, stderr } = spawnSync(join(dir, "actionlint"), [...flags, ...files], { encoding: "utf8" });
  return { code: status, text: stdout + stderr };
}

test("actionlint finds nothing in the workflows", () => {
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(files.length).toBeGreaterThan(3);
  expect(actionlint(files)).toEqual({ code: 0, text: "" });
});

test.for(repositoryNames)("actionlint finds nothing in the workflow that fleet init writes into %s", (name) => {
  const file = join(dir, `${name}.yml`);
  writeFileSync(file, filledIn(name, "github.com")[workflowFile] ?? "");
  expect(actionlint([file])).toEqual({ code: 0, text: "" });
});

test("actionlint finds what a text of others could put into a script", () => {
  const file = join(dir, "bad.yml");
  const title = "$" + "{{ github.event.pull_request.title }}";
  writeFileSync(
    file,
    `on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${title}\n`,
  );
  const { code, text } = actionlint([file]);
  expect(code).toBe(1);
  expect(text).toContain('"github.event.pull_request.title" is potentially untrusted');
});

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { programs } from "../../../cli/change/effect.ts";
import { run } from "../../../cli/environment/add-environment.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { root } from "../support/fleet.ts";

const base = temporaryFolder("fleet-environment-commit");
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const [system, project] = [join(base, "gitops-system"), join(base, "project")];
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();

test("fleet add-environment --commit commits in gitops-system, and the stack's file in the project's own repository", async () => {
  for (const who of ["GIT_AUTHOR", "GIT_COMMITTER"])
    for (const what of ["NAME", "EMAIL"]) vi.stubEnv(`${who}_${what}`, "ada@example.com");
  cpSync(join(root, "repos", "gitops-system"), system, { recursive: true });
  for (const part of ["Pulumi.yaml", "stacks"]) cpSync(join(root, part), join(project, part), { recursive: true });
  for (const folder of [system, project]) {
    git(folder, "init", "--quiet", "--initial-branch=main");
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", "--message", "before");
  }
  vi.spyOn(console, "log").mockReturnValue();
  const argv = ["qa", "--like", "dev", "--stack", "dev", "--repository", system, "--commit"];
  expect(await run(argv, programs, () => project)).toBe(0);
  const changed = (folder: string) =>
    git(folder, "show", "--format=%s", "--name-only", "HEAD").split("\n").filter(Boolean);
  const [subject, ...files] = changed(system);
  expect(subject).toBe("Add the environment qa like dev");
  expect(files).toContain("tools/qa/versions.yaml");
  expect(files).toContain("platform/composition/composition.yaml");
  expect(changed(project)).toEqual(["Add a sealing key for the environment qa", "stacks/Pulumi.dev.yaml"]);
  for (const folder of [system, project]) expect(git(folder, "status", "--porcelain")).toBe("");
});

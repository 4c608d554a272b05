import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Files } from "../../../cli/folder.ts";
import { withPipelines } from "../../../cli/init/pipelines.ts";
import { root } from "../support/fleet.ts";
import { emptyWorld, upgrade, type World } from "./support.ts";

/** The workflow, the pipeline and CODEOWNERS of the real content, as fleet init writes them. */

const folder = join(root, "repos", "gitops-system");
const templates = [".github/workflows/fleet.yml", ".gitlab-ci.yml", "CODEOWNERS"];
const [workflow = "", pipeline = "", codeOwners = ""] = templates;
const text = (path: string) => readFileSync(join(folder, path), "utf8");
let at: World;
let first: string;

const run = (...argv: string[]) => upgrade(at.project.folder, at.fleet.folder, ...argv);
const below = (files: Files) =>
  Object.fromEntries(Object.entries(files).map(([path, each]) => [`repos/gitops-system/${path}`, each]));

/** A fleet whose repository is at a host, as it was begun from the project's first commit. */
function begin(host: string): void {
  const content = { ...Object.fromEntries(templates.map((path) => [path, text(path)])), "platform/api/a.yaml": "a\n" };
  first = at.project.commit("first", below(content));
  const url = (name: string) => `ssh://git@${host}/acme/${name}.git`;
  const asked = {
    systemUrl: url("gitops-system"),
    workloadsUrl: url("gitops-workloads"),
    sampleAppUrl: undefined,
    owners: undefined,
  };
  const project = { host, path: "acme/eks-gitops-fleet", commit: first, version: first.slice(0, 7) };
  at.fleet.commit(
    `Begin\n\nFrom eks-gitops-fleet ${first}, by fleet init.`,
    withPipelines("gitops-system", content, asked, project),
  );
}

beforeEach(() => {
  at = emptyWorld();
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(at.folder, { recursive: true });
});

describe("what fleet init filled in", () => {
  test("stays filled in, takes the release's changes and runs its commit; the other host's pipeline stays out", async () => {
    begin("github.com");
    const to = at.project.commit(
      "second",
      below({
        [workflow]: text(workflow).replaceAll("timeout-minutes: 30", "timeout-minutes: 40"),
        [pipeline]: text(pipeline).replace("30 minutes", "40 minutes"),
        [codeOwners]: `${text(codeOwners)}/platform/ __owner__\n`,
      }),
    );
    const before = at.fleet.read(workflow);
    const { code, said } = await run("--commit");
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(at.fleet.read(workflow)).toBe(
      before
        .replaceAll("timeout-minutes: 30", "timeout-minutes: 40")
        .replaceAll(`${first} # ${first.slice(0, 7)}`, `${to} # ${to.slice(0, 12)}`),
    );
    expect(at.fleet.read(codeOwners)).toMatch(/^\* @acme\/platform\n\/platform\/ @acme\/platform\n$/m);
    expect(at.fleet.git("ls-files")).not.toContain(pipeline);
    expect(said).toContain(`${workflow}: runs commit ${to.slice(0, 12)} of the project, which must be pushed`);
    expect(said).toContain(`${pipeline}: the release changes it, and this repository has none: left out`);
  });

  test("is kept at GitLab too, where the variable with the commit is raised", async () => {
    begin("gitlab.com");
    const to = at.project.commit("second");
    expect((await run("--commit")).code).toBe(0);
    expect(at.fleet.read(pipeline)).toContain(`PROJECT_COMMIT: ${to} # ${to.slice(0, 12)}`);
    expect(at.fleet.git("ls-files")).not.toContain(workflow);
  });

  test("keeps a commit that the fleet pinned and that is not before the release, and says so", async () => {
    begin("github.com");
    const own = "f".repeat(40);
    at.fleet.commit("pin", { [workflow]: at.fleet.read(workflow).replaceAll(first, own) });
    at.project.commit("second", below({ "platform/api/a.yaml": "b\n" }));
    const { code, said } = await run("--commit");
    expect([code, said]).toEqual([0, expect.stringContaining("fffffffffffff".slice(0, 12))]);
    expect(said).toContain("is not one before the release: left as it is");
    expect(at.fleet.read(workflow)).toContain(own);
  });

  test("and a placeholder that the release adds and nothing tells is named", async () => {
    begin("github.com");
    at.project.commit("second", below({ [codeOwners]: `${text(codeOwners)}/tools/ __toolsOwner__\n` }));
    expect((await run("--commit")).said).toContain(
      `${codeOwners}: what belongs in the place of __toolsOwner__ is not known`,
    );
  });
});

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { emptyWorld, upgrade, type World } from "./support.ts";

let at: World;
const run = (...argv: string[]) => upgrade(at.project.folder, at.fleet.folder, ...argv);
const status = () => at.fleet.git("status", "--porcelain");
const inProject = (files: Readonly<Record<string, string | Buffer | undefined>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`repos/gitops-system/${path}`, text]));

const lines = (...changed: string[]) =>
  ["one", "two", "three", "four", "five", "six", "seven"].map((line, index) => changed[index] ?? line).join("\n");
const content = {
  "platform/api/definition.yaml": lines(),
  "platform/hub/steps.yaml": `${lines()}\nsteps\n`,
  "platform/tools/old.yaml": "old\n",
};

beforeEach(() => {
  at = emptyWorld();
  at.project.commit("0.1.0", { ...inProject(content), "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- Known.\n" });
  at.project.git("tag", "v0.1.0");
  at.fleet.commit("Begin gitops-system\n\nFrom eks-gitops-fleet v0.1.0, by fleet init.", content);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(at.folder, { recursive: true });
});

/** A later release. */
function release(
  tag: string,
  files: Readonly<Record<string, string | Buffer | undefined>>,
  more: Readonly<Record<string, string>> = {},
) {
  at.project.commit(tag, { ...inProject(files), ...more });
  at.project.git("tag", tag);
}

describe("without conflicts", () => {
  test("what both changed is merged; the release's additions, removals, renames, modes and binaries are taken", async () => {
    const bytes = Buffer.from([0, 255, 1, 254]);
    at.fleet.commit("mine", {
      "platform/api/definition.yaml": lines("mine"),
      "platform/hub/steps.yaml": `mine\n${lines()}\nsteps\n`,
      "clusters/acme/kustomization.yaml": "mine\n",
    });
    at.project.git("mv", "repos/gitops-system/platform/hub/steps.yaml", "repos/gitops-system/platform/hub/order.yaml");
    release("v0.2.0", {
      "platform/api/definition.yaml": lines("one", "two", "three", "four", "five", "six", "theirs"),
      "platform/api/new.sh": "new\n",
      "platform/api/logo.png": bytes,
      "platform/tools/old.yaml": undefined,
    });
    at.project.git("update-index", "--chmod=+x", "repos/gitops-system/platform/api/new.sh");
    at.project.git("commit", "--quiet", "--amend", "--no-edit");
    at.project.git("tag", "--force", "v0.2.0");
    at.project.git("reset", "--quiet", "--hard");

    const { code, said } = await run("--commit");
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining("from v0.1.0 to v0.2.0") });
    expect(at.fleet.read("platform/api/definition.yaml")).toBe(
      lines("mine", "two", "three", "four", "five", "six", "theirs"),
    );
    expect(at.fleet.read("platform/hub/order.yaml")).toBe(`mine\n${lines()}\nsteps\n`);
    expect(at.fleet.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([
      ...["clusters/acme/kustomization.yaml", "platform/api/definition.yaml", "platform/api/logo.png"],
      ...["platform/api/new.sh", "platform/hub/order.yaml"],
    ]);
    expect(at.fleet.git("ls-tree", "HEAD", "platform/api/new.sh")).toMatch(/^100755/);
    expect(execFileSync("git", ["-C", at.fleet.folder, "show", "HEAD:platform/api/logo.png"])).toEqual(bytes);
    expect(at.fleet.git("log", "-1", "--format=%B")).toBe(
      "Take eks-gitops-fleet v0.2.0\n\nFrom eks-gitops-fleet v0.2.0, by fleet upgrade-platform.",
    );
    expect(status()).toBe("");
    expect(at.fleet.git("fsck", "--connectivity-only", "--no-dangling")).toBe("");
    expect((await run()).said).toBe(`Nothing to do: ${at.fleet.folder} has v0.2.0.`);
  });

  test("the next run begins where the last one ended, also from what describe says between two releases", async () => {
    at.project.commit("between", inProject({ "platform/tools/old.yaml": "between\n" }));
    expect((await run("--commit")).code).toBe(0);
    expect(at.fleet.git("log", "-1", "--format=%s")).toMatch(/^Take eks-gitops-fleet v0\.1\.0-1-g[0-9a-f]{12}$/);
    release("v0.2.0", { "platform/tools/old.yaml": "later\n" });
    expect(await run("--commit")).toMatchObject({
      code: 0,
      said: expect.stringMatching(/from v0\.1\.0-1-g\S+ to v0\.2\.0/),
    });
    expect(at.fleet.read("platform/tools/old.yaml")).toBe("later\n");
  });

  test("without --commit everything is staged, and the command that commits it names the release", async () => {
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    const { said } = await run();
    expect(status()).toBe("M  platform/tools/old.yaml");
    execFileSync("sh", ["-c", /^ {2}(git -C .* commit .*)$/m.exec(said)?.[1] ?? "false"], { stdio: "pipe" });
    expect((await run()).said).toContain("Nothing to do");
  });

  test("a release that was taken by hand is recorded, though it changes nothing", async () => {
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    at.fleet.commit("by hand", { "platform/tools/old.yaml": "new\n" });
    expect((await run("--commit")).said).toContain("has what v0.2.0 changes, commit ");
    expect((await run()).said).toContain("Nothing to do");
  });

  test("--push also pushes it", async () => {
    const host = join(at.folder, "host.git");
    execFileSync("git", ["init", "--quiet", "--bare", host]);
    at.fleet.git("remote", "add", "origin", host);
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    expect((await run("--push")).said).toContain("Pushed to origin/main");
    expect(at.fleet.git("ls-remote", "origin", "refs/heads/main").slice(0, 40)).toBe(at.fleet.git("rev-parse", "HEAD"));
  });

  test("says what the changelog has new, whatever its section is called by now, and what comes next", async () => {
    release(
      "v0.2.0",
      {},
      {
        "CHANGELOG.md":
          "# Changes\n\n## Unreleased\n\n### What you have to do\n\nIn this order.\n\n- Look.\n\n### Changes\n\n- Later.\n  More.\n\n" +
          "## 0.1.0\n\n### What you have to do\n\n- Known.\n\n### Changes\n\n- Late.\n",
      },
    );
    const { said } = await run("--commit");
    expect(said).toContain(
      "## Unreleased\n\n### What you have to do\n\nIn this order.\n\n- Look.\n\n### Changes\n\n- Later.\n  More.\n\n## 0.1.0\n\n### Changes\n\n- Late.",
    );
    expect(said).not.toContain("Known");
    expect(said).toContain(`fleet check --repos ${at.folder}`);
  });

  test("--dry-run shows the change, and writes nothing", async () => {
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    const { code, said } = await run("--dry-run");
    expect([code, said]).toEqual([0, expect.stringMatching(/-old\n\+new\n[\s\S]*Nothing was written/)]);
    expect(status()).toBe("");
  });
});

describe("conflicts", () => {
  beforeEach(() => {
    at.fleet.commit("mine", {
      "platform/api/definition.yaml": lines("mine"),
      "platform/hub/steps.yaml": undefined,
      "platform/tools/old.yaml": "mine\n",
      "platform/tools/new.yaml": "mine\n",
    });
    release("v0.2.0", {
      "platform/api/definition.yaml": lines("theirs"),
      "platform/hub/steps.yaml": `${lines()}\nmore\n`,
      "platform/tools/old.yaml": undefined,
      "platform/tools/new.yaml": "theirs\n",
    });
  });

  test("each is named with what each side did, is in the files and in the index, and nothing is committed", async () => {
    const head = at.fleet.git("rev-parse", "HEAD");
    const { code, said } = await run("--commit");
    expect(code).toBe(1);
    expect(said).toContain(`4 in conflict:
  platform/api/definition.yaml: you changed it, and the release changes it in the same place
  platform/hub/steps.yaml: you removed it, and the release changes it
  platform/tools/new.yaml: you added it, and the release adds it with another content
  platform/tools/old.yaml: you changed it, and the release removes it`);
    expect(said).toContain("Nothing was committed, in spite of --commit or --push");
    expect(at.fleet.git("rev-parse", "HEAD")).toBe(head);
    expect(at.fleet.read("platform/api/definition.yaml")).toMatch(
      /^<<<<<<< your-repository\nmine\n[\s\S]*=======\ntheirs\n>>>>>>> eks-gitops-fleet-v0\.2\.0\n/,
    );
    expect(status().split("\n")).toEqual([
      "UU platform/api/definition.yaml",
      "DU platform/hub/steps.yaml",
      "AA platform/tools/new.yaml",
      "UD platform/tools/old.yaml",
    ]);
  });

  test("once they are resolved and committed as it says, the release is taken", async () => {
    const { said } = await run();
    at.fleet.write({ "platform/api/definition.yaml": lines("both"), "platform/tools/new.yaml": "both\n" });
    at.fleet.git("add", "--all");
    execFileSync("sh", ["-c", /^ {2}(git -C .* commit .*)$/m.exec(said)?.[1] ?? "false"], { stdio: "pipe" });
    expect((await run()).said).toContain("Nothing to do");
  });

  test("a run on top of unresolved ones is refused, and what it says takes them back", async () => {
    await run();
    const again = await run();
    expect([again.code, again.said]).toEqual([2, expect.stringContaining("those of an upgrade that was not finished")]);
    expect(again.said).toContain(`git -C ${at.fleet.folder} reset --hard`);
    at.fleet.git("reset", "--quiet", "--hard");
    expect([status(), (await run("--dry-run")).code, status()]).toEqual(["", 1, ""]);
  });
});

describe("refusals, before anything is written", () => {
  test("of a repository with changes, and of files in the way that Git does not have", async () => {
    release("v0.2.0", { "platform/tools/new.yaml": "new\n" });
    at.fleet.write({ "platform/tools/new.yaml": "mine\n" });
    expect((await run()).said).toContain("has changes that are not committed");
    at.fleet.write({ ".git/info/exclude": "new.yaml\n" });
    expect((await run()).said).toMatch(/has files that the release adds, and that Git ignores here[\s\S]*new\.yaml/);
    expect(at.fleet.read("platform/tools/new.yaml")).toBe("mine\n");
  });

  test("of releases that are not known, with the command that fetches them", async () => {
    const { code, said } = await run("--from", "v0.0.9", "--to", "v9");
    expect(code).toBe(2);
    expect(said).toMatch(
      /^2 problems[\s\S]*--from: is no commit[\s\S]*v0\.0\.9[\s\S]*fetch --tags[\s\S]*--to: is no commit/,
    );
  });

  test("of a repository whose commits name no release, unless --from does", async () => {
    at.fleet.git("commit", "--quiet", "--amend", "--message", "Begin gitops-system");
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    expect((await run()).said).toContain("--from: is missing: no commit of the repository says which release it has");
    expect((await run("--from", "v0.1.0")).code).toBe(0);
  });

  test("of a project with changes in repos/, unless --to names a commit", async () => {
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    at.project.write(inProject({ "platform/tools/old.yaml": "draft\n" }));
    expect((await run()).said).toContain("--to: is missing, and repos/ of the project has changes");
    expect((await run("--to", "v0.2.0", "--commit")).code).toBe(0);
    expect(at.fleet.read("platform/tools/old.yaml")).toBe("new\n");
  });

  test("of an older release", async () => {
    release("v0.2.0", { "platform/tools/old.yaml": "new\n" });
    await run("--commit");
    expect((await run("--to", "v0.1.0")).said).toContain("--to: is older than the release that the repository has");
  });
});

test("a repository that began from a project with uncommitted changes has the commit below them", async () => {
  at.fleet.git(
    "commit",
    "--quiet",
    "--amend",
    "--message",
    "Begin\n\nFrom eks-gitops-fleet v0.1.0-dirty, by fleet init.",
  );
  expect((await run()).said).toContain("Nothing to do");
});

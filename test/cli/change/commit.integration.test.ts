import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { copies } from "../../support/copies.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
let host: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", at.system, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
const hook = (name: string, text: string) =>
  writeFileSync(join(name === "pre-receive" ? host : join(at.system, ".git"), "hooks", name), text, { mode: 0o755 });
const atHost = () => git("ls-remote", "origin", "refs/heads/main").slice(0, 40);
const scale = (...argv: string[]) => at.run("scale", "blue", "--nodes", "3", ...argv);
const file = "spokes/fleet/blue/spoke.yaml";

/** The repository in `at.system`, without its files, and its host. */
const copy = copies((folder) => {
  const [system, remote] = [join(folder, "gitops-system"), join(folder, "host.git")];
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", remote]);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", system]);
  for (const args of [
    ["config", "user.name", "ada"],
    ["config", "user.email", "ada@example.com"],
    ["remote", "add", "origin", remote],
    ["add", "--all"],
    ["commit", "--quiet", "--message", "first"],
    ["push", "--quiet", "--set-upstream", "origin", "main"],
  ])
    execFileSync("git", [`--git-dir=${join(system, ".git")}`, `--work-tree=${at.system}`, ...args]);
});

beforeEach(() => {
  at = new SpokesCheckout();
  host = join(at.folder, "host.git");
  copy(at.folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  at.remove();
});

describe("--commit", () => {
  test("commits the file that was written and nothing else, with a message that says what", async () => {
    at.write("tools/notes.txt", "not yet\n");
    const { code, said } = await scale("--commit");
    expect([code, said]).toEqual([0, expect.stringContaining("Scale spoke blue to 3 nodes")]);
    expect(git("log", "--format=%s%n%b", "-1")).toBe("Scale spoke blue to 3 nodes");
    expect(git("show", "--name-only", "--format=", "HEAD")).toBe(file);
    expect(git("status", "--porcelain")).toBe("?? tools/notes.txt");
    expect(atHost()).toBe(git("rev-parse", "HEAD~1"));
    expect(said).toContain(`Next: git -C ${at.system} push`);
  });

  test("refuses while other changes are staged, and while the file has changes of a person's", async () => {
    at.write("tools/notes.txt", "staged\n");
    git("add", "tools/notes.txt");
    expect((await scale("--commit")).said).toMatch(
      /--commit: would commit what it did not change[\s\S]*tools\/notes.txt/,
    );
    git("reset", "--quiet");
    at.write(file, spokeText("blue", "  # mine\n"));
    const { code, said } = await scale("--commit");
    expect(code).toBe(2);
    expect(said).toMatch(/--commit: would commit changes of yours[\s\S]*spokes\/fleet\/blue\/spoke.yaml/);
    expect(at.read(file)).toBe(spokeText("blue", "  # mine\n"));
  });

  test("tells what is wrong with the repository together with what is wrong with the request", async () => {
    git("config", "--unset", "user.email");
    git("checkout", "--quiet", "--detach");
    const { code, said } = await at.run("scale", "bleu", "--nodes", "0", "--push");
    expect(code).toBe(2);
    expect(said).toMatch(/^4 problems/);
    expect(said).toContain("git: has no complete Git identity");
    expect(said).toContain("--push: needs a branch");
  });

  test("needs a Git repository, and leaves everything as it is without one", async () => {
    const { code, said } = await at.runIn(at.workloads, "scale", "blue", "--nodes", "3", "--commit");
    expect([code, said]).toEqual([2, expect.stringContaining("--commit: needs a clone with its Git repository")]);
  });

  test("leaves the file written and nothing staged when a hook refuses, and says what to do", async () => {
    hook("pre-commit", "#!/bin/sh\necho no commits today >&2\nexit 1\n");
    const { code, said } = await scale("--commit");
    expect([code, said]).toEqual([1, expect.stringMatching(/are written, but git refuses[\s\S]*no commits today/)]);
    expect(git("diff", "--cached", "--name-only")).toBe("");
    expect(at.read(file)).toContain("min: 3");
  });
});

describe("--push", () => {
  test("commits, and pushes the branch to its upstream", async () => {
    const { code, said } = await scale("--push");
    expect([code, said]).toEqual([0, expect.stringContaining("Pushed to origin/main")]);
    expect(atHost()).toBe(git("rev-parse", "HEAD"));
  });

  test("pushes a branch that was made from the one at the host under its own name, and not to that one", async () => {
    const before = atHost();
    git("switch", "--quiet", "--create", "more-nodes", "origin/main");
    expect((await scale("--push")).code).toBe(0);
    expect(atHost()).toBe(before);
    expect(git("ls-remote", "origin", "refs/heads/more-nodes").slice(0, 40)).toBe(git("rev-parse", "HEAD"));
  });

  test("pushes a new branch under its own name, and makes that its upstream", async () => {
    git("switch", "--quiet", "--create", "scale-blue");
    expect((await scale("--push")).said).toContain("Pushed to origin/scale-blue");
    expect(git("rev-parse", "@{upstream}")).toBe(git("rev-parse", "HEAD"));
  });

  test("says what to do when somebody else pushed meanwhile: the commit stays", async () => {
    const other = join(at.folder, "other");
    execFileSync("git", ["clone", "--quiet", host, other]);
    const who = ["-c", "user.name=bob", "-c", "user.email=bob@example.com"];
    execFileSync("git", ["-C", other, ...who, "commit", "--quiet", "--allow-empty", "--message", "theirs"]);
    execFileSync("git", ["-C", other, "push", "--quiet"]);
    const { code, said } = await scale("--push");
    expect([code, said]).toEqual([1, expect.stringContaining(`git -C ${at.system} pull --rebase`)]);
    expect(git("log", "--format=%s", "-1")).toBe("Scale spoke blue to 3 nodes");
  });

  test("says how to open a pull request where the branch takes no pushes", async () => {
    hook("pre-receive", "#!/bin/sh\necho protected branch >&2\nexit 1\n");
    const { code, said } = await scale("--push");
    expect(code).toBe(1);
    expect(said).toContain("protected branch");
    expect(said).toContain("push origin HEAD:refs/heads/<a new branch>, and open one");
  });

  test("refuses where there is no such remote, before anything is written", async () => {
    git("remote", "remove", "origin");
    expect((await scale("--push")).said).toContain("--push: has nowhere to push to: there is no remote origin");
    expect(at.read(file)).toBe(spokeText("blue"));
  });
});

describe("fleet remove", () => {
  test("refuses while the protection is taken off here only, and removes the spoke once that is pushed", async () => {
    await at.run("protect", "blue", "--push");
    await at.run("protect", "blue", "--off", "--commit");
    const early = await at.run("remove", "blue", "--yes", "--push");
    expect([early.code, early.said]).toEqual([2, expect.stringContaining("<spoke>: is still protected at the remote")]);
    git("push", "--quiet");
    const { code, said } = await at.run("remove", "blue", "--yes", "--push");
    expect([code, said]).toEqual([0, expect.stringContaining("Removed spokes/fleet/blue in")]);
    expect(git("ls-tree", "-r", "--name-only", "origin/main", "spokes")).toBe("spokes/fleet/README.md");
    expect(git("log", "--format=%s", "-3")).toBe(
      "Remove spoke blue\nTake deletion protection off spoke blue\nProtect spoke blue from deletion",
    );
  });
});

describe("a removal", () => {
  test.each([
    ["that was never committed", "spokes/fleet/blue/notes.txt", ""],
    ["that Git ignores", "spokes/fleet/blue/.env", ".env\n"],
    ["with changes", file, ""],
  ])("leaves everything while there is a file %s, which Git could not bring back", async (_, path, ignored) => {
    if (ignored) writeFileSync(join(at.system, ".git", "info", "exclude"), ignored);
    const text = path === file ? spokeText("blue", "  # mine\n") : "mine\n";
    at.write(path, text);
    const { code, said } = await at.run("remove", "blue", "--yes");
    expect([code, said]).toEqual([2, expect.stringMatching(/--yes: would remove what Git can't bring back/)]);
    expect(said).toContain(path);
    expect(at.read(path)).toBe(text);
  });
});

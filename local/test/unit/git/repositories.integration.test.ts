import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { publish } from "../../../git/repositories.ts";
import { scratch } from "../../support/scratch.ts";

let base: string;
let folder: string;
let bare: string;

const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
const git = (...args: string[]) =>
  execFileSync("git", args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] }).trim();
const show = (file: string) => git("--git-dir", bare, "show", `main:${file}`);
const write = (file: string, text: string) => writeFileSync(join(folder, file), text);

/** A person's push by path, as the README describes it. */
function personPushes(file: string, text: string) {
  const clone = mkdtempSync(join(base, "clone-"));
  git("clone", "-q", bare, clone);
  writeFileSync(join(clone, file), text);
  git("-C", clone, "add", "-A");
  git("-C", clone, "-c", "user.name=p", "-c", "user.email=p@example.com", "commit", "-qm", "mine");
  git("-C", clone, "push", "-q", "origin", "main");
}

beforeEach(() => {
  base = scratch("fleet-publish-");
  folder = join(base, "content");
  bare = join(base, "content.git");
  mkdirSync(folder);
  write("a.yaml", "one: 1\ntwo: 2\nthree: 3\nfour: 4\nfive: 5\n");
  expect(publish(bare, folder, "first")).toBe("created");
});

describe("publishing a folder of repos/ into its Git repository", () => {
  test("an unchanged folder makes no commit", () => {
    const before = git("--git-dir", bare, "rev-parse", "main");
    expect(publish(bare, folder, "again")).toBe("unchanged");
    expect(git("--git-dir", bare, "rev-parse", "main")).toBe(before);
  });

  test("a changed folder is a commit on top; removed files are removed", () => {
    write("b.yaml", "b\n");
    expect(publish(bare, folder, "second")).toBe("updated");
    rmSync(join(folder, "b.yaml"));
    expect(publish(bare, folder, "third")).toBe("updated");
    expect(git("--git-dir", bare, "ls-tree", "--name-only", "main")).toBe("a.yaml");
    expect(git("--git-dir", bare, "log", "--format=%s", "main")).toBe("third\nsecond\nfirst");
  });

  test("a person's pushed commits stay when nothing changed here", () => {
    personPushes("mine.yaml", "mine\n");
    expect(publish(bare, folder, "again")).toBe("unchanged");
    expect(show("mine.yaml")).toBe("mine");
  });

  test("a person's commits and a change here are merged", () => {
    personPushes("a.yaml", "one: 1\ntwo: 2\nthree: 3\nfour: 4\nfive: 50\n");
    write("a.yaml", "one: 10\ntwo: 2\nthree: 3\nfour: 4\nfive: 5\n");
    expect(publish(bare, folder, "both")).toBe("merged");
    expect(show("a.yaml")).toBe("one: 10\ntwo: 2\nthree: 3\nfour: 4\nfive: 50");
    expect(publish(bare, folder, "again")).toBe("unchanged");
  });

  test("a conflict names the file, publishes nothing and keeps the person's commit", () => {
    personPushes("a.yaml", "one: 11\n");
    const before = git("--git-dir", bare, "rev-parse", "main");
    write("a.yaml", "one: 12\n");
    expect(() => publish(bare, folder, "both")).toThrow(/change the same lines in: a\.yaml\. Nothing was published/);
    expect(git("--git-dir", bare, "rev-parse", "main")).toBe(before);
  });
});

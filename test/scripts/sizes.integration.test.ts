import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { excesses, sizesOf, tableOf, trackedLines } from "../../scripts/sizes.ts";

const limits = {
  total: 30,
  areas: {
    local: { limit: 5, paths: ["local"] },
    tests: { limit: 10, paths: ["test", "local/test"] },
    rest: { limit: 20 },
  },
};
const files = (lines: Record<string, number>) => new Map(Object.entries(lines));

test("a file counts for the area with the longest path, a file of no area for the rest", () => {
  const sizes = sizesOf(files({ "local/a.ts": 1, "local/test/b.ts": 2, "test/c.ts": 4, "testing.md": 8 }), limits);
  expect(sizes).toEqual([
    { name: "local", lines: 1, limit: 5 },
    { name: "tests", lines: 6, limit: 10 },
    { name: "rest", lines: 8, limit: 20 },
    { name: "all", lines: 15, limit: 30 },
  ]);
  expect(excesses(sizes)).toEqual([]);
  expect(tableOf(sizes).split("\n")).toEqual([
    ...["area     lines    limit", "local        1        5", "tests        6       10"],
    ...["rest         8       20", "all         15       30"],
  ]);
});

test("an area, or all of them, above a limit is a problem; at the limit it is none", () => {
  const [local, all, ...none] = excesses(sizesOf(files({ "local/a.ts": 6, "test/c.ts": 10, "README.md": 20 }), limits));
  expect(local).toMatch(/^local: got 6 tracked lines, at most 5 are allowed. Remove 1, or raise the limit/);
  expect(all).toMatch(/^all: got 36 tracked lines, at most 30 are allowed. Remove 6/);
  expect(none).toEqual([]);
});

test("tracked files count as wc -l does, without lock and sum files, links and files that do not exist", () => {
  const root = mkdtempSync(join(tmpdir(), "fleet-sizes-"));
  try {
    const write = (path: string, text: string) => writeFileSync(join(root, path), text);
    mkdirSync(join(root, "go"));
    for (const path of ["package-lock.json", "go/go.sum", "removed.ts"]) write(path, "1\n2\n3\n");
    write("a.ts", "1\n2\nno end");
    symlinkSync("a.ts", join(root, "link.ts"));
    const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args]);
    git("init", "--quiet");
    git("add", ".");
    write("untracked.ts", "1\n");
    rmSync(join(root, "removed.ts"));
    expect(trackedLines(root)).toEqual(files({ "a.ts": 2 }));
  } finally {
    rmSync(root, { recursive: true });
  }
});

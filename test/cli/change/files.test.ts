import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changesTo, removalOf, writeFiles } from "../../../cli/change/files.ts";
import { patchOf } from "../../../cli/change/patch.ts";

let checkout: string;
const at = (path: string) => join(checkout, path);
const read = (path: string) => readFileSync(at(path), "utf8");

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "fleet-files-"));
  mkdirSync(at("a/b"), { recursive: true });
  writeFileSync(at("a/kept"), "kept\n");
  writeFileSync(at("a/b/old"), "one\ntwo\n");
});
afterEach(() => rmSync(checkout, { recursive: true }));

describe("a change of a checkout", () => {
  test("leaves out files that are so already", () => {
    const changes = changesTo(checkout, {
      "a/kept": "kept\n",
      "a/b/old": "one\n",
      "c/new": "new\n",
      "c/none": undefined,
    });
    expect(changes).toEqual([
      { path: "a/b/old", before: "one\ntwo\n", after: "one\n" },
      { path: "c/new", before: undefined, after: "new\n" },
    ]);
  });

  test("writes and removes files, with the folders that come and go", async () => {
    await writeFiles(checkout, [...changesTo(checkout, { "c/d/new": "new\n" }), ...(await removalOf(checkout, "a/b"))]);
    expect(read("c/d/new")).toBe("new\n");
    expect(readdirSync(at("a"))).toEqual(["kept"]);
  });

  test("is written whole or not at all: a file that somebody made meanwhile stays, and so does everything else", async () => {
    const changes = changesTo(checkout, {
      "a/kept": "changed\n",
      "a/b/old": undefined,
      "c/fresh": "x\n",
      "c/new": "new\n",
    });
    mkdirSync(at("c"));
    writeFileSync(at("c/new"), "theirs\n");
    await expect(writeFiles(checkout, changes)).rejects.toThrow("EEXIST");
    expect([read("a/kept"), read("a/b/old"), read("c/new")]).toEqual(["kept\n", "one\ntwo\n", "theirs\n"]);
    expect(existsSync(at("c/fresh"))).toBe(false);
  });
});

describe("the change as a diff", () => {
  test("shows lines of files that change, come and go", async () => {
    const changes = changesTo(checkout, { "a/b/old": "one\nthree\n", "c/new": "new\n", "a/kept": undefined });
    expect(patchOf(changes)).toBe(`--- a/a/b/old
+++ b/a/b/old
@@ -1,2 +1,2 @@
 one
-two
+three
--- /dev/null
+++ b/c/new
@@ -0,0 +1,1 @@
+new
--- a/a/kept
+++ /dev/null
@@ -1,1 +0,0 @@
-kept
`);
  });

  test("shows no text of a file that is sealed, which is another one each time", () => {
    const sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nspec: AgSecret\n";
    const patch = patchOf(changesTo(checkout, { "c/secret.yaml": sealed }));
    expect(patch).toContain("+++ b/c/secret.yaml\n(sealed, not shown)");
    expect(patch).not.toContain("AgSecret");
  });
});

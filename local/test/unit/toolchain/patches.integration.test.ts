import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parseGoMod } from "../../../toolchain/go-mod.ts";
import { patchGroup, readPatch } from "../../../toolchain/patches.ts";
import { scratch } from "../../support/scratch.ts";

const mod = parseGoMod(`module m

go 1.26

require (
	example.org/a v1.0.0
	example.org/a/nested v1.0.0
)
`);

const diff = (path: string) => `diff --git a/${path} b/${path}
--- a/${path}
+++ b/${path}
@@ -1,2 +1,2 @@
 package a
-import "cloud"
+import "none"
`;

describe("a patch", () => {
  test("names the innermost module of its files, and says why in the text before the diff", () =>
    expect(readPatch("/x.patch", `No clouds.\n\n${diff("example.org/a/nested/b/c.go")}`, mod)).toEqual({
      file: "/x.patch",
      module: "example.org/a/nested",
      says: "No clouds.",
    }));

  test.each([
    ["of two modules", diff("example.org/a/c.go") + diff("example.org/a/nested/c.go")],
    ["of a module that go.mod doesn't require", diff("example.org/z/c.go")],
    ["without a diff", "No clouds.\n"],
  ])("%s is refused with what is allowed", (_, text) =>
    expect(() => readPatch("/x.patch", text, mod)).toThrow(
      "/x.patch must change files of exactly one module that its go.mod requires",
    ),
  );
});

describe("a group with patches", () => {
  let root: string;
  beforeEach(async () => {
    root = scratch("patches-");
  });

  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };

  /** A group whose module is read from a folder, in place of a download. */
  async function group(change: string) {
    await write("proxy/example.org/a/go.mod", "module example.org/a\n");
    await write("proxy/example.org/a/c.go", 'package a\nimport "cloud"\n');
    await write("proxy/example.org/a/c_test.go", "package a\n");
    await write("bin/go", `#!/bin/sh\necho '{"Dir":"${join(root, "proxy/example.org/a")}"}'\n`);
    await chmod(join(root, "bin/go"), 0o755);
    await write(
      "group/go.mod",
      "module m\n\nrequire example.org/a v1.0.0\n\nreplace (\n\texample.org/a => example.org/a v1.0.1\n\texample.org/ab => example.org/ab v1.0.1\n)\n",
    );
    await write("group/patches/a.patch", change);
    const file = join(root, "group/patches/a.patch");
    return { dir: join(root, "group"), patches: [readPatch(file, change, mod)] };
  }
  const env = () => ({ PATH: `${join(root, "bin")}:${process.env["PATH"]}` });

  test("is built from a copy whose go.mod names the changed module; the module itself and the group stay as they are", async () => {
    await patchGroup(await group(diff("example.org/a/c.go")), join(root, "copy"), env());
    const goMod = readFileSync(join(root, "copy/go.mod"), "utf8");
    expect(goMod).toContain("\nreplace example.org/a => ./modules/example.org/a\n");
    // A module has one replacement, and others keep theirs.
    expect(goMod).toContain("\nreplace (\n\texample.org/ab => example.org/ab v1.0.1\n)\n");
    expect(readFileSync(join(root, "copy/modules/example.org/a/c.go"), "utf8")).toContain('import "none"');
    expect(existsSync(join(root, "copy/modules/example.org/a/c_test.go"))).toBe(false);
    expect(existsSync(join(root, "copy/patches"))).toBe(false);
    expect(readFileSync(join(root, "proxy/example.org/a/c.go"), "utf8")).toContain('import "cloud"');
    expect(readFileSync(join(root, "group/go.mod"), "utf8")).toContain("example.org/a => example.org/a v1.0.1");
  });

  test("is made anew at each run, so that one that was killed leaves nothing behind", async () => {
    const one = await group(diff("example.org/a/c.go"));
    await patchGroup(one, join(root, "copy"), env());
    await patchGroup(one, join(root, "copy"), env());
    expect(readFileSync(join(root, "copy/go.mod"), "utf8").match(/^replace example/gm)).toHaveLength(1);
  });

  test("whose patch doesn't fit the module's version fails with the patch and the file", async () => {
    const one = await group(diff("example.org/a/c.go").replace('"cloud"', '"other"'));
    await expect(patchGroup(one, join(root, "copy"), env())).rejects.toThrow(/a\.patch[\s\S]*example\.org\/a\/c\.go/);
  });
});

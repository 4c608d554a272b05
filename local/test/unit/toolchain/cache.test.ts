import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { cacheRoot, contentKey, ensureEntry, isComplete, readTexts } from "../../../toolchain/cache.ts";
import { scratch } from "../../support/scratch.ts";

describe("the cache's folder", () => {
  test.each([
    [{ FLEET_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b" }, "/a"],
    [{ XDG_CACHE_HOME: "/b" }, "/b/eks-gitops-fleet"],
  ])("%o gives %s", (env, folder) => expect(cacheRoot(env)).toBe(folder));

  test("is in the home folder when nothing is set", () =>
    expect(cacheRoot({})).toMatch(/\/\.cache\/eks-gitops-fleet$/));
});

describe("a content key", () => {
  test("is the same for the same recipe", () => expect(contentKey({ a: "1" })).toBe(contentKey({ a: "1" })));

  test("changes with a part's content, with its name, and when text moves from one part to the next", () => {
    const keys = [{ a: "1", b: "2" }, { a: "1", b: "3" }, { a: "1", c: "2" }, { a: "12", b: "" }, { a: "1" }].map(
      contentKey,
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("an entry of the cache", () => {
  let root: string;
  beforeEach(async () => {
    root = scratch("toolchain-");
  });
  const entry = (key: string) => ({ root, group: "g", key });

  test("is made once and found afterwards", async () => {
    let builds = 0;
    const build = async (dir: string) => writeFile(join(dir, "out"), String(++builds));
    const dir = await ensureEntry(entry("k"), build);
    expect(await ensureEntry(entry("k"), build)).toBe(dir);
    expect(await readFile(join(dir, "out"), "utf8")).toBe("1");
  });

  test("of another key is made beside it", async () => {
    await ensureEntry(entry("k"), async () => {});
    await ensureEntry(entry("l"), async () => {});
    expect((await readdir(join(root, "g"))).sort()).toEqual(["k", "l"]);
  });

  test("whose build failed does not count, and the next build finds what the failed one left", async () => {
    const failing = ensureEntry(entry("k"), async (dir) => {
      await writeFile(join(dir, "half"), "done");
      throw new Error("killed");
    });
    await expect(failing).rejects.toThrow("killed");
    expect(await isComplete(entry("k"))).toBe(false);
    const dir = await ensureEntry(entry("k"), async (folder) => {
      expect(await readFile(join(folder, "half"), "utf8")).toBe("done");
    });
    expect(await isComplete(entry("k"))).toBe(true);
    expect(await readdir(dir)).toContain("half");
  });

  test("that nothing used for two weeks goes when a newer one is finished; one in use stays", async () => {
    await ensureEntry(entry("old"), async () => {});
    await ensureEntry(entry("used"), async () => {});
    const longAgo = new Date(Date.now() - 15 * 24 * 3600 * 1000);
    for (const key of ["old", "used"]) await utimes(join(root, "g", key, ".complete"), longAgo, longAgo);
    await ensureEntry(entry("used"), async () => {});
    await ensureEntry(entry("new"), async () => {});
    expect((await readdir(join(root, "g"))).sort()).toEqual(["new", "used"]);
  });

  test("takes its recipe from every file below the named folders, in a fixed order", async () => {
    await mkdir(join(root, "b/c"), { recursive: true });
    await writeFile(join(root, "b/c/d"), "D");
    await writeFile(join(root, "a"), "A");
    await writeFile(join(root, "ignored"), "");
    expect(Object.entries(await readTexts(root, ["b", "a"]))).toEqual([
      ["a", "A"],
      ["b/c/d", "D"],
    ]);
  });
});

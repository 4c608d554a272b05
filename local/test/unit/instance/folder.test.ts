import { existsSync, readFileSync, realpathSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  ensureOwned,
  folderProblem,
  INSTANCE_FOLDER,
  OVERLAY_PROBE_PREFIX,
  removeOwned,
} from "../../../instance/folder.ts";
import { CHECKOUT as checkout } from "../../../product-paths.ts";
import { CACHE_FOLDER } from "../../../toolchain/cache.ts";
import { scratch } from "../../support/scratch.ts";

/** The first folder in the list of users that is another one's home: every Linux machine has some. */
const otherHome = readFileSync("/etc/passwd", "utf8")
  .split("\n")
  .map((line) => line.split(":")[5] ?? "")
  .find((home) => home !== "/" && home !== homedir() && existsSync(home) && realpathSync(home) === home) as string;
const KEY = "0123456789abcdef";

let base: string;
let dir: string;
beforeEach(async () => {
  base = scratch("fleet-folder-");
  dir = join(base, "instance");
});

/** Everything below a folder. */
const tree = async (folder: string) => (await readdir(folder, { recursive: true })).sort();

describe.each([
  ["FLEET_LOCAL_DIR", INSTANCE_FOLDER],
  ["FLEET_CACHE_DIR", CACHE_FOLDER],
])("%s", (variable, kind) => {
  const refusal = (why: RegExp | string) =>
    expect.stringMatching(new RegExp(`^${variable}: .*${why instanceof RegExp ? why.source : why}.*Allowed is`));

  test("may be a folder that doesn't exist, or an empty one, and stays the same one from then on", async () => {
    const id = await ensureOwned(kind, dir);
    expect(await ensureOwned(kind, dir)).toBe(id);
    const empty = join(base, "empty");
    await mkdir(empty);
    expect(await ensureOwned(kind, empty)).not.toBe(id);
  });

  test("is never one that another user owns or can write, even with a marker", async () => {
    await ensureOwned(kind, dir);
    await chmod(dir, 0o777);
    expect(await folderProblem(kind, dir)).toEqual(refusal("can be written by other users \\(mode 777\\)"));
    await chmod(dir, 0o755);
    await chown(dir, 65534, 65534);
    expect(await folderProblem(kind, dir)).toEqual(refusal("belongs to the user with ID 65534"));
    await expect(removeOwned(kind, dir)).rejects.toThrow("belongs to the user with ID 65534");
  });

  test.each([
    ["the root folder", "/"],
    ["a home", homedir()],
    ["the homes of all", dirname(homedir())],
    ["a home of another user", otherHome],
    ["the checkout", checkout],
    ["what holds the checkout", dirname(checkout)],
  ])("is never %s, whatever is in it", async (_, path) => {
    expect(existsSync(path)).toBe(true);
    expect(await folderProblem(kind, path)).toEqual(refusal("holds /"));
    await expect(removeOwned(kind, path)).rejects.toThrow(variable);
  });

  test("is never a folder of somebody else: nothing is written into it, and nothing removed", async () => {
    await mkdir(dir);
    await writeFile(join(dir, "thesis.txt"), "years");
    await expect(ensureOwned(kind, dir)).rejects.toThrow(/is not empty \(it has thesis\.txt\)/);
    await expect(removeOwned(kind, dir)).rejects.toThrow(/thesis\.txt/);
    expect(await tree(dir)).toEqual(["thesis.txt"]);
  });

  test("is never a symbolic link, also not one to a folder of ours", async () => {
    await ensureOwned(kind, join(base, "real"));
    await symlink(join(base, "real"), dir);
    expect(await folderProblem(kind, dir)).toEqual(refusal("is a symbolic link"));
    await expect(removeOwned(kind, dir)).rejects.toThrow("is a symbolic link");
    expect(await readdir(join(base, "real"))).not.toEqual([]);
  });

  test("is not led to a home by a link above it", async () => {
    const home = join(base, "home");
    await mkdir(home);
    await symlink(base, join(base, "link"));
    const before = process.env["HOME"];
    try {
      process.env["HOME"] = home;
      expect(await folderProblem(kind, join(base, "link", "home"))).toEqual(refusal(/is .*, which holds .*home/));
    } finally {
      process.env["HOME"] = before;
    }
  });

  test("is not a file, and no folder of the other kind", async () => {
    await writeFile(dir, "");
    expect(await folderProblem(kind, dir)).toEqual(refusal("is not a folder"));
    const other = kind === CACHE_FOLDER ? INSTANCE_FOLDER : CACHE_FOLDER;
    await ensureOwned(other, join(base, "other"));
    expect(await folderProblem(kind, join(base, "other"))).toEqual(refusal(`is ${other.what}`));
  });

  test("is begun anew where a kill left half a marker", async () => {
    await mkdir(dir);
    await writeFile(join(dir, ".eks-gitops-fleet.json.17.0a1b2c3d"), "");
    expect(await folderProblem(kind, dir)).toBeUndefined();
  });

  test("is begun anew where a kill left the folder of a probe", async () => {
    await mkdir(join(dir, `${OVERLAY_PROBE_PREFIX}a1B2c3`, "merged"), { recursive: true });
    await ensureOwned(kind, dir);
    await removeOwned(kind, dir);
    expect(existsSync(dir)).toBe(false);
  });
});

describe("removing an instance", () => {
  test("takes all that it is made of, and the folder", async () => {
    await ensureOwned(INSTANCE_FOLDER, dir);
    await mkdir(join(dir, "clusters", "hub"), { recursive: true });
    await writeFile(join(dir, "record.json.17.0a1b2c3d"), "{");
    await writeFile(join(dir, "env"), "");
    expect(await removeOwned(INSTANCE_FOLDER, dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
    expect(await removeOwned(INSTANCE_FOLDER, dir)).toEqual([]);
  });

  test("leaves what somebody put beside it, and says so", async () => {
    await ensureOwned(INSTANCE_FOLDER, dir);
    await mkdir(join(dir, "logs"));
    await writeFile(join(dir, "notes.txt"), "mine");
    expect(await removeOwned(INSTANCE_FOLDER, dir)).toEqual(["notes.txt"]);
    expect(await tree(dir)).toEqual(["notes.txt"]);
  });

  test("follows no link out of it", async () => {
    await ensureOwned(INSTANCE_FOLDER, dir);
    await mkdir(join(base, "elsewhere"));
    await writeFile(join(base, "elsewhere", "file"), "kept");
    await symlink(join(base, "elsewhere"), join(dir, "logs"));
    await removeOwned(INSTANCE_FOLDER, dir);
    expect(await readFile(join(base, "elsewhere", "file"), "utf8")).toBe("kept");
  });
});

describe("a folder of its parts without a marker", () => {
  test.each([
    [INSTANCE_FOLDER, "instance.json"],
    [CACHE_FOLDER, `go-main/${KEY}`],
  ])("is refused: $variable", async (kind, part) => {
    await mkdir(join(dir, part), { recursive: true });
    await expect(ensureOwned(kind, dir)).rejects.toThrow(/is not empty and has no \.eks-gitops-fleet\.json/);
    expect(await tree(dir)).not.toContain(".eks-gitops-fleet.json");
  });
});

test("a cache holds no link, whether that leads anywhere or not", async () => {
  await ensureOwned(CACHE_FOLDER, dir);
  await mkdir(join(dir, "go-main", KEY), { recursive: true });
  await symlink(join(base, "nowhere"), join(dir, "dangling"));
  await symlink(join(dir, "go-main"), join(dir, "link"));
  for (const name of ["step-times.json", "step-times.json.123.0a1b2c3d"]) await writeFile(join(dir, name), "{}");
  expect((await removeOwned(CACHE_FOLDER, dir)).sort()).toEqual(["dangling", "link"]);
});

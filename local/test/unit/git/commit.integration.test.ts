import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { commitTo, hasPath, isMarked, listFolder, mark } from "../../../git/commit.ts";
import { withDeployKeys, withoutDeployKey } from "../../../git/index.ts";
import { git, publish } from "../../../git/repositories.ts";
import { scratch } from "../../support/scratch.ts";

let base: string;
let content: string;
let bare: string;

beforeEach(() => {
  base = scratch("fleet-commit-test-");
  content = join(base, "content");
  bare = join(base, "content.git");
  mkdirSync(join(content, "spokes"), { recursive: true });
  writeFileSync(join(content, "spokes", "README.md"), "spokes\n");
  publish(bare, content, "first");
});

const add = (name: string) => async (checkout: string) => {
  mkdirSync(join(checkout, "spokes", name));
  writeFileSync(join(checkout, "spokes", name, "spoke.yaml"), `name: ${name}\n`);
};
const log = () => git(bare, ["log", "--format=%s", "main"]).split("\n");

describe("a commit of the local stack's commands", () => {
  test("is pushed to the branch that Flux follows", async () => {
    const commit = await commitTo(bare, "Add blue", add("blue"));
    expect(commit).toBe(git(bare, ["rev-parse", "main"]));
    expect(log()).toEqual(["Add blue", "first"]);
    expect(listFolder(bare, "spokes", "tree")).toEqual(["blue"]);
    expect(listFolder(bare, "spokes", "blob")).toEqual(["README.md"]);
  });

  test("is not made when nothing changes", async () => {
    expect(await commitTo(bare, "Nothing", async () => {})).toBeUndefined();
    expect(log()).toEqual(["first"]);
  });

  test("is made anew on top of what somebody else pushed meanwhile", async () => {
    let first = true;
    await commitTo(bare, "Add blue", async (checkout) => {
      if (first) await commitTo(bare, "Add green", add("green"));
      first = false;
      await add("blue")(checkout);
    });
    expect(log()).toEqual(["Add blue", "Add green", "first"]);
    expect(listFolder(bare, "spokes", "tree")).toEqual(["blue", "green"]);
  });

  test("that fails leaves the branch as it was", async () => {
    await expect(commitTo(bare, "x", () => Promise.reject(new Error("no certificate")))).rejects.toThrow(
      "no certificate",
    );
    expect(log()).toEqual(["first"]);
  });
});

test("publishing the project anew keeps the spokes and applications that people or the demo added", async () => {
  await commitTo(bare, "Add blue", add("blue"));
  writeFileSync(join(content, "new.yaml"), "new\n");
  expect(publish(bare, content, "second")).toBe("merged");
  rmSync(join(content, "new.yaml"));
  expect(publish(bare, content, "third")).toBe("merged");
  expect(hasPath(bare, "spokes/blue/spoke.yaml")).toBe(true);
  expect(hasPath(bare, "new.yaml")).toBe(false);
  expect(publish(bare, content, "fourth")).toBe("unchanged");
});

test("what was done once is remembered when its traces are removed", async () => {
  expect(isMarked(bare, "added/spokes/blue")).toBe(false);
  await commitTo(bare, "Add blue", add("blue"));
  mark(bare, "added/spokes/blue");
  await commitTo(bare, "Remove blue", async (checkout) =>
    rmSync(join(checkout, "spokes", "blue"), { recursive: true }),
  );
  expect(hasPath(bare, "spokes/blue")).toBe(false);
  expect(isMarked(bare, "added/spokes/blue")).toBe(true);
});

describe("deploy keys at the Git server", () => {
  const key = (repository: string, publicKey: string) => ({ repository, publicKey, access: "read" as const });
  const hub = key("gitops-system", "ssh-ed25519 AAAA hub");
  const app = key("manifests", "ssh-ed25519 BBBB app@blue");

  test("are added to those that are there", () => {
    const tokens = [{ repository: "x", username: "u", sha256: "0", access: "read" as const }];
    expect(withDeployKeys({ deployKeys: [hub], tokens }, [app])).toEqual({ deployKeys: [hub, app], tokens });
  });

  test("take the place of their owner's older ones for the same repository, and of no other", () => {
    const newer = key("manifests", "ssh-ed25519 CCCC app@blue");
    const other = key("manifests", "ssh-ed25519 DDDD app@green");
    const elsewhere = key("charts", "ssh-ed25519 EEEE app@blue");
    expect(withDeployKeys({ deployKeys: [app, other, elsewhere] }, [newer]).deployKeys).toEqual([
      other,
      elsewhere,
      newer,
    ]);
  });

  test("go from one repository by the key alone, whatever its comment", () => {
    const elsewhere = key("charts", "ssh-ed25519 BBBB app@blue");
    const left = withoutDeployKey({ deployKeys: [hub, app, elsewhere] }, "manifests", "ssh-ed25519 BBBB");
    expect(left).toEqual({ deployKeys: [hub, elsewhere] });
    expect(withoutDeployKey({}, "manifests", "ssh-ed25519 BBBB x")).toEqual({ deployKeys: [] });
  });

  test("registered twice are there once", () => {
    expect(withDeployKeys(withDeployKeys({}, [hub]), [hub])).toEqual({ deployKeys: [hub] });
  });
});

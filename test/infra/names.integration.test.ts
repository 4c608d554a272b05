import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { git, root } from "../support/process.ts";
import { releaseBefore } from "../support/released.ts";

type Golden = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** URNs of the hub's stack, without its name: parent, type and name. */
const urnsIn = (golden: Golden): string[] =>
  Object.entries(golden).map(([id, { parent }]) => `${String(parent)} > ${id}`);

/** What identifies the resources of a Spoke: their names in the composition and in Kubernetes, and the ones in AWS. */
const identitiesIn = ({ resources = {} }: Golden): string[] =>
  Object.entries(resources as Readonly<Record<string, { kind: string; metadata: Record<string, unknown> }>>).map(
    ([key, { kind, metadata }]) =>
      [key, kind, metadata["name"], (metadata["annotations"] as Golden)?.["crossplane.io/external-name"] ?? ""].join(
        " ",
      ),
  );

const goldens = [
  ["test/infra/golden/dev.yaml", urnsIn],
  ["test/functions/spoke/golden/minimal.yaml", identitiesIn],
] as const;
/** Names in a golden file that another version of it lacks: their resources would be replaced. */
function lost(namesIn: (golden: Golden) => string[], before: string, now: string): string[] {
  const names = new Set(namesIn(parse(now)));
  return namesIn(parse(before)).filter((name) => !names.has(name));
}

const golden = (path: string): string => readFileSync(join(root, path), "utf8");
const release = await releaseBefore();

describe.skipIf(release === undefined)("a fleet of the release before this commit", () => {
  test.each(goldens)("keeps every name in %s", async (path, namesIn) => {
    const before = await git(["show", `${release}:${path}`], root);
    expect(lost(namesIn, before, golden(path)), "give each resource its old name, or an alias").toEqual([]);
  });
});

describe("a name that changes", () => {
  test.each([
    [...goldens[0], "HubCluster::hub\n", "HubCluster::hub-2\n"],
    [...goldens[1], "name: blue-access-entry-helm-controller", "name: other"],
  ] as const)("is found in %s", (path, namesIn, name, other) => {
    expect(namesIn(parse(golden(path))).length).toBeGreaterThan(30);
    expect(lost(namesIn, golden(path), golden(path))).toEqual([]);
    expect(lost(namesIn, golden(path), golden(path).replace(name, other))).not.toEqual([]);
  });
});

describe("the release before a commit", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleet-releases-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = join(folder, "project");
  const commit = (text: string) => git(["commit", "--quiet", "--allow-empty", "--message", text], at);

  test("is undefined before the first one, also where no history is", async () => {
    writeFileSync(join(folder, "file"), "");
    expect(await releaseBefore(folder)).toBeUndefined();
    await git(["init", "--quiet", at], folder);
    for (const each of ["one", "two"]) await commit(each);
    await git(["tag", "other"], at);
    expect(await releaseBefore(at)).toBeUndefined();
  });

  test("is the newest tag of a version, but for the commit's own", async () => {
    await git(["tag", "v0.1.0"], at);
    expect(await releaseBefore(at)).toBeUndefined();
    await commit("three");
    expect(await releaseBefore(at)).toBe("v0.1.0");
    await git(["tag", "v0.2.0"], at);
    expect(await releaseBefore(at)).toBe("v0.1.0");
    await commit("four");
    expect(await releaseBefore(at)).toBe("v0.2.0");
  });

  test("is unknown in a shallow clone", async () => {
    const shallow = join(folder, "shallow");
    await git(["clone", "--quiet", "--depth=1", pathToFileURL(at).href, shallow], folder);
    expect(await releaseBefore(shallow)).toBeUndefined();
  });
});

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { root } from "../support/fleet.ts";
import { emptyWorld, upgrade, type World } from "./support.ts";

/** The project's own history, merged into a repository that a fleet made of its past. */

/** Before the Composition moved out of platform/api, and before there were workflows. */
const past = "e459ab0";
const composition = "platform/api/composition.yaml";
const moved = "platform/composition/composition.yaml";
const ofHosts = [".github/workflows/fleet.yml", ".gitlab-ci.yml", "CODEOWNERS"];

const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" });
const isKnown = (): boolean => {
  try {
    git("cat-file", "-e", `${past}^{commit}`);
    return true;
  } catch {
    return false;
  }
};

let at: World;
beforeEach(() => {
  at = emptyWorld();
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(at.folder, { recursive: true });
});

/** The blobs of a tree by path. */
const blobs = (text: string): Map<string, string> =>
  new Map(
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("\t").toReversed() as [string, string]),
  );

test.skipIf(!isKnown())(
  "everything that the fleet did not touch is as in the release, and what it did is kept",
  async () => {
    const archive = join(at.folder, "past.tar");
    git("archive", `--output=${archive}`, `${past}:repos/gitops-system`);
    execFileSync("tar", ["-x", "-f", archive, "-C", at.fleet.folder]);
    at.fleet.commit(`Begin gitops-system\n\nFrom eks-gitops-fleet ${past}, by fleet init.`);
    at.fleet.commit("Ours", {
      "README.md": `Ours.\n\n${at.fleet.read("README.md")}`,
      [composition]: `# Ours.\n${at.fleet.read(composition)}`,
      "clusters/acme/kustomization.yaml": "resources: []\n",
    });

    const { code, said } = await upgrade(root, at.fleet.folder, "--to", "HEAD", "--commit");
    expect({ code, said }).toMatchObject({ code: 0 });
    const theirs = blobs(git("ls-tree", "-r", "HEAD:repos/gitops-system"));
    const ours = blobs(at.fleet.git("ls-tree", "-r", "HEAD"));
    const differing = [...new Set([...theirs.keys(), ...ours.keys()])].filter(
      (path) => theirs.get(path) !== ours.get(path),
    );
    expect(differing.sort()).toEqual([...ofHosts, "README.md", "clusters/acme/kustomization.yaml", moved].sort());
    expect(at.fleet.read(moved)).toMatch(/^# Ours\.\n/);
    expect(at.fleet.read("README.md")).toMatch(/^Ours\.\n/);
    for (const path of ofHosts) expect(said).toContain(`${path}: the release adds it, and this repository has none`);
  },
);

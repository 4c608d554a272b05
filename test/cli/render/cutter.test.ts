import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, expect, test, vi } from "vitest";
import { Files } from "../../../cli/render/files.ts";
import { Findings } from "../../../cli/render/findings.ts";
import { follow } from "../../../cli/render/follow.ts";
import { FluxBuild } from "../../../cli/render/generate.ts";
import { openWorkspace, type Workspace } from "../../../cli/render/workspace.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { removeCopies, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const fleet = "fleet";

/** What `use` makes of a fleet with these spokes. */
function withSpokes<T>(names: readonly string[], use: (workspace: Workspace, spokes: () => unknown[]) => T): T {
  const changes = names.flatMap((name, index) => spoke(name, `10.${70 + index}.0.0/18`));
  return withChanges(changes, (folder) => {
    const workspace = openWorkspace(folder, { fleet });
    const findings = new Findings(workspace.original);
    const spokes = () => {
      const { hub } = follow({ workspace, fleet, build: new FluxBuild(buildText), files: new Files(), findings });
      expect(findings.sorted()).toEqual([]);
      return hub.objects
        .map(({ manifest }) => manifest)
        .filter(({ kind }) => kind === "Spoke")
        .map(({ metadata, spec }) => `${metadata.name} ${spec.kubernetesVersion}`)
        .sort();
    };
    try {
      return use(workspace, spokes);
    } finally {
      workspace.remove();
    }
  });
}

/** How often `use` lists a folder with everything below it. */
function walks(use: () => void): number {
  const spy = vi.spyOn(fs, "readdirSync");
  syncBuiltinESMExports();
  try {
    use();
    return spy.mock.calls.filter(([, options]) => (options as { recursive?: boolean } | undefined)?.recursive).length;
  } finally {
    spy.mockRestore();
    syncBuiltinESMExports();
  }
}

test("a repository is listed once for all that is cut out of it, however many spokes a fleet has", () => {
  const names = ["blue", "green", "teal"];
  for (const count of [1, names.length])
    withSpokes(names.slice(0, count), (_, spokes) => {
      expect(walks(() => expect(spokes()).toHaveLength(count + 2))).toBe(1);
    });
});

test("what was cut is cut again after the repositories have changed", () => {
  withSpokes(["blue"], ({ remake }, spokes) => {
    for (const version of ["1.33", "1.34"]) {
      remake("dev", version);
      expect(spokes()).toContain(`check-dev ${version}`);
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blastRadius } from "../../../cli/diff/blast-radius.ts";
import { markdown } from "../../../cli/diff/markdown.ts";
import type { Report } from "../../../cli/diff/report.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { composition, GitFleet } from "../support/git-fleet.ts";

const definition = "repos/gitops-system/platform/api/definition.yaml";
const file = (spoke: string) => `repos/gitops-system/spokes/fleet/${spoke}/spoke.yaml`;
const version = (spoke: string, from: string, to: string) =>
  [file(spoke), [`kubernetesVersion: "${from}"`, `kubernetesVersion: "${to}"`]] as const;

describe("a change of a Spoke that the API server refuses", () => {
  let fleet: GitFleet;
  beforeAll(() => {
    fleet = new GitFleet();
  });
  afterAll(() => fleet.remove());

  /** The report after edits, which are undone afterwards. */
  async function afterEdits(...edits: readonly (readonly [file: string, edit: readonly [string, string]])[]) {
    const before = fleet.git("rev-parse", "HEAD");
    for (const [path, edit] of edits) fleet.edit(path, edit);
    const head = fleet.commit();
    const options = { build: buildText, recorded: new Map(), stacks: [], charts: {} };
    const report = await blastRadius({ base: before, head, cwd: fleet.folder, ...options });
    fleet.git("reset", "--quiet", "--hard", before);
    return report;
  }
  const refusals = ({ clusters }: Report) =>
    Object.fromEntries(
      clusters
        .map(
          ({ name, problems }) => [name, problems.filter((problem) => problem.startsWith("will be refused"))] as const,
        )
        .filter(([, problems]) => problems.length > 0),
    );

  test("is named: two minors at once, against the version that runs", async () => {
    const report = await afterEdits(version("teal", "1.35", "1.37"), version("blue", "1.36", "1.37"));
    const message =
      "will be refused: kubernetesVersion goes up one minor at a time and never down: the control plane runs 1.35, got 1.37";
    expect(refusals(report)).toEqual({ teal: [message] });
    expect(markdown(report)).toContain(`- ⚠ ${message}`);
  });

  test("counts as refused where the Composition has not its Kubernetes version, and is said once", async () => {
    const report = await afterEdits(version("blue", "1.36", "1.37"), [composition, ['"1.37":', '"1.39":']]);
    const blue = report.clusters.find(({ name }) => name === "blue");
    expect(blue?.problems).toEqual([
      "will not be carried out: the Composition spoke does not support Kubernetes 1.37; it has 1.35, 1.36, 1.39",
    ]);
    expect(blue?.refused).toBe(true);
    expect(report.clusters.filter(({ refused }) => refused).map(({ name }) => name)).toEqual(["blue"]);
  });

  test("is named: another region, and another network", async () => {
    const report = await afterEdits(
      [file("blue"), ["region: eu-west-1", "region: eu-west-2"]],
      [file("green"), ["  deletionProtection: true\n", "  deletionProtection: true\n  network:\n    zones: 3\n"]],
    );
    expect(refusals(report)).toEqual({
      blue: ["will be refused: region can't be changed, a cluster does not move: remove the Spoke and add it again"],
      green: [
        "will be refused: network can't be changed while the cluster lives in it, but for flowLogs, endpoints and transitGateway: remove the Spoke and add it again",
      ],
    });
  });

  test("is not what it takes: one minor, other nodes, and what stands for a new spoke", async () => {
    const report = await afterEdits(
      version("teal", "1.35", "1.36"),
      [file("blue"), ["  tenant: payments", "  tenant: payments\n  nodes:\n    max: 6"]],
      // Whatever a template becomes, nobody changes a spoke by it.
      ["repos/gitops-system/templates/spoke/spoke.yaml", ["region: __region__", "region: eu-west-2 # not __region__"]],
    );
    expect(report.clusters.find(({ name }) => name === "teal")?.changes).not.toEqual([]);
    expect(refusals(report)).toEqual({});
  });

  test("is said not to be known where the rule can't be evaluated", async () => {
    const report = await afterEdits([definition, ["rule: self == oldSelf", "rule: unheardOf(self) == oldSelf"]]);
    expect(refusals(report)).toEqual({});
    expect(report.notes).toContain(
      "blue: the rule unheardOf(self) == oldSelf of the definition was not evaluated: found no matching overload for 'unheardOf(dyn)'",
    );
  });

  test("is looked for in Spokes alone: another Composition changes none", async () => {
    expect(refusals(await afterEdits([composition, ["v1.22.4-eksbuild.3", "v1.22.4-eksbuild.4"]]))).toEqual({});
  });
});

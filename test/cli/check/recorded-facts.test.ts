import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { check } from "../../../cli/check/check.ts";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { type Change, fleetFolder, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const file = "gitops-system/clusters/fleet/bridge.yaml";
const hub = hubMetadata("fleet", "dev");
const recorded = (data: Readonly<Record<string, string>>): Change => ({ file, to: stringify(data) });
const checked = (...changes: readonly Change[]) =>
  withChanges([fleetFolder("fleet"), ...changes], (folder) => {
    const report = check({ repos: folder, build: buildText });
    return { ...report, findings: found(report, folder) };
  });

/** A manifest that is wrong on a hub in this region alone: it has the region twice as a key. */
const wrongIn = (region: string): Change =>
  replaced(
    "gitops-system/platform/cluster-info/cluster-info.yaml",
    "  aws_region:",
    `  \${aws_region}: here\n  ${region}: there\n  aws_region:`,
  );

describe("fleet check, with the recorded facts about a hub", () => {
  test("finds nothing in the repositories as they are, and says in one line from which file it has them", () => {
    const { findings, warnings, notes } = checked(recorded(bridgeData(hub)));
    expect(findings).toEqual([]);
    expect(warnings).toEqual([]);
    // No fleet takes its folder from the template any more.
    expect(notes.filter((note) => !note.includes("templates/fleet"))).toEqual([
      "the facts about the hub of fleet are those of gitops-system/clusters/fleet/bridge.yaml",
      expect.stringMatching(/^the fields of \d+ kinds were not checked/),
    ]);
  });

  test("takes them and no samples", () => {
    const elsewhere = { ...hub, aws: { ...hub.aws, accountId: "999999999999", region: "ap-southeast-2" } };
    const changes = [...spoke("blue", "10.64.0.0/18"), recorded(bridgeData(elsewhere)), wrongIn("ap-southeast-2")];
    const problems = checked(...changes).findings.map(({ problem }) => problem);
    expect(problems).toEqual([expect.stringContaining("Map keys must be unique")]);
    expect(checked(...spoke("blue", "10.64.0.0/18"), wrongIn("ap-southeast-2")).findings).toEqual([]);
  });

  test("finds the repositories in their checkouts, whatever the names at the Git host", () => {
    const url = "ssh://git@git.example.com/platform.git";
    const named = {
      ...hub,
      repositories: {
        gitopsSystem: { url, revision: "prod" },
        gitopsWorkloads: { url: "https://git.example.com/governance", revision: "prod" },
      },
    };
    const { findings, notes, clusters } = checked(...spoke("blue", "10.64.0.0/18"), recorded(bridgeData(named)));
    expect(findings).toEqual([]);
    expect(clusters).toContain("blue");
    expect(notes.filter((note) => note.includes("is not among the repositories"))).toEqual([]);
  });

  test("still looks at add-ons that the hub does not have", () => {
    const { notes } = checked(recorded(bridgeData({ ...hub, addons: [] })));
    expect(notes.filter((note) => note.startsWith("nothing applies gitops-system/platform"))).toEqual([]);
  });

  test("warns, at the line, of facts that are not the contract's, and goes on with samples", () => {
    const { aws_region: _, ...rest } = bridgeData(hub);
    const { findings, warnings, notes } = checked(recorded({ ...rest, aws_account_id: "secret", former_key: "x" }));
    expect(findings).toEqual([]);
    expect(warnings.map(({ problem, remedy }) => [problem, remedy])).toEqual([
      [
        "aws_region is missing: got (nothing); allowed is AWS region. Samples stand for the facts about the hub of fleet",
        expect.stringMatching(/^run pulumi up with this version of the project, then run fleet facts again/),
      ],
      [
        "aws_account_id has another form: got (not shown); allowed is 12 digits. Samples stand for the facts about the hub of fleet",
        expect.stringContaining("fleet facts"),
      ],
    ]);
    const lines = stringify({ ...rest, aws_account_id: "secret" }).split("\n");
    expect(warnings[1]?.place.line).toBe(lines.findIndex((line) => line.startsWith("aws_account_id")) + 1);
    expect(notes.filter((note) => note.startsWith("the facts"))).toEqual([]);
  });

  test("follows no link to a file of the machine", () => {
    withChanges([fleetFolder("fleet"), recorded(bridgeData(hub))], (folder) => {
      renameSync(join(folder, file), join(folder, "elsewhere.yaml"));
      symlinkSync(join(folder, "elsewhere.yaml"), join(folder, file));
      const { notes, warnings } = check({ repos: folder, build: buildText });
      expect(warnings).toEqual([]);
      expect(notes.filter((note) => note.startsWith("the facts"))).toEqual([]);
    });
  });

  test("does not take those of another fleet, nor what is not YAML", () => {
    const other = checked(recorded({ ...bridgeData(hub), fleet: "fleet-prod" }));
    expect(other.warnings.map(({ problem }) => problem)).toEqual([
      expect.stringContaining("fleet is another than that of the folder: got fleet-prod; allowed is fleet"),
    ]);
    const broken = checked({ file, to: "fleet: [\n" });
    expect(broken.warnings.map(({ problem }) => problem)).toEqual([
      expect.stringContaining("the file is not a YAML map of strings"),
    ]);
  });
});

import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { blastRadius } from "../../../cli/diff/blast-radius.ts";
import { readRecorded } from "../../../cli/diff/facts.ts";
import { openSide } from "../../../cli/diff/side.ts";
import { spoke } from "../../functions/spoke/support/fixtures.ts";
import { World } from "../../functions/spoke/support/world.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import { GitFleet } from "../support/git-fleet.ts";

const folder = mkdtempSync(join(tmpdir(), "fleet-side-"));
const made = (...path: string[]): string => {
  mkdirSync(join(folder, ...path), { recursive: true });
  return join(folder, ...path);
};
/** The comparison of two folders. */
const compared = (base: string, head: string, recorded: ReturnType<typeof readRecorded> = new Map()) =>
  blastRadius({ base, head, cwd: folder, build: buildText, stacks: [], charts: {}, recorded });

let fleet: GitFleet;
beforeAll(() => {
  fleet = new GitFleet();
});
afterAll(() => {
  fleet.remove();
  rmSync(folder, { recursive: true });
});

describe("a state to compare", () => {
  test("is a Git revision, whatever else lies in the working tree", () => {
    fleet.write("repos/gitops-system/uncommitted.yaml", "a: 1\n");
    const side = openSide("main", { cwd: join(fleet.folder, "repos"), work: made("revision") });
    fleet.delete("repos/gitops-system/uncommitted.yaml");
    expect(side.commit).toBe(fleet.git("rev-parse", "main"));
    expect(readdirSync(join(side.repos, "gitops-system"))).toContain("spokes");
    expect(readdirSync(join(side.repos, "gitops-system"))).not.toContain("uncommitted.yaml");
  });

  test("is a folder with the project, or with the repositories", () => {
    for (const [index, path] of [fleet.folder, join(fleet.folder, "repos")].entries()) {
      const side = openSide(path, { cwd: folder, work: made(`folder-${index}`) });
      expect(readdirSync(side.repos)).toContain("gitops-workloads");
      expect(side.commit).toBeUndefined();
    }
  });

  test("is one repository alone, with the checkouts of the others beside it", () => {
    const one = made("gitops-workloads");
    cpSync(join(repos, "gitops-workloads"), one, { recursive: true });
    writeFileSync(join(one, "new.yaml"), "a: 1\n");
    const side = openSide(one, { cwd: folder, work: made("one"), others: repos });
    expect(readdirSync(side.repos).sort()).toEqual(["gitops-system", "gitops-workloads", "payment-app-manifests"]);
    expect(readdirSync(join(side.repos, "gitops-workloads"))).toContain("new.yaml");
    expect(() => openSide(one, { cwd: folder, work: made("alone") })).toThrow(
      /name the folder with the checkouts of the other repositories by --repos/,
    );
  });

  test("that does not exist is refused, and so is what git would take for an option", () => {
    for (const [index, spec] of ["nowhere", "--output=/tmp/x"].entries())
      expect(() => openSide(spec, { cwd: fleet.folder, work: made(`none-${index}`) })).toThrow(
        `${spec} is neither a revision of ${fleet.folder} nor a folder; git fetch it, or name a folder`,
      );
  });

  test("with a symbolic link out of it is refused: a comment would show files of this machine", () => {
    const path = made("linked");
    cpSync(repos, path, { recursive: true });
    symlinkSync("/etc/passwd", join(path, "gitops-system", "link.yaml"));
    expect(() => openSide(path, { cwd: folder, work: made("links") })).toThrow(
      /the symbolic link gitops-system\/link.yaml leads out of the files that are compared/,
    );
  });
});

describe("the comparison", () => {
  test("shows no file of the machine that a change names, but that it names one", async () => {
    const [from, to] = [made("before"), made("after")];
    for (const path of [from, to]) cpSync(join(fleet.folder, "repos"), path, { recursive: true });
    writeFileSync(join(made("machine"), "secret"), "canary\n");
    const target = join(folder, "machine", "secret");
    const file = join(to, "gitops-system", "spoke-bootstrap", "base", "kustomization.yaml");
    const generator = { configMapGenerator: [{ name: "leak", files: [`key=${target}`] }] };
    writeFileSync(file, stringify(generator), { flag: "a" });
    const report = await compared(from, to);
    expect(JSON.stringify(report)).not.toContain("canary");
    expect(report.gaps.join("\n")).toContain(`the file ${target} is outside the repository`);
  });
});

describe("the recorded state of a spoke", () => {
  test("takes the place of the sample", async () => {
    const world = new World(spoke({}, "blue"));
    world.report("vpc", (status) => ({ ...status, atProvider: { id: "vpc-of-the-real-blue" } })).settle();
    const items = [...world.observed().values()];
    writeFileSync(join(made("observed"), "blue.yaml"), stringify({ apiVersion: "v1", kind: "List", items }));
    const [from, to] = [made("from"), made("to")];
    for (const path of [from, to]) cpSync(join(fleet.folder, "repos"), path, { recursive: true });
    const base = join(to, "gitops-system", "spoke-bootstrap", "base");
    const metadata = { name: "$" + "{aws_vpc_id}", namespace: "default" };
    writeFileSync(join(base, "seen.yaml"), stringify({ apiVersion: "v1", kind: "ConfigMap", metadata }));
    writeFileSync(join(base, "kustomization.yaml"), "  - seen.yaml\n", { flag: "a" });
    const { clusters } = await compared(from, to, readRecorded(join(folder, "observed")));
    const created = clusters.flatMap(({ name, changes }) =>
      changes.map((change) => [name, change.operation, change.name]),
    );
    const elsewhere = ["green", "teal", "check-dev", "check-prod"].map((name) => [name, "created", "vpc-vpc"]);
    expect(created).toEqual([["blue", "created", "vpc-of-the-real-blue"], ...elsewhere]);
  });

  test("is not a link to another file of the machine", () => {
    symlinkSync("/etc/passwd", join(made("linked-records"), "blue.yaml"));
    expect(() => readRecorded(join(folder, "linked-records"))).toThrow(
      /blue\.yaml is not a regular file; replace a link by a copy/,
    );
  });

  test("is refused where it is none", () => {
    writeFileSync(join(made("empty"), "blue.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n");
    expect(() => readRecorded(join(folder, "empty"))).toThrow(
      /no object of .*blue.yaml has the annotation crossplane.io\/composition-resource-name/,
    );
    expect(() => readRecorded(join(folder, "none"))).toThrow(/--observed: there is no folder/);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type BlastRadiusOptions, blastRadius } from "../../../cli/diff/blast-radius.ts";
import { markdown } from "../../../cli/diff/markdown.ts";
import type { Report } from "../../../cli/diff/report.ts";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import type { Build } from "../../../cli/render/kustomize.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { composition, GitFleet } from "../support/git-fleet.ts";

/** Without kustomize and helm: test/envtest/diff.test.ts does the same with the real ones. */

const build: Build = Object.assign((...args: Parameters<Build>) => buildText(...args), { notes: ["how it was built"] });
const options = { build, recorded: new Map(), stacks: [], charts: {} };
const diff = (fleet: GitFleet, base: string, head: string, more: Partial<BlastRadiusOptions> = {}): Promise<Report> =>
  blastRadius({ base, head, cwd: fleet.folder, ...options, ...more });

/** What happens to each cluster, those aside that stay as they are. */
const changes = ({ clusters }: Report): Record<string, string[]> =>
  Object.fromEntries(
    clusters
      .filter((cluster) => cluster.changes.length > 0)
      .map((cluster) => [
        cluster.name,
        cluster.changes.map(({ operation, kind, name }) => `${operation} ${kind} ${name}`),
      ]),
  );

/** Of all tests; who changes it takes that back. */
const fleet = new GitFleet();
afterAll(() => fleet.remove());

const addon = (spoke: string) => `changed Addon ${spoke}-addon-kube-proxy`;

describe("a change of the Composition", () => {
  const commits: string[] = [];

  beforeAll(() => {
    commits.push(fleet.git("rev-parse", "HEAD"));
    // As the Composition asks for it: first dev alone, then promoted.
    const raised = (version: string) => [version, `${version}0`] as const;
    fleet.edit(composition, raised("v1.36.0-eksbuild.21"), ['prod: "true"', 'prod: "false"']);
    commits.push(fleet.commit());
    fleet.edit(composition, ['prod: "false"', 'prod: "true"']);
    commits.push(fleet.commit());
  });
  afterAll(() => fleet.restart());

  test("names every spoke that it reaches, and only those", async () => {
    const report = await diff(fleet, "HEAD~2", "HEAD~1");
    expect(report.gaps).toEqual([]);
    expect(changes(report)).toEqual({
      hub: ["changed Composition spoke"],
      blue: [addon("blue")],
      "check-dev": [addon("check-dev")],
    });
    expect(report.clusters.map(({ name }) => name)).toEqual([
      ...["hub", "blue", "green", "teal", "check-dev", "check-prod"],
    ]);
    expect(report.head.commit).toBe(commits[1]);
    const [change] = report.clusters[1]?.changes ?? [];
    expect(change?.diff).toEqual(
      expect.arrayContaining(["-    addonVersion: v1.36.0-eksbuild.21", "+    addonVersion: v1.36.0-eksbuild.210"]),
    );
    expect(markdown(report)).toContain(
      "**2 of 4 clusters touched**: 2 changed. New spokes would be created differently too, in dev.",
    );
  });

  test("that was held back reaches the other stage with the commit that promotes it", async () => {
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(changes(report)).toEqual({
      hub: ["changed Composition spoke"],
      green: [addon("green")],
      "check-prod": [addon("check-prod")],
    });
  });
});

const sample = hubMetadata("fleet", "prod");
const inSydney = {
  ...sample,
  aws: { ...sample.aws, region: "ap-southeast-2" },
  spokePlaces: { [sample.aws.accountId]: { regions: ["ap-southeast-2"] } },
  hubEgressCidrs: ["203.0.113.10/32"],
};

describe("the facts of a hub", () => {
  test("are taken as they are: what stands for new spokes is in the hub's region", async () => {
    const { gaps } = await diff(fleet, "HEAD", "HEAD", { hub: inSydney });
    expect(gaps.filter((gap) => gap.includes("check-"))).toEqual([]);
    expect(gaps).toContainEqual(
      expect.stringContaining(
        "spec.region eu-west-1 is none of the regions to which the fleet's IAM policies are limited in this account: ap-southeast-2",
      ),
    );
  });
});

describe("without the facts of a hub", () => {
  afterAll(() => fleet.restart());

  test("the samples are named first, and no Spoke is refused for its region", async () => {
    for (const name of ["blue", "green", "teal"])
      fleet.edit(`repos/gitops-system/spokes/fleet/${name}/spoke.yaml`, [
        "region: eu-west-1",
        "region: ap-southeast-2",
      ]);
    fleet.commit();
    fleet.edit("repos/gitops-system/spokes/fleet/blue/spoke.yaml", [
      'kubernetesVersion: "1.36"',
      'kubernetesVersion: "1.37"',
    ]);
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.gaps).toEqual([]);
    const blue = report.clusters.find(({ name }) => name === "blue");
    expect(blue?.problems).toEqual([]);
    expect(blue?.changes.length).toBeGreaterThan(1);
    expect(report.assumed).toEqual([expect.stringMatching(/^no facts about the hub were given.*--bridge FILE/)]);
    expect(markdown(report)).toMatch(/What this change does to the fleet\n\n> \[!NOTE\]\n> \*\*Assumed\*\*: no facts/);
    const real = await diff(fleet, "HEAD", "HEAD", { hub: hubMetadata("fleet", "prod") });
    expect(real.assumed).toEqual([]);
  });
});

describe("the facts that fleet facts recorded", () => {
  afterEach(() => fleet.restart());
  const file = "repos/gitops-system/clusters/fleet/bridge.yaml";
  const refusal =
    "spec.region eu-west-1 is none of the regions to which the fleet's IAM policies are limited in this account: ap-southeast-2";
  const note = `the facts about the hub are those of gitops-system/clusters/fleet/bridge.yaml in`;

  test("are taken where none are given, and said in one line; recording them changes no cluster", async () => {
    fleet.write(file, stringify(bridgeData(inSydney)));
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.assumed).toEqual([]);
    expect(report.gaps).toContainEqual(expect.stringContaining(refusal));
    expect(report.notes).toContain(`${note} HEAD`);
    expect(changes(report)).toEqual({});
  });

  test("are the base's, so that no change chooses by which facts it is judged; given ones come before them", async () => {
    fleet.write(file, stringify(bridgeData(inSydney)));
    fleet.commit();
    fleet.delete(file);
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.gaps).toContainEqual(expect.stringContaining(refusal));
    expect(report.notes).toContain(`${note} HEAD~1`);
    const hub = { ...hubMetadata("fleet", "prod"), hubEgressCidrs: ["203.0.113.10/32"] };
    const given = await diff(fleet, "HEAD~1", "HEAD", { hub });
    expect(given.gaps).toEqual([]);
    expect(given.notes.filter((each) => each.startsWith(note))).toEqual([]);
  });

  test("are not taken where something is wrong with them, which is said with the samples", async () => {
    const { aws_region: _, ...rest } = bridgeData(inSydney);
    fleet.write(file, stringify(rest));
    fleet.commit();
    const { assumed, gaps } = await diff(fleet, "HEAD~1", "HEAD");
    expect(gaps).toEqual([]);
    expect(assumed).toEqual([
      expect.stringMatching(
        /^no facts about the hub were given.*bridge.yaml in HEAD is not taken: aws_region is missing/,
      ),
    ]);
  });
});

describe("a refactoring of the manifests", () => {
  afterAll(() => fleet.restart());

  test("that changes nothing after rendering is said to change nothing", async () => {
    const folder = "repos/gitops-system/platform/composition";
    fleet.move(`${folder}/composition.yaml`, `${folder}/spokes/composition.yaml`);
    fleet.edit(`${folder}/kustomization.yaml`, ["composition.yaml", "spokes/composition.yaml"]);
    fleet.edit(`${folder}/spokes/composition.yaml`, [
      "kubeConfig: configMap",
      'kubeConfig: "configMap" # as a comment',
    ]);
    const blue = "repos/gitops-system/spokes/fleet/blue";
    fleet.move(`${blue}/spoke.yaml`, `${blue}/cluster.yaml`);
    fleet.edit(`${blue}/kustomization.yaml`, ["spoke.yaml", "cluster.yaml"]);
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(changes(report)).toEqual({});
    expect(report.gaps).toEqual([]);
    expect(markdown(report)).toContain("**Nothing changes**: 4 clusters compared.");
  });
});

describe("a spoke that goes", () => {
  let report: Report;
  beforeAll(async () => {
    fleet.delete("repos/gitops-system/spokes/fleet/green");
    // What can't be rendered is not a deletion.
    fleet.edit("repos/gitops-workloads/clusters/blue/payment-app/kustomization.yaml", ["rbac.yaml", "rbacs.yaml"]);
    fleet.commit();
    report = await diff(fleet, "HEAD~1", "HEAD");
  });
  afterAll(() => fleet.restart());

  test("takes everything with it, and what keeps data is named first", () => {
    const green = report.clusters.find(({ name }) => name === "green");
    expect(new Set(green?.changes.map(({ operation }) => operation))).toEqual(new Set(["deleted"]));
    const kinds = green?.changes.map(({ kind }) => kind) ?? [];
    const stateful = green?.changes.filter((change) => change.stateful).map(({ kind }) => kind) ?? [];
    expect(kinds.slice(0, stateful.length)).toEqual(stateful);
    expect(stateful).toEqual(expect.arrayContaining(["Cluster", "Group", "Key", "Spoke", "VPC"]));
    expect(kinds).toEqual(expect.arrayContaining(["Kustomization", "HelmRelease", "NodeGroup", "ConfigMap"]));
    expect(green?.problems).toEqual([expect.stringContaining("spec.deletionProtection is on")]);
    expect(markdown(report)).toMatch(
      /> \[!CAUTION]\n> \*\*Stateful resources are deleted or replaced[\s\S]*> - \*\*deleted\*\* VPC: `spokes\/green-vpc` – green/,
    );
  });

  test("and what can't be rendered is told as such, not as a deletion", () => {
    expect(Object.keys(changes(report))).toEqual(["green"]);
    expect(report.gaps).toEqual([
      expect.stringMatching(
        /^head, repos\/gitops-workloads\/clusters\/blue\/payment-app\/kustomization.yaml:\d+: the file rbacs.yaml does not exist$/,
      ),
    ]);
    expect(markdown(report)).toContain("> **Not complete**");
  });
});

test("a spoke that gets other nodes is shown with its list price before and after; one whose change is refused is not", async () => {
  fleet.edit("repos/gitops-system/spokes/fleet/blue/spoke.yaml", [
    "\nspec:\n",
    "\nspec:\n  nodes:\n    instanceTypes: [m5.xlarge]\n    diskSize: 100\n",
  ]);
  fleet.delete("repos/gitops-system/spokes/fleet/green");
  fleet.delete("repos/gitops-system/spokes/fleet/teal");
  fleet.commit();
  const report = await diff(fleet, "HEAD~1", "HEAD");
  fleet.restart();
  expect(report.clusters.filter(({ cost }) => cost !== undefined).map(({ name, cost }) => ({ name, ...cost }))).toEqual(
    [
      { name: "blue", before: { month: 277.71, unknown: [] }, after: { month: 442.73, unknown: [] } },
      { name: "teal", before: { month: 277.71, unknown: [] }, after: { month: 0, unknown: [] } },
    ],
  );
  expect(markdown(report)).toContain("\n- list price of blue (dev): 278 → 443 USD a month\n");
  expect(markdown(report)).toContain("\n- list price of these 2 spokes: 555 → 443 USD a month\n");
});

describe("a spoke that is let go", () => {
  beforeAll(() => {
    fleet.edit("repos/gitops-system/spokes/fleet/green/spoke.yaml", [
      "\nspec:\n",
      "\nspec:\n  deletionPolicy: Orphan\n",
    ]);
    fleet.commit();
    fleet.delete("repos/gitops-system/spokes/fleet/green");
    fleet.commit();
  });
  afterAll(() => fleet.restart());

  const greenIn = ({ clusters }: Report) => clusters.find(({ name }) => name === "green");

  test("has its resources kept in AWS first, and loses none", async () => {
    const report = await diff(fleet, "HEAD~2", "HEAD~1");
    const green = greenIn(report);
    expect(new Set(green?.changes.map(({ operation }) => operation))).toEqual(new Set(["changed"]));
    const vpc = green?.changes.find(({ kind }) => kind === "VPC");
    expect(vpc?.diff?.join("\n")).toContain("+  managementPolicies:");
    expect(green?.problems).toEqual([]);
  });

  test("then goes from the hub alone, although it is protected", async () => {
    const report = await diff(fleet, "HEAD~1", "HEAD");
    const green = greenIn(report);
    expect(new Set(green?.changes.map(({ on, operation }) => `${operation} on ${on}`))).toEqual(
      new Set(["deleted on hub"]),
    );
    const kinds = green?.changes.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["Spoke", "Kustomization", "HelmRelease"]));
    for (const kind of ["Cluster", "VPC", "Namespace"]) expect(kinds).not.toContain(kind);
    expect(green?.changes.filter(({ stateful }) => stateful)).toEqual([]);
    expect(green?.problems).toEqual([]);
    expect(report.notes).toContain("green: the fleet lets it go; everything in AWS and on the cluster stays as it is");
    expect(markdown(report)).not.toContain("CAUTION");
    // Its bill goes on.
    expect(green?.cost).toBeUndefined();
  });
});

describe("a stage that follows another revision", () => {
  beforeAll(() => {
    fleet.edit(composition, [
      "stages: {}",
      "stages: { prod: { gitRepository: gitops-system-prod, gitopsSystemRevision: prod } }",
    ]);
    fleet.edit("repos/gitops-system/clusters/fleet/kustomization.yaml", ["resources:", "resources:\n  - prod.yaml"]);
    fleet.write(
      "repos/gitops-system/clusters/fleet/prod.yaml",
      `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: gitops-system-prod
  namespace: flux-system
spec:
  url: \${gitops_system_repo_url}
  interval: 1m
  ref:
    branch: prod
`,
    );
    fleet.commit();
    fleet.edit("repos/gitops-system/spoke-bootstrap/base/namespaces.yaml", [
      "  name: flux-system\n",
      "  name: flux-system\n  annotations: { changed: yes-it-is }\n",
    ]);
    fleet.commit();
  });
  afterAll(() => fleet.restart());

  test("gets nothing of a change of the chain on the main branch", async () => {
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.gaps).toEqual([]);
    const change = ["changed Namespace flux-system"];
    expect(changes(report)).toEqual({ blue: change, teal: change, "check-dev": change });
    expect(report.notes).toContain(
      "what follows gitops-system at branch prod is shown unchanged: a merge into main does not reach it",
    );
    expect(report.notes).toContain("how it was built");
  });
});

describe("a spoke of a ring", () => {
  const ring = "repos/gitops-system/clusters/fleet/rings/late.yaml";
  beforeAll(() => {
    const template = readFileSync(join(fleet.folder, "repos/gitops-system/templates/ring/ring.yaml"), "utf8");
    fleet.write(ring, template.replaceAll("__ring__", "late"));
    fleet.edit("repos/gitops-system/clusters/fleet/kustomization.yaml", [
      "resources:",
      "resources:\n  - rings/late.yaml",
    ]);
    fleet.commit();
  });
  afterAll(() => fleet.restart());

  test("that joins it is shown with the ring's sources, and nothing of it is made again", async () => {
    fleet.edit("repos/gitops-system/spokes/fleet/green/spoke.yaml", [
      "  crossplane:\n",
      "  ring: late\n  crossplane:\n    compositionRef:\n      name: spoke-late\n",
    ]);
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.gaps).toEqual([]);
    const { green = [], ...others } = changes(report);
    expect(others).toEqual({});
    expect(green).toEqual(
      expect.arrayContaining(["changed Kustomization green-bootstrap", "changed GitRepository gitops-system"]),
    );
    expect(green.filter((change) => !change.startsWith("changed "))).toEqual([]);
  });

  test("gets nothing of a change of the Composition or the chain on the main branch", async () => {
    fleet.edit(composition, ["kubeConfig: configMap", "kubeConfig: secret"]);
    fleet.edit("repos/gitops-system/spoke-bootstrap/base/namespaces.yaml", [
      "  name: flux-system\n",
      "  name: flux-system\n  annotations: { changed: yes-it-is }\n",
    ]);
    fleet.commit();
    const report = await diff(fleet, "HEAD~1", "HEAD");
    expect(report.gaps).toEqual([]);
    expect(Object.keys(changes(report)).sort()).toEqual(["blue", "check-dev", "check-prod", "hub", "teal"]);
    expect(report.notes).toContain(
      "what follows gitops-system at branch ring/late is shown unchanged: a merge into main does not reach it",
    );
  });
});

describe("a change of the composition function", () => {
  let project: GitFleet;
  beforeAll(() => {
    project = new GitFleet(["repos", "functions", "lib"]);
  });
  afterAll(() => project.remove());

  test("is rendered with the code of each revision: a refactoring changes nothing, another tag every spoke", async () => {
    const context = "functions/spoke/context.ts";
    project.edit(context, [
      "const surroundings = surroundingsOf(spoke, hub);",
      "const around = surroundingsOf(spoke, hub);\n  const surroundings = { ...around };",
    ]);
    project.commit();
    expect(changes(await diff(project, "HEAD~1", "HEAD"))).toEqual({});
    project.edit(context, ["...tags,", '...tags,\n      "cost-center": spec.tenant,']);
    project.commit();
    const report = await diff(project, "HEAD~1", "HEAD");
    expect(Object.keys(changes(report))).toEqual(["blue", "green", "teal", "check-dev", "check-prod"]);
    expect(changes(report)["blue"]).toContain("changed VPC blue-vpc");
    expect(new Set(report.clusters.flatMap((cluster) => cluster.changes.map(({ by }) => by)))).toEqual(
      new Set(["the Composition"]),
    );
  });
});

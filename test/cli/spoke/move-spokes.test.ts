import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { newFleet, writeFleetFiles } from "../../../cli/fleet/folders.ts";
import { hubMetadata, spokeData } from "../../../cli/render/clusters.ts";
import { Files } from "../../../cli/render/files.ts";
import { Findings } from "../../../cli/render/findings.ts";
import type { Step, Values } from "../../../cli/render/fleet.ts";
import { follow } from "../../../cli/render/follow.ts";
import { FluxBuild } from "../../../cli/render/generate.ts";
import type { FollowOptions, Handover } from "../../../cli/render/walk.ts";
import { openWorkspace } from "../../../cli/render/workspace.ts";
import { finishMove, moveSpokes } from "../../../cli/spoke/move.ts";
import { bootstrapKustomization } from "../../../functions/spoke/chain.ts";
import { spokeSync } from "../../../lib/layout.ts";
import { settings, spoke } from "../../functions/spoke/support/fixtures.ts";
import { substituted } from "../../repos/support/flux.ts";
import { buildText, generated, type Manifest, type Patch, patched } from "../../repos/support/kustomize.ts";
import { oldCheckout, oldSpokes, remove, upgraded } from "../support/old-layout.ts";

const fleet = "fleet-dev";

/**
 * How Flux names an object in the inventory of a Kustomization (fluxcd/cli-utils, pkg/object, ObjMetadata.String). What is in the
 * inventory and not in the next build is pruned (kustomize-controller, internal/inventory, Diff): neither path nor content counts.
 */
const idOf = ({ apiVersion, kind, metadata }: Manifest): string => {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return [metadata.namespace ?? "", metadata.name.replaceAll(":", "__"), group, kind].join("_");
};

/** What Flux applies for a Kustomization with this specification, from the files of a checkout. Throws when it can't. */
function built(checkout: string, spec: Manifest["spec"], values: Values | undefined): Manifest[] {
  const folder = join(checkout, spec.path);
  if (!existsSync(folder)) throw new Error(`kustomization path not found: ${spec.path}`);
  return ((spec.patches ?? []) as Patch[])
    .reduce<Manifest[]>((all, patch) => patched(all, patch), generated(folder))
    .map((manifest) => (values === undefined ? manifest : substituted(manifest, values)));
}

const metadata = hubMetadata(fleet, "dev");

/** What the function of before fleets had folders hands over: paths without the fleet. */
function handoverOfThen(name: string): Handover {
  const environment = name === "check-prod" ? "prod" : "dev";
  const sealing = oldSpokes.some((spoke) => spoke.name === name && spoke.ownKeys) ? "cluster" : "environment";
  const object = spoke({ environment, sealing }, name);
  const bootstrap = JSON.stringify(bootstrapKustomization(object, settings(), metadata));
  const then = bootstrap
    .replaceAll(`./spokes/${fleet}/`, "./spokes/")
    .replaceAll(/ExternalArtifact([\\",:a-z]*)spoke-[a-z]+/g, "GitRepository$1gitops-system");
  return { data: spokeData(object, metadata, settings()), bootstrap: JSON.parse(then) };
}

/** The Kustomizations that Flux on the hub runs, those that act on spokes among them, by namespace and name. */
function stepsOf(checkout: string, handover?: FollowOptions["handover"]): Map<string, Step> {
  const workspace = openWorkspace(dirname(checkout), { fleet });
  try {
    const findings = new Findings(workspace.original);
    const common = { workspace, fleet, hub: metadata, build: new FluxBuild(buildText), files: new Files(), findings };
    const { steps } = follow({ ...common, ...(handover ? { handover } : {}) });
    expect(findings.sorted()).toEqual([]);
    const real = steps.filter(({ home, name }) => home.isHub && !/^(spoke-)?check-/.test(name));
    return new Map(real.map((step) => [`${step.namespace}/${step.name}`, step]));
  } finally {
    workspace.remove();
  }
}

const ids = (objects: readonly Manifest[]): string[] => objects.map(idOf).sort();
const spokeId = (name: string): string => `spokes_${name}_fleet.internal_Spoke`;

const made: string[] = [];
const checkoutOf = (checkout: string): string => {
  made.push(checkout);
  return checkout;
};
afterAll(() => remove(...made));

describe("fleet move-spokes, while hub and chains take it over in any order,", () => {
  let old: string;
  let moved: string;
  let finished: string;
  let before: Map<string, Step>;
  let after: Map<string, Step>;
  beforeAll(async () => {
    old = checkoutOf(oldCheckout());
    [moved, finished] = [checkoutOf(upgraded(old)), checkoutOf(upgraded(old))];
    for (const checkout of [moved, finished]) await moveSpokes(checkout, fleet);
    finishMove(finished, fleet);
    before = stepsOf(old, handoverOfThen);
    after = stepsOf(moved);
  });

  test("leaves nothing out that Flux has applied, so nothing is pruned, and all of it can be built all the time", () => {
    const own = oldSpokes.map(({ name }) => `flux-system/${spokeSync(name)}`);
    expect([...after.keys()].sort()).toEqual([...before.keys(), "flux-system/each-spoke", ...own].sort());
    for (const [name, then] of before) {
      const now = after.get(name) as Step;
      const inventory = ids(built(old, then.manifest.spec, then.values));
      for (const [checkout, { manifest, values }] of [
        [moved, then], // the push has arrived, the Kustomization has not changed yet (a stage: not before it is promoted)
        [moved, now],
        [finished, now],
      ] as const) {
        // Lets go of what it has applied.
        if (manifest.spec.prune === false) continue;
        const applied = ids(built(checkout, manifest.spec, values));
        expect(
          inventory.filter((id) => !applied.includes(id)),
          `pruned of ${name} at ${manifest.spec.path}`,
        ).toEqual([]);
      }
    }
    expect(after.get("flux-system/spokes")?.manifest.spec).toMatchObject({ prune: false, deletionPolicy: "Orphan" });
    for (const { name } of oldSpokes)
      expect(ids(built(moved, after.get(`flux-system/${spokeSync(name)}`)?.manifest.spec, undefined))).toEqual([
        spokeId(name),
      ]);
  });

  test("changes nothing on a spoke, and of a Spoke only the label with its fleet", () => {
    for (const [name, then] of before) {
      const now = after.get(name) as Step;
      const [was, is] = [old, moved].map((checkout, index) => {
        const { manifest, values } = index === 0 ? then : now;
        return built(checkout, manifest.spec, values);
      });
      if (!then.on.isHub) expect(is, name).toEqual(was);
    }
    const byName = (a: Manifest, b: Manifest) => a.metadata.name.localeCompare(b.metadata.name);
    const spokes = (checkout: string, steps: Map<string, Step>) =>
      [...steps]
        .filter(([name]) => name === "flux-system/spokes" || name.startsWith(`flux-system/${spokeSync("")}`))
        .flatMap(([, { manifest }]) => built(checkout, manifest.spec, undefined))
        .sort(byName);
    const labelled = spokes(old, before).map((object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { "fleet.internal/fleet": fleet } },
    }));
    expect(spokes(moved, after)).toEqual(labelled);
  });

  test("is what gives the spokes back to Flux: new content alone lets go of them, and applies none", async () => {
    const { manifest, values } = after.get("flux-system/each-spoke") as Step;
    const merged = checkoutOf(upgraded(old));
    expect(() => built(merged, manifest.spec, values)).toThrow("kustomization path not found: ./spokes/fleet-dev");
    await expect(newFleet(merged, fleet)).rejects.toThrow("can't be made beside spokes of no fleet");
    await writeFleetFiles(merged, fleet);
    expect(built(merged, manifest.spec, values)).toEqual([]);
  });

  test("leaves repositories without a finding when it is done", () => {
    expect(check({ repos: dirname(finished), build: buildText }).findings).toEqual([]);
    expect(existsSync(join(finished, "clusters", "hub"))).toBe(false);
    expect(readdirSync(join(finished, "spokes")).sort()).toEqual(["README.md", fleet]);
  });
});

describe("fleet move-spokes", () => {
  let checkout: string;
  const read = (...path: string[]) => readFileSync(join(checkout, ...path), "utf8");
  const files = () =>
    readdirSync(checkout, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "utf8")]);
  const prepare = (...spokes: Parameters<typeof oldCheckout>) => {
    checkout = checkoutOf(upgraded(checkoutOf(oldCheckout(...spokes))));
  };
  beforeEach(() => prepare());

  test("says in the Spoke of which fleet it is, keeps its comments, and finds what a folder refers to", async () => {
    expect(await moveSpokes(checkout, fleet)).toEqual({
      spokes: ["amber", "blue"],
      made: [
        `clusters/${fleet}/kustomization.yaml`,
        `spokes/${fleet}/README.md`,
        `spokes/${fleet}/amber/flux/sync.yaml`,
        `spokes/${fleet}/blue/flux/sync.yaml`,
      ],
    });
    expect(read("spokes", fleet, "blue", "spoke.yaml")).toMatch(/labels:\n {4}fleet\.internal\/fleet: fleet-dev\n/);
    expect(read("spokes", fleet, "blue", "spoke.yaml")).toContain("# Changes of the Composition take effect");
    expect(read("spokes", fleet, "amber", "sealing-keys", "kustomization.yaml")).toContain(
      "- ../../../../spoke-bootstrap/sealing-keys/store",
    );
  });

  test("run again changes nothing, and neither does finishing twice", async () => {
    await moveSpokes(checkout, fleet);
    const once = files();
    expect(await moveSpokes(checkout, fleet)).toEqual({ spokes: [], made: [] });
    expect(files()).toEqual(once);
    expect(finishMove(checkout, fleet)).toEqual(["spokes/amber", "spokes/blue", "clusters/hub"]);
    expect(finishMove(checkout, fleet)).toEqual([]);
  });

  test("goes on where it was interrupted", async () => {
    await moveSpokes(checkout, fleet);
    const whole = files();
    prepare();
    // The copy is in its place, and what it was made from still is, too.
    const interrupted = checkout;
    prepare();
    await moveSpokes(checkout, fleet);
    cpSync(join(checkout, "spokes", fleet, "blue"), join(interrupted, "spokes", fleet, "blue"), { recursive: true });
    checkout = interrupted;
    await moveSpokes(checkout, fleet);
    expect(files().map(([, text]) => text)).toEqual(whole.map(([, text]) => text));
  });

  test("moves a spoke that is called like its fleet, and hides no other", async () => {
    prepare([{ name: fleet }, { name: "blue" }]);
    await moveSpokes(checkout, fleet);
    const spokes = [spokeId("blue"), spokeId(fleet)];
    for (const path of [`./spokes/${fleet}`, "./spokes"])
      expect(ids(built(checkout, { path }, undefined))).toEqual(spokes);
    expect(readdirSync(join(checkout, "spokes", fleet)).sort()).toEqual(["README.md", "blue", fleet]);
    expect(read("spokes", fleet, fleet, "secrets", "gitops-system.yaml")).toContain("SealedSecret");
  });

  test("leaves the folders of other fleets alone", async () => {
    await writeFleetFiles(checkout, "fleet-prod");
    cpSync(join(checkout, "spokes", "blue"), join(checkout, "spokes", "fleet-prod", "green"), { recursive: true });
    await moveSpokes(checkout, fleet);
    finishMove(checkout, fleet);
    expect(readdirSync(join(checkout, "spokes", "fleet-prod")).sort()).toEqual(["README.md", "green"]);
    expect(readdirSync(join(checkout, "spokes", fleet)).sort()).toEqual(["README.md", "amber", "blue"]);
  });

  test.each([
    ["spokes/extra.yaml", "kind: ConfigMap\n", "spokes/extra.yaml"],
    ["spokes/other/kustomization.yaml", "resources: []\n", "spokes/other"],
    ["spokes/kustomization.yaml", "resources: [blue]\n", "spokes/kustomization.yaml"],
  ])("refuses beside %s, which the hub applies and would remove, and moves nothing", async (file, text, got) => {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), text);
    const before = files();
    await expect(moveSpokes(checkout, fleet)).rejects.toThrow(`got:     ${got}\n`);
    expect(files()).toEqual(before);
  });

  test("refuses a spoke that differs in its two places, a name that is none, and to finish before it is done", async () => {
    mkdirSync(join(checkout, "spokes", fleet, "amber"), { recursive: true });
    writeFileSync(join(checkout, "spokes", fleet, "amber", "spoke.yaml"), "kind: Spoke\n");
    await expect(moveSpokes(checkout, fleet)).rejects.toThrow("amber: is in two places");
    expect(existsSync(join(checkout, "spokes", "amber", "spoke.yaml"))).toBe(true);
    for (const name of ["hub", "Fleet", "../fleet"])
      await expect(moveSpokes(checkout, name)).rejects.toThrow("can't be the name of a fleet");
    expect(() => finishMove(checkout, fleet)).toThrow("--finish: is only for after the move");
  });
});

test("fleet new-fleet makes the folders once, and a hub that finds no spoke in them applies none", async () => {
  const checkout = checkoutOf(upgraded(checkoutOf(oldCheckout([]))));
  expect(await newFleet(checkout, fleet)).toEqual([
    `clusters/${fleet}/kustomization.yaml`,
    `spokes/${fleet}/README.md`,
  ]);
  expect(await newFleet(checkout, fleet)).toEqual([]);
  expect(built(checkout, { path: `./spokes/${fleet}` }, undefined)).toEqual([]);
  expect(ids(built(checkout, { path: `./clusters/${fleet}` }, undefined))).toEqual(
    ids(built(checkout, { path: "./platform/hub" }, undefined)),
  );
});

import { describe, expect, it, test } from "vitest";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { rolloutEvents } from "../../../functions/spoke/rollout.ts";
import { settings, spoke } from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

const first = `ring/early@sha1:${"a".repeat(40)}`;
const second = `ring/early@sha1:${"b".repeat(40)}`;
const crossplane = { compositionRef: { name: "spoke-early" }, compositionRevisionRef: { name: "spoke-early-1" } };
const inRing = (change: Record<string, unknown> = {}) => spoke({ ring: "early", crossplane, ...change });

/** What Flux reports of the chain. */
function flux(world: World, status: Record<string, unknown>): void {
  world.report("bootstrap", (reported) => ({ ...reported, ...status }));
}
const applied = (revision: string) => ({ lastAttemptedRevision: revision, lastAppliedRevision: revision });
/** Flux works on `next`, and had `done` before. */
const underWay = (done: string, next: string) => ({
  lastAttemptedRevision: next,
  lastAppliedRevision: done,
  conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing" }],
  history: [{ lastReconciledStatus: "ReconciliationSucceeded" }],
});

/** A spoke of the ring that has the first revision. */
function arrived(): World {
  const world = new World(inRing());
  flux(world, applied(first));
  world.settle();
  return world;
}

const rollout = ({ spoke: { status } }: World) => status?.rollout;
const bootstrap = (world: World): KubeObject => world.object("bootstrap");

describe("a spoke of a ring", () => {
  it("takes chain, tools and the bridge's revision from the ring's branch, and workloads from its environment's stage", () => {
    const stages = { dev: { gitRepository: "gitops-system-dev", gitopsWorkloadsRevision: "dev" } };
    const world = settled(inRing(), { settings: settings({ stages }) });
    expect(bootstrap(world).spec).toMatchObject({
      sourceRef: { kind: "GitRepository", name: "gitops-system-ring-early", namespace: "flux-system" },
    });
    const data = world.object("cluster-secret").data ?? {};
    const value = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
    expect([value("gitops_system_repo_revision"), value("gitops_workloads_repo_revision")]).toEqual([
      "ring/early",
      "dev",
    ]);
  });

  it("says which revision and Composition it has, and since when it is healthy with them", () => {
    const world = arrived();
    const healthySince = new Date(world.now).toISOString();
    const now = { ring: "early", composition: "spoke-early-1", revision: first, healthySince };
    expect(rollout(world)).toEqual(now);
    world.now += 3_600_000;
    world.settle();
    expect(rollout(world)).toEqual(now);
  });

  it("has a revision only when the chain was told of it, and so waited for the tools of that revision", () => {
    const world = arrived();
    flux(world, applied(second));
    world.step();
    world.step();
    // Flux has applied the chain, whose health was judged by the tools of before.
    expect(rollout(world)).toMatchObject({ revision: first });
    expect(rollout(world)).not.toHaveProperty("healthySince");
    world.settle();
    expect(rollout(world)).toMatchObject({ revision: second });
    expect(at(bootstrap(world).spec, "commonMetadata", "annotations")).toEqual({ "fleet.internal/revision": second });
  });

  it("stays healthy while Flux applies the same revision again, as it does at each interval", () => {
    const world = arrived();
    const before = rollout(world);
    world.now += 3_600_000;
    flux(world, underWay(first, first));
    world.settle();
    expect(world.answer).toMatchObject({ ready: true, events: [] });
    expect(rollout(world)).toEqual(before);
    flux(world, applied(first));
    world.settle();
    expect(rollout(world)).toEqual(before);
  });

  it("stays Ready while Flux applies the specification with the new revision, which it notes when it is done", () => {
    const world = arrived();
    flux(world, { ...underWay(second, second), observedGeneration: 1 });
    world.settle();
    expect(bootstrap(world).metadata.generation).toBeGreaterThan(1);
    expect(world.answer?.ready).toBe(true);
    expect(rollout(world)).toMatchObject({ revision: first, next: second });
    expect(rollout(world)).not.toHaveProperty("healthySince");
  });

  it("says what it is brought, and is not healthy with it before it has it", () => {
    const world = arrived();
    flux(world, underWay(first, second));
    world.settle();
    expect(world.answer?.ready).toBe(true);
    expect(rollout(world)).toEqual({ ring: "early", composition: "spoke-early-1", revision: first, next: second });
    world.now += 60_000;
    flux(world, applied(second));
    world.settle();
    expect(rollout(world)).toMatchObject({ revision: second, healthySince: new Date(world.now).toISOString() });
  });

  it.each<[string, (world: World) => void]>([
    ["another revision", (world) => flux(world, applied(second))],
    [
      "another Composition",
      (world) => world.change({ crossplane: { ...crossplane, compositionRevisionRef: { name: "spoke-early-2" } } }),
    ],
    [
      "a failure",
      (world) => {
        flux(world, {
          ...applied(first),
          conditions: [{ type: "Ready", status: "False", reason: "HealthCheckFailed", message: "tools failed" }],
        });
        world.settle();
        flux(world, applied(first));
      },
    ],
  ])("begins to soak again after %s", (_name, happens) => {
    const world = arrived();
    world.now += 60_000;
    happens(world);
    world.settle();
    expect(rollout(world)?.healthySince).toBe(new Date(world.now).toISOString());
  });

  it("forgets what it had in another ring", () => {
    const world = arrived();
    world.change({ ring: "late", crossplane: { compositionRef: { name: "spoke-late" } } });
    flux(world, underWay(first, first));
    world.settle();
    expect(rollout(world)).toEqual({ ring: "late" });
  });

  it("is told of no revision of another branch, which Flux had before the ring", () => {
    const world = new World(inRing());
    flux(world, applied("latest@sha256:0"));
    world.settle();
    expect(at(bootstrap(world).spec, "commonMetadata")).not.toHaveProperty("annotations");
    expect(rollout(world)).not.toHaveProperty("revision");
  });
});

test("a spoke without a ring says which commit's chain it has, and since when it is healthy, also while Flux applies it again", () => {
  const world = new World(spoke());
  const origin = { lastAppliedOriginRevision: "main@sha1:c" };
  flux(world, { ...applied("latest@sha256:0"), ...origin });
  world.settle();
  const said = { revision: "main@sha1:c", healthySince: new Date(world.now).toISOString() };
  expect(rollout(world)).toEqual(said);
  world.now += 3_600_000;
  flux(world, { ...underWay("latest@sha256:0", "latest@sha256:0"), ...origin });
  world.settle();
  expect(rollout(world)).toEqual(said);
});

test.for([
  ["nothing", { ring: "early" }, { ring: "early" }, []],
  ["the first revision", { ring: "early" }, { ring: "early", revision: first }, [`the spoke has ${first}`]],
  ["another revision", { revision: first }, { revision: second }, [`the spoke has ${second}`]],
  ["one under way", { revision: first }, { revision: first, next: second }, [`Flux brings ${second} to the spoke`]],
  ["the same under way", { revision: first, next: second }, { revision: first, next: second }, []],
  ["a roll-back on the way", { revision: first, next: second }, { revision: first }, [`the spoke has ${first}`]],
] as const)("events tell a change once: %s", ([_name, before, now, told]) => {
  expect(rolloutEvents({ ring: "early", ...before }, { ring: "early", ...now })).toEqual(told);
  expect(rolloutEvents(before, { ...now, ring: undefined } as never)).toEqual([]);
});

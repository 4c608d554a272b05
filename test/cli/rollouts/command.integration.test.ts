import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { run } from "../../../cli/rollouts/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { FakeHub } from "./support/hub.ts";
import { Repository } from "./support/repository.ts";

const policy = `rings:
  - { name: canary, soak: 1h }
  - { name: rest, soak: 24h }
`;

let repository: Repository;
let hub: FakeHub;
let first: string;
let printed: MockInstance<typeof console.log>;
let failed: MockInstance<typeof console.error>;
beforeEach(async () => {
  repository = new Repository({ "clusters/fleet/rings.yaml": policy });
  first = repository.git("rev-parse", "HEAD");
  hub = new FakeHub();
  await hub.start();
  vi.stubEnv("KUBECONFIG", hub.kubeconfig);
  printed = vi.spyOn(console, "log").mockReturnValue();
  failed = vi.spyOn(console, "error").mockReturnValue();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await hub.stop();
  hub.remove();
  repository.remove();
});

const rollouts = (...argv: string[]) => run(["--repository", repository.clone.folder, ...argv]);

/** What the command prints. */
async function output(...argv: string[]): Promise<string> {
  printed.mockClear();
  await rollouts(...argv);
  return printed.mock.calls.join("\n");
}
const json = async (...argv: string[]) => JSON.parse(await output("-o", "json", ...argv));

/** What Flux and Crossplane make of a ring's commit: its spokes have had it for some minutes. */
function arrive(ring: string, commit: string, spokes: readonly string[], minutes = 0): void {
  const revision = `ring/${ring}@sha1:${commit}`;
  const labels = { "fleet.internal/ring": ring };
  const ready = { type: "Ready", status: "True" };
  const name = `gitops-system-ring-${ring}`;
  hub.put({
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository" },
    metadata: { name, namespace: "flux-system", labels, uid: `uid-of-${name}` },
  });
  hub.put({
    ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
    metadata: { name: `ring-${ring}`, namespace: "flux-system", labels, generation: 3 },
    status: {
      observedGeneration: 3,
      lastAttemptedRevision: revision,
      lastAppliedRevision: revision,
      conditions: [ready],
    },
  });
  const composition = `spoke-${ring}-${commit.slice(0, 7)}`;
  const revisions = hub.objects.filter(({ kind }) => kind === "CompositionRevision").length;
  hub.put({
    ...{ apiVersion: "apiextensions.crossplane.io/v1", kind: "CompositionRevision" },
    metadata: { name: composition, labels: { "crossplane.io/composition-name": `spoke-${ring}` } },
    spec: { revision: revisions + 1 },
  });
  const healthySince = new Date(Date.now() - minutes * 60_000).toISOString();
  for (const spoke of spokes)
    hub.put({
      ...{ apiVersion: "fleet.internal/v1alpha1", kind: "Spoke" },
      metadata: { name: spoke, namespace: "spokes" },
      spec: { ring },
      status: { phase: "Ready", conditions: [ready], rollout: { ring, revision, composition, healthySince } },
    });
}

const fail = (name: string) => {
  const spoke = hub.objects.find(({ kind, metadata }) => kind === "Spoke" && metadata.name === name);
  if (spoke === undefined) throw new Error(`there is no spoke ${name}`);
  const conditions = [{ type: "Ready", status: "False" }];
  hub.put({ ...spoke, status: { ...(spoke.status as object), phase: "Failing", message: "tools fail", conditions } });
};

/** The fleet as it is when nothing has changed for long. */
async function atRest(): Promise<void> {
  await rollouts("--promote");
  arrive("canary", first, ["blue", "teal", "lime"], 10_000);
  arrive("rest", first, ["prod"], 10_000);
  await rollouts("--promote");
  hub.events.splice(0);
}

const change = () => repository.commit("Raise a tool", { "tools/dev/versions.yaml": "2" });

test("a change is handed on from ring to ring by the state of the hub, and events tell of it", async () => {
  await rollouts("--promote");
  expect([repository.at("ring/canary"), repository.at("ring/rest")]).toEqual([first, first]);
  expect(hub.events.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
    `RolloutPromoted: ring canary begins with ${first.slice(0, 7)} (first)`,
    `RolloutPromoted: ring rest begins with ${first.slice(0, 7)} (first)`,
  ]);
  await atRest();

  const second = change();
  expect(await output("--promote", "--dry-run")).toContain(
    `would push ring/canary: ${first.slice(0, 7)} -> ${second.slice(0, 7)}`,
  );
  expect(repository.at("ring/canary")).toBe(first);
  expect(await output("--promote")).toContain(`ring/canary: ${first.slice(0, 7)} -> ${second.slice(0, 7)}`);
  expect(repository.at("ring/canary")).toBe(second);
  expect(await rollouts("--promote")).toBe(0);
  expect(repository.at("ring/rest")).toBe(first);

  arrive("canary", second, ["blue", "teal", "lime"], 30);
  expect((await json()).rings).toMatchObject([
    { ring: "canary", spokes: { ready: 3, total: 3 }, commit: second, state: "soaking 30m of 1h", waiting: [] },
    {
      ...{ ring: "rest", commit: first, subject: "first", state: "waits for canary" },
      waiting: [{ commit: second, subject: "Raise a tool" }],
      next: `takes ${second.slice(0, 7)} when canary has passed`,
    },
  ]);
  arrive("canary", second, ["blue", "teal", "lime"], 60);
  expect((await json("--promote")).moved).toEqual([{ ring: "rest", kind: "promote", from: first, to: second }]);
  expect(repository.at("ring/rest")).toBe(second);
  expect(hub.events.map(({ reason, involvedObject }) => [reason, involvedObject["uid"]])).toEqual([
    ["RolloutPromoted", "uid-of-gitops-system-ring-canary"],
    ["RolloutPassed", "uid-of-gitops-system-ring-canary"],
    ["RolloutPromoted", "uid-of-gitops-system-ring-rest"],
  ]);
});

test("a bad change stops in the first ring, is told once, and is a failure of the job", async () => {
  await atRest();
  const second = change();
  await rollouts("--promote");
  arrive("canary", second, ["blue", "teal", "lime"], 10_000);
  fail("teal");
  for (const _ of [1, 2, 3]) expect(await rollouts("--promote")).toBe(1);
  expect(repository.at("ring/rest")).toBe(first);
  expect(await output()).toMatch(/canary +2 of 3 +\S+ Raise a tool +- +stopped: 1 of 3 spokes is unhealthy \(teal\)/);
  expect(hub.events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    "Normal RolloutPromoted",
    "Warning RolloutStopped",
  ]);
});

test("a ring goes back to a commit that rings.yaml names", async () => {
  await atRest();
  const second = change();
  await rollouts("--promote");
  arrive("canary", second, ["blue", "teal", "lime"]);
  repository.commit("Roll canary back", {
    "clusters/fleet/rings.yaml": policy.replace("{ name: canary,", `{ name: canary, revision: ${first},`),
  });
  await rollouts("--promote");
  expect(repository.at("ring/canary")).toBe(first);
  expect(hub.events.map(({ reason }) => reason)).toContain("RolloutRolledBack");
});

test("commits that only a ring's branch has are named below the table", async () => {
  await atRest();
  const foreign = repository.commit("a fix by hand", { "tools/x": "1" }, "ring/rest");
  expect(await rollouts("--promote")).toBe(1);
  expect(await output()).toContain(
    `ring rest: ring/rest has commits that the hub's branch lacks: ${foreign.slice(0, 7)}`,
  );
});

test("spokes of a ring that is not in the file are named, and so are branches", async () => {
  await atRest();
  arrive("other", first, ["lost", "found"]);
  repository.git("push", "--quiet", "origin", `${first}:refs/heads/ring/old`);
  const text = await output();
  expect(text).toContain("ring other is not in rings.yaml, so nothing reaches its spokes: lost, found");
  expect(text).toContain("the branch ring/old belongs to no ring of this fleet's rings.yaml");
});

test("a spoke that is being removed counts no more", async () => {
  await atRest();
  const blue = hub.objects.find(({ kind, metadata }) => kind === "Spoke" && metadata.name === "blue");
  if (blue === undefined) throw new Error("there is no spoke blue");
  hub.put({ ...blue, metadata: { ...blue.metadata, deletionTimestamp: "2026-11-23T00:00:00Z" } });
  expect((await json()).rings[0].spokes).toEqual({ ready: 2, total: 2 });
});

describe("with --every", () => {
  const forever = (signal: AbortSignal) => ({
    connect: async (context: string | undefined) => (await import("../../../cli/rollouts/hub.ts")).connect(context),
    now: Date.now,
    signal: () => signal,
  });

  test("it goes on after an error until it is interrupted, and shows only what is new", async () => {
    const controller = new AbortController();
    const running = run(
      ["--repository", repository.clone.folder, "--promote", "--every", "1s"],
      forever(controller.signal),
    );
    await vi.waitUntil(() => repository.at("ring/rest") !== undefined, 30_000);
    repository.commit("A slip", { "clusters/fleet/rings.yaml": "rings: [{ name: canary, soak: long }]" });
    await vi.waitUntil(() => failed.mock.calls.join().includes("rings[0].soak"), 30_000);
    const second = repository.commit("Put right", { "clusters/fleet/rings.yaml": policy, "tools/x": "1" });
    await vi.waitUntil(() => repository.at("ring/canary") === second, 30_000);
    controller.abort();
    expect(await running).toBe(0);
  });
});

describe("what can't be done is told", () => {
  test("by the flag", async () => {
    const wrong = async (...argv: string[]) => {
      const error = await rollouts(...argv).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UsageError);
      return (error as UsageError).message;
    };
    expect(await wrong("--dry-run")).toContain("need --promote");
    expect(await wrong("--promote", "--every", "soon")).toContain("a duration such as 30s");
    expect(await wrong("-o", "yaml")).toContain("text or json");
    expect(await wrong("--context", "spoke")).toBe("the kubeconfig has no context spoke; it has hub. Name one of them");
    expect(await wrong("--fleet", "other")).toContain("the hub's branch has the fleets fleet");
  });

  test("when several fleets are there, and when two have a ring of the same name", async () => {
    repository.commit("Another fleet", { "clusters/other/rings.yaml": "rings: [{ name: rest }]" });
    await expect(rollouts()).rejects.toThrow("--fleet is needed: the hub's branch has the fleets fleet, other");
    await expect(rollouts("--fleet", "fleet")).rejects.toThrow(
      /rings\[1\].name: is also a ring of the fleet other, and ring\/rest can't follow two hubs/,
    );
  });

  test("when the fleet has no rings", async () => {
    repository.git("rm", "--quiet", "clusters/fleet/rings.yaml");
    repository.commit("No rings", { "clusters/fleet/kustomization.yaml": "" });
    await expect(rollouts()).rejects.toThrow(
      "has no clusters/fleet/rings.yaml: npx fleet new-ring makes the first ring",
    );
  });

  test("when the hub refuses, by what it refuses", async () => {
    hub.forbidden.add("compositionrevisions");
    await expect(rollouts()).rejects.toThrow(
      /^the context hub can't list compositionrevisions.apiextensions.crossplane.io: 403 compositionrevisions is forbidden.*docs\/guides\/rings.md has the rights/,
    );
  });

  test("when only events are refused: the branches are moved all the same", async () => {
    hub.forbidden.add("events");
    expect(await rollouts("--promote")).toBe(1);
    expect(repository.at("ring/canary")).toBe(first);
    expect(failed.mock.calls.join()).toContain("can't write an event: 403");
  });

  test("when the hub does not answer", async () => {
    await hub.stop();
    await expect(rollouts()).rejects.toThrow(/^the context hub can't list .*ECONNREFUSED.*--context NAME/);
  });

  test("when there is no kubeconfig", async () => {
    vi.stubEnv("KUBECONFIG", "").stubEnv("HOME", repository.clone.folder);
    await expect(rollouts()).rejects.toThrow("there is no kubeconfig");
  });
});

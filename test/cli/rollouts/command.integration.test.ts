import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { run } from "../../../cli/rollouts/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { root } from "../support/fleet.ts";
import { FakeHub } from "./support/hub.ts";
import { Repository } from "./support/repository.ts";

const policy = `rings:
  - { name: canary, soak: 1h }
  - { name: rest, soak: 24h }
`;

/** A rule of a Role. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

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

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** What Flux and Crossplane make of a ring's commit: its spokes have had it for some minutes. */
function arrive(ring: string, commit: string, spokes: readonly string[], minutes = 0): void {
  const revision = `ring/${ring}@sha1:${commit}`;
  const labels = { "fleet.internal/ring": ring };
  const ready = { type: "Ready", status: "True" };
  const name = `gitops-system-ring-${ring}`;
  hub.put({
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository" },
    metadata: { name, namespace: "flux-system", labels, uid: `uid-of-${name}` },
    status: { artifact: { revision, lastUpdateTime: ago(minutes) }, conditions: [ready] },
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
  const healthySince = ago(minutes);
  for (const spoke of spokes)
    hub.put({
      ...{ apiVersion: "fleet.internal/v1alpha1", kind: "Spoke" },
      metadata: { name: spoke, namespace: "spokes" },
      spec: { ring },
      status: { phase: "Ready", conditions: [ready], rollout: { ring, revision, composition, healthySince } },
    });
}

const fail = (name: string, message = "tools fail") =>
  hub.change("Spoke", name, {
    status: { phase: "Failing", message, conditions: [{ type: "Ready", status: "False" }] },
  });

/** The fleet as it is when nothing has changed for long. */
async function atRest(): Promise<void> {
  await rollouts("--promote");
  arrive("canary", first, ["blue", "teal", "lime"], 10_000);
  await rollouts("--promote");
  arrive("rest", first, ["prod"], 10_000);
  await rollouts("--promote");
  hub.events.splice(0);
}

const change = () => repository.commit("Raise a tool", { "tools/dev/versions.yaml": "2" });

test("a change is handed on from ring to ring by the state of the hub, and events tell of it", async () => {
  await rollouts("--promote");
  expect([repository.at("ring/canary"), repository.at("ring/rest")]).toEqual([first, undefined]);
  expect(await output()).toMatch(
    /\nring\/rest does not exist, and the hub's Kustomization hub is not Ready before it does/,
  );
  arrive("canary", first, []);
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
  expect(await output()).toMatch(
    /canary +2 of 3 +\S+ Raise a tool +- +stopped: 1 of 3 spokes is unhealthy \(teal\): tools fail/,
  );
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
  expect(await rollouts()).toBe(1);
  expect(text).toContain("ring other is not in rings.yaml, so nothing reaches its spokes: lost, found");
  expect(text).toContain("the branch ring/old belongs to no ring of a rings.yaml in this repository");
});

test("branches of another fleet's rings are that fleet's matter", async () => {
  await atRest();
  repository.commit("Another fleet", { "clusters/other/rings.yaml": "rings: [{ name: theirs }]" });
  repository.git("push", "--quiet", "origin", `${first}:refs/heads/ring/theirs`);
  expect(await json()).toMatchObject({ problems: [], notes: [] });
});

test("the branch that the hub follows counts", async () => {
  const trunk = repository.commit("On a trunk", { "tools/x": "1" }, "trunk");
  hub.change("GitRepository", "gitops-system", { spec: { ref: { branch: "trunk" } } });
  await rollouts("--promote");
  expect(repository.at("ring/canary")).toBe(trunk);
});

test("a ring that does not get there is told of once, and is a failure of the job", async () => {
  await atRest();
  const second = change();
  await rollouts("--promote");
  arrive("canary", second, ["blue", "teal", "lime"], 5 * 60);
  hub.change("Spoke", "teal", { status: { phase: "Bootstrap", conditions: [{ type: "Ready", status: "False" }] } });
  for (const _ of [1, 2]) expect(await rollouts("--promote")).toBe(1);
  expect((await json()).rings[0].health).toMatchObject({ state: "arriving", isLate: true });
  expect(hub.events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    "Normal RolloutPromoted",
    "Warning RolloutLate",
  ]);
});

describe("no ring passes while the status of Spokes may be out of date", () => {
  const broken = (type: string) => ({ status: { conditions: [{ type, status: "False", message: "it says why" }] } });
  test.each([
    ["Deployment", "crossplane", "Available"],
    ["Function", "function-spoke", "Healthy"],
  ])("because of the %s %s", async (kind, name, type) => {
    await atRest();
    const second = change();
    await rollouts("--promote");
    arrive("canary", second, ["blue", "teal", "lime"], 60);
    hub.change(kind, name, broken(type));
    expect(await rollouts("--promote")).toBe(1);
    expect(repository.at("ring/rest")).toBe(first);
    expect((await json()).problems).toEqual([
      `the hub's Crossplane does not run: ${kind} ${name} is not ${type}: it says why. What Spokes say may be out of date, so no ring passes`,
    ]);
  });

  test("because it is not there", async () => {
    hub.objects.splice(0, hub.objects.length, ...hub.objects.filter(({ kind }) => kind !== "Function"));
    expect((await json()).problems[0]).toContain("there is no Function function-spoke");
  });
});

test("a paused spoke says so", async () => {
  await atRest();
  const synced = { type: "Synced", status: "False", reason: "ReconcilePaused", message: "by an annotation" };
  hub.change("Spoke", "teal", { status: { conditions: [{ type: "Ready", status: "True" }, synced] } });
  expect((await json()).rings[0].health.reason).toBe(
    "1 of 3 spokes is unhealthy (teal): Crossplane does not run its Composition (ReconcilePaused: by an annotation)",
  );
});

test("a spoke has the newest revision of its channel, or that which a person chose", async () => {
  await atRest();
  hub.put({
    ...{ apiVersion: "apiextensions.crossplane.io/v1", kind: "CompositionRevision" },
    metadata: {
      name: "for-dev-only",
      labels: { "crossplane.io/composition-name": "spoke-canary", "channel.fleet.internal/prod": "false" },
    },
    spec: { revision: 100 },
  });
  const ready = async (crossplane: object) => {
    for (const name of ["blue", "teal", "lime"]) hub.change("Spoke", name, { spec: { ring: "canary", crossplane } });
    return (await json()).rings[0].spokes.ready;
  };
  const selector = (value: string) => ({
    compositionRevisionSelector: { matchLabels: { "channel.fleet.internal/prod": value } },
  });
  expect(await ready({})).toBe(0);
  expect(await ready(selector("false"))).toBe(0);
  hub.change("CompositionRevision", `spoke-canary-${first.slice(0, 7)}`, {
    metadata: {
      name: `spoke-canary-${first.slice(0, 7)}`,
      labels: { "crossplane.io/composition-name": "spoke-canary", "channel.fleet.internal/prod": "true" },
    },
  });
  expect(await ready(selector("true"))).toBe(3);
  expect(await ready({ compositionUpdatePolicy: "Manual" })).toBe(3);
});

describe("what happens again is told again", () => {
  const told = (reason: string) => hub.events.filter((event) => event.reason === reason).length;

  test("when a ring stops for another reason, and not when only a duration differs", async () => {
    await atRest();
    const second = change();
    await rollouts("--promote");
    arrive("canary", second, ["blue", "teal", "lime"], 60);
    for (const [message, times] of [
      ["health check failed after 30.02s", 1],
      ["health check failed after 1m0.1s", 1],
      ["nodes fail", 2],
    ] as const) {
      fail("teal", message);
      await rollouts("--promote");
      expect(told("RolloutStopped")).toBe(times);
    }
  });

  test("when a ring takes the same commit once more", async () => {
    await atRest();
    const second = change();
    await rollouts("--promote");
    for (const times of [2, 3]) {
      repository.git("push", "--quiet", "--force", "origin", `${first}:refs/heads/ring/canary`);
      await rollouts("--promote");
      expect(repository.at("ring/canary")).toBe(second);
      expect(told("RolloutPromoted")).toBe(times);
    }
  });
});

test("a spoke that is being removed counts no more", async () => {
  await atRest();
  hub.change("Spoke", "blue", { metadata: { name: "blue", namespace: "spokes", deletionTimestamp: ago(1) } });
  expect((await json()).rings[0].spokes).toEqual({ ready: 2, total: 2 });
});

test("the rights in the guide are those that it takes, and no others", async () => {
  await rollouts("--promote");
  const guide = readFileSync(join(root, "docs", "guides", "rings.md"), "utf8");
  const [, manifests = ""] = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(guide) ?? [];
  const roles = parseAllDocuments(manifests)
    .map((document) => document.toJS())
    .filter(({ kind }) => /Role$/.test(kind));
  const allowed = roles.flatMap(({ metadata: { namespace }, rules }) =>
    rules.flatMap(({ apiGroups: [group], resources, resourceNames = [""], verbs }: Rule) =>
      verbs.flatMap((verb) =>
        resources.flatMap((plural) =>
          resourceNames.map((name) =>
            [verb, `${group}/${plural}`, name, ...(namespace === undefined ? [] : ["in", namespace])].join(" "),
          ),
        ),
      ),
    ),
  );
  expect([...hub.asked].sort()).toEqual(allowed.sort());
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
    await vi.waitUntil(() => repository.at("ring/canary") !== undefined, 30_000);
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
  });

  test("when the context's hub is another one, of another fleet or with another branch", async () => {
    await expect(rollouts("--promote", "--fleet", "other", "--branch", "trunk")).rejects.toThrow(
      "it is of the fleet fleet, not other and follows the branch main, not trunk",
    );
    expect(await rollouts("--fleet", "fleet", "--branch", "main")).toBe(0);
  });

  test("when the hub is that of a fleet which the repository does not have", async () => {
    hub.change("Kustomization", "hub", { spec: { path: "./clusters/prod" } });
    await expect(rollouts("--promote")).rejects.toThrow(
      /the hub applies clusters\/prod, which origin does not have on the branch main; it has the fleets fleet\./,
    );
    expect(repository.at("ring/canary")).toBeUndefined();
  });

  test("when the context is that of no hub", async () => {
    hub.objects.splice(0);
    await expect(rollouts("--promote")).rejects.toThrow(
      "the context hub is not that of a hub: its Kustomization flux-system/hub must apply clusters/<fleet>",
    );
  });

  test("when two fleets have a ring of the same name", async () => {
    repository.commit("Another fleet", { "clusters/other/rings.yaml": "rings: [{ name: rest }]" });
    await expect(rollouts()).rejects.toThrow(
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
    await expect(rollouts()).rejects.toThrow(/^the context hub can't get .*ECONNREFUSED.*--context NAME/);
  });

  test("when there is no kubeconfig", async () => {
    vi.stubEnv("KUBECONFIG", "").stubEnv("HOME", repository.clone.folder);
    await expect(rollouts()).rejects.toThrow("there is no kubeconfig");
  });
});

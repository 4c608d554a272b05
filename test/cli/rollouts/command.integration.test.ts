import { describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/rollouts/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import {
  ago,
  arrive,
  atRest,
  change,
  fail,
  failed,
  first,
  hub,
  json,
  output,
  policy,
  repository,
  rollouts,
  useScene,
} from "./support/scene.ts";

useScene();

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

test("a spoke that is being removed counts no more", async () => {
  await atRest();
  hub.change("Spoke", "blue", { metadata: { name: "blue", namespace: "spokes", deletionTimestamp: ago(1) } });
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
    expect(await wrong("--dry-run")).toContain("--dry-run: needs --promote");
    expect(await wrong("--promote", "--every", "soon")).toContain("--every: is not a duration");
    expect(await wrong("-o", "xml")).toContain("allowed: text, json, yaml");
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
    await expect(rollouts()).rejects.toThrow("has no clusters/fleet/rings.yaml: fleet new-ring makes the first ring");
  });

  test("when the hub refuses, by what it refuses", async () => {
    hub.forbidden.add("compositionrevisions");
    await expect(rollouts()).rejects.toThrow(
      /^the context hub can't list compositionrevisions.apiextensions.crossplane.io: 403 compositionrevisions is forbidden.*docs\/guides\/environments.md#rings has the rights/,
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

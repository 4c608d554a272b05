import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { root } from "../support/fleet.ts";
import { arrive, atRest, change, fail, first, hub, json, repository, rollouts, useScene } from "./support/scene.ts";

useScene();

/** A rule of a Role. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

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

test("the rights in the guide are those that it takes, and no others", async () => {
  await rollouts("--promote");
  const guide = readFileSync(join(root, "docs", "guides", "environments.md"), "utf8");
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

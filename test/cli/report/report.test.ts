import { describe, expect, test } from "vitest";
import { ago, app, commit, hubFacts, now, report, source, spoke, unready } from "./support.ts";

const failing = (message: string, minutes = 60) => ({ conditions: [unready(message, minutes)] });

describe("what is not well", () => {
  test("is nothing in a fleet where each spoke is Ready and each application well", () => {
    const made = report(hubFacts([spoke("blue")]), { blue: { objects: [app("shop", "b")] } });
    expect(made.attention).toEqual([]);
    expect(made.counts).toEqual({
      ...{ spokes: { ready: 1, total: 1 }, applications: { ready: 1, total: 1 } },
      ...{ failing: 0, unknown: 0, due: 0, working: 0 },
    });
  });

  test("has what fails first, then what was not reached, then what is on its way; the oldest first", () => {
    const made = report(
      hubFacts([
        spoke("amber", {}, { phase: "Nodes", message: "nodes: making", conditions: [unready("nodes", 5)] }),
        spoke("blue"),
        spoke("green"),
        spoke("red", {}, { phase: "Failing", message: "no capacity", conditions: [unready("no capacity", 20)] }),
      ]),
      { blue: { unreached: "i/o timeout" }, green: { objects: [app("shop", "b", failing("it fails", 90))] } },
    );
    expect(made.attention.map(({ state, what, since }) => [state, what, since])).toEqual([
      ["failing", "application shop on green", ago(90)],
      ["failing", "spoke red", ago(20)],
      ["unknown", "spoke blue", undefined],
      ["working", "spoke amber", ago(5)],
    ]);
    expect(made.counts).toMatchObject({ failing: 2, unknown: 1, working: 1 });
  });

  test("says whose an application is by the team of its namespace, else by the tenant", () => {
    const teams = [{ name: "shop-team", namespaces: ["shop"], members: [] }];
    const objects = [app("shop", "b", failing("a")), app("cart", "b", failing("b"))];
    const { attention } = report(hubFacts([spoke("blue", { teams })]), { blue: { objects } });
    expect(attention.map(({ what, owner }) => [what, owner])).toEqual([
      ["application cart on blue", "payments"],
      ["application shop on blue", "shop-team"],
    ]);
  });

  test("says which command tells more, and for a known failure what to do", () => {
    const objects = [app("shop", "b", failing("kustomization path not found: ./overlays/dev"))];
    const { attention } = report(hubFacts([spoke("blue")]), { blue: { objects } });
    expect(attention).toMatchObject([
      { command: "fleet why blue/shop", remedy: expect.stringContaining("correct the path, or push the folder") },
    ]);
  });

  test("names a source that the hub can't fetch, and Crossplane when it does not run", () => {
    const broken = source("gitops-system", "main", "a", { status: failing("authentication required") });
    const frozen = "the hub's Crossplane does not run: there is no Deployment crossplane";
    const { attention } = report(hubFacts([spoke("blue")], { sources: [broken], frozen }));
    expect(attention.map(({ what, owner }) => [what, owner])).toEqual([
      ["GitRepository gitops-system on the hub", "platform"],
      ["the hub", "platform"],
    ]);
  });

  test("counts a Spoke that Crossplane can't run as failing, though it says that it is Ready", () => {
    const synced = { type: "Synced", status: "False", reason: "ReconcileError", message: "cannot compose" };
    const blue = spoke("blue");
    const conditions = [...(blue.status?.conditions ?? []), synced];
    const { attention } = report(hubFacts([{ ...blue, status: { ...blue.status, conditions } }]));
    expect(attention).toMatchObject([
      { state: "failing", what: "spoke blue", says: expect.stringContaining("cannot compose") },
    ]);
  });

  test("names a sealing key that ends within thirty days, and no other one", () => {
    const key = (name: string, days: number, use = "seals") => ({
      ...{ name, scope: "dev", made: ago(60 * 24 * 300), ends: new Date(now + days * 86_400_000).toISOString(), use },
    });
    const keys = [key("soon", 20), key("over", -1), key("later", 40), key("old", 5, "only opens")];
    const { attention } = report(hubFacts([]), {}, keys);
    expect(attention.map(({ state, what, command }) => [state, what, command])).toEqual([
      ["failing", "over", "fleet rotate-key dev"],
      ["due", "soon", "fleet rotate-key dev"],
    ]);
  });
});

describe("what a commit has reached", () => {
  const early = (name: string, rollout: object, more: object = {}) =>
    spoke(name, { ring: "early" }, { rollout: { ring: "early", ...rollout }, ...more });
  const at = (digit: string) => `ring/early@sha1:${commit(digit)}`;

  test("is said of a ring with the spokes that have not its commit, and why", () => {
    const made = report(
      hubFacts(
        [
          early("blue", { revision: at("b") }),
          early(
            "green",
            { revision: at("a"), next: at("b") },
            { phase: "Failing", message: "no capacity", conditions: [unready("x")] },
          ),
          early("teal", { revision: at("a") }),
        ],
        { sources: [source("gitops-system-ring-early", "ring/early", "b")] },
      ),
    );
    expect(made.reach).toMatchObject([
      {
        ...{ kind: "ring", name: "early", offered: at("b"), since: ago(30) },
        link: "https://github.com/example/gitops-system",
        on: [
          { revision: at("b"), spokes: ["blue"] },
          { revision: at("a"), spokes: ["green", "teal"] },
        ],
        missing: [
          { spoke: "green", why: "no capacity" },
          { spoke: "teal", why: "Flux has not begun to bring it" },
        ],
      },
    ]);
  });

  test("is said of an application on all spokes that have it, with what keeps the newer one away", () => {
    const tried = { ...failing("health check failed"), lastAttemptedRevision: `main@sha1:${commit("c")}` };
    const made = report(hubFacts([spoke("blue"), spoke("green")]), {
      blue: { objects: [app("shop", "c")] },
      green: { objects: [app("shop", "b", tried)] },
    });
    expect(made.reach.find(({ kind }) => kind === "application")).toMatchObject({
      name: "shop",
      on: [
        { revision: `main@sha1:${commit("c")}`, spokes: ["blue"] },
        { revision: `main@sha1:${commit("b")}`, spokes: ["green"] },
      ],
      missing: [{ spoke: "green", why: "Kustomization shop: health check failed" }],
    });
  });
});

test("spokes stand by environment, ring and name, with their versions, costs and the console's address", () => {
  const made = report(
    hubFacts([
      spoke("b10", { environment: "prod", kubernetesVersion: "1.36" }),
      spoke("b2", { environment: "prod" }),
      spoke("z", { ring: "early" }),
    ]),
  );
  expect(made.spokes.map(({ name }) => name)).toEqual(["z", "b2", "b10"]);
  expect(made.spokes[2]).toMatchObject({ kubernetesVersion: "1.35", nextVersion: "1.36", applications: undefined });
  expect(made.spokes[0]?.month).toBeGreaterThan(73);
  expect(made.spokes[0]?.console).toBe(
    "https://eu-central-1.console.aws.amazon.com/eks/clusters/fleet-spoke-z?region=eu-central-1",
  );
  expect(made.costs.environments.map(({ name, clusters }) => [name, clusters])).toEqual([
    ["dev", 1],
    ["prod", 2],
  ]);
});

test("nothing that looks like a credential is in it, wherever a cluster says it", () => {
  const token = `ghp_${"a".repeat(36)}`;
  const said = [
    `fetch https://robot:hunter2@git.example.com/x failed`,
    `push with ${token} refused`,
    `GET https://host/x?X-Amz-Signature=0123456789abcdef&a=b`,
    `Authorization: Bearer abcdefghijklmnop`,
    `can't parse {"api_token": "fedcba9876543210", 'password':'a "quoted" c'}`,
    `password: correcthorse`,
    String.raw`the answer was "{\"client_secret\": \"batterystaple\", \"b\": 1}"`,
  ].join("\n");
  const broken = source("gitops-system", "main", "a", {
    spec: { url: "https://robot:hunter2@github.com/example/gitops-system" },
    status: { conditions: [unready(said)], artifact: { revision: `main@sha1:${commit("a")}` } },
  });
  const made = report(
    hubFacts([spoke("blue", {}, { phase: "Failing", message: said, conditions: [unready(said)] })], {
      ...{ sources: [broken], frozen: said, notSeen: [said] },
    }),
    { blue: { objects: [app("shop", "b", failing(said))] } },
  );
  const text = JSON.stringify(made);
  for (const secret of [
    "hunter2",
    token,
    "0123456789abcdef",
    "abcdefghijklmnop",
    "fedcba9876543210",
    "quoted",
    "correcthorse",
    "batterystaple",
  ])
    expect(text).not.toContain(secret);
  expect(text).toContain("https://git.example.com/x");
  expect(made.sources[0]?.link).toBe("https://github.com/example/gitops-system");
});

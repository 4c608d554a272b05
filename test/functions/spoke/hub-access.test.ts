import { describe, expect, it, test } from "vitest";
import type { HubAccessReason } from "../../../functions/spoke/api.ts";
import { decideHubAccess, type HubAccess, type HubAccessQuestion } from "../../../functions/spoke/hub-access.ts";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { settings, spoke } from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

const refusal = (attempt: string) => ({ attempt, message: `namespaces is forbidden: ${attempt}` });
const was = (reason: HubAccessReason, ...attempts: string[]): HubAccess => ({ reason, refused: attempts.map(refusal) });

/** A spoke in its everyday state, with changes. */
const question = (change: Partial<HubAccessQuestion> = {}): HubAccessQuestion => ({
  removing: false,
  narrowed: true,
  ready: true,
  attempts: undefined,
  refused: [],
  before: was("Narrow"),
  ...change,
});
const working = { ready: false, attempts: ["a", "b"] } as const;

test.for<[string, Partial<HubAccessQuestion>, HubAccess]>([
  ["a new spoke", { ...working, narrowed: false, before: undefined }, was("Bootstrap")],
  ["a chain that is not ready yet", { ...working, before: was("Bootstrap") }, was("Bootstrap")],
  [
    "a refusal before the policy works everywhere",
    { ...working, before: was("Bootstrap"), refused: [refusal("a")] },
    was("Bootstrap"),
  ],
  ["a chain that is ready for the first time", { before: was("Bootstrap") }, was("Narrow")],
  ["a chain without the step that narrows", { narrowed: false, before: was("Bootstrap") }, was("Bootstrap")],
  ["a ready spoke of a rebuilt hub", { before: undefined }, was("Narrow")],
  ["everyday", {}, was("Narrow")],
  ["a change that needs no more", working, was("Narrow")],
  ["a change that fails for another reason", { ...working, refused: [] }, was("Narrow")],
  ["a change that is refused", { ...working, refused: [refusal("a")] }, was("ChangeRefused", "a")],
  ["the refused change under way", { ...working, before: was("ChangeRefused", "a") }, was("ChangeRefused", "a")],
  [
    "one more object that is refused",
    { ...working, before: was("ChangeRefused", "a"), refused: [refusal("b")] },
    was("ChangeRefused", "a", "b"),
  ],
  ["the refused change done", { before: was("ChangeRefused", "a") }, was("Narrow", "a")],
  [
    "the same refused again",
    { ...working, before: was("Narrow", "a"), refused: [refusal("a")] },
    was("RoleTooNarrow", "a"),
  ],
  ["what is always refused, done", { before: was("RoleTooNarrow", "a") }, was("RoleTooNarrow", "a")],
  [
    "what is always refused, gone from Git before anybody saw the chain unready",
    { attempts: ["c"], before: was("RoleTooNarrow", "a") },
    was("Narrow"),
  ],
  [
    "what is always refused, under way again",
    { ...working, before: was("RoleTooNarrow", "a") },
    was("RoleTooNarrow", "a"),
  ],
  [
    "what was always refused, changed",
    { ready: false, attempts: ["c"], before: was("RoleTooNarrow", "a") },
    was("ChangeRefused"),
  ],
  [
    "another change after one that was refused",
    { ready: false, attempts: ["c"], before: was("Narrow", "a"), refused: [refusal("c")] },
    was("ChangeRefused", "c"),
  ],
  ["a removal", { removing: true }, was("Removal")],
  ["a removal of what never was ready", { ...working, narrowed: false, removing: true }, was("Removal")],
  ["a removal that was called off", { before: was("Removal") }, was("Narrow")],
  ["a removal that was called off half way", { ...working, before: was("Removal") }, was("Bootstrap")],
])("%s: the decision is made once and stays while nothing changes", ([, change, expected]) => {
  const decision = decideHubAccess(question(change));
  expect(decision).toEqual(expected);
  // The same state again: the refusals are gone as soon as there are rights.
  const again = decideHubAccess(question({ ...change, refused: [], before: decision }));
  expect(again).toEqual(decision);
});

test("what nothing in the chain covers gets rights once more and then keeps them, instead of losing them without end", () => {
  let before: HubAccess = was("Narrow");
  const seen: HubAccessReason[] = [];
  for (let interval = 0; interval < 4; interval += 1) {
    const refused = before.reason === "Narrow" ? [refusal("a")] : [];
    for (const change of [{ ...working, refused }, {}]) {
      before = decideHubAccess(question({ ...change, before }));
      seen.push(before.reason);
    }
  }
  expect(seen).toEqual(["ChangeRefused", "Narrow", ...Array<string>(6).fill("RoleTooNarrow")]);
});

const forbidden =
  'Namespace/more dry-run failed (Forbidden): namespaces "more" is forbidden: User "arn:aws:sts::000000000000:assumed-role/' +
  'fleet-hub-kustomize-controller/1763" cannot patch resource "namespaces" in API group "" at the cluster scope';

/** A step of the chain in the status that Flux gives it. */
const step = (message: string, target = "spoke"): KubeObject => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: {
    name: "blue-base",
    generation: 2,
    labels: { "fleet.internal/cluster": "blue", "fleet.internal/target": target },
  },
  status: {
    conditions: [{ type: "Ready", status: "False", reason: "ReconciliationFailed", message }],
    lastAttemptedRevision: "main@sha1:b",
  },
});

/** The chain at a new commit: Flux works on it, and ended the one before well. */
function underWay(world: World): void {
  world.report("bootstrap", (status) => ({
    ...status,
    conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing" }],
    history: [{ lastReconciledStatus: "ReconciliationSucceeded" }],
  }));
}

const policies = (world: World) => [...world.live.keys()].filter((key) => key.startsWith("access-policy-")).sort();
const both = ["access-policy-helm-controller", "access-policy-kustomize-controller"];

describe("Flux on the hub", () => {
  it("administers a spoke until its chain is ready, and the Spoke says so", () => {
    const world = new World(spoke());
    world.report("bootstrap", (status) => ({ ...status, conditions: [] })).settle();
    expect(policies(world)).toEqual(both);
    expect(world.condition("HubAccessNarrow")).toMatchObject({ status: "False", reason: "Bootstrap" });
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(policies(world)).toEqual([]);
    expect(world.condition("HubAccessNarrow")).toMatchObject({ status: "True", reason: "Narrow" });
  });

  it("goes on administering a spoke whose chain in Git has no rights for it yet, or whose access entries hand over no group", () => {
    for (const [key, report] of [
      ["bootstrap", (status: object) => ({ ...status, inventory: { entries: [] } })],
      ["access-entry-helm-controller", (status: object) => ({ ...status, atProvider: { kubernetesGroups: [] } })],
    ] as const) {
      const world = new World(spoke());
      world.report(key, report);
      expect(world.settle().ready).toBe(true);
      expect(policies(world), key).toEqual(both);
      world.reports.clear();
      expect(world.settle().ready).toBe(true);
      expect(policies(world), key).toEqual([]);
    }
  });

  it.each(["configMap", "secret"])(
    "gets its rights back for a change that is refused, until the chain is ready: %s",
    (kubeConfig) => {
      const world = settled(spoke(), { settings: settings({ kubeConfig }) });
      const wanted = kubeConfig === "secret" ? ["access-policy-crossplane-eks"] : both;
      expect(policies(world)).toEqual([]);
      underWay(world);
      world.chain = [step(forbidden)];
      const [key = ""] = wanted;
      world.report(key, () => ({ conditions: [{ type: "Ready", status: "False", reason: "Creating" }] }));
      // Neither the refusal nor the policy that is being made speaks against the spoke.
      expect(world.settle()).toMatchObject({ ready: true, ttl: 15, status: { phase: "Ready" } });
      expect(policies(world)).toEqual(wanted);
      const said = world.condition("HubAccessNarrow");
      expect(said).toMatchObject({ status: "False", reason: "ChangeRefused" });
      expect(said?.message).toContain(
        "Kustomization blue-base (generation 2, main@sha1:b): Namespace/more dry-run failed",
      );
      world.reports.clear();
      const { status, ...done } = step(forbidden);
      world.chain = [{ ...done, status: { ...(status as object), conditions: [{ type: "Ready", status: "True" }] } }];
      expect(world.settle().ready).toBe(true);
      expect(policies(world)).toEqual([]);
      expect(at(world.spoke.status, "hubAccess", "refused")).toHaveLength(1);
    },
  );

  it("takes a refusal for a new one as long as Crossplane has written the status, but not the condition", () => {
    const world = settled(spoke());
    underWay(world);
    world.step();
    world.chain = [step(forbidden)];
    const former = world.spoke.status?.conditions ?? [];
    world.step();
    expect(world.condition("HubAccessNarrow")?.reason).toBe("ChangeRefused");
    world.spoke = { ...world.spoke, status: { ...world.spoke.status, conditions: former } };
    world.step();
    expect(world.condition("HubAccessNarrow")?.reason).toBe("ChangeRefused");
  });

  it("keeps its rights while a step that was refused tries again, though the chain still counts as ready", () => {
    const world = settled(spoke());
    underWay(world);
    world.chain = [step(forbidden)];
    world.settle();
    expect(world.condition("HubAccessNarrow")?.reason).toBe("ChangeRefused");
    // The chain is read as long as its revision has not been looked at in full.
    world.report("bootstrap", (status) => ({ ...status, lastAppliedRevision: "main@sha1:b" }));
    const { status, ...trying } = step(forbidden);
    const conditions = [{ type: "Ready", status: "Unknown", reason: "Progressing" }];
    world.chain = [{ ...trying, status: { ...(status as object), conditions } }];
    world.settle();
    expect(world.condition("HubAccessNarrow")?.reason).toBe("ChangeRefused");
    world.chain = [{ ...trying, status: { ...(status as object), conditions: [{ type: "Ready", status: "True" }] } }];
    world.settle();
    expect(world.condition("HubAccessNarrow")?.reason).toBe("Narrow");
  });

  it.each([
    [
      "an admission policy's denial",
      step("namespaces \"more\" is forbidden: ValidatingAdmissionPolicy 'x' denied request: no"),
    ],
    ["a quota", step('pods "x" is forbidden: exceeded quota: y')],
    ["a failing health check", step("health check failed after 2m0s")],
    ["a refusal on the hub", step(forbidden, "hub")],
  ])("gets no rights because of %s: that is the spoke's own failure", (_name, object) => {
    const world = settled(spoke());
    underWay(world);
    world.chain = [object];
    expect(world.settle().ready).toBe(false);
    expect(policies(world)).toEqual([]);
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False" });
  });

  it.each([
    'roles.rbac.authorization.k8s.io "x" is forbidden: user "arn" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n{}',
    'spec.paramRef: Forbidden: user &{arn} must have "get" permission on all objects of the referenced paramKind',
    'spec.paramRef: Forbidden: user list does not have "&{arn [g]}" permission on the object referenced by paramRef',
    'Helm upgrade failed: secrets is forbidden: User "arn" cannot create resource "secrets" in API group "" in the namespace "x"',
  ])("gets its rights back whatever way the API server refuses a right: %s", (message) => {
    const world = settled(spoke());
    underWay(world);
    world.chain = [step(message)];
    world.settle();
    expect(policies(world)).toEqual(both);
  });

  it("gets its rights back for a step that was taken out of the chain, until what that made is gone, once for each revision", () => {
    const world = new World(spoke());
    const applied = (lastAppliedRevision: string) =>
      world.report("bootstrap", (status) => ({ ...status, lastAppliedRevision }));
    applied("main@sha1:a");
    world.settle();
    expect(policies(world)).toEqual([]);
    const { metadata, ...rest } = step("Helm uninstall failed: failed to delete release: x");
    world.chain = [{ ...rest, metadata: { ...metadata, uid: "uid-1", deletionTimestamp: "2026-01-01T00:00:00Z" } }];
    applied("main@sha1:b");
    expect(world.settle()).toMatchObject({ ready: true, ttl: 15 });
    expect(policies(world)).toEqual(both);
    expect(world.condition("HubAccessNarrow")?.message).toContain("it was taken out of the chain");
    world.chain = [];
    expect(world.settle()).toMatchObject({ ready: true, ttl: 300 });
    expect(policies(world)).toEqual([]);
    expect(world.spoke.status?.hubAccess).toMatchObject({ revision: "main@sha1:b" });
  });

  it("keeps its rights until a refused step was applied, also while Flux still calls the chain ready", () => {
    const world = new World(spoke());
    const applied = (lastAppliedRevision: string) =>
      world.report("bootstrap", (status) => ({ ...status, lastAppliedRevision }));
    applied("main@sha1:a");
    world.settle();
    world.chain = [step(forbidden)];
    applied("main@sha1:b");
    world.settle();
    expect(world.condition("HubAccessNarrow")).toMatchObject({ status: "False", reason: "ChangeRefused" });
    expect(policies(world)).toEqual(both);
    world.chain = [];
    world.settle();
    expect(world.condition("HubAccessNarrow")).toMatchObject({ status: "True", reason: "Narrow" });
    expect(policies(world)).toEqual([]);
  });

  it("takes up what changes in the Composition also without the policy", () => {
    const world = settled(spoke());
    world.settings = settings({ stages: { dev: { gitRepository: "gitops-system-dev" } } });
    world.step();
    expect(at(world.object("bootstrap").spec, "sourceRef", "name")).toBe("gitops-system-dev");
  });

  it("is reported when AWS does not give it the policy", () => {
    const world = settled(spoke());
    underWay(world);
    world.chain = [step(forbidden)];
    const message = "AccessDeniedException: not authorized to perform: eks:AssociateAccessPolicy";
    world.report(both[0] ?? "", () => ({ conditions: [{ type: "Synced", status: "False", message }] }));
    expect(world.settle().ready).toBe(false);
    expect(world.condition("IdentitiesReady")).toMatchObject({ status: "False", reason: "AccessDenied" });
  });

  it("administers a spoke again while it is taken down, until the chain is gone, before its access entries go", () => {
    const world = settled(spoke());
    world.removed.length = 0;
    world.stuck.add("bootstrap");
    world.delete().settle();
    expect(policies(world)).toEqual(both);
    expect(world.condition("HubAccessNarrow")).toMatchObject({ status: "False", reason: "Removal" });
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
    const order = ["bootstrap", ...both, "access-entry-helm-controller"].map((key) => world.removed.indexOf(key));
    expect(order[0]).toBe(0);
    expect(Math.min(...order.slice(1, 3))).toBeGreaterThan(0);
    expect(order[3]).toBeGreaterThan(Math.max(...order.slice(1, 3)));
  });
});

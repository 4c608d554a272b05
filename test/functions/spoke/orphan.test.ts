import { describe, expect, test } from "vitest";
import { managedKinds } from "../../../functions/spoke/kinds.ts";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { settings, spoke } from "./support/fixtures.ts";
import { hubAdmin, running, settled, World } from "./support/world.ts";

/** Kinds whose unset fields stay unset: the provider may not copy values from AWS to their specification. */
const staysUnset = (kind: string) => ["Addon", "Cluster", "DefaultSecurityGroup"].includes(kind);
const withoutDelete = (kind: string) => [
  ...["Observe", "Create", "Update"],
  ...(staysUnset(kind) ? [] : ["LateInitialize"]),
];
const letGo = { deletionPolicy: "Orphan" };

const everything = (kind: string) => (staysUnset(kind) ? ["Observe", "Create", "Update", "Delete"] : undefined);

/** Managed resources whose management policies aren't those that are expected of their kind. */
const others = (world: World, expected: (kind: string) => readonly string[] | undefined): string[] =>
  [...world.live].flatMap(([key, { object }]) => {
    if (!(object.kind in managedKinds)) return [];
    const policies = at(object.spec, "managementPolicies");
    return JSON.stringify(policies) === JSON.stringify(expected(object.kind)) ? [] : [`${key}: ${String(policies)}`];
  });

const patches = (world: World): string => JSON.stringify(at(world.object("bootstrap").spec, "patches") ?? []);

/** A spoke that runs, and that the fleet then lets go. */
function released(change: Record<string, unknown> = {}): World {
  const world = running(spoke(change));
  world.change(letGo).settle();
  return world;
}

describe("a Spoke that the fleet lets go", () => {
  test("tells Crossplane to delete nothing in AWS, and Flux nothing on the cluster", () => {
    const world = released();
    expect(others(world, withoutDelete)).toEqual([]);
    expect(patches(world)).toContain('\\"path\\":\\"/spec/deletionPolicy\\",\\"value\\":\\"Orphan\\"');
    expect(patches(world)).toContain("/spec/suspend");
    expect(world.answer?.status.deletionPolicy).toBe("Orphan");
    expect(world.answer?.ready).toBe(true);
  });

  test("says so when everything would outlive it, and not before", () => {
    const world = running(spoke());
    world.change(letGo);
    expect(world.step().status.deletionPolicy).toBeUndefined();
    world.report("bootstrap", (status) => ({ ...status, conditions: [{ type: "Ready", status: "False" }] })).step();
    world.step();
    expect(world.answer?.status.deletionPolicy).toBeUndefined();
    world.reports.clear();
    world.settle();
    expect(world.answer?.status.deletionPolicy).toBe("Orphan");
  });

  test("can be kept after all: everything is deleted with it again", () => {
    const world = released();
    world.change({ deletionPolicy: "Delete" }).settle();
    expect(others(world, everything)).toEqual([]);
    expect(patches(world)).toBe("[]");
    expect(world.answer?.status.deletionPolicy).toBeUndefined();
  });

  test.each([false, true])(
    "goes, in order, when it is deleted; the protection stays on its cluster: %s",
    (protection) => {
      const world = released({ deletionProtection: protection });
      const protectedBefore = world.forProvider("cluster")["deletionProtection"];
      world.delete();
      const wanted = new Set<string>();
      while (!world.gone) {
        const answer = world.step();
        for (const [key, { manifest }] of answer.wanted) {
          wanted.add(key);
          if (manifest.kind in managedKinds)
            expect(at(manifest.spec, "managementPolicies"), key).toEqual(withoutDelete(manifest.kind));
        }
        expect(answer.status.deletionPolicy).toBe("Orphan");
        expect(answer.status.message).toMatch(/^letting go of .*everything in AWS stays|^everything is removed/);
      }
      expect(protectedBefore).toBe(protection);
      expect(world.live.size).toBe(0);
      for (const key of hubAdmin) expect(wanted).not.toContain(key);
    },
  );

  test.each([false, true])(
    "leaves everything also when that is taken back while it goes, since a part of it has gone; protected: %s",
    (protection) => {
      const world = released({ deletionProtection: protection });
      world.delete().step();
      world.change({ deletionPolicy: "Delete" });
      // A step that can't be read says nothing of what becomes of it.
      world.report("bootstrap", (status) => ({ ...status, conditions: [{ type: "Ready", status: "False" }] }));
      for (let step = 0; step < 60 && !world.gone; step += 1) {
        const answer = world.step();
        for (const [key, { manifest }] of answer.wanted)
          if (manifest.kind in managedKinds)
            expect(at(manifest.spec, "managementPolicies"), key).toEqual(withoutDelete(manifest.kind));
        expect(answer.status.deletionPolicy).toBe("Orphan");
      }
      expect(world.live.size).toBe(0);
    },
  );

  test("does not go by a deletion that its protection held back before it was to be let go", () => {
    const world = running(spoke({ deletionProtection: true }));
    world.delete().step();
    world.change(letGo).settle();
    expect(world.gone).toBe(false);
    expect(world.answer?.status.deletionPolicy).toBe("Orphan");
    expect(world.condition("Deleting")).toMatchObject({ status: "False", reason: "Protected" });
    world.change({ deletionPolicy: "Delete" }).settle();
    expect(others(world, everything)).toEqual([]);
    world.change(letGo).settle();
    // Withdrawn, and asked for again.
    world.spoke = { ...world.spoke, metadata: { ...world.spoke.metadata, annotations: {} } };
    world.settle();
    world.delete().settle();
    expect(world.gone).toBe(true);
  });

  test("keeps its management policies also on what can't be composed for a moment", () => {
    const world = released();
    world.report("vpc", (status) => ({ ...status, atProvider: {} })).settle();
    expect(others(world, withoutDelete)).toEqual([]);
  });

  test("keeps access entries, which would only be found again", () => {
    const world = released();
    world.report("access-entry-helm-controller", (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), createdAt: "2026-01-01T00:00:00Z" },
    }));
    world.hub = { ...world.hub, hubRolesCreated: "2026-02-01T00:00:00Z" };
    world.settle();
    expect(world.removed).not.toContain("access-entry-helm-controller");
  });

  test("keeps both patches of its releases in the kubeconfig variant", () => {
    const world = new World(spoke(letGo), { settings: settings({ kubeConfig: "secret" }) });
    world.change({ deletionPolicy: "Delete" }).settle();
    world.change(letGo).settle();
    const ofReleases = (at(world.object("bootstrap").spec, "patches") as { patch: string }[])
      .map(({ patch }) => JSON.parse(patch)[0])
      .filter(({ path }) => path === "/spec/patches");
    expect(ofReleases).toHaveLength(1);
    expect(ofReleases[0].value.map(({ patch }: { patch: string }) => JSON.parse(patch)[0].path)).toEqual([
      "/spec/kubeConfig",
      "/spec/suspend",
    ]);
  });

  test("is not made when it comes like that: what is there would be made a second time", () => {
    const world = settled(spoke(letGo));
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "Released" });
    // An existing Spoke takes no spec.existing.
    expect(world.condition("SpecAccepted")?.message).toContain(
      "wait until this Spoke is gone, then put the folder back",
    );
    world.delete().settle();
    expect(world.gone).toBe(true);
  });
});

test.each(["configMap", "secret"])(
  "the hub's rights to everything don't stay on a Spoke that is let go (kubeConfig: %s)",
  (kubeConfig) => {
    const world = new World(spoke(), { settings: settings({ kubeConfig }) });
    // A chain without rights of its own for Flux on the hub, which therefore keeps those to everything.
    world.report("bootstrap", (status) => ({ ...status, inventory: { entries: [] } })).settle();
    world.change(letGo).settle();
    const rights = kubeConfig === "secret" ? ["access-policy-crossplane-eks"] : hubAdmin;
    for (const key of rights) expect(at(world.object(key).spec, "managementPolicies"), key).toBeUndefined();
    expect(world.answer?.status.deletionPolicy).toBe("Orphan");
    world.reports.clear();
    world.settle();
    for (const key of rights) expect(world.removed).toContain(key);
  },
);

describe("a Spoke of whose name there is a cluster in another VPC", () => {
  const elsewhere = (status: Record<string, unknown>) => {
    const atProvider = status["atProvider"] as Record<string, object>;
    return { ...status, atProvider: { ...atProvider, vpcConfig: { ...atProvider["vpcConfig"], vpcId: "vpc-other" } } };
  };
  const refused = (change: Record<string, unknown> = {}): World => {
    const world = new World(spoke(change));
    world.report("cluster", elsewhere).settle();
    return world;
  };

  test("takes no further part of it over, says so, and has nothing deleted", () => {
    const world = refused();
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "ClusterExists" });
    expect(world.condition("SpecAccepted")?.message).toContain(
      "an EKS cluster fleet-spoke-blue exists in vpc-other, and the VPC of this Spoke is vpc-vpc",
    );
    expect(others(world, withoutDelete)).toEqual([]);
    const kinds = new Set([...world.live.values()].map(({ object }) => object.kind));
    for (const kind of ["NodeGroup", "Addon", "OpenIDConnectProvider", "AccessEntry", "Kustomization"])
      expect(kinds).not.toContain(kind);
  });

  test("leaves all of it when it is removed, also what goes after the cluster", () => {
    for (const world of [refused(), new World(spoke())]) {
      world.report("cluster", elsewhere);
      // Also when it is removed in the moment in which the cluster is found.
      for (let step = 0; step < 60 && !world.live.has("cluster"); step += 1) world.step();
      world.delete();
      const before = new Map<string, KubeObject>();
      for (let step = 0; step < 60 && !world.gone; step += 1) {
        for (const [key, { object }] of world.live) if (object.kind in managedKinds) before.set(key, object);
        const gone = world.removed.length;
        world.step();
        for (const key of world.removed.slice(gone)) {
          const { kind, spec } = before.get(key) ?? {};
          if (kind !== undefined) expect(at(spec, "managementPolicies"), key).toEqual(withoutDelete(kind));
        }
      }
      expect(world.gone).toBe(true);
      expect(before.has("role-cluster") && before.has("logs")).toBe(true);
    }
  });

  test("can be let go, so that the cluster can be taken in", () => {
    const world = refused({ deletionProtection: true });
    expect(world.answer?.status.deletionPolicy).toBeUndefined();
    world.change(letGo).settle();
    expect(world.answer?.status.deletionPolicy).toBe("Orphan");
  });

  test("is like any other when the cluster is in its own VPC", () => {
    const world = new World(spoke());
    world.report("cluster", (status) => {
      const atProvider = status["atProvider"] as Record<string, object>;
      return { ...status, atProvider: { ...atProvider, vpcConfig: { ...atProvider["vpcConfig"], vpcId: "vpc-vpc" } } };
    });
    expect(world.settle().ready).toBe(true);
  });
});

import { describe, expect, test } from "vitest";
import { crdName, type Kind } from "../../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";
import { resolved } from "../../../crossplane/provider-aws/references.ts";
import { FakeCluster, FakeService, things } from "./fakes.ts";

const cluster = new FakeCluster();
const owners = things(new FakeService().handler("assigned"), { kind: "Owner" });
const owner = (name: string, status: object) => {
  cluster.add(owners, name, { forProvider: {} });
  cluster.change(owners, name, { status });
};
owner("a", { atProvider: { id: "id-a" } });
owner("new", {});

const kind = { ...owners, fields: { owner: { ref: "test/Owner" }, plain: {} } } satisfies Kind;

const resolve = (forProvider: Record<string, unknown>) =>
  resolved(cluster.objects, kind, {
    metadata: { name: "one", namespace: "spokes" },
    spec: { forProvider },
  } as unknown as Managed);

describe("a reference", () => {
  test("gives the id of what it names, in the object's own namespace or in another", async () => {
    expect(await resolve({ ownerRef: { name: "a" } })).toEqual({ owner: "id-a" });
    expect(await resolve({ ownerRef: { name: "a", namespace: "spokes" } })).toEqual({ owner: "id-a" });
  });

  test("leaves a value alone that is there, and inputs that take none", async () => {
    expect(await resolve({ owner: "mine", ownerRef: { name: "a" } })).toBeUndefined();
    expect(await resolve({ plainRef: { name: "a" } })).toBeUndefined();
  });

  test.each([
    [{ name: "zzz" }, "there is no test/Owner spokes/zzz"],
    [{ name: "a", namespace: "other" }, "there is no test/Owner other/a"],
    [{ name: "new" }, "test/Owner spokes/new has no status.atProvider.id yet"],
  ])("says what is missing: %j", async (ownerRef, message) => {
    await expect(resolve({ ownerRef })).rejects.toThrow(
      `cannot resolve references: spec.forProvider.owner: ${message}`,
    );
  });
});

test("every kind that another refers to is served", () => {
  const served = allKinds.map(({ group, kind: name }) => `${group}/${name}`);
  const named = allKinds.flatMap(({ fields }) => Object.values(fields).flatMap(({ ref }) => ref ?? []));
  expect(named).not.toEqual([]);
  expect(named.filter((name) => !served.includes(name))).toEqual([]);
  expect(allKinds.map(crdName)).toContain("roles.iam.aws.m.upbound.io");
});

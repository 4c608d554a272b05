import { describe, expect, test } from "vitest";
import type { Fields } from "../../../aws/define/fields.ts";
import { crdName, crdOf } from "../../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";
import { resolveReferences } from "../../../crossplane/provider-aws/references.ts";
import { FakeCluster, FakeService, things } from "./fakes.ts";

const cluster = new FakeCluster();
const owners = things(new FakeService().handler("assigned"), { kind: "Owner" });
const owner = (name: string, status: object, metadata: object = {}) => {
  cluster.add(owners, name, { forProvider: {} }, { ...metadata });
  cluster.change(owners, name, { status });
};
owner(
  "a",
  { atProvider: { arn: "arn:a", status: "ACTIVE" } },
  {
    annotations: { "crossplane.io/external-name": "id-a" },
  },
);
owner(
  "b",
  { atProvider: { arn: "arn:b", status: "CREATING" } },
  {
    annotations: { "crossplane.io/external-name": "id-b" },
  },
);
owner("new", {});

const fields: Fields = {
  id: { ref: { to: "test/Owner" } },
  arn: { ref: { to: "test/Owner", observed: "arn" } },
  active: { ref: { to: "test/Owner", active: true } },
  groups: { type: "set", ref: { to: "test/Owner" } },
  block: { type: { block: { inner: { type: { block: { id: { ref: { to: "test/Owner" } } } } } } } },
};

const resolver = { objects: cluster.objects, crdOf: () => crdName(owners) };

function resolve(forProvider: Record<string, unknown>, metadata: object = {}) {
  const managed = {
    metadata: { name: "one", namespace: "spokes", ...metadata },
    spec: { forProvider },
  } as unknown as Managed;
  return resolveReferences(resolver, fields, managed);
}

describe("references", () => {
  test.each([
    ["id", "id-a"],
    ["arn", "arn:a"],
    ["active", "id-a"],
  ])("%s takes what its kind of reference takes", async (name, value) => {
    expect(await resolve({ [`${name}Ref`]: { name: "a" } })).toEqual({
      forProvider: { [name]: value },
    });
  });

  test("in lists and in blocks are resolved too", async () => {
    expect(await resolve({ groupRefs: [{ name: "a" }, { name: "b" }] })).toMatchObject({
      forProvider: { groups: ["id-a", "id-b"] },
    });
    expect(await resolve({ block: { inner: { idRef: { name: "b" } } } })).toEqual({
      forProvider: { block: { inner: { id: "id-b", idRef: { name: "b" } } } },
    });
  });

  test("leave a value alone that is there", async () => {
    expect(await resolve({ id: "mine", idRef: { name: "a" } })).toBeUndefined();
  });

  test.each([
    [{ idRef: { name: "zzz" } }, "spec.forProvider.id: there is no test/Owner spokes/zzz"],
    [{ arnRef: { name: "new" } }, "spec.forProvider.arn: test/Owner spokes/new has no status.atProvider.arn yet"],
    [{ activeRef: { name: "b" } }, "spec.forProvider.active: test/Owner spokes/b has no status ACTIVE yet"],
  ])("say what is missing: %j", async (forProvider, message) => {
    await expect(resolve(forProvider)).rejects.toThrow(message);
  });
});

test("every kind that another refers to is served", () => {
  const served = allKinds.map(crdName);
  const used = [...JSON.stringify(allKinds.map(({ fields }) => fields)).matchAll(/"to":"([^"]+)"/g)];
  expect(used.map(([, to]) => crdOf(to as string)).filter((crd) => !served.includes(crd))).toEqual([]);
});

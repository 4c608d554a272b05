import { describe, expect, test } from "vitest";
import type { Fields } from "../../../crossplane/provider-aws/fields.ts";
import { crdName } from "../../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds/index.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";
import { crdOf, plurals } from "../../../crossplane/provider-aws/plurals.ts";
import { resolveReferences } from "../../../crossplane/provider-aws/references.ts";
import { FakeCluster, FakeService, things } from "./fakes.ts";

const cluster = new FakeCluster();
const owners = things(new FakeService().handler("assigned"), { kind: "Owner", plural: "owners" });
const controller = (uid: string) => ({
  ownerReferences: [{ apiVersion: "v1", kind: "XR", name: uid, uid, controller: true }],
});
const owner = (name: string, status: object, metadata: object = {}) => {
  cluster.add(owners, name, { forProvider: { cidr: `cidr-${name}` } }, { ...metadata });
  cluster.change(owners, name, { status });
};
owner(
  "a",
  { atProvider: { arn: "arn:a", status: "ACTIVE" } },
  {
    labels: { team: "x" },
    annotations: { "crossplane.io/external-name": "id-a" },
    ...controller("xr-1"),
  },
);
owner(
  "b",
  { atProvider: { arn: "arn:b", status: "CREATING" } },
  {
    labels: { team: "x" },
    annotations: { "crossplane.io/external-name": "id-b" },
    ...controller("xr-2"),
  },
);
owner("new", {}, { labels: { team: "new" } });

const fields: Fields = {
  id: { type: "string", reference: { to: "test/Owner" } },
  arn: { type: "string", reference: { to: "test/Owner", value: { observed: "arn" } } },
  active: { type: "string", reference: { to: "test/Owner", value: "external-name-if-active" } },
  cidr: { type: "string", reference: { to: "test/Owner", value: { wanted: "cidr" } } },
  groups: { type: "set", reference: { to: "test/Owner" } },
  block: { block: { items: { blocks: { id: { type: "string", reference: { to: "test/Owner" } } } } } },
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
    ["cidr", "cidr-a"],
  ])("%s takes what its kind of reference takes", async (name, value) => {
    expect(await resolve({ [`${name}Ref`]: { name: "a" } })).toEqual({
      forProvider: { [name]: value },
    });
  });

  test("in lists and in blocks are resolved too", async () => {
    expect(await resolve({ groupRefs: [{ name: "a" }, { name: "b" }] })).toMatchObject({
      forProvider: { groups: ["id-a", "id-b"] },
    });
    expect(await resolve({ block: { items: [{ idRef: { name: "b" } }, { id: "kept" }] } })).toMatchObject({
      forProvider: { block: { items: [{ id: "id-b" }, { id: "kept" }] } },
    });
  });

  test("leave a value alone that is there, unless they are to be resolved always", async () => {
    expect(await resolve({ id: "mine", idRef: { name: "a" } })).toBeUndefined();
    expect(await resolve({ id: "old", idRef: { name: "a", policy: { resolve: "Always" } } })).toMatchObject({
      forProvider: { id: "id-a" },
    });
  });

  test.each([
    [{ idRef: { name: "zzz" } }, "spec.forProvider.id: there is no test/Owner spokes/zzz"],
    [{ arnRef: { name: "new" } }, "spec.forProvider.arn: test/Owner spokes/new has no status.atProvider.arn yet"],
    [{ activeRef: { name: "b" } }, "spec.forProvider.active: test/Owner spokes/b has no status ACTIVE yet"],
    [
      { idSelector: { matchLabels: { team: "none" } } },
      'no test/Owner in namespace spokes matches the selector {"matchLabels":{"team":"none"}}',
    ],
  ])("say what is missing: %j", async (forProvider, message) => {
    await expect(resolve(forProvider)).rejects.toThrow(message);
  });

  test("that are optional may stay unresolved", async () => {
    expect(await resolve({ idRef: { name: "zzz", policy: { resolution: "Optional" } } })).toBeUndefined();
  });
});

describe("selectors", () => {
  test("find by label, and write down whom they found", async () => {
    expect(await resolve({ idSelector: { matchLabels: { team: "x" } } })).toEqual({
      forProvider: { id: "id-a", idRef: { name: "a" } },
    });
    expect(await resolve({ groupSelector: { matchLabels: { team: "x" } } })).toEqual({
      forProvider: { groups: ["id-a", "id-b"], groupRefs: [{ name: "a" }, { name: "b" }] },
    });
  });

  test("find those of the same composite resource", async () => {
    expect(await resolve({ idSelector: { matchControllerRef: true } }, controller("xr-2"))).toMatchObject({
      forProvider: { id: "id-b" },
    });
    await expect(resolve({ idSelector: { matchControllerRef: true } })).rejects.toThrow("matches the selector");
  });
});

test("every kind that another refers to is known by its plural", () => {
  const known = Object.fromEntries(allKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind]));
  for (const [to, plural] of Object.entries(plurals)) expect(known[to]?.plural, to).toBe(plural);
  const used = [...JSON.stringify(allKinds.map(({ spec }) => spec)).matchAll(/"to":"([^"]+)"/g)].map(
    ([, to]) => to as string,
  );
  for (const to of used) expect(crdOf(to)).toBe(crdName(known[to] as never));
});

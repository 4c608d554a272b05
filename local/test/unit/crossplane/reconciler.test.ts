import { beforeEach, describe, expect, test } from "vitest";
import { callSettings } from "../../../aws/call-settings.ts";
import { sameSet } from "../../../aws/compare.ts";
import { out } from "../../../aws/define/fields.ts";
import type { Kind } from "../../../crossplane/provider-aws/kind.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";
import { conditionsOf, FakeCluster, FakeService, pass, settle, things } from "./fakes.ts";

let cluster: FakeCluster;
let service: FakeService;
/** Of the object `one`. */
let kind: Kind;

beforeEach(() => {
  cluster = new FakeCluster();
  service = new FakeService();
  kind = things(service.handler("assigned"));
});

const add = (spec: Partial<Managed["spec"]>, metadata?: object) => cluster.add(kind, "one", spec, { ...metadata });
const object = () => cluster.get(kind, "one");
const change = (patch: object) => cluster.change(kind, "one", { ...patch });
const remove = () => cluster.delete(kind, "one");
const run = (signal?: AbortSignal) => pass(cluster, kind, "one", signal);
const settled = () => settle(cluster, kind, "one");
/** Passes of a new object until it is up to date or waits, and the first of them alone. */
const made = (...of: Parameters<typeof add>) => {
  add(...of);
  return settled();
};
const begun = (...of: Parameters<typeof add>) => {
  add(...of);
  return run();
};
const conditions = () => conditionsOf(cluster, kind, "one");

const awsError = (code: string, message: string) => Object.assign(new Error(message), { name: code });

describe("a new object", () => {
  test("becomes a resource: id in the external name, state in atProvider, Synced and Ready", async () => {
    expect(await made({ forProvider: { region: "us-east-1", size: 3, tags: { team: "a" } } })).toBe("poll");
    const one = object();
    expect(one?.metadata.annotations).toMatchObject({ "crossplane.io/external-name": "thing-1" });
    expect(one?.metadata.finalizers).toEqual(["finalizer.managedresource.crossplane.io"]);
    expect(one?.status?.atProvider).toMatchObject({ id: "thing-1", arn: "arn:thing-1", size: 3, region: "us-east-1" });
    expect(conditions()).toEqual({ Ready: "True Available", Synced: "True ReconcileSuccess" });
    expect(cluster.events).toEqual(["Normal CreatedExternalResource one"]);
    expect(cluster.usages).toContain("one");
  });

  test("gets upjet's tags beside its own", async () => {
    await made({ forProvider: { region: "us-east-1", tags: { team: "a" } } });
    const tags = {
      team: "a",
      "crossplane-kind": "thing.test.aws.m.upbound.io",
      "crossplane-name": "one",
      "crossplane-providerconfig": "default",
    };
    expect(service.things.get("thing-1")?.["tagsAll"]).toEqual(tags);
    expect(object()?.spec.forProvider["tags"]).toEqual(tags);
  });

  test("is named like the object where the name is the id, unless an external name is given", async () => {
    kind = things(service.handler("name"), { named: "name" });
    add({});
    cluster.add(kind, "two", {}, { annotations: { "crossplane.io/external-name": "other" } });
    await settled();
    await settle(cluster, kind, "two");
    expect([...service.things.keys()]).toEqual(["one", "other"]);
  });

  test("takes over what exists under its external name, and makes no second one", async () => {
    service.things.set("thing-77", { name: "x", size: 1 });
    expect(await made({}, { annotations: { "crossplane.io/external-name": "thing-77" } })).toBe("poll");
    expect([...service.things.keys()]).toEqual(["thing-77"]);
  });
});

describe("errors of AWS", () => {
  test("stand in the condition Synced with their code, and the object recovers when they are over", async () => {
    kind = things(service.handler("assigned"), { asynchronous: true });
    service.failures.set("create", awsError("AccessDenied", "User: role is not authorized to perform: test:Create"));
    expect(await begun({})).toBe("retry");
    const message = "create failed: AccessDenied: User: role is not authorized to perform: test:Create";
    expect(conditions()).toEqual({
      LastAsyncOperation: `False AsyncCreateFailure: ${message}`,
      Ready: "False Creating",
      Synced: `False ReconcileError: ${message}`,
    });
    expect(await settled()).toBe("poll");
    expect(conditions()["Synced"]).toBe("True ReconcileSuccess");
  });

  test("of a resource that was made, but did not become usable, lose no id: it is not made again, and counts as Ready, as upstream has it", async () => {
    kind = things(service.handler("assigned", { ready: () => Promise.reject(new Error("it is FAILING")) }));
    service.failures.set("wait", new Error("gave up waiting"));
    add({});
    expect(await run(), "upjet observes it 5 ms later").toBe("again");
    expect(cluster.events).toEqual([]);
    expect(conditions()).toMatchObject({
      Ready: "False Creating",
      Synced: "False ReconcileError: create failed: gave up waiting",
    });
    expect(await run()).toBe("poll");
    expect(conditions()).toMatchObject({
      Ready: "True Available",
      Synced: "True ReconcileSuccess",
    });
    expect(service.things.size).toBe(1);
  });

  test.each(["CREATING", "CREATE_FAILED"])(
    "what AWS has with the status %s counts as Ready too, as upstream has it, and the status is reported",
    async (status) => {
      kind = things(service.handler("assigned", { failed: ["CREATE_FAILED"] }), {}, { status: out() });
      await made({});
      Object.assign(service.things.get("thing-1") as object, { status });
      expect(await run()).toBe("poll");
      expect(conditions()["Ready"]).toBe("True Available");
      expect(object()?.status?.atProvider).toMatchObject({ status });
    },
  );

  test("a ProviderConfig that is missing is named", async () => {
    add({ forProvider: { owner: "x" } });
    const { objects } = cluster;
    Object.assign(objects, {
      trackUsage: () => Promise.reject(new Error("cannot get the ClusterProviderConfig default: it does not exist")),
    });
    expect(await run()).toBe("retry");
    expect(conditions()["Synced"]).toMatch(/connect failed: cannot get the ClusterProviderConfig default/);
  });
});

describe("an existing resource", () => {
  test("is put back when somebody changed it beside Crossplane", async () => {
    await made({ forProvider: { size: 3, options: { a: "x" } } });
    Object.assign(service.things.get("thing-1") as object, { size: 5, options: { a: "y", b: "AWS's own" } });
    expect(await settled()).toBe("poll");
    expect(service.things.get("thing-1")).toMatchObject({ size: 3, options: { a: "x" } });
    expect(cluster.events).toContain("Normal UpdatedExternalResource one");
  });

  test("is made again when somebody deleted it", async () => {
    await made({});
    service.things.clear();
    expect(await settled()).toBe("poll");
    expect([...service.things.keys()]).toEqual(["thing-2"]);
    expect(object()?.metadata.annotations?.["crossplane.io/external-name"]).toBe("thing-2");
  });

  test("is left alone by what AWS fills in, completes or orders", async () => {
    kind = things(service.handler("assigned", { compare: { items: sameSet } }));
    const managementPolicies = ["Observe", "Create", "Update", "Delete"] as const;
    const forProvider = { options: { a: "x" }, item: [{ key: "k" }, { key: "l" }] };
    await made({ managementPolicies, forProvider });
    Object.assign(service.things.get("thing-1") as object, {
      color: "green",
      options: { a: "x", b: "AWS's own" },
      items: [
        { key: "l", value: "AWS's own" },
        { key: "k", value: "" },
      ],
    });
    service.calls.length = 0;
    expect(await run()).toBe("poll");
    expect(service.calls).toEqual(["read thing-1"]);
  });

  test("is not touched by a change that would need another resource; the condition says which", async () => {
    await made({ forProvider: { owner: "a" } });
    change({ spec: { forProvider: { owner: "b" } } });
    expect(await run()).toBe("poll");
    const { Ready, Synced } = conditions();
    expect(Ready).toBe("True Available");
    expect(Synced).toMatch(/refuse to update the external resource.*requires replacing it: owner/);
    expect(service.things.get("thing-1")?.["owner"]).toBe("a");
  });

  test("keeps what only initProvider said, whatever becomes of it later", async () => {
    await made({
      managementPolicies: ["Observe", "Create", "Update", "Delete"],
      initProvider: { size: 2, options: { b: "init" } },
      forProvider: { options: { a: "x" } },
    });
    expect(service.things.get("thing-1")).toMatchObject({ size: 2, options: { a: "x", b: "init" } });
    Object.assign(service.things.get("thing-1") as object, { size: 7 });
    expect(await run()).toBe("poll");
    expect(service.things.get("thing-1")?.["size"]).toBe(7);
  });

  test("restores what only initProvider said inside a block, as provider-upjet-aws does up to 2.7.0 (crossplane/upjet#728)", async () => {
    await made({ initProvider: { options: { b: "init" } }, forProvider: { options: { a: "x" } } });
    Object.assign(service.things.get("thing-1") as object, { options: { a: "x", b: "scaled" } });
    await settled();
    expect(service.things.get("thing-1")?.["options"]).toEqual({ a: "x", b: "init" });
  });

  test("is named by the id that a change has given it", async () => {
    kind = things(
      service.handler("assigned", {
        update: async (_aws, id, { new: inputs }) => {
          service.things.set("thing-moved", { ...inputs, name: String(inputs["name"]) });
          service.things.delete(id);
          await callSettings().made?.("thing-moved");
        },
      }),
    );
    await made({ forProvider: { size: 1 } });
    change({ spec: { forProvider: { size: 2 } } });
    expect(await settled()).toBe("poll");
    expect(object()?.metadata.annotations?.["crossplane.io/external-name"]).toBe("thing-moved");
    expect([...service.things.keys()]).toEqual(["thing-moved"]);
  });

  test("publishes its connection details in the Secret that the object names", async () => {
    kind = things(service.handler("assigned"), { connection: ({ arn }) => ({ arn: String(arn) }) });
    await made({ writeConnectionSecretToRef: { name: "conn" } });
    expect(cluster.secrets.get("spokes/conn")).toEqual({ arn: "arn:thing-1" });
  });
});

describe("deletion", () => {
  test("removes the resource, then the finalizer", async () => {
    await made({});
    remove();
    expect(await run()).toBe("wait");
    expect(service.things.size).toBe(0);
    expect(object()).toBeUndefined();
  });

  test("that AWS refuses says why and is tried again", async () => {
    await made({});
    remove();
    service.failures.set("delete", awsError("DependencyViolation", "it has dependencies"));
    expect(await run()).toBe("retry");
    expect(conditions()).toEqual({
      Ready: "False Deleting",
      Synced: "False ReconcileError: delete failed: DependencyViolation: it has dependencies",
    });
    expect(await run()).toBe("wait");
    expect(object()).toBeUndefined();
  });

  test("waits for other controllers' finalizers before it touches the resource", async () => {
    await made({});
    const finalizers = object()?.metadata.finalizers ?? [];
    change({ metadata: { finalizers: [...finalizers, "other"] } });
    remove();
    expect(await run()).toBe("wait");
    expect(service.things.size).toBe(1);
    change({ metadata: { finalizers } });
    await run();
    expect(service.things.size).toBe(0);
  });

  test("waits for the end of one that a killed controller began", async () => {
    kind = things(service.handler("assigned", { read: async () => null, ready: async () => {} }));
    add(
      {},
      {
        annotations: { "crossplane.io/external-name": "thing-5" },
        finalizers: ["finalizer.managedresource.crossplane.io"],
      },
    );
    remove();
    await run();
    expect(service.calls).toContain("delete thing-5");
    expect(object()).toBeUndefined();
  });
});

describe("management policies and pauses", () => {
  test("Observe alone changes nothing, and says when there is nothing to observe", async () => {
    service.things.set("thing-9", { name: "x", size: 4 });
    expect(
      await made(
        { managementPolicies: ["Observe"], forProvider: { size: 1 } },
        { annotations: { "crossplane.io/external-name": "thing-9" } },
      ),
    ).toBe("poll");
    expect(object()?.status?.atProvider).toMatchObject({ size: 4 });
    service.things.clear();
    expect(await run()).toBe("retry");
    expect(conditions()["Synced"]).toMatch(/external resource does not exist/);
    expect(service.calls.filter((call) => !call.startsWith("read"))).toEqual([]);
  });

  test("without Delete the resource outlives its object", async () => {
    await made({ managementPolicies: ["Observe", "Create", "Update"] });
    remove();
    await run();
    expect(object()).toBeUndefined();
    expect(service.things.size).toBe(1);
  });

  test.each([
    [["Observe", "Create", "Update"], "given"],
    [["Observe", "Create", "Update", "LateInitialize"], "thing-1"],
    [["*"], "thing-1"],
  ] as const)("%j call what was made by the external name %s, as upstream has it", async (policies, name) => {
    const read = async () => service.things.get("thing-1") ?? null;
    kind = things(service.handler("assigned", { read }));
    const annotations = { "crossplane.io/external-name": "given" };
    expect(await made({ managementPolicies: policies }, { annotations })).toBe("poll");
    expect(object()?.metadata.annotations).toMatchObject({ "crossplane.io/external-name": name });
    expect(service.things.size).toBe(1);
  });

  test.each([
    ["the annotation", { annotations: { "crossplane.io/paused": "true" } }, {}],
    ["no management policy", {}, { managementPolicies: [] }],
  ])("%s pauses everything", async (_name, metadata, spec) => {
    expect(await begun(spec, metadata)).toBe("wait");
    expect(conditions()["Synced"]).toMatch(/^False ReconcilePaused/);
    expect(service.calls).toEqual([]);
  });

  test("policies without Observe are a mistake that is named", async () => {
    expect(await begun({ managementPolicies: ["Create"] })).toBe("wait");
    expect(conditions()["Synced"]).toMatch(/\[Create\] is not supported/);
  });
});

describe("a controller that was killed while it made a resource", () => {
  const time = "2026-01-01T00:00:00.000Z";
  const pending = { "crossplane.io/external-create-pending": time };
  const annotations = () => object()?.metadata.annotations;

  test("keeps no ID of what AWS made, and makes it once more: upjet has the ID in memory alone", async () => {
    const ends = new AbortController();
    const handler = service.handler("assigned");
    kind = things({
      ...handler,
      create: async (...of) => {
        const id = await handler.create(...of);
        ends.abort();
        return id;
      },
    });
    add({});
    await run(ends.signal);
    expect(annotations()).not.toHaveProperty("crossplane.io/external-name");
    expect(await settle(cluster, things(handler), "one")).toBe("poll");
    expect([...service.things.keys()]).toEqual(["thing-1", "thing-2"]);
    expect(annotations()).toMatchObject({ "crossplane.io/external-name": "thing-2" });
  });

  test("finds what has the name that the object gives it, and makes no second one", async () => {
    kind = things(service.handler("name"), { named: "name" });
    service.things.set("one", { name: "one", size: 1 });
    const ended = { ...pending, "crossplane.io/external-create-succeeded": time };
    expect(await made({ forProvider: { size: 1 } }, { annotations: ended })).toBe("poll");
    expect([...service.things.keys()]).toEqual(["one"]);
  });

  test.each([
    ["assigned", {}],
    ["name", { named: "name" }],
  ] as const)(
    "before Crossplane knew that the creation runs: a person has to say how it ended, whoever gives the name (%s)",
    async (naming, traits) => {
      kind = things(service.handler(naming), traits);
      const finalizers = ["finalizer.managedresource.crossplane.io"];
      expect(await begun({}, { annotations: pending, finalizers })).toBe("wait");
      expect(conditions()).toMatchObject({
        Ready: "False Creating",
        Synced: expect.stringMatching(
          /^False ReconcileError: cannot determine creation result - remove the crossplane.io\/external-create-pending annotation/,
        ),
      });
      remove();
      expect(await run()).toBe("wait");
      expect(object()?.metadata.finalizers).toEqual(finalizers);
      expect(service.things.size).toBe(0);
    },
  );

  test("goes on when a person says that the creation ended, with the ID where there is one", async () => {
    service.things.set("thing-9", { name: "x", size: 1 });
    const said = { "crossplane.io/external-create-succeeded": "2026-01-01T00:10:00Z" };
    add({}, { annotations: { ...pending, ...said, "crossplane.io/external-name": "thing-9" } });
    cluster.add(kind, "two", {}, { annotations: { ...pending, ...said } });
    expect(await settled()).toBe("poll");
    expect([...service.things.keys()]).toEqual(["thing-9"]);
    expect(await settle(cluster, kind, "two")).toBe("poll");
    expect(service.things.size).toBe(2);
  });
});

test("nothing is made from a specification that changed meanwhile", async () => {
  add({});
  const stale = object();
  change({ spec: { forProvider: { size: 2 } } });
  const changed = object();
  cluster.store.set("things.test.aws.m.upbound.io/spokes/one", stale as never);
  const running = run();
  cluster.store.set("things.test.aws.m.upbound.io/spokes/one", changed as never);
  expect(await running).toBe("again");
  expect(service.things.size).toBe(0);
});

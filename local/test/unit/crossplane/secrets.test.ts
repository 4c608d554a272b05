import { describe, expect, test } from "vitest";
import { managedCrd } from "../../../crossplane/provider-aws/crds.ts";
import type { Kind } from "../../../crossplane/provider-aws/kind.ts";
import type { Schema } from "../../../crossplane/provider-aws/schema.ts";
import { conditionsOf, FakeCluster, FakeService, pass, settle, things } from "./fakes.ts";

const password = { unread: true, secret: { generate: "autoGeneratePassword" } } as const;

function serve() {
  const service = new FakeService();
  const kind = things(
    service.handler("assigned", { unread: ["password"], inputs: ["name", "size", "password"] }),
    { connection: ({ password: known }) => ({ password: String(known) }) },
    { password },
  );
  return { service, kind, cluster: new FakeCluster() };
}
const reference = { passwordSecretRef: { name: "main", key: "password" } };
const order = (cluster: FakeCluster, kind: Kind, forProvider: object) =>
  cluster.add(kind, "main", { forProvider: forProvider as never, writeConnectionSecretToRef: { name: "connection" } });

describe("an input that stands in a Secret", () => {
  test("is made up where the specification asks for it, kept in that Secret, and handed on to whoever connects", async () => {
    const { service, kind, cluster } = serve();
    order(cluster, kind, { ...reference, autoGeneratePassword: true });
    await settle(cluster, kind, "main");
    const made = cluster.secrets.get("spokes/main")?.["password"];
    expect(made).toMatch(/^[0-9a-f]{40}$/);
    expect([...service.things.values()][0]?.["password"]).toBe(made);
    expect(cluster.secrets.get("spokes/connection")).toEqual({ password: made });
    // A second run makes up no other.
    await settle(cluster, kind, "main");
    expect(cluster.secrets.get("spokes/main")).toEqual({ password: made });
  });

  test("is taken as it is where the Secret has it", async () => {
    const { service, kind, cluster } = serve();
    cluster.secrets.set("spokes/main", { password: "known", other: "kept" });
    order(cluster, kind, { ...reference, autoGeneratePassword: true });
    await settle(cluster, kind, "main");
    expect([...service.things.values()][0]?.["password"]).toBe("known");
    expect(cluster.secrets.get("spokes/main")).toEqual({ password: "known", other: "kept" });
  });

  test("is waited for where nobody brings it", async () => {
    const { service, kind, cluster } = serve();
    order(cluster, kind, reference);
    await pass(cluster, kind, "main");
    expect(service.things.size).toBe(0);
    expect(conditionsOf(cluster, kind, "main")["Synced"]).toContain("the Secret spokes/main has no key password");
  });

  test("is given to AWS anew when it becomes another, and not when the program has forgotten what it was", async () => {
    const { service, kind, cluster } = serve();
    order(cluster, kind, { ...reference, autoGeneratePassword: true });
    await settle(cluster, kind, "main");
    const first = cluster.secrets.get("spokes/main")?.["password"];
    // Somebody removes the Secret: another password is made up.
    cluster.secrets.delete("spokes/main");
    await settle(cluster, kind, "main");
    const second = cluster.secrets.get("spokes/main")?.["password"];
    expect(second).not.toBe(first);
    expect([...service.things.values()][0]?.["password"]).toBe(second);
    expect(cluster.secrets.get("spokes/connection")).toEqual({ password: second });
    expect(service.calls.filter((call) => call.startsWith("update"))).toHaveLength(1);
    cluster.known.clear();
    cluster.secrets.set("spokes/main", { password: "third" });
    await settle(cluster, kind, "main");
    expect([...service.things.values()][0]?.["password"]).toBe(second);
  });

  test("stands in no status, and in the definition as a reference", async () => {
    const { kind, cluster } = serve();
    order(cluster, kind, { ...reference, autoGeneratePassword: true });
    await settle(cluster, kind, "main");
    expect(JSON.stringify(cluster.get(kind, "main"))).not.toContain(cluster.secrets.get("spokes/main")?.["password"]);
    const schema = managedCrd(kind).spec.versions[0]?.schema.openAPIV3Schema as Schema;
    const fields = (...path: string[]) =>
      Object.keys(path.reduce((inner, name) => inner.properties?.[name] as Schema, schema).properties ?? {});
    expect(fields("spec", "forProvider")).toEqual(
      expect.arrayContaining(["passwordSecretRef", "autoGeneratePassword"]),
    );
    expect(fields("spec", "initProvider")).not.toContain("autoGeneratePassword");
    for (const place of [fields("spec", "forProvider"), fields("status", "atProvider")])
      expect(place).not.toContain("password");
  });
});

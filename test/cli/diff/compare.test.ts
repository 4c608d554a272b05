import { describe, expect, test } from "vitest";
import { compare } from "../../../cli/diff/compare.ts";
import { type Item, itemId } from "../../../cli/diff/state.ts";
import type { Manifest } from "../../../cli/render/files.ts";

const item = (manifest: Manifest, more: Partial<Item> = {}): Item => ({
  id: itemId("blue", manifest),
  manifest,
  on: "blue",
  by: "Kustomization flux-system/tools",
  steps: [],
  ...more,
});

const object = (apiVersion: string, kind: string, rest: object = {}, name = "one"): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "apps" },
  ...rest,
});

const operation = (before: Manifest, after: Manifest) =>
  compare([item(before)], [item(after)]).map((change) => [change.operation, change.stateful, change.because]);

const aws = (group: string, kind: string, forProvider: object, more: object = {}): Manifest =>
  object(`${group}.aws.m.upbound.io/v1beta1`, kind, { spec: { forProvider, ...more } });

describe("the comparison of a cluster's objects", () => {
  test("knows what is created, changed and deleted", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => object("v1", "ConfigMap", { data: { key: "1" } }, name)) as [
      Manifest,
      Manifest,
      Manifest,
    ];
    const other = object("v1", "ConfigMap", { data: { key: "2" } }, "b");
    const changes = compare([item(a), item(b)], [item(other), item(c)]);
    expect(changes.map((change) => `${change.operation} ${change.name}`)).toEqual([
      "deleted a",
      "changed b",
      "created c",
    ]);
    expect(changes[1]?.diff).toContain('+  key: "2"');
  });

  test("sees no change in the order of members, in a status, or in where a file lies", () => {
    const before = object("v1", "ConfigMap", { data: { a: "1", b: "2" }, status: { seen: 1 } });
    const metadata = {
      namespace: "apps",
      name: "one",
      annotations: { "config.kubernetes.io/origin": "path: elsewhere.yaml\n" },
    };
    expect(operation(before, { ...object("v1", "ConfigMap", { data: { b: "2", a: "1" } }), metadata })).toEqual([]);
  });

  test("takes another version of an API for a change, not for another object", () => {
    const [before, after] = ["v1beta1", "v1"].map((version) => object(`example.org/${version}`, "Thing")) as [
      Manifest,
      Manifest,
    ];
    expect(operation(before, after)).toEqual([["changed", false, undefined]]);
  });

  test.each([
    [
      "a network with other addresses",
      aws("ec2", "VPC", { cidrBlock: "10.0.0.0/16" }),
      aws("ec2", "VPC", { cidrBlock: "10.1.0.0/16" }),
      true,
      "spec.forProvider.cidrBlock",
    ],
    [
      "a table with another key",
      aws("dynamodb", "Table", { hashKey: "id" }),
      aws("dynamodb", "Table", { hashKey: "key" }),
      true,
      "spec.forProvider.hashKey",
    ],
    [
      "nodes of another type",
      aws("eks", "NodeGroup", { instanceTypes: ["a"] }),
      aws("eks", "NodeGroup", { instanceTypes: ["b"] }),
      false,
      "spec.forProvider.instanceTypes",
    ],
    [
      "a bucket in another region",
      aws("s3", "Bucket", { region: "eu-west-1" }),
      aws("s3", "Bucket", { region: "us-east-1" }),
      true,
      "spec.forProvider.region",
    ],
    [
      "a queue in another account",
      aws("sqs", "Queue", {}, { providerConfigRef: { name: "a" } }),
      aws("sqs", "Queue", {}, { providerConfigRef: { name: "b" } }),
      true,
      "spec.providerConfigRef",
    ],
    [
      "a claim of another storage class",
      object("v1", "PersistentVolumeClaim", { spec: { storageClassName: "a" } }),
      object("v1", "PersistentVolumeClaim", { spec: { storageClassName: "b" } }),
      true,
      "spec.storageClassName",
    ],
  ])("calls %s a replacement", (_name, before, after, stateful, field) => {
    expect(operation(before, after)).toEqual([["replaced", stateful, [field]]]);
  });

  test.each([
    ["tags of a key", aws("kms", "Key", { tags: { a: "1" } }), aws("kms", "Key", { tags: { a: "2" } }), true],
    [
      "more nodes",
      aws("eks", "NodeGroup", { instanceTypes: ["a"], scalingConfig: { maxSize: 1 } }),
      aws("eks", "NodeGroup", { instanceTypes: ["a"], scalingConfig: { maxSize: 2 } }),
      false,
    ],
    [
      "a field that is no longer set",
      aws("eks", "NodeGroup", { capacityType: "SPOT", tags: {} }),
      aws("eks", "NodeGroup", { tags: {} }),
      false,
    ],
  ])("calls %s a change", (_name, before, after, stateful) => {
    expect(operation(before, after)).toEqual([["changed", stateful, undefined]]);
  });

  test("calls a composed resource under another name a replacement", () => {
    const composed = (name: string) => {
      const manifest = object("ec2.aws.m.upbound.io/v1beta1", "VPC", {}, name);
      return item(manifest, { id: itemId("hub", manifest), key: "vpc", by: "the Composition", on: "hub" });
    };
    const changes = compare([composed("blue-vpc")], [composed("blue-network")]);
    expect(changes).toMatchObject([
      { operation: "replaced", name: "blue-network", stateful: true, because: ["metadata.name"] },
    ]);
  });

  test("names what keeps data and is lost before everything else", () => {
    const before = [
      aws("kms", "Key", {}),
      object("v1", "ConfigMap"),
      object("apps/v1", "StatefulSet", { spec: { serviceName: "a" } }),
    ];
    const after = [object("apps/v1", "StatefulSet", { spec: { serviceName: "b" } })];
    const changes = compare(
      before.map((each) => item(each)),
      after.map((each) => item(each)),
    );
    expect(changes.map((change) => `${change.operation} ${change.kind}`)).toEqual([
      "deleted Key",
      "replaced StatefulSet",
      "deleted ConfigMap",
    ]);
  });

  test("shows no value of a Secret, only which one is another", () => {
    const secret = (password: string) =>
      object("v1", "Secret", { data: { password, user: "dXNlcg==" }, stringData: { token: "tok-1" } });
    const [change] = compare([item(secret("b2xk"))], [item(secret("bmV3"))]);
    const text = change?.diff?.join("\n") ?? "";
    expect(text).toContain("+  password: (not shown, another value)");
    for (const value of ["b2xk", "bmV3", "dXNlcg", "tok-1"]) expect(text).not.toContain(value);
  });

  test("shows the values of the bridge, which holds no secret", () => {
    const secret = (value: string) => {
      const metadata = { name: "cluster-blue", namespace: "spokes", labels: { "fleet.internal/role": "spoke" } };
      const data = { charts_registry: Buffer.from(value).toString("base64") };
      return item({ apiVersion: "v1", kind: "Secret", metadata, data }, { by: "the Composition" });
    };
    const [change] = compare([secret("https://old.example.com")], [secret("https://new.example.com")]);
    expect(change?.diff).toContain("+  charts_registry: https://new.example.com");
  });
});

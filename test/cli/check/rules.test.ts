import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { Definitions } from "../../../cli/check/definitions.ts";
import { unpinned } from "../../../cli/check/rules/pinned.ts";
import { temporaryFolder } from "../../support/temporary.ts";

describe("an image", () => {
  test.each([
    ...["a:1.2.3", "a:6.9.2-alpine", `a@sha256:${"0".repeat(64)}`, "host:5000/a:v1"],
    `a:latest@sha256:${"0".repeat(64)}`,
  ])("%s is pinned", (reference) => expect(unpinned(reference)).toBeUndefined());

  test.each([
    ["a", "has neither a tag nor a digest"],
    ["host:5000/a", "has neither a tag nor a digest"],
    ["a:latest", "has the moving tag latest"],
    ...["latest", "stable", "main", "master", "edge", "nightly"].map((tag) => [
      `a:${tag}`,
      `has the moving tag ${tag}`,
    ]),
  ])("%s is not: it %s", (reference = "", why) => expect(unpinned(reference)).toBe(why));
});

const things = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Thing", plural: "things" },
    versions: [
      {
        name: "v1",
        served: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer" },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

describe("a definition", () => {
  const definitions = new Definitions();
  definitions.add(things);
  const thing = (spec: object, metadata: object = {}) =>
    definitions.schemaErrors({
      apiVersion: "example.com/v1",
      kind: "Thing",
      metadata: { name: "a", ...metadata },
      spec,
    });

  test("lets pass what it describes, and what it leaves open", () => {
    expect(thing({ size: 1, free: { anything: true } }, { labels: { a: "b" } })).toEqual([]);
  });

  test.each([
    [{ size: "1" }, {}, 'spec.size must be integer; got "1"'],
    [{}, {}, "spec lacks size"],
    [{ size: 1, colour: "red" }, {}, "spec has the field colour, which its definition does not have"],
    [{ size: 1 }, { labels: { a: 1 } }, "metadata.labels.a must be string; got 1"],
  ])("refuses %j %j: %s", (spec, metadata, problem) => {
    expect(thing(spec, metadata)?.map(({ problem }) => problem)).toEqual([problem]);
  });

  test("says nothing of a kind that it does not know", () => {
    expect(
      definitions.schemaErrors({ apiVersion: "example.com/v1", kind: "Other", metadata: { name: "a" } }),
    ).toBeUndefined();
  });
});

describe("definitions in files", () => {
  const folder = temporaryFolder("fleet-definitions");
  const read = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return new Definitions([join(folder, name)]);
  };
  const wrong = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: {} };

  test.each([
    ["one of a controller's source", stringify(things)],
    ["what kubectl get crds -o yaml prints", stringify({ apiVersion: "v1", kind: "List", items: [things] })],
  ])("are read: %s", (_, text) => {
    expect(
      read("things.yaml", text)
        .schemaErrors(wrong)
        ?.map(({ problem }) => problem),
    ).toEqual(["spec lacks size"]);
  });

  test("are the cluster's where several are given: the last path wins, and a list over single ones in a folder", () => {
    const named = (field: string) => stringify(things).replaceAll("size", field);
    const list = (field: string) => stringify({ apiVersion: "v1", kind: "List", items: [parse(named(field))] });
    const write = (path: string, content: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    write("pinned/a.yaml", named("old"));
    write("pinned/b.yaml", named("pinned"));
    write("cluster.yaml", list("cluster"));
    write("both/a-cluster.yaml", list("cluster"));
    write("both/b.yaml", named("pinned"));
    const lacks = (...paths: string[]) =>
      new Definitions(paths.map((path) => join(folder, path))).schemaErrors(wrong)?.map(({ problem }) => problem);
    expect(lacks("pinned")).toEqual(["spec lacks pinned"]);
    expect(lacks("pinned", "cluster.yaml")).toEqual(["spec lacks cluster"]);
    expect(lacks("cluster.yaml", "pinned")).toEqual(["spec lacks pinned"]);
    expect(lacks("both")).toEqual(["spec lacks cluster"]);
    const own = new Definitions([join(folder, "pinned")]);
    own.add(parse(named("own")));
    expect(own.schemaErrors(wrong)?.map(({ problem }) => problem)).toEqual(["spec lacks own"]);
  });

  test("are read: what kubectl get --raw /openapi/v3/apis/… prints", () => {
    const schemas = {
      Size: { type: "object", properties: { min: { type: "integer" } } },
      Thing: {
        type: "object",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          metadata: { type: "object" },
          spec: { allOf: [{ $ref: "#/components/schemas/Size" }], default: {} },
        },
        "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Thing" }],
      },
    };
    const definitions = read("things.json", JSON.stringify({ openapi: "3.0.0", components: { schemas } }));
    expect(definitions.schemaErrors({ ...wrong, spec: { min: 1 } })).toEqual([]);
    expect(definitions.schemaErrors({ ...wrong, spec: { min: 1, max: 2 } })).toEqual([
      {
        path: ["spec", "max"],
        problem: "spec has the field max, which its definition does not have",
        isBlocking: false,
      },
    ]);
  });
});

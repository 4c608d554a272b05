import { type Metadata, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { checkInputs } from "../../../../pulumi/framework/accepts.ts";
import { decodeConfig } from "../../../../pulumi/framework/config-calls.ts";
import { diffInputs } from "../../../../pulumi/framework/diff.ts";
import {
  fullMessage,
  ProviderError,
  ResourceNotReadyError,
  toServiceError,
} from "../../../../pulumi/framework/errors.ts";
import { autoname } from "../../../../pulumi/framework/naming.ts";
import type { ResourceDefinition } from "../../../../pulumi/framework/provider.ts";
import { openSdk, parseShape, type ResourceShape } from "../../../../pulumi/framework/shape.ts";
import {
  importedInputs,
  inputsFromOutputs,
  previewOfCreate,
  previewOfUpdate,
} from "../../../../pulumi/framework/state.ts";
import { Secret, textOf, UNKNOWN } from "../../../../pulumi/framework/values.ts";
import { partialState } from "../harness.ts";

const shape: ResourceShape = {
  token: "p:m:T",
  source: "@pulumi/p 1.0.0",
  inputs: ["name", "tags", "config", "anything"],
  required: ["name"],
  outputs: ["arn"],
  secretOutputs: [],
  json: [],
};
const accepts = ["name", "tags.*", "config.subnetIds", "config.encryption.keyArn", "anything.**"];

test("inputs are checked at every depth, with what is allowed", () => {
  const good = {
    name: new Secret("n"),
    tags: { any: "x", other: UNKNOWN },
    config: { subnetIds: ["a", "b"], encryption: [{ keyArn: "k" }] },
    anything: { deep: [{ er: 1 }] },
  };
  expect(checkInputs(shape, accepts, good)).toEqual([]);
  const failures = checkInputs(shape, accepts, {
    name: { first: "x" },
    tags: { nested: { a: 1 } },
    config: { subnetIds: ["a"], encryption: { keyArn: "k", more: 1 }, extra: true },
    colour: "red",
  });
  expect(failures.map(({ property }) => property)).toEqual([
    "name.first",
    "tags.nested.a",
    "config.encryption.more",
    "config.extra",
    "colour",
  ]);
  expect(failures[3]?.reason).toContain("does not implement 'config.extra'; implemented here: encryption, subnetIds");
  expect(failures[4]?.reason).toContain("no input 'colour' in @pulumi/p 1.0.0; allowed: name, tags, config, anything");
  expect(checkInputs(shape, accepts, { config: "text" }).map(({ reason }) => reason)).toEqual([
    "p:m:T: 'config' is a string, allowed is an object",
    "p:m:T needs the property 'name', which is missing",
  ]);
});

test("a diff names each changed path, its kind and whether it replaces; unknown counts as a change", () => {
  const before = {
    name: "a",
    tags: { x: "1", y: "2" },
    list: ["a", "b"],
    policy: '{"a":1}',
    ids: ["1", "2"],
    "dotted.key": 1,
  };
  const after = {
    name: UNKNOWN,
    tags: { x: "1", z: "3" },
    list: ["a", "c", "d"],
    policy: '{ "a": 1 }',
    ids: ["2", "1"],
    "dotted.key": 2,
  };
  const { properties } = diffInputs(before, after, {
    replaceOn: ["name", "list"],
    equals: {
      policy: (a, b) => textOf(a).replaceAll(" ", "") === textOf(b).replaceAll(" ", ""),
      ids: (a, b) => textOf(a).length === textOf(b).length,
    },
  });
  expect(properties).toEqual({
    name: { kind: "update", replace: true },
    "tags.y": { kind: "delete", replace: false },
    "tags.z": { kind: "add", replace: false },
    "list[1]": { kind: "update", replace: true },
    "list[2]": { kind: "add", replace: true },
    '["dotted.key"]': { kind: "update", replace: false },
  });
  expect(diffInputs({ a: new Secret("x") }, { a: "x" }, { replaceOn: "all" }).properties).toEqual({});
});

const definition = (over: Partial<ResourceDefinition<undefined>> = {}): ResourceDefinition<undefined> => ({
  shape,
  accepts,
  create: async () => ({ id: "", outputs: {} }),
  read: async () => undefined,
  delete: async () => {},
  ...over,
});

test("previews show inputs, old outputs that stay, and unknown for what may change", () => {
  expect(previewOfCreate(definition(), { name: "n" })).toEqual({
    name: "n",
    arn: UNKNOWN,
    tags: UNKNOWN,
    config: UNKNOWN,
    anything: UNKNOWN,
  });
  const update = previewOfUpdate(
    definition({ changedByUpdate: ["status"] }),
    { name: "n", arn: "a", status: "s", tags: { x: "1" } },
    { name: "n", tags: { x: "1" } },
    { name: "m" },
  );
  expect(update).toEqual({ name: "m", arn: "a", status: UNKNOWN });
});

test("a refresh takes the values of what the program set, all tags, and nothing that the service adds", () => {
  const recorded = { name: "n", tags: { x: "1" }, config: { subnetIds: ["a"] }, anything: "write-only" };
  const outputs = { name: "m", tags: { x: "1", y: "2" }, config: { subnetIds: ["a"], vpcId: "v" }, arn: "a" };
  expect(inputsFromOutputs(definition(), recorded, outputs)).toEqual({
    name: "m",
    tags: { x: "1", y: "2" },
    config: { subnetIds: ["a"] },
    anything: "write-only",
  });
  const same = definition({ equals: { name: (a, b) => textOf(a).toLowerCase() === textOf(b).toLowerCase() } });
  expect(inputsFromOutputs(same, { name: "N" }, { name: "n" })).toEqual({ name: "N" });
  expect(importedInputs(definition(), outputs)).toEqual({ name: "m", tags: outputs.tags, config: outputs.config });
});

test("automatic names keep to their length", () => {
  const request = { name: "a-long-name", seed: Buffer.alloc(32, 0xab), configured: false };
  expect(autoname(request, 64)).toBe("a-long-name-abababa");
  expect(autoname(request, 12)).toBe("a-lo-abababa");
});

test("provider configuration is decoded from JSON, the engine's own keys are left out", () => {
  const config = { ...shape, inputs: ["region", "defaultTags"], json: ["defaultTags"] };
  const decoded = decodeConfig(config, {
    region: "r",
    defaultTags: new Secret('{"tags":{"a":"b"}}'),
    version: "1.0.0",
  });
  expect(decoded).toEqual({ region: "r", defaultTags: new Secret({ tags: { a: "b" } }) });
  expect(decodeConfig(config, { defaultTags: "plain text" })).toEqual({ defaultTags: "plain text" });
});

test("errors keep their status and all their causes, and lose their secrets", () => {
  const cause = Object.assign(new Error("no rights for hunter2hunter2"), { name: "AccessDenied" });
  const error = new ProviderError(status.FAILED_PRECONDITION, "cannot create", { cause });
  expect(fullMessage(error)).toBe("cannot create: AccessDenied: no rights for hunter2hunter2");
  expect(toServiceError(error, [{ password: new Secret("hunter2hunter2") }])).toMatchObject({
    code: status.FAILED_PRECONDITION,
    details: "cannot create: AccessDenied: no rights for [secret]",
  });
});

test("a resource that is not ready travels with id, state and reasons, however large it is", () => {
  const large = { metadata: { uid: "u" }, spec: "x".repeat(500_000) };
  const service = toServiceError(new ResourceNotReadyError("id", large, ["first", "y".repeat(100_000)]), []);
  const recorded = partialState(service);
  expect(recorded).toMatchObject({ id: "id", outputs: { metadata: { uid: "u" } } });
  expect(recorded?.reasons[0]).toBe("first");
  expect(recorded?.reasons[1]).toMatch(/more characters cut\)$/);
  const size = (service.metadata as Metadata)
    .get("grpc-status-details-bin")
    .reduce((sum, part) => sum + part.length, 0);
  expect(size + String(service.details).length).toBeLessThan(48_000);
  const small = partialState(toServiceError(new ResourceNotReadyError("id", { a: new Secret(1) }, ["r"]), []));
  expect(small?.outputs).toEqual({ a: new Secret(1) });
});

test("shapes come from the generated SDKs: inputs, outputs, required, secret, JSON-encoded", () => {
  const sdk = openSdk("random");
  expect(sdk.resource("random:index/randomPassword:RandomPassword")).toMatchObject({
    required: ["length"],
    outputs: ["bcryptHash", "result"],
    secretOutputs: ["bcryptHash", "result"],
  });
  expect(sdk.resource("random:index/randomUnicorn:RandomUnicorn")).toBeUndefined();
  expect(sdk.resource("random:../../package:Json")).toBeUndefined();
  expect(openSdk("kubernetes").provider().json).toContain("enableSecretMutable");
  expect(parseShape("exports.x = 1", "a:b:C", "s")).toBeUndefined();
  expect(() => parseShape("X.__pulumiType = 'a:b:C'", "a:b:C", "s")).toThrow("not of the generated form");
});

/** Stand-in for the `random` provider: RandomId, RandomString, RandomPassword, RandomBytes. Every change of an input replaces. */
import { randomBytes } from "node:crypto";
import { hash } from "bcryptjs";
import {
  type CheckResult,
  type Current,
  hasUnknown,
  type JsonMap,
  openSdk,
  type PropertyMap,
  plainMap,
  type ResourceDefinition,
  serveProvider,
} from "../framework/index.ts";
import { impossible, randomText, type TextRules } from "./text.ts";

const sdk = openSdk("random");
/** Cost of the bcrypt hash, as in terraform-provider-random (Go's bcrypt default). */
const BCRYPT_COST = 10;
const MAX_BYTES = 65536;

function shapeOf(name: string) {
  const token = `random:index/${name[0]?.toLowerCase()}${name.slice(1)}:${name}`;
  const shape = sdk.resource(token);
  if (!shape) throw new Error(`@pulumi/random ${sdk.version} has no ${token}`);
  return shape;
}

/** What can be refreshed is what was recorded: random values exist nowhere else. */
function recorded(state: JsonMap): Current {
  return { outputs: state };
}

const rulesOf = (inputs: JsonMap): TextRules => ({
  length: Number(inputs["length"]),
  upper: flag(inputs["upper"]),
  lower: flag(inputs["lower"]),
  numeric: flag(inputs["numeric"] ?? inputs["number"]),
  special: flag(inputs["special"]),
  minUpper: count(inputs["minUpper"]),
  minLower: count(inputs["minLower"]),
  minNumeric: count(inputs["minNumeric"]),
  minSpecial: count(inputs["minSpecial"]),
  overrideSpecial: typeof inputs["overrideSpecial"] === "string" ? inputs["overrideSpecial"] : "",
});

function flag(value: unknown): boolean {
  return value === undefined || value === null || value === true || value === "true";
}

function count(value: unknown): number {
  return value === undefined || value === null ? 0 : Number(value);
}

function checkText({ news }: { news: PropertyMap }): CheckResult {
  if (hasUnknown(news)) return {};
  const inputs = plainMap(news);
  const { numeric, number } = inputs;
  if (numeric !== undefined && number !== undefined && numeric !== number)
    return { failures: [{ property: "number", reason: "differs from numeric, its newer name: set only numeric" }] };
  const failure = impossible(rulesOf(inputs));
  return failure ? { failures: [failure] } : {};
}

function textOutputs(inputs: JsonMap, result: string): PropertyMap {
  const rules = rulesOf(inputs);
  const { overrideSpecial: _, ...shown } = rules;
  return { ...inputs, ...shown, number: rules.numeric, result };
}

/** An imported text: its rules are those of its length only, as in the official provider. */
const imported = (value: string): JsonMap => ({ length: value.length });

const randomString: ResourceDefinition<undefined> = {
  shape: shapeOf("RandomString"),
  check: checkText,
  create: async ({ inputs }) => {
    const result = randomText(rulesOf(inputs));
    return { id: result, outputs: textOutputs(inputs, result) };
  },
  read: async ({ id, state, inputs }) =>
    inputs ? recorded(state) : { outputs: textOutputs(imported(id), id), inputs: imported(id) },
  delete: async () => {},
};

const randomPassword: ResourceDefinition<undefined> = {
  shape: shapeOf("RandomPassword"),
  check: checkText,
  create: async ({ inputs }) => {
    const result = randomText(rulesOf(inputs));
    return { id: "none", outputs: { ...textOutputs(inputs, result), bcryptHash: await hash(result, BCRYPT_COST) } };
  },
  read: async ({ id, state, inputs }) =>
    inputs
      ? recorded(state)
      : {
          id: "none",
          outputs: { ...textOutputs(imported(id), id), bcryptHash: await hash(id, BCRYPT_COST) },
          inputs: imported(id),
        },
  delete: async () => {},
};

function checkBytes(property: "byteLength" | "length") {
  return ({ news }: { news: PropertyMap }): CheckResult => {
    const length = news[property];
    if (typeof length !== "number" || (Number.isInteger(length) && length >= 1 && length <= MAX_BYTES)) return {};
    return { failures: [{ property, reason: `got ${length}, allowed is a whole number from 1 to ${MAX_BYTES}` }] };
  };
}

function idOutputs(bytes: Buffer, inputs: JsonMap): PropertyMap {
  const prefix = typeof inputs["prefix"] === "string" ? inputs["prefix"] : "";
  const hex = bytes.toString("hex");
  return {
    ...inputs,
    byteLength: bytes.length,
    hex: prefix + hex,
    dec: prefix + BigInt(`0x${hex}`).toString(),
    b64Std: prefix + bytes.toString("base64"),
    b64Url: prefix + bytes.toString("base64url"),
  };
}

const randomId: ResourceDefinition<undefined> = {
  shape: shapeOf("RandomId"),
  check: checkBytes("byteLength"),
  create: async ({ inputs }) => {
    const bytes = randomBytes(Number(inputs["byteLength"]));
    return { id: bytes.toString("base64url"), outputs: idOutputs(bytes, inputs) };
  },
  read: async ({ id, state, inputs }) => {
    if (inputs) return recorded(state);
    const bytes = Buffer.from(id, "base64url");
    return { outputs: idOutputs(bytes, {}), inputs: { byteLength: bytes.length } };
  },
  delete: async () => {},
};

const bytesOutputs = (bytes: Buffer, inputs: JsonMap): PropertyMap => ({
  ...inputs,
  length: bytes.length,
  hex: bytes.toString("hex"),
  base64: bytes.toString("base64"),
});

const randomBytesResource: ResourceDefinition<undefined> = {
  shape: shapeOf("RandomBytes"),
  check: checkBytes("length"),
  create: async ({ inputs }) => ({
    id: "none",
    outputs: bytesOutputs(randomBytes(Number(inputs["length"])), inputs),
  }),
  read: async ({ id, state, inputs }) => {
    if (inputs) return recorded(state);
    const bytes = Buffer.from(id, "base64");
    return { id: "none", outputs: bytesOutputs(bytes, {}), inputs: { length: bytes.length } };
  },
  delete: async () => {},
};

const definitions = [randomId, randomString, randomPassword, randomBytesResource];
const table = new Map(definitions.map((definition) => [definition.shape.token, definition]));

await serveProvider<undefined>({
  sdk,
  configure: () => undefined,
  resource: (token) => table.get(token),
  resources: [...table.keys()],
});

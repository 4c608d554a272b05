/** Stand-in for the `random` provider: RandomPassword. Every change of an input replaces. */
import { hash } from "bcryptjs";
import {
  hasUnknown,
  type JsonMap,
  openSdk,
  plainMap,
  type ResourceDefinition,
  serveTypes,
} from "../framework/index.ts";
import { impossible, randomText, type TextRules } from "./text.ts";

const sdk = openSdk("random");
/** Cost of the bcrypt hash, as in terraform-provider-random (Go's bcrypt default). */
const BCRYPT_COST = 10;

/** The rules with the provider's defaults: every class is allowed, none is asked for. */
function rulesOf(inputs: JsonMap): TextRules {
  const flag = (value: unknown) => value === undefined || value === null || value === true || value === "true";
  const count = (name: string) => Number(inputs[name] ?? 0);
  return {
    length: Number(inputs["length"]),
    upper: flag(inputs["upper"]),
    lower: flag(inputs["lower"]),
    numeric: flag(inputs["numeric"] ?? inputs["number"]),
    special: flag(inputs["special"]),
    minUpper: count("minUpper"),
    minLower: count("minLower"),
    minNumeric: count("minNumeric"),
    minSpecial: count("minSpecial"),
    overrideSpecial: typeof inputs["overrideSpecial"] === "string" ? inputs["overrideSpecial"] : "",
  };
}

const randomPassword: ResourceDefinition<undefined> = {
  shape: sdk.shape("random:index/randomPassword:RandomPassword"),
  check: ({ news }) => {
    if (hasUnknown(news)) return {};
    const inputs = plainMap(news);
    const { numeric, number } = inputs;
    if (numeric !== undefined && number !== undefined && numeric !== number)
      return { failures: [{ property: "number", reason: "differs from numeric, its newer name: set only numeric" }] };
    const failure = impossible(rulesOf(inputs));
    return failure ? { failures: [failure] } : {};
  },
  create: async ({ inputs }) => {
    const { overrideSpecial: _, ...rules } = rulesOf(inputs);
    const result = randomText(rulesOf(inputs));
    const bcryptHash = await hash(result, BCRYPT_COST);
    return { id: "none", outputs: { ...inputs, ...rules, number: rules.numeric, result, bcryptHash } };
  },
  // What can be refreshed is what was recorded: a password exists nowhere else.
  read: async ({ state, inputs }) => {
    if (!inputs) throw new Error("this stand-in cannot import a password: use the official plugin for that");
    return { outputs: state };
  },
  delete: async () => {},
};

await serveTypes(sdk, [randomPassword]);

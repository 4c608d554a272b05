import type { ErrorObject } from "ajv";

/** One error of a manifest: the path of the value, and what is wrong with it. */
export interface SchemaError {
  readonly path: readonly string[];
  readonly problem: string;
  /** Whether the API server stops at this error and does not evaluate the definition's rules. */
  readonly isBlocking: boolean;
}

/** Kubernetes, apiextensions-apiserver, `hasBlockingErr`. */
const blocking: ReadonlySet<string> = new Set(["type", "required", "enum", "maxLength", "maxItems", "maxProperties"]);

const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function schemaError({ instancePath, keyword, message = "is wrong", params, data }: ErrorObject): SchemaError {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const where = path.join(".") || "the object";
  const isBlocking = blocking.has(keyword);
  if (keyword === "additionalProperties") {
    const field = String(params["additionalProperty"]);
    const problem = `${where} has the field ${field}, which its definition does not have`;
    return { path: [...path, field], problem, isBlocking };
  }
  if (keyword === "required")
    return { path, problem: `${where} lacks ${String(params["missingProperty"])}`, isBlocking };
  const allowed = keyword === "enum" ? `: ${shown(params["allowedValues"])}` : "";
  return { path, problem: `${where} ${message}${allowed}; got ${shown(data)}`, isBlocking };
}

/** What a validator found wrong with a manifest. */
export function schemaErrors(errors: readonly ErrorObject[]): SchemaError[] {
  // The error of a oneOf or anyOf itself adds nothing to those of its branches.
  return errors
    .filter(({ keyword }) => !["anyOf", "oneOf", "allOf", "not"].includes(keyword) || errors.length === 1)
    .map(schemaError);
}

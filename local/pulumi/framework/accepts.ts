/**
 * Refusal of inputs that a resource type does not have or that its stand-in does not implement.
 *
 * What is implemented is listed as paths: `name` (a scalar or a list of scalars), `vpcConfig.subnetIds` (a member of an object or of
 * every object of a list), `tags.*` (a map with any keys and scalar values), `values.**` (anything). Lists are transparent.
 */
import type { ResourceShape } from "./shape.ts";
import { isMap, type PropertyMap, Secret, Unknown, type Value } from "./values.ts";

/** One mistake in the inputs of a resource. */
export interface CheckFailure {
  /** Path of the property, e.g. `vpcConfig.subnetIds`. */
  readonly property: string;
  /** What was got, what is allowed, what to do. */
  readonly reason: string;
}

/** What {@link checkInputs} asks a shape; nothing is required by default. */
type Allowed = Pick<ResourceShape, "token" | "source" | "inputs"> & {
  readonly required?: readonly string[] | undefined;
};

/**
 * Every mistake in the inputs: names that the SDK doesn't have, inputs that the stand-in doesn't implement, missing required ones.
 * @param accepts implemented paths; missing: every input of the shape, with anything in it.
 */
export function checkInputs(shape: Allowed, accepts: readonly string[] | undefined, inputs: PropertyMap) {
  const failures: CheckFailure[] = [];
  for (const [name, value] of Object.entries(inputs)) {
    if (!shape.inputs.includes(name)) failures.push(notInSdk(shape, name));
    else if (accepts) checkMember(shape.token, name, name, value, accepts, failures);
  }
  for (const name of shape.required ?? []) {
    const value = inputs[name];
    if (value === undefined || value === null)
      failures.push({ property: name, reason: `${shape.token} needs the property '${name}', which is missing` });
  }
  return failures;
}

/** @param paths implemented paths of the object that has the member, from there on. */
function checkMember(
  token: string,
  path: string,
  name: string,
  value: Value,
  paths: readonly string[],
  failures: CheckFailure[],
): void {
  const names = new Set(paths.map((implemented) => implemented.split(".", 1)[0] as string));
  if (names.has(name)) {
    const below = paths.filter((implemented) => implemented.startsWith(`${name}.`));
    const inside = below.map((implemented) => implemented.slice(name.length + 1));
    checkValue(token, path, value, inside, failures);
  } else if (names.has("*")) checkValue(token, path, value, [], failures);
  else failures.push(notImplemented(token, path, [...names]));
}

function checkValue(token: string, path: string, value: Value, paths: readonly string[], failures: CheckFailure[]) {
  if (paths.includes("**") || value === null || value instanceof Unknown) return;
  if (value instanceof Secret) checkValue(token, path, value.value, paths, failures);
  else if (Array.isArray(value)) for (const item of value) checkValue(token, path, item, paths, failures);
  else if (isMap(value))
    for (const [key, member] of Object.entries(value))
      checkMember(token, `${path}.${key}`, key, member, paths, failures);
  else if (paths.length > 0)
    failures.push({ property: path, reason: `${token}: '${path}' is a ${typeof value}, allowed is an object` });
}

function notInSdk(shape: Allowed, name: string): CheckFailure {
  const allowed = shape.inputs.length > 0 ? shape.inputs.join(", ") : "none";
  return { property: name, reason: `${shape.token} has no input '${name}' in ${shape.source}; allowed: ${allowed}` };
}

function notImplemented(token: string, path: string, allowed: readonly string[]): CheckFailure {
  const list = allowed.length > 0 ? [...allowed].sort().join(", ") : "no members";
  return {
    property: path,
    reason: `the stand-in provider for ${token} does not implement '${path}'; implemented here: ${list}. Leave it out, or use the official plugin (FLEET_PULUMI_PLUGINS=official)`,
  };
}

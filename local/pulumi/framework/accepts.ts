/**
 * Refusal of inputs that a resource type does not have or that its stand-in does not implement.
 *
 * What is implemented is listed as paths: `name` (a scalar or a list of scalars), `vpcConfig.subnetIds` (a member of an object or of
 * every object of a list), `tags.*` (a map with any keys and scalar values), `values.**` (anything). Lists are transparent.
 */
import type { ResourceShape } from "./shape.ts";
import { isMap, OutputValue, type PropertyMap, Secret, Unknown, type Value } from "./values.ts";

/** One mistake in the inputs of a resource. */
export interface CheckFailure {
  /** Path of the property, e.g. `vpcConfig.subnetIds`. */
  readonly property: string;
  /** What was got, what is allowed, what to do. */
  readonly reason: string;
}

/** Members of an object that are implemented; `true` in place of a tree means a scalar or a list of scalars. */
interface Tree {
  readonly members: Map<string, Tree>;
  /** Any keys with scalar values (`.*`). */
  anyKey: boolean;
  /** Anything at all (`.**`). */
  anything: boolean;
}

function tree(paths: readonly string[]): Tree {
  const root = node();
  for (const path of paths) {
    let current = root;
    for (const part of path.split(".")) {
      if (part === "**") current.anything = true;
      else if (part === "*") current.anyKey = true;
      else {
        if (!current.members.has(part)) current.members.set(part, node());
        current = current.members.get(part) as Tree;
      }
    }
  }
  return root;
}

function node(): Tree {
  return { members: new Map(), anyKey: false, anything: false };
}

/**
 * Every mistake in the inputs: names that the SDK doesn't have, inputs that the stand-in doesn't implement, missing required ones.
 * @param accepts implemented paths; missing: every input of the shape, with anything in it.
 */
export function checkInputs(shape: ResourceShape, accepts: readonly string[] | undefined, inputs: PropertyMap) {
  const implemented = accepts && tree(accepts);
  const failures: CheckFailure[] = [];
  for (const [name, value] of Object.entries(inputs)) {
    if (!shape.open && !shape.inputs.includes(name)) failures.push(notInSdk(shape, name));
    else if (implemented) {
      const member = implemented.members.get(name);
      if (member) checkTree(shape.token, name, value, member, failures);
      else failures.push(notImplemented(shape.token, name, [...implemented.members.keys()]));
    }
  }
  for (const name of shape.required) {
    const value = inputs[name];
    if (value === undefined || value === null)
      failures.push({ property: name, reason: `${shape.token} needs the property '${name}', which is missing` });
  }
  return failures;
}

function checkTree(token: string, path: string, value: Value, allowed: Tree, failures: CheckFailure[]): void {
  if (allowed.anything || value === null || value instanceof Unknown) return;
  if (value instanceof Secret || value instanceof OutputValue) {
    checkTree(token, path, value.value, allowed, failures);
  } else if (Array.isArray(value)) {
    for (const item of value) checkTree(token, path, item, allowed, failures);
  } else if (isMap(value)) {
    for (const [key, member] of Object.entries(value)) {
      const next = allowed.members.get(key) ?? (allowed.anyKey ? node() : undefined);
      if (next) checkTree(token, `${path}.${key}`, member, next, failures);
      else failures.push(notImplemented(token, `${path}.${key}`, [...allowed.members.keys()]));
    }
  } else if (typeof value === "object" || allowed.members.size > 0 || allowed.anyKey) {
    const got = typeof value === "object" ? `a value of kind ${value.kind}` : `a ${typeof value}`;
    const want = allowed.members.size > 0 || allowed.anyKey ? "an object" : "plain data";
    failures.push({ property: path, reason: `${token}: '${path}' is ${got}, allowed is ${want}` });
  }
}

function notInSdk(shape: ResourceShape, name: string): CheckFailure {
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

/** What both adapters (the Pulumi plugin and the Crossplane controller) do with a handler: pure functions over its tables. */

import { isBlock, isEmpty, sameList } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { AwsResourceError } from "./errors.ts";
import { type Change, type Handler, IncompleteError } from "./handler.ts";
import type { Properties, Tags } from "./properties.ts";

/** Paths of all inputs of a handler, `tags` and `region` included. */
export function inputPaths(handler: Handler): string[] {
  return [...handler.inputs, ...(handler.tagged ? ["tags.*"] : []), ...(handler.regional === false ? [] : ["region"])];
}

/** Inputs with the defaults of the schema; those of members in blocks that are present. */
export function withDefaults<T extends Properties>(handler: Handler, inputs: T): T {
  const result: Properties = { ...inputs };
  for (const [path, value] of Object.entries(handler.defaults ?? {})) {
    const [name = "", member] = path.split(".");
    const current = result[name];
    if (member === undefined) result[name] ??= value;
    else if (isBlock(current)) result[name] = { ...current, [member]: current[member] ?? value };
  }
  return result as T;
}

/** Whether two values mean the same to AWS; `path` is that of an input, or of a block with inputs below. */
export function sameInput(handler: Handler, path: string, a: unknown, b: unknown): boolean {
  const compare = handler.compare?.[path];
  if (compare) return compare(a, b);
  if (isBlock(a) && isBlock(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
      sameInput(handler, `${path}.${name}`, a[name], b[name]),
    );
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameInput(handler, path, item, b[i]));
  return sameList(a, b) || (isEmpty(a) && isEmpty(b));
}

/** The tags that a resource gets: the provider's default tags, then its own. */
export function allTags(defaultTags: Tags, tags: unknown): Tags {
  return { ...defaultTags, ...(tags as Tags | undefined) };
}

/** Inputs as a handler takes them. */
export function handlerInputs(handler: Handler, inputs: Properties, defaultTags: Tags): Properties {
  if (!handler.tagged) return inputs;
  return { ...inputs, tagsAll: allTags(defaultTags, inputs["tags"]) };
}

/**
 * The state of a resource: what AWS says, in the user's form where it means the same (white space of a policy, order of a set),
 * plus what AWS does not give back. `tags` are all tags without the default ones that the user did not set.
 */
export function stateOf(handler: Handler, actual: Properties, last: Properties, defaultTags: Tags): Properties {
  const unread = (handler.unread ?? []).filter((name) => last[name] !== undefined);
  const state: Properties = Object.fromEntries(unread.map((name) => [name, last[name]]));
  for (const [name, value] of Object.entries(actual))
    if (value !== undefined && value !== null) state[name] = userForm(handler, name, last[name], value);
  if (handler.tagged) {
    const tags = userTags((actual["tagsAll"] ?? {}) as Tags, (last["tags"] ?? {}) as Tags, defaultTags);
    if (Object.keys(tags).length > 0 || last["tags"] !== undefined) state["tags"] = tags;
  }
  return state;
}

/** The user's form of a value where it means the same; in a block member by member, because AWS completes blocks. */
function userForm(handler: Handler, path: string, last: unknown, actual: unknown): unknown {
  if (last === undefined) return actual;
  if (sameInput(handler, path, last, actual)) return last;
  if (isBlock(last) && isBlock(actual))
    return Object.fromEntries(
      Object.entries(actual).map(([name, value]) => [name, userForm(handler, `${path}.${name}`, last[name], value)]),
    );
  return actual;
}

function userTags(all: Tags, own: Tags, defaultTags: Tags): Tags {
  return Object.fromEntries(Object.entries(all).filter(([key, value]) => key in own || defaultTags[key] !== value));
}

/** A change as a handler's update takes it. */
export function changeOf(handler: Handler, olds: Properties, news: Properties): Change<Properties> {
  const has = (...names: string[]) => names.some((name) => !sameInput(handler, name, olds[name], news[name]));
  return { old: olds, new: news, has };
}

/** Runs an operation of a handler; an error names the operation and the resource, with the code and message of AWS. */
export async function attempt<T>(
  operation: string,
  handler: Handler,
  subject: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof IncompleteError)
      throw new IncompleteError(error.id, new AwsResourceError(operation, handler.token, error.id, error.cause));
    throw new AwsResourceError(operation, handler.token, subject, error);
  }
}

/** The clients for the region of a resource. */
export function regionOf(handler: Handler, aws: Aws, inputs: Properties): Aws {
  return handler.regional === false ? aws : aws.inRegion(inputs["region"] as string | undefined);
}

/** Diffs and previews of a handler's resources. */
import { allTags, type Handler, type Tags } from "../../aws/index.ts";
import {
  type Diff,
  type DiffRequest,
  diffInputs,
  hasUnknown,
  isMap,
  type PreviewRequest,
  type PropertyMap,
  type ResourceDefinition,
  reveal,
  revealMap,
  UNKNOWN,
  type Value,
} from "../framework/index.ts";
import { previewOfCreate, previewOfUpdate } from "../framework/state.ts";
import type { Session } from "./config.ts";

/**
 * An input that AWS fills in keeps its value when the program stops setting it; changed default tags count as a change. A resource without a
 * region of its own is in the provider's (@pulumi/aws 7, "Enhanced Region Support").
 */
export function diffOf(handler: Handler, definition: ResourceDefinition<Session>, request: DiffRequest<Session>): Diff {
  const { newInputs, state, session } = request;
  const regional = handler.regional !== false;
  const own = state["region"] ?? session.aws.region;
  const oldInputs: PropertyMap = { ...(regional && { region: own }), ...request.oldInputs };
  const kept = (handler.computed ?? []).filter(
    (name) => newInputs[name] === undefined && oldInputs[name] !== undefined,
  );
  const news: PropertyMap = {
    ...(regional && { region: session.aws.region }),
    ...Object.fromEntries(kept.map((name) => [name, oldInputs[name] as Value])),
    ...newInputs,
  };
  const rules = {
    replaceOn: handler.update ? (definition.replaceOn ?? []) : ("all" as const),
    equals: definition.equals ?? {},
  };
  const { properties } = diffInputs(oldInputs, news, rules);
  const tagsChanged = handler.tagged && defaultTagsChanged(state, news["tags"], session.defaultTags);
  return {
    properties: {
      ...properties,
      ...(tagsChanged && { tagsAll: { kind: "update", replace: false } as const }),
      ...(hasFailed(handler, state) && { status: { kind: "update", replace: true } as const }),
    },
    deleteBeforeReplace: handler.deleteBeforeReplace ?? sameName(handler, oldInputs, news),
  };
}

/** Whether the creation of a resource has failed for good, by its recorded state. */
export function hasFailed(handler: Handler, state: PropertyMap): boolean {
  const status = reveal(state["status"] ?? null);
  return typeof status === "string" && handler.failed?.includes(status) === true;
}

function defaultTagsChanged(state: PropertyMap, tags: Value | undefined, defaultTags: Tags): boolean {
  if (tags !== undefined && hasUnknown(tags)) return false; // then `tags` itself is a change
  const before = revealMap((reveal(state["tagsAll"] ?? {}) ?? {}) as PropertyMap);
  const after = allTags(defaultTags, reveal(tags ?? {}));
  return Object.keys(diffInputs(before, after, { replaceOn: [] }).properties).length > 0;
}

/** Old and new cannot exist side by side when they would have the same name. */
function sameName(handler: Handler, olds: PropertyMap, news: PropertyMap): boolean {
  const name = handler.autoName?.property;
  return name !== undefined && olds[name] === news[name];
}

/** What a preview shows: tags are known, members that AWS adds to a block are not. */
export function previewOf(
  handler: Handler,
  definition: ResourceDefinition<Session>,
  request: PreviewRequest<Session>,
): PropertyMap {
  const { inputs, oldInputs, state, session } = request;
  const shown =
    state && oldInputs ? previewOfUpdate(definition, state, oldInputs, inputs) : previewOfCreate(definition, inputs);
  const tags = inputs["tags"];
  const tagsAll =
    handler.tagged && (tags === undefined || !hasUnknown(tags)) && allTags(session.defaultTags, reveal(tags ?? {}));
  return {
    ...withCompleted(handler, shown, state),
    ...(tagsAll && { tagsAll }),
    ...(handler.regional !== false && { region: inputs["region"] ?? session.aws.region }),
  };
}

/** Adds the members that AWS fills in to blocks: their last values, else unknown. */
function withCompleted(handler: Handler, shown: PropertyMap, state: PropertyMap | undefined): PropertyMap {
  const result = { ...shown };
  for (const path of handler.completed ?? []) {
    const [block, member] = path.split(".") as [string, string];
    const current = result[block];
    if (current === undefined || !isMap(current) || current[member] !== undefined) continue;
    const last = reveal(state?.[block] ?? null);
    result[block] = { ...current, [member]: (isMap(last) ? last[member] : undefined) ?? UNKNOWN };
  }
  return result;
}

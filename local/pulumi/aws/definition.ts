/** From an AWS handler to a resource of the Pulumi plugin. */
import {
  type Aws,
  allTags,
  attempt,
  changeOf,
  equalities,
  type Handler,
  handlerInputs,
  IncompleteError,
  inputPaths,
  type Properties,
  regionOf,
  stateOf,
  type Tags,
} from "../../aws/index.ts";
import {
  type CheckFailure,
  type Diff,
  type DiffRequest,
  diffInputs,
  hasUnknown,
  isMap,
  type PreviewRequest,
  type PropertyMap,
  type ResourceDefinition,
  ResourceNotReadyError,
  type ResourceShape,
  reveal,
  revealMap,
  UNKNOWN,
  type Value,
} from "../framework/index.ts";
import { inputsFromOutputs, previewOfCreate, previewOfUpdate } from "../framework/state.ts";
import type { Session } from "./config.ts";
import type { Journal } from "./journal.ts";

/** The definition of a type over its handler; `shape` is what the SDK says about it. */
export function definitionOf(handler: Handler, shape: ResourceShape, journal: Journal): ResourceDefinition<Session> {
  const nested = Object.entries(handler.defaults ?? {}).filter(([path]) => path.includes("."));
  const top = Object.entries(handler.defaults ?? {}).filter(([path]) => !path.includes("."));
  const definition: ResourceDefinition<Session> = {
    shape,
    accepts: inputPaths(handler),
    replaceOn: [...handler.replaceOn, "region"],
    defaults: Object.fromEntries(top),
    equals: equalities(handler),
    ...(handler.changedByUpdate && { changedByUpdate: handler.changedByUpdate }),
    ...(handler.autoName && { autoname: handler.autoName }),
    ...(handler.deleteBeforeReplace && { deleteBeforeReplace: true }),

    check: ({ news }) => {
      const inputs = withNestedDefaults(news, nested);
      return { inputs, failures: failuresOf(handler, inputs) };
    },
    async diff(request) {
      await journal.known(request.urn, request.id);
      return diffOf(handler, definition, request);
    },
    preview: (request) => previewOf(handler, definition, request),

    async create({ inputs, session, name, urn }) {
      const aws = regionOf(handler, session.aws, inputs);
      const given = handlerInputs(handler, inputs, session.defaultTags);
      const last = { ...inputs };
      const found = async (id: string) => (await outputsOf(handler, session, aws, id, last)) ?? asMap(last);
      try {
        const id = await attempt("create", handler, name, () =>
          journal.create(urn, handler, aws, inputs, () => handler.create(aws, given)),
        );
        return { id, outputs: await found(id) };
      } catch (error) {
        if (!(error instanceof IncompleteError)) throw error;
        // The engine keeps what is there: the next run goes on from it.
        const outputs = await found(error.id);
        throw new ResourceNotReadyError(
          error.id,
          outputs,
          [error.message],
          inputsFromOutputs(definition, asMap(inputs), outputs),
        );
      }
    },

    async read({ id: given, state, inputs, session, name, urn }) {
      await journal.known(urn, given);
      const aws = regionOf(handler, session.aws, inputs ?? {});
      const imported = inputs === undefined;
      const located = imported && handler.importId ? await handler.importId(aws, given) : { id: given, properties: {} };
      const last = { ...located.properties, ...state, ...inputs };
      const outputs = await attempt("read", handler, name, () => outputsOf(handler, session, aws, located.id, last));
      return outputs && { id: located.id, outputs };
    },

    async delete({ id, state, session, name, urn }) {
      await journal.known(urn, id);
      const aws = regionOf(handler, session.aws, state);
      await attempt("delete", handler, name, () => handler.delete(aws, id, state));
    },
  };
  const { update } = handler;
  if (!update) return definition;
  return {
    ...definition,
    async update({ id, oldInputs, inputs, state, session, name }) {
      const aws = regionOf(handler, session.aws, inputs);
      const before = { ...oldInputs, ...(handler.tagged && { tagsAll: (state["tagsAll"] ?? {}) as Tags }) };
      const after = handlerInputs(handler, inputs, session.defaultTags);
      await attempt("update", handler, name, () => update(aws, id, changeOf(handler, before, after)));
      const outputs = await outputsOf(handler, session, aws, id, { ...state, ...inputs });
      if (!outputs) throw new Error(`${handler.token} ${id} is gone: somebody deleted it while it was updated`);
      return outputs;
    },
  };
}

const asMap = (properties: Properties): PropertyMap => properties as PropertyMap;

/** The one way from AWS to recorded outputs: create, update and read all use it, so that a refresh finds no drift. */
async function outputsOf(
  handler: Handler,
  session: Session,
  aws: Aws,
  id: string,
  last: Properties,
): Promise<PropertyMap | undefined> {
  const actual = await handler.read(aws, id, last);
  if (!actual) return undefined;
  const state = stateOf(handler, actual, last, session.defaultTags);
  return asMap(handler.regional === false ? state : { ...state, region: aws.region });
}

function withNestedDefaults(inputs: PropertyMap, defaults: [string, Value][]): PropertyMap {
  return defaults.reduce((result, [path, value]) => {
    const [block, member] = path.split(".") as [string, string];
    const current = reveal(result[block] ?? null);
    if (!isMap(current) || current[member] !== undefined) return result;
    return { ...result, [block]: { ...(result[block] as PropertyMap), [member]: value } };
  }, inputs);
}

function failuresOf(handler: Handler, inputs: PropertyMap): CheckFailure[] {
  // Unknown values count as set, whatever they will be; the handler looks at their presence only.
  const known = Object.entries(inputs).filter(([, value]) => !hasUnknown(value));
  const unknown = Object.keys(inputs).filter((name) => hasUnknown(inputs[name] as Value));
  const failures = handler.validate?.(revealMap(Object.fromEntries(known))) ?? [];
  return unknown.length > 0 ? [] : failures;
}

/** An input that AWS fills in keeps its value when the program stops setting it; changed default tags count as a change. */
function diffOf(handler: Handler, definition: ResourceDefinition<Session>, request: DiffRequest<Session>): Diff {
  const { oldInputs, newInputs, state, session } = request;
  const kept = (handler.computed ?? []).filter(
    (name) => newInputs[name] === undefined && oldInputs[name] !== undefined,
  );
  const news = { ...Object.fromEntries(kept.map((name) => [name, oldInputs[name] as Value])), ...newInputs };
  const rules = {
    replaceOn: handler.update ? (definition.replaceOn ?? []) : ("all" as const),
    equals: definition.equals ?? {},
  };
  const { properties } = diffInputs(oldInputs, news, rules);
  const tagsChanged = handler.tagged && defaultTagsChanged(state, news["tags"], session.defaultTags);
  return {
    properties: { ...properties, ...(tagsChanged && { tagsAll: { kind: "update", replace: false } as const }) },
    deleteBeforeReplace: handler.deleteBeforeReplace ?? sameName(handler, oldInputs, news),
  };
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
function previewOf(
  handler: Handler,
  definition: ResourceDefinition<Session>,
  request: PreviewRequest<Session>,
): PropertyMap {
  const { inputs, oldInputs, state, session } = request;
  const shown =
    state && oldInputs ? previewOfUpdate(definition, state, oldInputs, inputs) : previewOfCreate(definition, inputs);
  const completed = (handler.completed ?? []).reduce((result, path) => withMember(result, path, state), shown);
  const tags = inputs["tags"];
  const tagsAll =
    handler.tagged && (tags === undefined || !hasUnknown(tags)) && allTags(session.defaultTags, reveal(tags ?? {}));
  return {
    ...completed,
    ...(tagsAll && { tagsAll }),
    ...(handler.regional !== false && { region: inputs["region"] ?? session.aws.region }),
  };
}

/** Adds a member that AWS fills in to a block: its last value, else unknown. */
function withMember(shown: PropertyMap, path: string, state: PropertyMap | undefined): PropertyMap {
  const [block, member] = path.split(".") as [string, string];
  const current = shown[block];
  if (!isMap(current) || current[member] !== undefined) return shown;
  const last = state && reveal(state[block] ?? null);
  const value = last && isMap(last) ? last[member] : undefined;
  return { ...shown, [block]: { ...current, [member]: value ?? UNKNOWN } };
}

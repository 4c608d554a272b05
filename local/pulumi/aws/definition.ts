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
  samePolicy,
  stateOf,
  type Tags,
} from "../../aws/index.ts";
import {
  type CheckFailure,
  type Diff,
  type DiffRequest,
  diffInputs,
  hasSecret,
  hasUnknown,
  isMap,
  type PreviewRequest,
  type PropertyMap,
  plain,
  type ResourceDefinition,
  ResourceNotReadyError,
  type ResourceShape,
  reveal,
  revealMap,
  Secret,
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
    accepts: [...inputPaths(handler), ...policyInputs(handler).map((name) => `${name}.**`)],
    replaceOn: [...handler.replaceOn, "region"],
    defaults: Object.fromEntries(top),
    equals: equalities(handler),
    ...(handler.changedByUpdate && { changedByUpdate: handler.changedByUpdate }),
    ...(handler.autoName && { autoname: handler.autoName }),
    ...(handler.deleteBeforeReplace && { deleteBeforeReplace: true }),

    check: ({ news }) => {
      const inputs = withPolicyTexts(handler, withNestedDefaults(news, nested));
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
  const result = { ...inputs };
  for (const [path, value] of defaults) {
    const [block, member] = path.split(".") as [string, string];
    const current = result[block];
    if (current !== undefined && isMap(current) && current[member] === undefined)
      result[block] = { ...current, [member]: value };
  }
  return result;
}

const policyInputs = (handler: Handler): string[] =>
  Object.entries(handler.compare ?? {}).flatMap(([name, equality]) => (equality === samePolicy ? [name] : []));

/** The SDK also takes a policy as an object; AWS and the state have the text. */
function withPolicyTexts(handler: Handler, inputs: PropertyMap): PropertyMap {
  const texts = policyInputs(handler)
    .filter((name) => isMap(reveal(inputs[name] ?? null)))
    .map((name) => [name, policyText(inputs[name] as Value)] as const);
  return { ...inputs, ...Object.fromEntries(texts) };
}

function policyText(document: Value): Value {
  const text = hasUnknown(document) ? UNKNOWN : JSON.stringify(plain(document));
  return hasSecret(document) ? new Secret(text) : text;
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

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
  withOperation,
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
  type ResourceContext,
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

    async create(request) {
      const { inputs, session, urn } = request;
      const aws = regionOf(handler, session.aws, inputs);
      const given = handlerInputs(handler, inputs, session.defaultTags);
      const found = (id: string) => outputsOf(handler, session, aws, id, { ...inputs });
      try {
        const id = await operate("create", handler, request, () =>
          journal.create(urn, handler, aws, inputs, () => handler.create(aws, given)),
        );
        return { id, outputs: await operate("create", handler, request, () => finished(id, found)) };
      } catch (error) {
        if (!(error instanceof IncompleteError)) throw error;
        // The engine keeps what is there, so that the next run goes on from it; what cannot be read is recorded as it was wanted.
        const outputs = (await found(error.id).catch(() => undefined)) ?? asMap(inputs);
        const actual = inputsFromOutputs(definition, asMap(inputs), outputs);
        throw new ResourceNotReadyError(error.id, outputs, [error.message], actual);
      }
    },

    async read(request) {
      const { id: given, state, inputs, session, urn } = request;
      await journal.known(urn, given);
      const aws = regionOf(handler, session.aws, inputs ?? {});
      const imported = inputs === undefined;
      const located = imported && handler.importId ? await handler.importId(aws, given) : { id: given, properties: {} };
      const last = { ...located.properties, ...state, ...inputs };
      const outputs = await operate("read", handler, request, () => outputsOf(handler, session, aws, located.id, last));
      return outputs && { id: located.id, outputs };
    },

    async delete(request) {
      const { id, state, session, urn } = request;
      await journal.known(urn, id);
      const aws = regionOf(handler, session.aws, state);
      await operate("delete", handler, request, () => handler.delete(aws, id, state));
    },
  };
  const { update } = handler;
  if (!update) return definition;
  return {
    ...definition,
    async update(request) {
      const { id, oldInputs, inputs, state, session } = request;
      const aws = regionOf(handler, session.aws, inputs);
      const before = { ...oldInputs, ...(handler.tagged && { tagsAll: (state["tagsAll"] ?? {}) as Tags }) };
      const after = handlerInputs(handler, inputs, session.defaultTags);
      await operate("update", handler, request, () => update(aws, id, changeOf(handler, before, after)));
      const outputs = await outputsOf(handler, session, aws, id, { ...state, ...inputs });
      if (!outputs) throw new Error(`${handler.token} ${id} is gone: somebody deleted it while it was updated`);
      return outputs;
    },
  };
}

/** Runs an operation of a handler with what the engine set for it: cancellation and `customTimeouts`. */
function operate<T>(
  operation: string,
  handler: Handler,
  { name, signal, timeoutSeconds }: ResourceContext<Session>,
  run: () => Promise<T>,
): Promise<T> {
  const settings = { signal, ...(timeoutSeconds && { timeout: timeoutSeconds * 1000 }) };
  return withOperation(settings, () => attempt(operation, handler, name, run));
}

/** The outputs of a new resource. It exists by now: an error must not lose its id. */
async function finished(id: string, read: (id: string) => Promise<PropertyMap | undefined>): Promise<PropertyMap> {
  try {
    const outputs = await read(id);
    if (!outputs) throw new Error(`${id} was created, but AWS does not have it any more`);
    return outputs;
  } catch (error) {
    throw new IncompleteError(id, error);
  }
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
  const failed = handler.failed?.includes(String(reveal(state["status"] ?? null)));
  return {
    properties: {
      ...properties,
      ...(tagsChanged && { tagsAll: { kind: "update", replace: false } as const }),
      ...(failed && { status: { kind: "update", replace: true } as const }),
    },
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

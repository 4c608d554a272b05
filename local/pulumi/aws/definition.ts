/** From an AWS handler to a resource of the Pulumi plugin. */
import {
  type Aws,
  attempt,
  changeOf,
  type Handler,
  handlerInputs,
  IncompleteError,
  inputPaths,
  type Properties,
  regionOf,
  stateOf,
  type Tags,
  withCallSettings,
  withDefaults,
} from "../../aws/index.ts";
import {
  type PropertyMap,
  type ResourceContext,
  type ResourceDefinition,
  ResourceNotReadyError,
  type ResourceShape,
  type UpdateRequest,
} from "../framework/index.ts";
import { inputsFromOutputs } from "../framework/state.ts";
import type { Session } from "./config.ts";
import { failuresOf, policyInputs, setBeside, withPolicyTexts } from "./inputs.ts";
import type { Journal } from "./journal.ts";
import { diffOf, hasFailed, previewOf } from "./plan.ts";

/** The definition of a type over its handler; `shape` is what the SDK says about it. */
export function definitionOf(handler: Handler, shape: ResourceShape, journal: Journal): ResourceDefinition<Session> {
  const top = Object.entries(handler.defaults ?? {}).filter(([path]) => !path.includes("."));
  const definition: ResourceDefinition<Session> = {
    shape,
    accepts: [...inputPaths(handler), ...policyInputs(handler).map((name) => `${name}.**`)],
    replaceOn: [...handler.replaceOn, "region"],
    defaults: Object.fromEntries(top),
    equals: handler.compare ?? {},
    ...(handler.changedByUpdate && { changedByUpdate: handler.changedByUpdate }),
    ...(handler.autoName && { autoname: handler.autoName }),

    check: ({ news }) => {
      const inputs = withPolicyTexts(handler, withDefaults(handler, news));
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
      if (!outputs || !request.rawInputs) return outputs && { id: located.id, outputs };
      const recorded = inputsFromOutputs(definition, request.rawInputs, outputs);
      return { id: located.id, outputs, inputs: { ...recorded, ...setBeside(handler, recorded, outputs) } };
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
      await finishedCreation(handler, aws, request);
      await operate("update", handler, request, () => update(aws, id, changeOf(handler, before, after)));
      const outputs = await outputsOf(handler, session, aws, id, { ...state, ...inputs });
      if (!outputs) throw new Error(`${handler.token} ${id} is gone: somebody deleted it while it was updated`);
      return outputs;
    },
  };
}

/**
 * Waits for an interrupted creation, which may still be running.
 * @throws ResourceNotReadyError when it has failed for good: it is recorded so, and the next run replaces the resource
 */
async function finishedCreation(handler: Handler, aws: Aws, request: UpdateRequest<Session>): Promise<void> {
  const { id, state, oldInputs, session } = request;
  try {
    await operate("update", handler, request, async () => handler.ready?.(aws, id));
  } catch (error) {
    const outputs = await outputsOf(handler, session, aws, id, { ...state, ...oldInputs });
    if (outputs === undefined || !hasFailed(handler, outputs)) throw error;
    const reason = `${(error as Error).message}. The next run replaces it`;
    throw new ResourceNotReadyError(id, outputs, [reason], asMap(oldInputs));
  }
}

/** Runs an operation of a handler with what the engine set for it: cancellation and `customTimeouts`. */
function operate<T>(
  operation: string,
  handler: Handler,
  { name, signal, timeoutSeconds }: ResourceContext<Session>,
  run: () => Promise<T>,
): Promise<T> {
  const settings = { signal, ...(timeoutSeconds && { timeout: timeoutSeconds * 1000 }) };
  return withCallSettings(settings, () => attempt(operation, handler, name, run));
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

/** Any kind of Kubernetes object as a Pulumi resource. */
import {
  type CheckResult,
  type Created,
  type Current,
  fullMessage,
  hasUnknown,
  isMap,
  type JsonMap,
  markSecret,
  type PropertyMap,
  plainMap,
  type ResourceContext,
  type ResourceDefinition,
  ResourceNotReadyError,
  type ResourceShape,
  reveal,
} from "../framework/index.ts";
import {
  apply,
  fieldManager,
  find,
  isManagedBy,
  isPassing,
  isUnservedKind,
  type Location,
  locate,
  locateId,
  MANAGER_KEY,
  managerOf,
  patiently,
} from "./apply.ts";
import { awaitGone, awaitReady, checkAnnotations, currentReadiness, propagationOf, skipsAwait } from "./await.ts";
import { ApiError, isNotFound } from "./client.ts";
import type { GroupKind } from "./kinds.ts";
import { driftedInputs, inputsOf, recordedObject } from "./live.ts";
import { withName } from "./naming.ts";
import { objectRecord } from "./official.ts";
import { diff, preview } from "./plan.ts";
import { at, type KubeObject } from "./readiness.ts";
import { goneUnreachable, keptUnreachable, type Session } from "./session.ts";

type Context = ResourceContext<Session>;

/** The definition of a kind. `shape` says which top-level fields it has; custom resources have an open one. */
export function objectDefinition(kind: GroupKind, shape: ResourceShape): ResourceDefinition<Session> {
  return {
    shape,
    check: (request) => {
      const wrong = wrongKind(kind, request.news);
      const { inputs, failures } = withName(request);
      const secret = isSecret(kind) ? markSecret(inputs, ["data", "stringData"]) : inputs;
      return {
        inputs: { ...secret, ...kind },
        failures: [...wrong, ...failures, ...wrongAnnotations(inputs)],
      } as CheckResult;
    },
    recorded: objectRecord,
    diff: (request) => diff(kind, request),
    preview: (request) => preview(kind, request),
    create: async (request) => create(kind, request, request.inputs),
    read: async (request) => read(kind, request, request.id, request.inputs, request.state),
    update: async (request) => update(kind, request, request.id, request.inputs, request.state),
    delete: async (request) => remove(kind, request, request.id, request.state),
  };
}

const isSecret = (kind: GroupKind) => kind.kind === "Secret" && kind.apiVersion === "v1";

function wrongKind(kind: GroupKind, news: PropertyMap) {
  return (["apiVersion", "kind"] as const).flatMap((property) => {
    const given = news[property];
    if (typeof given !== "string" || given === kind[property]) return [];
    return [{ property, reason: `got '${given}', but the resource's type is for '${kind[property]}'` }];
  });
}

function wrongAnnotations(inputs: PropertyMap) {
  const annotations = reveal((reveal(inputs["metadata"] ?? {}) as PropertyMap)["annotations"] ?? {});
  if (!isMap(annotations) || hasUnknown(annotations)) return [];
  try {
    checkAnnotations({ metadata: { annotations: plainMap(annotations) } });
    return [];
  } catch (error) {
    return [{ property: "metadata.annotations", reason: (error as Error).message }];
  }
}

function wait(context: Context, location: Location) {
  const { log, signal, timeoutSeconds } = context;
  return { client: context.session.client, path: location.path, log, signal, timeoutSeconds };
}

async function create(kind: GroupKind, context: Context, inputs: JsonMap): Promise<Created> {
  const { session } = context;
  const manager = fieldManager(context.urn);
  const location = await patiently(
    context,
    () => locate(session, { ...inputs, ...kind }),
    (error) => isPassing(error) || isUnservedKind(error),
  );
  const existing = await patiently(context, () => find(session, location));
  if (existing && !isManagedBy(existing, manager))
    throw new Error(
      `${kind.kind} ${location.id} already exists and is not managed by this resource. Import it (id ${location.id}), or remove it`,
    );
  return { id: location.id, outputs: await applied(kind, context, inputs, location, manager) };
}

/** Applies the object and waits until it is ready; if it doesn't get ready, the engine learns that it exists all the same. */
async function applied(
  kind: GroupKind,
  context: Context,
  inputs: JsonMap,
  location: Location,
  manager: string,
): Promise<PropertyMap> {
  const { session, signal } = context;
  const object = await patiently(context, () => apply(session, { ...inputs, ...kind }, location, { manager, signal }));
  const outcome = await awaitReady(object, wait(context, location)).catch((error: unknown) => ({
    object,
    reasons: [fullMessage(error)],
  }));
  const outputs = outputsOf(outcome.object, inputs, manager);
  const [first, ...more] = outcome.reasons;
  if (first === undefined) return outputs;
  throw new ResourceNotReadyError(location.id, outputs, [`${kind.kind} ${location.id}: ${first}`, ...more]);
}

function outputsOf(object: KubeObject, inputs: JsonMap, manager: string): JsonMap {
  // stringData is write-only: programs may read back what they gave.
  const written = inputs["stringData"] === undefined ? {} : { stringData: inputs["stringData"] };
  return { ...recordedObject(object), ...written, [MANAGER_KEY]: manager };
}

async function update(
  kind: GroupKind,
  context: Context,
  id: string,
  inputs: JsonMap,
  state: JsonMap,
): Promise<PropertyMap> {
  const location = await patiently(context, () => locate(context.session, { ...inputs, ...kind }));
  if (location.id !== id)
    throw new Error(`the object's id would change from ${id} to ${location.id}, which needs a replacement`);
  return applied(kind, context, inputs, location, managerOf(context.urn, state));
}

async function read(
  kind: GroupKind,
  context: Context,
  id: string,
  inputs: JsonMap | undefined,
  state: JsonMap,
): Promise<Current | undefined> {
  const { session } = context;
  let object: KubeObject | undefined;
  let location: Location;
  try {
    location = await locateId(session, kind, id);
    object = await find(session, location);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    return keptUnreachable(context, error, inputs, state);
  }
  if (!object) return undefined;
  const found = inputs ? driftedInputs(inputs, object) : inputsOf(object);
  const current = isSecret(kind) ? markSecret(found, ["data", "stringData"]) : found;
  const outputs = outputsOf(object, inputs ?? {}, managerOf(context.urn, state));
  const reasons = inputs && !skipsAwait(object) ? await unreadiness(context, object, location) : [];
  if (reasons.length > 0) throw new ResourceNotReadyError(location.id, outputs, reasons, current);
  return { outputs, inputs: current };
}

async function unreadiness({ session }: Context, object: KubeObject, location: Location): Promise<string[]> {
  const state = await currentReadiness(session.client, object);
  return state.ready ? [] : [`${object.kind} ${location.id}: ${state.message}`];
}

async function remove(kind: GroupKind, context: Context, id: string, state: JsonMap): Promise<void> {
  const { session, log } = context;
  try {
    const location = await locateId(session, kind, id);
    const uid = at(state, "metadata", "uid");
    const preconditions = typeof uid === "string" && { preconditions: { uid } };
    const body = { propagationPolicy: propagationOf(state), ...preconditions };
    await patiently(context, () => session.client.request({ method: "DELETE", path: location.path, body }));
    if (!skipsAwait(state)) await awaitGone({ ...state, ...kind } as KubeObject, wait(context, location));
  } catch (error) {
    if (isNotFound(error)) return;
    if (error instanceof ApiError && error.status === 409 && error.message.includes("UID")) {
      log.warning(`${kind.kind} ${id} is another object by now: it stays`);
      return;
    }
    goneUnreachable(context, error, `${kind.kind} ${id}`);
  }
}

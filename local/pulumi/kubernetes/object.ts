/** Any kind of Kubernetes object as a Pulumi resource. */
import {
  type CheckResult,
  type Created,
  type Current,
  type Diff,
  type DiffRequest,
  diffInputs,
  fullMessage,
  hasUnknown,
  isMap,
  type JsonMap,
  type Log,
  markSecret,
  type PreviewRequest,
  type PropertyMap,
  plainMap,
  type ResourceContext,
  type ResourceDefinition,
  ResourceNotReadyError,
  type ResourceShape,
  reveal,
  UNKNOWN,
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
  patiently,
} from "./apply.ts";
import { awaitGone, awaitReady, checkAnnotations, currentReadiness, NotReadyError, skipsAwait } from "./await.ts";
import { ApiError, isNotFound, UnreachableError } from "./client.ts";
import type { GroupKind } from "./kinds.ts";
import { driftedInputs, inputsOf, recordedObject, sameQuantity } from "./live.ts";
import { isAutonamed, withName } from "./naming.ts";
import { at, type KubeObject } from "./readiness.ts";
import { isImmutableRefusal, replaceOn } from "./replace.ts";
import type { Session } from "./session.ts";

/** Output that keeps the name of the field manager over renames of the resource. */
const MANAGER_KEY = "__fieldManager";
const DELETE_PROPAGATION = "pulumi.com/deletionPropagationPolicy";

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

async function diff(kind: GroupKind, request: DiffRequest<Session>): Promise<Diff> {
  const { session, newInputs } = request;
  const [before, after] = withoutDefaultNamespace(request);
  const frozen = reveal(request.oldInputs["immutable"] ?? false) === true ? ["data", "stringData", "binaryData"] : [];
  const rules = { replaceOn: [...replaceOn(kind, session.settings), ...frozen] };
  const { properties } = diffInputs(before, after, rules);
  const changed = Object.entries(properties).filter(([path]) => !sameAmount(path, before, after));
  const detailed = Object.fromEntries(changed);
  const replaces = changed.some(([, { replace }]) => replace);
  const refused = changed.length > 0 && !replaces && (await refusesChange(kind, request));
  return {
    properties: refused ? mapReplace(detailed) : detailed,
    deleteBeforeReplace: sameIdentity(before, after) && !isAutonamed(newInputs),
  };
}

function mapReplace(properties: Diff["properties"]): Diff["properties"] {
  return Object.fromEntries(Object.entries(properties).map(([path, diff]) => [path, { ...diff, replace: true }]));
}

/** Amounts under `resources` and the like are compared as numbers. */
function sameAmount(path: string, before: PropertyMap, after: PropertyMap): boolean {
  if (!/(^|\.)(resources|limits|requests|capacity|hard)[.[]/.test(path)) return false;
  const keys = path.split(/[.[\]"]+/).filter((key) => key !== "");
  const [left, right] = [at(reveal(before), ...keys), at(reveal(after), ...keys)];
  return typeof left === "string" && typeof right === "string" && sameQuantity(left, right);
}

/** An object without a namespace is in the default one: naming that is no change. */
function withoutDefaultNamespace(request: DiffRequest<Session>): [PropertyMap, PropertyMap] {
  const pair: [PropertyMap, PropertyMap] = [request.oldInputs, request.newInputs];
  const [before, after] = pair.map((inputs) => reveal(inputs["metadata"] ?? {}));
  if (!isMap(before) || !isMap(after) || (before["namespace"] === undefined) === (after["namespace"] === undefined))
    return pair;
  const inState = at(reveal(request.state), "metadata", "namespace");
  const named = before["namespace"] ?? after["namespace"];
  if (reveal(named ?? null) !== inState) return pair;
  const strip = (inputs: PropertyMap): PropertyMap => {
    const { namespace: _, ...metadata } = reveal(inputs["metadata"] ?? {}) as PropertyMap;
    return { ...inputs, metadata };
  };
  return [strip(pair[0]), strip(pair[1])];
}

function sameIdentity(before: PropertyMap, after: PropertyMap): boolean {
  return ["name", "namespace"].every((key) => {
    const [left, right] = [before, after].map((inputs) => at(reveal(inputs), "metadata", key));
    return left === right;
  });
}

/** Asks the server whether it would refuse the change because a field is immutable, which no table knows for custom resources. */
async function refusesChange(kind: GroupKind, request: DiffRequest<Session>): Promise<boolean> {
  if (hasUnknown(request.newInputs)) return false;
  try {
    await dryRun(kind, request, plainMap(request.newInputs), plainMap(request.state));
    return false;
  } catch (error) {
    // Other refusals are reported by the preview or the update itself.
    return error instanceof ApiError && error.status === 422 && isImmutableRefusal(error.message);
  }
}

async function dryRun(
  kind: GroupKind,
  context: Context,
  inputs: JsonMap,
  state: JsonMap | undefined,
): Promise<KubeObject> {
  const object = { ...inputs, ...kind } as KubeObject;
  const location = await locate(context.session, object);
  return apply(context.session, object, location, { manager: managerOf(context, state), dryRun: true });
}

function managerOf(context: Context, state: JsonMap | undefined): string {
  const recorded = state?.[MANAGER_KEY];
  return typeof recorded === "string" ? recorded : fieldManager(context.urn);
}

/**
 * What the object would be. The server defaults it in a dry run where that is possible; where it isn't (a value or the cluster is not
 * known yet, the namespace or the CRD comes with the same update), the inputs are shown.
 */
async function preview(kind: GroupKind, request: PreviewRequest<Session>): Promise<PropertyMap> {
  const { inputs, state } = request;
  const unknownStatus = state ? { ...(state["status"] === undefined ? {} : { status: state["status"] }) } : {};
  if (hasUnknown(inputs)) return { ...unknownStatus, ...inputs, ...kind };
  try {
    const object = await dryRun(kind, request, plainMap(inputs), state && plainMap(state));
    return state ? recordedObject(object) : withUnknownParts(recordedObject(object), plainMap(inputs));
  } catch (error) {
    if (!cannotPreview(error)) throw error;
    request.log.debug(`no server-side preview: ${fullMessage(error)}`);
    return { ...unknownStatus, ...inputs, ...kind };
  }
}

function cannotPreview(error: unknown): boolean {
  if (error instanceof UnreachableError || isNotFound(error) || isPassing(error)) return true;
  if (!(error instanceof ApiError)) return false;
  // Webhooks with side effects refuse dry runs; an immutable field means a replacement, which deletes the old object first.
  return (
    /does not support dry run/.test(error.message) ||
    (error.status === 422 && isImmutableRefusal(error.message)) ||
    [401, 403].includes(error.status)
  );
}

/** Parts of a new object that a dry run only guesses. */
function withUnknownParts(object: JsonMap, inputs: JsonMap): PropertyMap {
  const { status: _, ...rest } = object;
  const metadata = {
    ...(object["metadata"] as PropertyMap),
    uid: UNKNOWN,
    resourceVersion: UNKNOWN,
    creationTimestamp: UNKNOWN,
  };
  const spec = object["spec"];
  if (object["kind"] !== "Service" || !isMap(spec) || at(inputs, "spec", "clusterIP") !== undefined)
    return { ...rest, metadata };
  return { ...rest, metadata, spec: { ...spec, clusterIP: UNKNOWN, clusterIPs: UNKNOWN } };
}

function wait(context: Context, location: Location) {
  const { log, signal, timeoutSeconds } = context;
  return { client: context.session.client, path: location.path, log, signal, timeoutSeconds };
}

async function create(kind: GroupKind, context: Context, inputs: JsonMap): Promise<Created> {
  const { session } = context;
  const object = { ...inputs, ...kind } as KubeObject;
  const manager = fieldManager(context.urn);
  const location = await patiently(
    context,
    () => locate(session, object),
    (error) => isPassing(error) || isUnservedKind(error),
  );
  const existing = await patiently(context, () => find(session, location));
  if (existing && !session.settings.upsertExistingObjects && !isManagedBy(existing, manager))
    throw alreadyExists(kind, location);
  const applied = await patiently(context, () => apply(session, object, location, { manager, signal: context.signal }));
  const outputs = (current: KubeObject) => outputsOf(current, inputs, manager);
  const ready = await settled(context, location, applied, outputs);
  return { id: location.id, outputs: outputs(ready) };
}

function alreadyExists(kind: GroupKind, { id }: Location): Error {
  return new Error(
    `${kind.kind} ${id} already exists and is not managed by this resource. Import it (id ${id}), remove it, or set upsertExistingObjects on the provider`,
  );
}

/** Waits until the object is ready; if it isn't, the engine learns that it exists all the same. */
async function settled(
  context: Context,
  location: Location,
  object: KubeObject,
  outputs: (object: KubeObject) => JsonMap,
): Promise<KubeObject> {
  try {
    return await awaitReady(object, wait(context, location));
  } catch (error) {
    const [current, reasons] =
      error instanceof NotReadyError ? [error.object, error.reasons] : [object, [fullMessage(error)]];
    const { kind } = object;
    throw new ResourceNotReadyError(
      location.id,
      outputs(current),
      reasons.map((reason, index) => (index === 0 ? `${kind} ${location.id}: ${reason}` : reason)),
    );
  }
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
  const { session } = context;
  const object = { ...inputs, ...kind } as KubeObject;
  const manager = managerOf(context, state);
  const location = await patiently(context, () => locate(session, object));
  if (location.id !== id)
    throw new Error(`the object's id would change from ${id} to ${location.id}, which needs a replacement`);
  const applied = await patiently(context, () => apply(session, object, location, { manager, signal: context.signal }));
  const outputs = (current: KubeObject) => outputsOf(current, inputs, manager);
  return outputs(await settled(context, location, applied, outputs));
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
    if (error instanceof UnreachableError && session.settings.skipUpdateUnreachable)
      return kept(context.log, inputs, state);
    throw error;
  }
  if (!object) return undefined;
  const found = inputs ? driftedInputs(inputs, object) : inputsOf(object);
  const current = isSecret(kind) ? markSecret(found, ["data", "stringData"]) : found;
  const outputs = outputsOf(object, inputs ?? {}, managerOf(context, state));
  const reasons = inputs && !skipsAwait(object) ? await unreadiness(context, object, location) : [];
  if (reasons.length > 0) throw new ResourceNotReadyError(location.id, outputs, reasons, current);
  return { outputs, inputs: current };
}

async function unreadiness({ session }: Context, object: KubeObject, location: Location): Promise<string[]> {
  const state = await currentReadiness(session.client, object);
  return state.ready ? [] : [`${object.kind} ${location.id}: ${state.message}`];
}

function kept(log: Log, inputs: JsonMap | undefined, state: JsonMap): Current {
  log.warning("the cluster cannot be reached: the recorded state is kept (skipUpdateUnreachable)");
  return { outputs: state, inputs: inputs ?? {} };
}

async function remove(kind: GroupKind, context: Context, id: string, state: JsonMap): Promise<void> {
  const { session, log } = context;
  try {
    const location = await locateId(session, kind, id);
    const uid = at(state, "metadata", "uid");
    const policy = at(state, "metadata", "annotations", DELETE_PROPAGATION);
    const body = {
      propagationPolicy: typeof policy === "string" ? policy : "Foreground",
      ...(typeof uid === "string" ? { preconditions: { uid } } : {}),
    };
    await patiently(context, () => session.client.request({ method: "DELETE", path: location.path, body }));
    if (!skipsAwait(state)) await awaitGone({ ...state, ...kind } as KubeObject, wait(context, location));
  } catch (error) {
    if (isNotFound(error)) return;
    if (error instanceof ApiError && error.status === 409 && error.message.includes("UID")) {
      log.warning(`${kind.kind} ${id} is another object by now: it stays`);
      return;
    }
    if (error instanceof UnreachableError && session.settings.deleteUnreachable) {
      log.warning(`${kind.kind} ${id}: the cluster cannot be reached, it counts as deleted (deleteUnreachable)`);
      return;
    }
    throw error;
  }
}

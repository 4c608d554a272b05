/** What an update would do to an object: diff and preview. */
import {
  type Diff,
  type DiffRequest,
  diffInputs,
  fullMessage,
  hasUnknown,
  isMap,
  type JsonMap,
  type PreviewRequest,
  type PropertyMap,
  plainMap,
  type ResourceContext,
  replacing,
  reveal,
  UNKNOWN,
} from "../framework/index.ts";
import { apply, isPassing, locate, managerOf } from "./apply.ts";
import { ApiError, isNotFound, UnreachableError } from "./client.ts";
import type { GroupKind } from "./kinds.ts";
import { recordedObject } from "./live.ts";
import { isAutonamed } from "./naming.ts";
import { at, type KubeObject } from "./readiness.ts";
import { knowsImmutableFields, replaceOn } from "./replace.ts";
import type { Session } from "./session.ts";

type Context = ResourceContext<Session>;

/** What a change of inputs means: which fields are immutable, a table says, and the API server in a dry run. */
export async function diff(kind: GroupKind, request: DiffRequest<Session>): Promise<Diff> {
  const { session, oldInputs, newInputs } = request;
  const rules = { replaceOn: replaceOn(kind, session.settings, oldInputs) };
  const { properties } = diffInputs(oldInputs, newInputs, rules);
  const changes = Object.values(properties);
  const replaces = changes.some(({ replace }) => replace);
  const refused = changes.length > 0 && !replaces && (await refusesChange(kind, request));
  return {
    properties: refused ? replacing(properties) : properties,
    deleteBeforeReplace: sameIdentity(oldInputs, newInputs) && !isAutonamed(newInputs),
  };
}

/** True when the API server refused a change because a field is immutable; the words differ by kind. */
export function isImmutableRefusal(message: string): boolean {
  return /field is immutable|may not (be (changed|updated)|change once set)|cannot (be changed|change roleRef)|Forbidden: updates to .* (are|is) forbidden|Forbidden: pod updates may not|is immutable after creation/i.test(
    message,
  );
}

function sameIdentity(before: PropertyMap, after: PropertyMap): boolean {
  return ["name", "namespace"].every((key) => {
    const [left, right] = [before, after].map((inputs) => at(reveal(inputs), "metadata", key));
    return left === right;
  });
}

/**
 * Asks the server whether it would refuse the change because a field is immutable, which no table knows for custom resources. When the
 * server cannot say, the change is shown as one in place, with a warning for kinds that the table lacks.
 */
async function refusesChange(kind: GroupKind, request: DiffRequest<Session>): Promise<boolean> {
  const unanswered = (reason: string) => {
    if (!knowsImmutableFields(kind))
      request.log.warning(
        `shown as an update in place, but it may turn out to be a replacement: the API server could not be asked whether the change is allowed (${reason})`,
      );
    return false;
  };
  if (hasUnknown(request.newInputs)) return unanswered("an input is not known yet");
  try {
    await dryRun(kind, request, plainMap(request.newInputs), plainMap(request.state));
    return false;
  } catch (error) {
    if (isUnanswered(error)) return unanswered(fullMessage(error));
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
  return apply(context.session, object, location, { manager: managerOf(context.urn, state), dryRun: true });
}

/**
 * What the object would be. The server defaults it in a dry run where that is possible; where it isn't (a value or the cluster is not
 * known yet, the namespace or the CRD comes with the same update), the inputs are shown.
 */
export async function preview(kind: GroupKind, request: PreviewRequest<Session>): Promise<PropertyMap> {
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
  // An immutable field means a replacement, which deletes the old object first.
  const immutable = error instanceof ApiError && error.status === 422 && isImmutableRefusal(error.message);
  return immutable || isUnanswered(error);
}

/** True when the error says nothing about the object: the server is away or denies access, the kind or namespace comes later. */
function isUnanswered(error: unknown): boolean {
  if (error instanceof UnreachableError || isNotFound(error) || isPassing(error)) return true;
  if (!(error instanceof ApiError)) return false;
  // Webhooks with side effects refuse dry runs.
  return [401, 403].includes(error.status) || /does not support dry run/.test(error.message);
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

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
import type { Session, Settings } from "./session.ts";

type Context = ResourceContext<Session>;

/** What a change of inputs means: which fields are immutable, the API server says in a dry run. */
export async function diff(kind: GroupKind, request: DiffRequest<Session>): Promise<Diff> {
  const { session, oldInputs, newInputs } = request;
  const { properties } = diffInputs(oldInputs, newInputs, { replaceOn: replaceOn(kind, session.settings) });
  const changes = Object.values(properties);
  const replaces = changes.some(({ replace }) => replace);
  const refused = changes.length > 0 && !replaces && (await refusesChange(kind, request));
  return {
    properties: refused ? replacing(properties) : properties,
    deleteBeforeReplace: sameIdentity(oldInputs, newInputs) && !isAutonamed(newInputs),
  };
}

/** Paths of inputs whose change needs a new object, whatever the API server says. */
function replaceOn({ apiVersion, kind }: GroupKind, settings: Settings): string[] {
  const mutable = { ConfigMap: settings.enableConfigMapMutable, Secret: settings.enableSecretMutable }[kind];
  // Consumers of a ConfigMap or Secret see a change only under a new name, unless the provider is told otherwise.
  const data = apiVersion === "v1" && mutable === false ? ["data", "stringData", "binaryData"] : [];
  return ["metadata.name", "metadata.namespace", "kind", ...data];
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

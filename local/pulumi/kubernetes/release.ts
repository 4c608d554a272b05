/** `helm.v3.Release` through the real helm. */
import { parse, parseAllDocuments, stringify } from "yaml";
import {
  type Created,
  type Current,
  fullMessage,
  hasUnknown,
  type Json,
  type JsonMap,
  openSdk,
  type PreviewRequest,
  type PropertyMap,
  plainMap,
  type ResourceContext,
  type ResourceDefinition,
  ResourceNotReadyError,
  Secret,
  textOf,
  UNKNOWN,
} from "../framework/index.ts";
import { fieldManager } from "./apply.ts";
import { UnreachableError } from "./client.ts";
import { type ChartSource, HelmError, type ReleaseMetadata } from "./helm.ts";
import { withoutNulls } from "./live.ts";
import { at } from "./readiness.ts";
import { watchRelease } from "./release-progress.ts";
import { settle } from "./release-recovery.ts";
import type { Session } from "./session.ts";

/** Token of the type. */
export const RELEASE = "kubernetes:helm.sh/v3:Release";
/** Longest name of a release (Helm). */
const MAX_NAME = 53;
/** Seconds that helm waits by default. */
const DEFAULT_TIMEOUT_SECONDS = 300;
/** Label of a release that says which resource made it: an interrupted creation is resumed, anybody else's release is not touched. */
const OWNER_LABEL = "pulumi-resource";

type Context = ResourceContext<Session>;

/** Inputs that helm is told by a flag of its own. */
const FLAGS: Readonly<Record<string, string>> = {
  atomic: "--rollback-on-failure",
  cleanupOnFail: "--cleanup-on-fail",
  createNamespace: "--create-namespace",
  dependencyUpdate: "--dependency-update",
  disableOpenapiValidation: "--disable-openapi-validation",
  disableWebhooks: "--no-hooks",
  forceUpdate: "--force-replace",
  renderSubchartNotes: "--render-subchart-notes",
  resetValues: "--reset-values",
  reuseValues: "--reuse-values",
  skipCrds: "--skip-crds",
  takeOwnership: "--take-ownership",
  verify: "--verify",
  waitForJobs: "--wait-for-jobs",
};

const sdk = openSdk("kubernetes");

/** The definition of the type. */
export function releaseDefinition(): ResourceDefinition<Session> {
  const shape = sdk.resource(RELEASE);
  if (!shape) throw new Error(`@pulumi/kubernetes ${sdk.version} has no ${RELEASE}`);
  return {
    shape,
    accepts: [
      ...Object.keys(FLAGS),
      ...["allowNullValues", "chart", "compat", "description", "devel", "keyring", "maxHistory", "name", "namespace"],
      ...["repo", "caFile", "certFile", "keyFile", "username", "password"].map((name) => `repositoryOpts.${name}`),
      ...["skipAwait", "timeout", "version", "values.**"],
    ],
    autoname: { property: "name", maxLength: MAX_NAME },
    replaceOn: ["name", "namespace"],
    // Old and new release would fight over the chart's cluster-wide objects.
    deleteBeforeReplace: true,
    check: ({ news }) => {
      const name = news["name"];
      if (typeof name !== "string" || (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= MAX_NAME))
        return {};
      const reason = `got '${name}', allowed are up to ${MAX_NAME} lower-case letters, digits and inner hyphens`;
      return { failures: [{ property: "name", reason }] };
    },
    preview: (request) => preview(request),
    create: (request) => create(request, request.inputs),
    read: (request) => read(request, request.id, request.inputs, request.state),
    update: (request) => upgrade(request, request.inputs, "update"),
    delete: (request) => remove(request, request.id, request.inputs),
  };
}

const text = (value: Json | undefined) => (typeof value === "string" && value !== "" ? value : undefined);

function namespaceOf(context: Context, inputs: JsonMap): string {
  return text(inputs["namespace"]) ?? context.session.client.namespace;
}

function sourceOf(inputs: JsonMap): ChartSource {
  return {
    chart: textOf(inputs["chart"]),
    version: text(inputs["version"]),
    devel: inputs["devel"] === true,
    repository: (inputs["repositoryOpts"] ?? {}) as ChartSource["repository"],
  };
}

function timeoutOf(context: Context, inputs: JsonMap): number {
  return context.timeoutSeconds ?? (Number(inputs["timeout"] ?? 0) || DEFAULT_TIMEOUT_SECONDS);
}

async function create(context: Context, inputs: JsonMap): Promise<Created> {
  const name = textOf(inputs["name"]);
  const namespace = namespaceOf(context, inputs);
  const existing = await context.session.helm.metadata(namespace, name);
  if (existing && existing.labels[OWNER_LABEL] !== fieldManager(context.urn))
    throw new Error(
      `release ${namespace}/${name} (chart ${existing.chart} ${existing.version}) already exists and is not managed by this resource. Import it (id ${namespace}/${name}), or uninstall it`,
    );
  return { id: `${namespace}/${name}`, outputs: await upgrade(context, inputs, "create") };
}

async function upgrade(context: Context, inputs: JsonMap, operation: "create" | "update"): Promise<PropertyMap> {
  const { helm, client } = context.session;
  const name = textOf(inputs["name"]);
  const namespace = namespaceOf(context, inputs);
  await settle(helm, namespace, name, context);
  const args = [
    "upgrade",
    name,
    ...(await helm.chartArguments(sourceOf(inputs))),
    ...upgradeArguments(context, inputs, namespace),
  ];
  const watch = watchRelease(client, namespace, name, context.log);
  try {
    await helm.run(args, stringify(valuesOf(inputs)), context.signal);
    await watch.stop();
  } catch (error) {
    const reasons = [fullMessage(error), ...(await watch.stop())];
    throw await failure(context, inputs, operation, reasons);
  }
  return outputsOf(context, inputs, namespace, name);
}

function upgradeArguments(context: Context, inputs: JsonMap, namespace: string): string[] {
  const set = Object.entries(FLAGS).flatMap(([input, flag]) => (inputs[input] === true ? [flag] : []));
  return [
    "--install",
    ...["--namespace", namespace],
    ...["--values", "-"],
    ...["--labels", `${OWNER_LABEL}=${fieldManager(context.urn)}`],
    ...["--timeout", `${timeoutOf(context, inputs)}s`],
    ...(inputs["skipAwait"] === true ? [] : ["--wait=watcher"]),
    ...(inputs["maxHistory"] === undefined ? [] : ["--history-max", textOf(inputs["maxHistory"])]),
    ...(text(inputs["description"]) ? ["--description", textOf(inputs["description"])] : []),
    ...(text(inputs["keyring"]) ? ["--keyring", textOf(inputs["keyring"])] : []),
    ...set,
  ];
}

/** Nulls unset a chart's defaults only when that is asked for. */
function valuesOf(inputs: JsonMap): Json {
  const values = inputs["values"] ?? {};
  return inputs["allowNullValues"] === true ? values : withoutNulls(values);
}

/** After a failure without a rollback the release is there, and the next update has to go on from it. */
async function failure(
  context: Context,
  inputs: JsonMap,
  operation: "create" | "update",
  reasons: string[],
): Promise<Error> {
  const namespace = namespaceOf(context, inputs);
  const name = textOf(inputs["name"]);
  const title = `release ${namespace}/${name}: ${reasons[0]}`;
  const found = await context.session.helm.metadata(namespace, name).catch(() => undefined);
  if (!found || (operation === "update" && found.status === "deployed"))
    return new HelmError([title, ...reasons.slice(1)].join("\n"));
  const outputs = { ...inputs, status: statusOf(found) as unknown as Json, resourceNames: {} };
  return new ResourceNotReadyError(`${namespace}/${name}`, outputs, [title, ...reasons.slice(1)]);
}

function statusOf({ labels: _, ...status }: ReleaseMetadata): Omit<ReleaseMetadata, "labels"> {
  return status;
}

async function outputsOf(context: Context, inputs: JsonMap, namespace: string, name: string): Promise<JsonMap> {
  const { helm } = context.session;
  const found = await helm.metadata(namespace, name);
  if (!found) throw new HelmError(`release ${namespace}/${name} is gone right after it was made`);
  const manifest = await helm.manifest(namespace, name);
  return {
    ...inputs,
    namespace,
    status: statusOf(found) as unknown as Json,
    resourceNames: resourceNames(manifest, namespace),
  };
}

/** Names of a release's objects by kind, as the official provider shows them: `Deployment.apps/v1` to `["namespace/name"]`. */
function resourceNames(manifest: string, namespace: string): JsonMap {
  const names: Record<string, string[]> = {};
  for (const document of parseAllDocuments(manifest)) {
    const object = document.toJS() as JsonMap | null;
    const name = at(object, "metadata", "name");
    if (!object || typeof name !== "string") continue;
    const [version, group] = textOf(object["apiVersion"]).split("/").reverse();
    const key = `${textOf(object["kind"])}${group ? `.${group}` : ""}/${version}`;
    const own = at(object, "metadata", "namespace");
    names[key] = [...(names[key] ?? []), `${typeof own === "string" ? own : namespace}/${name}`];
  }
  return names;
}

/**
 * A new release's status is unknown. That of an upgrade is known as far as helm can tell before: the chart is looked up, so that a version
 * that does not exist is refused here, and what depends on the release shows no change that will not come.
 */
async function preview(request: PreviewRequest<Session>): Promise<PropertyMap> {
  const { inputs, state, session } = request;
  const unknown = { ...inputs, status: UNKNOWN, resourceNames: UNKNOWN };
  if (!state || hasUnknown(inputs)) return unknown;
  const plain = plainMap(inputs);
  const before = plainMap(state)["status"];
  const namespace = namespaceOf(request, plain);
  try {
    const chart = parse(await session.helm.chart(sourceOf(plain))) as {
      name: string;
      version: string;
      appVersion?: string;
    };
    const status = {
      ...(before as JsonMap),
      chart: chart.name,
      version: chart.version,
      appVersion: String(chart.appVersion ?? ""),
      revision: Number(at(before, "revision")) + 1,
      status: "deployed",
    };
    return { ...inputs, namespace, status, resourceNames: UNKNOWN };
  } catch (error) {
    if (
      error instanceof HelmError &&
      /version ".*" not found|no chart version found|chart ".*" not found/i.test(error.message)
    )
      throw error;
    request.log.debug(`the chart cannot be looked up in this preview: ${fullMessage(error)}`);
    return unknown;
  }
}

async function read(
  context: Context,
  id: string,
  inputs: JsonMap | undefined,
  state: JsonMap,
): Promise<Current | undefined> {
  const { session } = context;
  const [namespace, name] = splitId(id);
  try {
    const found = await session.helm.metadata(namespace, name);
    if (!found) return undefined;
    const values = await session.helm.values(namespace, name);
    if (!inputs) return imported(context, found, values);
    const drifted = driftedRelease(inputs, found, values);
    const outputs = await outputsOf(context, drifted, namespace, name);
    if (found.status === "deployed") return { outputs, inputs: drifted };
    throw new ResourceNotReadyError(id, outputs, [`release ${id} is ${found.status}`], drifted);
  } catch (error) {
    if (!isUnreachable(error) || !session.settings.skipUpdateUnreachable) throw error;
    context.log.warning("the cluster cannot be reached: the recorded state is kept (skipUpdateUnreachable)");
    return { outputs: state, inputs: inputs ?? {} };
  }
}

function splitId(id: string): [namespace: string, name: string] {
  const [namespace, name, rest] = id.split("/");
  if (!namespace || !name || rest !== undefined) throw new Error(`release id: got '${id}', allowed is namespace/name`);
  return [namespace, name];
}

/** The recorded inputs with what the release really is now. */
function driftedRelease(inputs: JsonMap, found: ReleaseMetadata, values: JsonMap): JsonMap {
  const chart = textOf(inputs["chart"]);
  const sameChart = chart === found.chart || chart.replace(/\/+$/, "").split("/").at(-1)?.startsWith(found.chart);
  const sameValues = JSON.stringify(sorted(valuesOf(inputs))) === JSON.stringify(sorted(values));
  return {
    ...inputs,
    ...(sameChart ? {} : { chart: found.chart }),
    ...(isExact(text(inputs["version"])) ? { version: sameVersion(inputs, found) } : {}),
    ...(sameValues ? {} : { values }),
  };
}

/** A range stays as it is: any version in it is right. */
function isExact(version: string | undefined): version is string {
  return version !== undefined && /^v?\d+\.\d+\.\d+/.test(version);
}

function sameVersion(inputs: JsonMap, { version }: ReleaseMetadata): string {
  const given = textOf(inputs["version"]);
  return given.replace(/^v/, "") === version.replace(/^v/, "") ? given : version;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}

/** Values of somebody else's release may hold secrets: they are recorded as one. */
async function imported(context: Context, found: ReleaseMetadata, values: JsonMap): Promise<Current> {
  const inputs = { chart: found.chart, version: found.version, name: found.name, namespace: found.namespace };
  const outputs = await outputsOf(context, inputs, found.namespace, found.name);
  return { outputs: { ...outputs, values: new Secret(values) }, inputs: { ...inputs, values: new Secret(values) } };
}

async function remove(context: Context, id: string, inputs: JsonMap): Promise<void> {
  const { helm, settings } = context.session;
  const [namespace, name] = splitId(id);
  const wait = inputs["skipAwait"] === true ? [] : ["--wait"];
  try {
    await helm.run(
      [
        "uninstall",
        name,
        "--namespace",
        namespace,
        "--ignore-not-found",
        "--timeout",
        `${timeoutOf(context, inputs)}s`,
        ...wait,
      ],
      "",
      context.signal,
    );
  } catch (error) {
    if (!isUnreachable(error) || !settings.deleteUnreachable) throw error;
    context.log.warning(`release ${id}: the cluster cannot be reached, it counts as deleted (deleteUnreachable)`);
  }
}

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnreachableError ||
    (error instanceof HelmError &&
      /cluster unreachable|connection refused|no such host|i\/o timeout/i.test(error.message))
  );
}

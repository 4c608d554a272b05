/** `helm.v3.Release` through the real helm. */
import { parse, stringify } from "yaml";
import {
  autoname,
  type Created,
  diffInputs,
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
  textOf,
  UNKNOWN,
} from "../framework/index.ts";
import { fieldManager } from "./apply.ts";
import { UnreachableError } from "./client.ts";
import { HelmError } from "./helm.ts";
import { releaseRecord, withReleaseDefaults } from "./official.ts";
import { at } from "./readiness.ts";
import { watchRelease } from "./release-progress.ts";
import { settle } from "./release-recovery.ts";
import {
  namespaceOf,
  outputsOf,
  readRelease,
  sourceOf,
  splitId,
  statusOf,
  timeoutOf,
  valuesOf,
} from "./release-state.ts";
import { goneUnreachable, type Session } from "./session.ts";

/** Token of the type. */
export const RELEASE = "kubernetes:helm.sh/v3:Release";
/** Longest name of a release (Helm). */
const MAX_NAME = 53;
/** Label of a release that says which resource made it: an interrupted creation is resumed, anybody else's release is not touched. */
const OWNER_LABEL = "pulumi-resource";

type Context = ResourceContext<Session>;

/** Inputs that are flags of helm. */
const FLAGS: Readonly<Record<string, string>> = {
  atomic: "--rollback-on-failure",
  cleanupOnFail: "--cleanup-on-fail",
  createNamespace: "--create-namespace",
};

/** The definition of the type. */
export function releaseDefinition(): ResourceDefinition<Session> {
  return {
    shape: openSdk("kubernetes").shape(RELEASE),
    accepts: [
      ...Object.keys(FLAGS),
      ...["chart", "compat", "maxHistory", "name", "namespace", "skipAwait", "timeout", "version", "values.**"],
      ...["repo", "username", "password"].map((name) => `repositoryOpts.${name}`),
    ],
    check: (request) => {
      const { news, olds, session } = request;
      // Without a name in the program the release keeps the one that it has.
      const name = news["name"] || olds["name"] || autoname(request, MAX_NAME);
      const inputs = { ...withReleaseDefaults(news, defaultNamespace(session)), name };
      if (typeof name !== "string" || (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= MAX_NAME))
        return { inputs };
      const reason = `got '${name}', allowed are up to ${MAX_NAME} lower-case letters, digits and inner hyphens`;
      return { inputs, failures: [{ property: "name", reason }] };
    },
    recorded: releaseRecord,
    // States of earlier versions lack the defaults.
    diff: ({ oldInputs, newInputs, session }) => {
      const before = withReleaseDefaults(oldInputs, defaultNamespace(session));
      // Old and new release would fight over the chart's cluster-wide objects.
      return { ...diffInputs(before, newInputs, { replaceOn: ["name", "namespace"] }), deleteBeforeReplace: true };
    },
    preview: (request) => preview(request),
    create: (request) => create(request, request.inputs),
    read: (request) => readRelease(request, request.id, request.inputs, request.state),
    update: (request) => upgrade(request, request.inputs, "update"),
    delete: (request) => remove(request, request.id, request.inputs),
  };
}

/** The namespace of a release that names none; empty while the cluster is not known. */
function defaultNamespace(session: Session): string {
  try {
    return session.client.namespace;
  } catch (error) {
    if (error instanceof UnreachableError) return "";
    throw error;
  }
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
    ...set,
  ];
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
    const { name: chart, version, appVersion } = parse(await session.helm.chart(sourceOf(plain))) as JsonMap;
    const revision = Number(at(before, "revision")) + 1;
    const known = { chart, version, appVersion: textOf(appVersion), revision, status: "deployed" };
    const status = { ...(before as JsonMap), ...known } as JsonMap;
    return { ...inputs, namespace, status, resourceNames: UNKNOWN };
  } catch (error) {
    const missing = /version ".*" not found|no chart version found|chart ".*" not found/i;
    if (error instanceof HelmError && missing.test(error.message)) throw error;
    request.log.debug(`the chart cannot be looked up in this preview: ${fullMessage(error)}`);
    return unknown;
  }
}

async function remove(context: Context, id: string, inputs: JsonMap): Promise<void> {
  const { helm } = context.session;
  const [namespace, name] = splitId(id);
  const wait = inputs["skipAwait"] === true ? [] : ["--wait"];
  const timeout = `${timeoutOf(context, inputs)}s`;
  const args = ["uninstall", name, "--namespace", namespace, "--ignore-not-found", "--timeout", timeout, ...wait];
  try {
    await helm.run(args, "", context.signal);
  } catch (error) {
    goneUnreachable(context, error, `release ${id}`);
  }
}

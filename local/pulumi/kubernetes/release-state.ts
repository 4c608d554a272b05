/** A release in words: its inputs for helm, its outputs, what a refresh or an import finds. */
import {
  type Current,
  equal,
  givenText,
  type Json,
  type JsonMap,
  plainMap,
  type ResourceContext,
  ResourceNotReadyError,
  Secret,
  textOf,
} from "../framework/index.ts";
import { type ChartSource, HelmError, type ReleaseMetadata } from "./helm.ts";
import { DEFAULT_TIMEOUT_SECONDS, resourceNames, withReleaseDefaults } from "./official.ts";
import { keptUnreachable, type Session } from "./session.ts";

type Context = ResourceContext<Session>;

/** The namespace of the release. */
export function namespaceOf(context: Context, inputs: JsonMap): string {
  return givenText(inputs["namespace"]) ?? context.session.client.namespace;
}

/** Where the chart comes from. */
export function sourceOf(inputs: JsonMap): ChartSource {
  return {
    chart: textOf(inputs["chart"]),
    version: givenText(inputs["version"]),
    repository: (inputs["repositoryOpts"] ?? {}) as ChartSource["repository"],
  };
}

/** Seconds that helm waits: customTimeouts, the input, or helm's default. */
export function timeoutOf(context: Context, inputs: JsonMap): number {
  return context.timeoutSeconds ?? (Number(inputs["timeout"] ?? 0) || DEFAULT_TIMEOUT_SECONDS);
}

/** The values; a null unsets a default of the chart. */
export const valuesOf = (inputs: JsonMap): Json => inputs["values"] ?? {};

/** The output `status`. */
export function statusOf({ labels: _, ...status }: ReleaseMetadata): Omit<ReleaseMetadata, "labels"> {
  return status;
}

/** The outputs of a release that is there. */
export async function outputsOf(context: Context, inputs: JsonMap, namespace: string, name: string): Promise<JsonMap> {
  const { helm } = context.session;
  const found = await helm.metadata(namespace, name);
  if (!found) throw new HelmError(`release ${namespace}/${name} is gone right after it was made`);
  const manifest = await helm.manifest(namespace, name);
  return {
    ...inputs,
    namespace,
    status: statusOf(found) as unknown as Json,
    resourceNames: resourceNames(manifest),
  };
}

/** What is there: for a refresh with drift in version and values, for an import as inputs; undefined when the release is gone. */
export async function readRelease(
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
    return keptUnreachable(context, error, inputs, state);
  }
}

/** Namespace and name of a Pulumi id. @throws for any other form. */
export function splitId(id: string): [namespace: string, name: string] {
  const [namespace, name, rest] = id.split("/");
  if (!namespace || !name || rest !== undefined) throw new Error(`release id: got '${id}', allowed is namespace/name`);
  return [namespace, name];
}

/** The recorded inputs with what the release really is now. */
function driftedRelease(inputs: JsonMap, found: ReleaseMetadata, values: JsonMap): JsonMap {
  const chart = textOf(inputs["chart"]);
  const sameChart = chart === found.chart || chart.replace(/\/+$/, "").split("/").at(-1)?.startsWith(found.chart);
  const sameValues = equal(valuesOf(inputs), values);
  return {
    ...inputs,
    ...(sameChart ? {} : { chart: found.chart }),
    ...(isExact(givenText(inputs["version"])) ? { version: sameVersion(inputs, found) } : {}),
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

/** Values of somebody else's release may hold secrets: they are recorded as one. */
async function imported(context: Context, found: ReleaseMetadata, values: JsonMap): Promise<Current> {
  const { chart, version, name, namespace } = found;
  const inputs = withReleaseDefaults({ chart, version, name, namespace, values: new Secret(values) }, namespace);
  const outputs = await outputsOf(context, plainMap(inputs), namespace, name);
  return { outputs: { ...outputs, values: new Secret(values) }, inputs };
}

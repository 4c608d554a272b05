/**
 * What the official plugin keeps in a state beside the outputs, and compares with: without it everything looks changed to that plugin.
 *
 * Source: pulumi-kubernetes 4.32, provider/pkg/provider: `checkpointObject` and `initialAPIVersion` in provider.go; `Release`,
 * `setDefaults` and `checkpointRelease` in helm_release.go; `convertYAMLManifestToJSON` in manifest_json.go.
 */
import { parseAllDocuments } from "yaml";
import { givenText, isMap, type JsonMap, type PropertyMap, Secret, textOf, type Value } from "../framework/index.ts";
import { at } from "./readiness.ts";

const INPUTS_KEY = "__inputs";
const INITIAL_VERSION_KEY = "__initialApiVersion";

/** Beside the outputs of an object: its inputs, and the API version in which it was made. */
export function objectRecord(inputs: PropertyMap, state: PropertyMap): PropertyMap {
  const version = state[INITIAL_VERSION_KEY] ?? inputs["apiVersion"];
  return { [INPUTS_KEY]: inputs, ...(version === undefined ? {} : { [INITIAL_VERSION_KEY]: version }) };
}

/** Beside the outputs of a release: its inputs, secret as a whole. */
export function releaseRecord(inputs: PropertyMap): PropertyMap {
  return { [INPUTS_KEY]: new Secret(inputs) };
}

const OFF = [
  ...["allowNullValues", "atomic", "cleanupOnFail", "createNamespace", "dependencyUpdate", "devel", "disableCRDHooks"],
  ...["disableOpenapiValidation", "disableWebhooks", "forceUpdate", "lint", "recreatePods", "renderSubchartNotes"],
  ...["replace", "resetValues", "reuseValues", "skipAwait", "skipCrds", "verify", "waitForJobs"],
];
const EMPTY = ["chart", "description", "keyring", "postrender", "version"];
const EMPTY_REPOSITORY = ["caFile", "certFile", "keyFile", "password", "repo", "username"];
/** Seconds that helm waits by default. */
export const DEFAULT_TIMEOUT_SECONDS = 300;

/** What the SDK or older programs send that the official plugin's `Release` does not have: `Check` drops it. */
const DROPPED = ["compat", "resourceNames"];

const filled = <V>(names: readonly string[], value: V): Record<string, V> =>
  Object.fromEntries(names.map((name) => [name, value]));

/**
 * The inputs of a release as `Check` gives them, with every default and without what it drops. The official plugin also puts the version that a range stands for
 * in its place; here the range stays.
 */
export function withReleaseDefaults(inputs: PropertyMap, namespace: string): PropertyMap {
  const given = Object.fromEntries(
    Object.entries(inputs).filter(([name, value]) => value !== null && !DROPPED.includes(name)),
  );
  return {
    ...filled(OFF, false),
    ...filled(EMPTY, ""),
    timeout: given["skipAwait"] === true ? 0 : DEFAULT_TIMEOUT_SECONDS,
    values: {},
    ...given,
    ...(given["namespace"] === undefined || given["namespace"] === "" ? { namespace } : {}),
    ...(given["repositoryOpts"] === undefined
      ? {}
      : { repositoryOpts: withRepositoryDefaults(given["repositoryOpts"]) }),
  };
}

/** Secret stays secret, as a whole or in its members. */
function withRepositoryDefaults(repository: Value): Value {
  if (repository instanceof Secret) return new Secret(withRepositoryDefaults(repository.value));
  return isMap(repository) ? { ...filled(EMPTY_REPOSITORY, ""), ...repository } : repository;
}

/** Names of a release's objects by kind: `Deployment.apps/apps/v1` to `["namespace/name"]`, as its manifest has them. */
export function resourceNames(manifest: string): JsonMap {
  const names: Record<string, Set<string>> = {};
  for (const document of parseAllDocuments(manifest)) {
    const object = document.toJS() as JsonMap | null;
    const name = at(object, "metadata", "name");
    if (!object || typeof name !== "string") continue;
    const version = textOf(object["apiVersion"]);
    const group = version.includes("/") ? `.${version.slice(0, version.indexOf("/"))}` : "";
    const namespace = givenText(at(object, "metadata", "namespace"));
    const key = `${textOf(object["kind"])}${group}/${version}`;
    const full = namespace === undefined ? name : `${namespace}/${name}`;
    names[key] = (names[key] ?? new Set()).add(full);
  }
  return Object.fromEntries(Object.entries(names).map(([kind, own]) => [kind, [...own].sort()]));
}

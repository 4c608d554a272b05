import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import type { Manifest } from "../../../cli/render/files.ts";
import { type Build, BuildError } from "../../../cli/render/kustomize.ts";
import { frozen } from "../../support/frozen.ts";

/** `kustomize build`, as far as the repositories use it (a namespace only over namespaced kinds); everything else is refused. test/e2e holds it against kubectl's. */

export type { Manifest };

/** A patch as in a kustomization.yaml or in a Flux Kustomization's spec.patches. */
export interface Patch {
  readonly path?: string;
  readonly patch?: string;
  /** `name` is a regular expression for the whole name. */
  readonly target?: {
    readonly group?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly labelSelector?: string;
  };
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly Patch[];
  readonly namespace?: string;
  readonly nameSuffix?: string;
}

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

const fields = ["apiVersion", "kind", "resources", "components", "patches", "namespace", "nameSuffix", "buildMetadata"];

const known = new Map<string, readonly Manifest[]>();

/** The documents of a text; each text is parsed once. */
function parsed(text: string): readonly Manifest[] {
  const before = known.get(text);
  if (before) return before;
  const manifests = parseAllDocuments(text).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS() as Manifest;
  });
  known.set(text, frozen(manifests));
  return manifests;
}

export const documents = (file: string): Manifest[] => [...parsed(readFileSync(file, "utf8"))];

/** All YAML files below a folder. */
export const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && file.endsWith(".yaml"));

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const builtIn = /^(v1$|(apps|autoscaling|batch|policy)\/|[a-z.]+\.k8s\.io\/)/;

/** A JSON merge patch: what kustomize does to kinds whose schema it does not know. */
export function merge(object: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const base = isMap(object) ? object : {};
  const merged = Object.entries(patch).map(([key, value]) => [key, merge(base[key], value)] as const);
  return { ...base, ...Object.fromEntries(merged) };
}

function set(object: unknown, path: readonly string[], value: unknown, mustExist: boolean): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(object) && key === "-" && rest.length === 0 && !mustExist) return [...object, value];
  if (Array.isArray(object) && object[Number(key)] !== undefined)
    return object.with(Number(key), set(object[Number(key)], rest, value, mustExist));
  if (!isMap(object) || (mustExist && !(key in object))) throw new Error(`a patch finds nothing at ${path.join("/")}`);
  return { ...object, [key]: set(object[key], rest, value, mustExist) };
}

function operate(object: unknown, { op, path, value }: PatchOperation): unknown {
  if (op !== "add" && op !== "replace") throw new Error(`the operation ${op} of a patch is not known here`);
  // RFC 6901, section 4.
  const keys = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return set(object, keys.slice(1), value, op === "replace");
}

function matches({ apiVersion, kind, metadata }: Manifest, target: NonNullable<Patch["target"]>): boolean {
  const labels = (target.labelSelector ?? "").split(",").filter(Boolean);
  const selected = labels.every((label) => {
    const [name = "", value] = label.split("=");
    return metadata.labels?.[name] === value;
  });
  const named = target.name === undefined || new RegExp(`^(${target.name})$`).test(metadata.name);
  if (!selected || !named || (target.kind !== undefined && target.kind !== kind)) return false;
  return target.group === undefined || apiVersion.startsWith(`${target.group}/`);
}

/** `manifests` with one patch applied; a patch that matches nothing is a mistake. */
export function patched(manifests: readonly Manifest[], { path, patch, target }: Patch, folder = ""): Manifest[] {
  const text = patch ?? readFileSync(join(folder, path ?? ""), "utf8");
  const [content] = parsed(text) as readonly (Manifest | PatchOperation[])[];
  if (content === undefined) throw new Error(`${folder}/${path}: the patch is empty`);
  const isOperations = Array.isArray(content);
  if (!isOperations && builtIn.test(content.apiVersion) && JSON.stringify(content.spec).includes("["))
    throw new Error(
      `${folder}/${path}: kustomize merges lists of Kubernetes' own kinds by their keys, this one does not`,
    );
  const selects = (manifest: Manifest) =>
    target
      ? matches(manifest, target)
      : !isOperations &&
        manifest.apiVersion === content.apiVersion &&
        manifest.kind === content.kind &&
        manifest.metadata.name === content.metadata.name;
  if (!manifests.some(selects)) throw new Error(`${folder}: the patch ${path ?? patch} matches nothing`);
  if (!isOperations && content["$patch"] !== undefined) {
    if (content["$patch"] !== "delete") throw new Error(`${folder}: $patch ${content["$patch"]} is not known here`);
    return manifests.filter((manifest) => !selects(manifest));
  }
  return manifests.map((manifest) => {
    if (!selects(manifest)) return manifest;
    if (isOperations) return content.reduce<unknown>(operate, manifest) as Manifest;
    const { metadata: _, apiVersion: __, kind: ___, ...rest } = content;
    return merge(manifest, rest) as Manifest;
  });
}

function read(folder: string): Kustomization {
  const file = join(folder, "kustomization.yaml");
  const [kustomization = {}] = documents(file) as readonly Kustomization[];
  const unknown = Object.keys(kustomization).filter((field) => !fields.includes(field));
  if (unknown.length > 0) throw new Error(`${file}: ${unknown.join(", ")} is not known here`);
  return kustomization;
}

const load = (path: string): Manifest[] => (statSync(path).isDirectory() ? build(path) : documents(path));

/**
 * What `kustomize build` makes of a folder; `components` as a Flux Kustomization adds them. A component also patches what is
 * there before it: `before`.
 */
export function build(
  folder: string,
  components: readonly string[] = [],
  before: readonly Manifest[] = [],
): Manifest[] {
  const kustomization = read(folder);
  const own = (kustomization.resources ?? []).flatMap((name) => load(join(folder, name)));
  const resources = [...(kustomization.components ?? []), ...components].reduce<Manifest[]>(
    (all, name) => build(join(folder, name), [], all),
    [...before, ...own],
  );
  const all = (kustomization.patches ?? []).reduce<Manifest[]>((all, patch) => patched(all, patch, folder), resources);
  const { namespace, nameSuffix } = kustomization;
  if (!namespace && !nameSuffix) return all;
  return all.map((manifest) => {
    const { name } = manifest.metadata;
    const metadata = { ...manifest.metadata, name: `${name}${nameSuffix ?? ""}`, ...(namespace ? { namespace } : {}) };
    return { ...manifest, metadata };
  });
}

const written = new Map<string, string>();
/** Of manifests as their files have them, which are frozen. */
const ofFiles = new WeakMap<Manifest, string>();

/** An object as YAML; equal ones are written once: most are as their file has them, and JSON is quick to compare. */
export function text(manifest: Manifest): string {
  const before = ofFiles.get(manifest);
  if (before !== undefined) return before;
  const key = JSON.stringify(manifest);
  const made = written.get(key) ?? stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
  written.set(key, made);
  if (Object.isFrozen(manifest)) ofFiles.set(manifest, made);
  return made;
}

/** {@link build} for the compiler. */
export const buildText: Build = (folder) => {
  try {
    return build(folder).map(text).join("---\n");
  } catch (error) {
    throw new BuildError((error as Error).message);
  }
};

/** What Flux makes of a folder: without a kustomization.yaml, of the folders in it that have one. */
export function generated(folder: string): Manifest[] {
  if (existsSync(join(folder, "kustomization.yaml"))) return build(folder);
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return generated(path);
    return entry.name.endsWith(".yaml") ? documents(path) : [];
  });
}

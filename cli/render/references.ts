import { isObject, list, type Path } from "./files.ts";

/**
 * What a kustomization makes kustomize read (sigs.k8s.io/kustomize/api v0.21, types.Kustomization and its built-in plugins). Members
 * that are not known here are refused: whatever they are, nobody has looked at what they read.
 */
export interface Reference {
  readonly path: Path;
  /** As it is written. */
  readonly target: string;
  /** A plugin configures a generator or a transformer; data is any other file. */
  readonly is: "resource" | "component" | "patch" | "data" | "plugin";
  /** Whether the text itself may be the patch: kustomize takes what it can't read as an object for a path. */
  readonly mayBeInline?: true;
}

/** What can't be built here. */
export interface Refusal {
  readonly path: Path;
  readonly problem: string;
  readonly remedy: string;
}

type Members = Readonly<Record<string, unknown>>;

const readsNothing = [
  ...["apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "commonLabels", "labels"],
  ...[
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "vars",
    "sortOptions",
    "generatorOptions",
    "buildMetadata",
  ],
];
const named: Readonly<Record<string, Reference["is"]>> = {
  resources: "resource",
  bases: "resource",
  components: "component",
  crds: "data",
  configurations: "data",
  generators: "plugin",
  transformers: "plugin",
  validators: "plugin",
};
const generatorMembers = ["name", "namespace", "behavior", "type", "files", "literals", "envs", "env", "options"];
const patchMembers = ["path", "patch", "target", "options"];
/** Members whose items have members of their own. */
const items: Readonly<Record<string, readonly string[]>> = {
  configMapGenerator: generatorMembers,
  secretGenerator: generatorMembers,
  patches: patchMembers,
  patchesJson6902: patchMembers,
  replacements: ["path", "source", "sourceValue", "targets"],
};
const helm = ["helmCharts", "helmGlobals", "helmChartInflationGenerator"];
const members = [...readsNothing, ...Object.keys(named), ...Object.keys(items), "patchesStrategicMerge", "openapi"];

const texts = (value: unknown, path: Path, is: Reference["is"]): Reference[] =>
  list(value).flatMap((target, index) => (typeof target === "string" ? [{ path: [...path, index], target, is }] : []));
const text = (target: unknown, path: Path, is: Reference["is"]): Reference[] =>
  typeof target === "string" && target !== "" ? [{ path, target, is }] : [];

/** Files that a generator puts into a ConfigMap or a Secret: `name` or `key=name`. */
function dataFiles(generator: Members, path: Path): Reference[] {
  const files = texts(generator["files"], [...path, "files"], "data");
  return [
    ...files.map((file) => ({ ...file, target: file.target.replace(/^[^=]*=/, "") })),
    ...texts(generator["envs"], [...path, "envs"], "data"),
    ...text(generator["env"], [...path, "env"], "data"),
  ];
}

function ofItems(content: Members, field: string): Reference[] {
  return list(content[field]).flatMap((item, index) => {
    if (!isObject(item)) return [];
    const path = [field, index];
    return field.endsWith("Generator") ? dataFiles(item, path) : text(item["path"], [...path, "path"], "patch");
  });
}

/** Strategic merge patches by path or as they are. */
const mergePatches = (value: unknown, path: Path): Reference[] =>
  texts(value, path, "patch").map((reference) => ({ ...reference, mayBeInline: true }));

/** What the kustomization `content` reads. */
export function references(content: Members): Reference[] {
  const { openapi } = content;
  return [
    ...Object.entries(named).flatMap(([field, is]) => texts(content[field], [field], is)),
    ...Object.keys(items).flatMap((field) => ofItems(content, field)),
    ...mergePatches(content["patchesStrategicMerge"], ["patchesStrategicMerge"]),
    ...(isObject(openapi) ? text(openapi["path"], ["openapi", "path"], "data") : []),
  ];
}

const unknown = (object: Members, known: readonly string[], path: Path): Refusal[] =>
  Object.keys(object)
    .filter((field) => !known.includes(field))
    .map((field) => ({
      path: [...path, field],
      problem: `a kustomization has no field ${[...path, field].join(".")}`,
      remedy: `write one of ${known.join(", ")}, in these letters`,
    }));

/** What of the kustomization `content` is not built. */
export function refusals(content: Members): Refusal[] {
  const charts = helm.filter((field) => field in content);
  return [
    ...charts.map((field) => ({
      path: [field],
      problem: `${field} needs Helm, which Flux's kustomize does not run`,
      remedy: "make a HelmRelease of it",
    })),
    ...unknown(content, [...members, ...charts], []),
    ...Object.entries(items).flatMap(([field, known]) =>
      list(content[field]).flatMap((item, index) => (isObject(item) ? unknown(item, known, [field, index]) : [])),
    ),
  ];
}

/** What the built-in plugins read, by their kinds. */
const plugins: Readonly<Record<string, (content: Members) => Reference[]>> = {
  ConfigMapGenerator: (content) => dataFiles(content, []),
  SecretGenerator: (content) => dataFiles(content, []),
  PatchTransformer: ({ path }) => text(path, ["path"], "patch"),
  PatchJson6902Transformer: ({ path }) => text(path, ["path"], "patch"),
  PatchStrategicMergeTransformer: ({ paths }) => mergePatches(paths, ["paths"]),
  ReplacementTransformer: (content) => ofItems(content, "replacements"),
  ValueAddTransformer: ({ targetFilePath }) => text(targetFilePath, ["targetFilePath"], "data"),
  ...Object.fromEntries(
    ["Annotations", "Hash", "ImageTag", "Label", "Namespace", "Prefix", "PrefixSuffix", "ReplicaCount", "Suffix"].map(
      (name) => [`${name}Transformer`, () => []],
    ),
  ),
};
const reading = ["files", "envs", "env", "path", "paths", "targetFilePath", "replacements"];
/** Go's decoder takes members in any case, and letters that only look like another. */
const folded = (name: string): string => name.normalize("NFKC").toLowerCase();
const disguised = (object: Members): string[] =>
  Object.keys(object).filter(
    (name) => !reading.includes(name) && reading.some((known) => folded(known) === folded(name)),
  );

const pluginOf = ({ apiVersion, kind }: Members) =>
  apiVersion === "builtin" && Object.hasOwn(plugins, String(kind)) ? plugins[String(kind)] : undefined;

/** What a generator or transformer reads. */
export const pluginReferences = (content: Members): Reference[] => pluginOf(content)?.(content) ?? [];

/** Why a document of `generators`, `transformers` or `validators` is not run. */
export function pluginRefusals(content: Members): Refusal[] {
  if (!pluginOf(content))
    return [
      {
        path: ["kind"],
        problem: `the plugin ${String(content["apiVersion"])} ${String(content["kind"])} is not run: it would be a program, a container or Helm`,
        remedy: `take one of kustomize's own (apiVersion: builtin): ${Object.keys(plugins).join(", ")}`,
      },
    ];
  const replacements = list(content["replacements"]).filter(isObject);
  return [content, ...replacements].flatMap(disguised).map((name) => ({
    path: [name],
    problem: `a plugin has no field ${name}`,
    remedy: `write one of ${reading.join(", ")}, in these letters`,
  }));
}

import { relative } from "node:path";
import { parse } from "yaml";
import { images } from "../check/rules/pinned.ts";
import { SubstitutionError, substitute, uses, variable } from "../render/envsubst.ts";
import { Files, isManifest, isObject, type Manifest, manifestsBelow, type Path, type Source } from "../render/files.ts";
import type { Mention, Target } from "./references.ts";

/** What the manifests of the GitOps repositories take from outside. */

export interface FromRepositories {
  readonly mentions: readonly Mention[];
  /** What no file decides, with the reason: a value comes from the cluster, or a source is missing. */
  readonly undecided: readonly string[];
}

interface Document {
  readonly manifest: Manifest;
  readonly source: Source;
}

/** Values that variables can have: two environments may set two. */
export type Values = ReadonlyMap<string, ReadonlySet<string>>;

/** The given values, and those that Kustomizations set themselves. */
export function variables(documents: readonly Pick<Document, "manifest">[], given: Values): Values {
  const found = new Map([...given].map(([name, values]) => [name, new Set(values)]));
  for (const { manifest } of documents)
    for (const [name, value] of Object.entries(manifest.spec?.postBuild?.substitute ?? {}))
      if (typeof value === "string" || typeof value === "number")
        found.set(name, (found.get(name) ?? new Set()).add(String(value)));
  return found;
}

/** Every text that `text` can become with these values; undefined where a variable has neither a value nor a default. */
export function texts(text: string, values: Values): string[] | undefined {
  const used = uses(text);
  if (used.some(({ name, hasDefault }) => !hasDefault && !values.has(name))) return undefined;
  let assignments: ReadonlyMap<string, string>[] = [new Map()];
  for (const name of new Set(used.map(({ name }) => name)))
    assignments = assignments.flatMap((known) =>
      [...(values.get(name) ?? [""])].map((value) => new Map([...known, [name, value]])),
    );
  return assignments.map((chosen) => substitute(text, (name) => chosen.get(name) ?? ""));
}

/** The Kubernetes minors and add-on versions that a Composition's function gets. */
function versions({ manifest, source }: Document): { readonly target: Target; readonly path: Path }[] {
  if (manifest.kind !== "Composition") return [];
  const steps: readonly unknown[] = manifest.spec?.pipeline ?? [];
  return steps.flatMap((_, index) => {
    const path = ["spec", "pipeline", index, "input", "kubernetesVersions"];
    const table = (source.content as Manifest).spec.pipeline[index]?.input?.kubernetesVersions ?? {};
    return Object.entries(table).flatMap(([kubernetesVersion, addons]) => [
      { target: { kind: "kubernetes" as const, version: kubernetesVersion }, path: [...path, kubernetesVersion] },
      ...Object.entries(addons as Record<string, string>).map(([name, version]) => ({
        target: { kind: "addon" as const, name, version, kubernetesVersion },
        path: [...path, kubernetesVersion, name],
      })),
    ]);
  });
}

/** Settings called `image`, anywhere below a value, that are whole references: some charts take a name there, and add the tag. */
function wholeImages(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wholeImages);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "image" && typeof inner === "string" ? (/[:@][^/]*$/.test(inner) ? [inner] : []) : wholeImages(inner),
  );
}

/** Images that the values of an add-on's chart name; the chart itself names most. */
function imagesOfValues(manifest: Manifest): string[] {
  const text: unknown = manifest.kind === "ConfigMap" ? manifest["data"]?.["values.yaml"] : undefined;
  return typeof text === "string" ? wholeImages(parse(text)) : [];
}

/**
 * Reads every manifest below `folder`, in which the repositories lie side by side. Variables get the values that Kustomizations of
 * the same repositories set, else their defaults.
 * @param root what origins are relative to
 * @param given values of variables that come from the bridge and are decided by the project's files
 */
export function fromRepositories(folder: string, root: string, given: Values = new Map()): FromRepositories {
  const files = new Files();
  const documents = manifestsBelow(folder)
    .flatMap((file) => files.documents(file))
    .flatMap((source) => (isManifest(source.content) ? [{ manifest: source.content, source }] : []));
  const values = variables(documents, given);
  const mentions: Mention[] = [];
  const undecided: string[] = [];
  const originOf = (source: Source, path: Path) => `${relative(root, source.file)}:${source.near(path).line}`;

  const decided = (text: string, origin: string): string[] => {
    try {
      const found = texts(text, values);
      if (found) return found;
      const missing = uses(text).filter(({ name, hasDefault }) => !hasDefault && !values.has(name));
      undecided.push(
        `${origin}: ${missing.map(({ name }) => variable(name)).join(", ")} has no value in the repositories`,
      );
    } catch (error) {
      if (!(error instanceof SubstitutionError)) throw error;
      undecided.push(`${origin}: ${error.message}`);
    }
    return [];
  };

  const add = (document: Document, path: Path, text: string, target: (text: string) => Target) => {
    const origin = originOf(document.source, path);
    for (const each of decided(text, origin)) mentions.push({ target: target(each), origin });
  };

  const repositories = new Map(
    documents
      .filter(({ manifest: { kind } }) => kind === "HelmRepository")
      .map(({ manifest }) => [`${manifest.metadata.namespace ?? ""}/${manifest.metadata.name}`, manifest] as const),
  );

  for (const document of documents) {
    const { manifest, source } = document;
    for (const { path, reference } of images(manifest.spec, ["spec"]))
      add(document, path, reference, (image) => ({ kind: "image", reference: image }));
    for (const reference of imagesOfValues(manifest))
      add(document, ["data", "values.yaml"], reference, (image) => ({ kind: "image", reference: image }));
    if (manifest.apiVersion.startsWith("pkg.crossplane.io/") && typeof manifest.spec?.package === "string")
      add(document, ["spec", "package"], manifest.spec.package, (reference) => ({ kind: "package", reference }));
    for (const { target, path } of versions(document)) mentions.push({ target, origin: originOf(source, path) });
    const chart = manifest.kind === "HelmRelease" ? manifest.spec?.chart?.spec : undefined;
    if (chart === undefined || chart.sourceRef?.kind !== "HelmRepository") continue;
    const path = ["spec", "chart", "spec", "version"];
    const namespace: string = chart.sourceRef.namespace ?? manifest.metadata.namespace ?? "";
    const repository = repositories.get(`${namespace}/${chart.sourceRef.name}`);
    if (repository === undefined) {
      undecided.push(`${originOf(source, path)}: no HelmRepository ${chart.sourceRef.name} in ${namespace}`);
      continue;
    }
    for (const url of decided(String(repository.spec?.url), originOf(source, path)))
      add(document, path, String(chart.version), (version) => ({
        kind: "chart",
        name: chart.chart,
        version,
        repository: url,
      }));
  }
  return { mentions, undecided };
}

import { isObject, list, type Path } from "./files.ts";
import type { Cluster, Rendered } from "./fleet.ts";

/**
 * The artifacts that ArtifactGenerators name (github.com/fluxcd/source-watcher v2.2.2,
 * internal/controller/artifactgenerator_pathpattern.go).
 */

/** A copy operation of an artifact. */
export interface Copy {
  readonly from: string;
  readonly to: string;
  readonly exclude: readonly string[];
  /** Where the generator has it. */
  readonly path: Path;
}

/** An artifact, and the generator that cuts it. */
export interface Artifact {
  readonly generator: Rendered;
  /** What the generator takes it from. */
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly copies: readonly Copy[];
  /** A folder without which the generator makes no such artifact. */
  readonly folder?: string;
}

const artifactApi = "source.extensions.fluxcd.io/";

/** The values of the placeholders `{name}` in a template of which `text` is made; undefined when it is of another. */
function captured(template: string, text: string): Readonly<Record<string, string>> | undefined {
  const parts = template.split(/\{(\w+)\}/);
  const names = parts.filter((_, index) => index % 2 === 1);
  const literals = parts
    .filter((_, index) => index % 2 === 0)
    .map((part) => part.replaceAll(/[^\w-]/g, (character) => `\\${character}`));
  const values = new RegExp(`^${literals.join("([^/]+)")}$`).exec(text);
  return values ? Object.fromEntries(names.map((name, index) => [name, values[index + 1] as string])) : undefined;
}

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(\w+)\}/g, (text, name: string) => values[name] ?? text);

export const withoutAlias = (path: string): string => path.replace(/^@[^/]*\//, "");
const aliasOf = (path: string): string => path.slice(1).split("/")[0] as string;

function artifactOf(generator: Rendered, name: string): Artifact | undefined {
  const { metadata, spec } = generator.manifest;
  const { pathPattern = "", sources, artifacts } = spec ?? {};
  for (const [index, each] of list(artifacts).entries()) {
    if (!isObject(each)) continue;
    const values = pathPattern === "" ? (each["name"] === name ? {} : undefined) : captured(String(each["name"]), name);
    if (values === undefined) continue;
    const copies = list(each["copy"])
      .filter(isObject)
      .map(({ from, to, exclude }, at) => ({
        from: filled(String(from), values),
        to: filled(String(to), values),
        exclude: list(exclude).map(String),
        path: ["spec", "artifacts", index, "copy", at, "from"],
      }));
    const alias = aliasOf(copies[0]?.from ?? "@");
    const source = list(sources)
      .filter(isObject)
      .find((one) => one["alias"] === alias);
    if (!source) return undefined;
    return {
      ...{ generator, copies },
      source: {
        kind: String(source["kind"]),
        namespace: typeof source["namespace"] === "string" ? source["namespace"] : String(metadata.namespace),
        name: String(source["name"]),
      },
      ...(pathPattern === "" ? {} : { folder: filled(withoutAlias(pathPattern), values) }),
    };
  }
  return undefined;
}

/** The artifact of a name that a generator on a cluster makes; undefined while there is none. */
function findArtifact({ objects }: Cluster, namespace: string, name: string): Artifact | undefined {
  for (const generator of objects) {
    const { apiVersion, kind, metadata } = generator.manifest;
    if (kind !== "ArtifactGenerator" || !apiVersion.startsWith(artifactApi) || metadata.namespace !== namespace)
      continue;
    const found = artifactOf(generator, name);
    if (found) return found;
  }
  return undefined;
}

/** The artifacts through which one is cut, the repository's first, and the reference to the repository. */
export function cutsOf(
  home: Cluster,
  namespace: string,
  name: string,
): { readonly cuts: readonly Artifact[]; readonly source: Artifact["source"] } | undefined {
  const artifact = findArtifact(home, namespace, name);
  if (!artifact) return undefined;
  const { source } = artifact;
  if (source.kind !== "ExternalArtifact") return { cuts: [artifact], source };
  const before = cutsOf(home, source.namespace, source.name);
  return before && { cuts: [...before.cuts, artifact], source: before.source };
}

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { minimatch } from "minimatch";
import { isObject, list, type Path } from "./files.ts";
import type { Cluster, Rendered } from "./fleet.ts";

/**
 * What source-watcher cuts out of a repository (github.com/fluxcd/source-watcher v2.2.2, internal/builder/builder.go and
 * internal/controller/artifactgenerator_pathpattern.go): the artifacts of ArtifactGenerators, as far as files keep their paths.
 */

/** A copy operation of an artifact. */
interface Copy {
  readonly from: string;
  readonly to: string;
  readonly exclude: readonly string[];
  /** Where the generator has it. */
  readonly path: Path;
}

/** An artifact, and the generator that cuts it. */
interface Artifact {
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

const withoutAlias = (path: string): string => path.replace(/^@[^/]*\//, "");
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

/** A generator that can't cut what it says. */
export class CutError extends Error {
  override name = "CutError";
  readonly generator: Rendered;
  readonly path: Path;
  readonly remedy: string;

  constructor({ generator }: Artifact, path: Path, problem: string, remedy: string) {
    super(`ArtifactGenerator ${generator.raw.metadata.name} ${problem}`);
    this.generator = generator;
    this.path = path;
    this.remedy = remedy;
  }
}

/** Whether a generator leaves a path out; what is in a folder that it leaves out is not there either. */
function isExcluded(path: string, base: string, patterns: readonly string[]): boolean {
  const parts = path.slice(base.length + 1).split("/");
  const above = parts.map((_, index) => join(base, ...parts.slice(0, index + 1)));
  const matches = (text: string, pattern: string) => minimatch(text, pattern, { dot: true });
  return above.some((one) =>
    patterns.some(
      (pattern) =>
        matches(one, pattern) ||
        matches(one.slice(base.length + 1), pattern) ||
        (!pattern.includes("/") && matches(basename(one), pattern)),
    ),
  );
}

/** Paths of what one operation copies of `files`. */
function copied(artifact: Artifact, { from, to, exclude, path }: Copy, files: readonly string[]): string[] {
  const what = withoutAlias(from).replace(/\/(\*\*)?$/, "");
  const whole = from.endsWith("/**") ? "" : basename(what);
  const target = normalize(join(withoutAlias(to), whole));
  if (/[*?[\]]/.test(what) || target.replace(/\/$/, "") !== what)
    throw new CutError(
      artifact,
      path,
      `copies ${from} to ${to}, which is not where it is in the repository`,
      "copy a folder or a file to its own path: from @system/a/b/ to @artifact/a/",
    );
  const found = files.filter((file) => file === what || file.startsWith(`${what}/`));
  if (found.length === 0)
    throw new CutError(
      artifact,
      path,
      `copies ${what}, which is not there: no artifact of the generator would change any more`,
      "name a folder of the repository, with at least one file",
    );
  return found.filter((file) => file === what || !isExcluded(file, what, exclude));
}

const allFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();

/** Paths of the files in an artifact; undefined when its generator does not make it. @throws CutError */
export function filesOf(cuts: readonly Artifact[], checkout: string): string[] | undefined {
  let files = allFiles(checkout);
  for (const cut of cuts) {
    const { folder } = cut;
    if (folder !== undefined && !files.some((file) => file.startsWith(`${folder}/`))) return undefined;
    const all = files;
    files = [...new Set(cut.copies.flatMap((copy) => copied(cut, copy, all)))].sort();
  }
  return files;
}

/** Where cut checkouts are, in the folder of the checkouts that they are cut from. */
export const cutsFolder = ".artifacts";

/**
 * A folder with what an artifact has of a checkout, as a checkout of the same name: the same for the same content, so that it is built once.
 */
export function cutCheckout(root: string, repository: string, files: readonly string[]): string {
  const checkout = join(root, repository);
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(checkout, file)))
      .update("\0");
  const folder = join(root, cutsFolder, hash.digest("hex").slice(0, 16));
  if (existsSync(folder)) return folder;
  for (const file of files) {
    const to = join(folder, repository, file);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(checkout, file), to);
  }
  return folder;
}

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { Minimatch } from "minimatch";
import { type Artifact, type Copy, withoutAlias } from "./artifacts.ts";
import type { Path } from "./files.ts";
import type { Rendered } from "./fleet.ts";

/**
 * Cuts artifacts out of repositories (github.com/fluxcd/source-watcher v2.2.2, internal/builder/builder.go), as far as files keep their
 * paths.
 */

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

/** Paths of files, and of those below each folder. */
class Content {
  readonly files: readonly string[];
  readonly #all: ReadonlySet<string>;
  readonly #below = new Map<string, string[]>();

  constructor(files: Iterable<string>) {
    this.#all = new Set(files);
    this.files = [...this.#all].sort();
    for (const file of this.files)
      for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
        const below = this.#below.get(folder);
        if (below) below.push(file);
        else this.#below.set(folder, [file]);
      }
  }

  hasFolder(path: string): boolean {
    return this.#below.has(path);
  }

  /** A file, or all below a folder. */
  at(path: string): readonly string[] {
    return this.#all.has(path) ? [path] : (this.#below.get(path) ?? []);
  }
}

/** What one operation copies, before it leaves anything out: the path, and the files there. */
function found(artifact: Artifact, { from, to, path }: Copy, content: Content) {
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
  const files = content.at(what);
  if (files.length === 0)
    throw new CutError(
      artifact,
      path,
      `copies ${what}, which is not there: no artifact of the generator would change any more`,
      "name a folder of the repository, with at least one file",
    );
  return { what, files };
}

/** Whether a generator leaves a path out; what is in a folder that it leaves out is not there either. */
function isExcluded(path: string, base: string, patterns: readonly Minimatch[]): boolean {
  const parts = path.slice(base.length + 1).split("/");
  const above = parts.map((_, index) => join(base, ...parts.slice(0, index + 1)));
  return above.some((one) =>
    patterns.some(
      (pattern) =>
        pattern.match(one) ||
        pattern.match(one.slice(base.length + 1)) ||
        (!pattern.pattern.includes("/") && pattern.match(basename(one))),
    ),
  );
}

/** What an artifact has of a content; undefined when its generator does not make it. @throws CutError */
function cutOut(artifact: Artifact, content: Content): Content | undefined {
  const { folder, copies } = artifact;
  if (folder !== undefined && !content.hasFolder(folder)) return undefined;
  const operations = copies.map((copy) => ({ ...copy, ...found(artifact, copy, content) }));
  return new Content(
    operations.flatMap(({ what, files, exclude }) => {
      const patterns = exclude.map((pattern) => new Minimatch(pattern, { dot: true }));
      return files.filter((file) => file === what || !isExcluded(file, what, patterns));
    }),
  );
}

const allFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  if (!known.has(key)) known.set(key, make());
  return known.get(key) as V;
}

/** Where cut checkouts are, in the folder of the checkouts that they are cut from. */
const cutsFolder = ".artifacts";

/** The path of a file in the folder of the checkouts, or of the file that it is cut from: it keeps its own. */
export const uncut = (path: string): string =>
  path.startsWith(`${cutsFolder}/`) ? path.split("/").slice(2).join("/") : path;

/** Cuts everything once, which all spokes share but for their own files. For checkouts that do not change. */
export class Cutter {
  /** By checkout and artifacts. */
  readonly #contents = new Map<string, Content | undefined>();
  readonly #folders = new Map<Content, string>();
  /** By file. */
  readonly #data = new Map<string, { readonly data: Buffer; readonly digest: string }>();

  /**
   * A folder with what the last of `cuts` has of a checkout, as a checkout of the same name: the same for the same content, so that it is
   * built once. undefined when its generator does not make it.
   * @throws CutError
   */
  cut(cuts: readonly Artifact[], root: string, repository: string): string | undefined {
    const content = this.#content(cuts, join(root, repository));
    return content && once(this.#folders, content, () => this.#copy(content.files, root, repository));
  }

  #content(cuts: readonly Artifact[], checkout: string): Content | undefined {
    const key = JSON.stringify([checkout, ...cuts.map(({ copies, folder }) => [copies, folder])]);
    return once(this.#contents, key, () => {
      const last = cuts.at(-1);
      if (!last) return new Content(allFiles(checkout));
      const before = this.#content(cuts.slice(0, -1), checkout);
      return before && cutOut(last, before);
    });
  }

  #read(path: string) {
    return once(this.#data, path, () => {
      const data = readFileSync(path);
      return { data, digest: sha256(data) };
    });
  }

  #copy(files: readonly string[], root: string, repository: string): string {
    const checkout = join(root, repository);
    const read = files.map((file) => ({ file, ...this.#read(join(checkout, file)) }));
    const name = sha256(read.map(({ file, digest }) => `${file}\0${digest}\0`).join(""));
    const folder = join(root, cutsFolder, name.slice(0, 16));
    if (existsSync(folder)) return folder;
    const below = (path: string) => join(folder, repository, path);
    for (const parent of new Set(files.map(dirname))) mkdirSync(below(parent), { recursive: true });
    for (const { file, data } of read) writeFileSync(below(file), data);
    return folder;
  }
}

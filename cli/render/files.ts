import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { type Document, isMap, isNode, isScalar, LineCounter, type ParsedNode, parseAllDocuments } from "yaml";
import type { Place } from "./findings.ts";

/** YAML files with the lines on which things stand. */

/** An object as it is written or rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: rules read objects of any kind by path
  readonly spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: RBAC, ConfigMaps and the like have members of their own
  readonly [member: string]: any;
}

export type Path = readonly (string | number)[];

/** A document of a text, and what it says. */
interface Part {
  readonly document: Document<ParsedNode>;
  readonly content: unknown;
}

/** One document of a file. */
export class Source {
  readonly file: string;
  /** Frozen: all files with the same text share it. */
  readonly content: unknown;
  readonly #document: Document<ParsedNode>;
  readonly #lines: LineCounter;

  constructor(file: string, { document, content }: Part, lines: LineCounter) {
    this.file = file;
    this.content = content;
    this.#document = document;
    this.#lines = lines;
  }

  /** Where the value at `path` stands; undefined when the document has none. */
  at(path: Path): Place | undefined {
    const node = path.length === 0 ? this.#document.contents : this.#document.getIn(path, true);
    // A scalar's own place; of a map or list that of its key, which is a line above.
    const parent = path.length > 0 ? this.#document.getIn(path.slice(0, -1), true) : undefined;
    const key = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === path.at(-1))?.key
      : undefined;
    const offset = isNode(key) ? key.range?.[0] : isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? undefined : { file: this.file, line: this.#lines.linePos(offset).line };
  }

  /** Whether a line is one of the document's. */
  covers(line: number): boolean {
    const [start, , end] = this.#document.range ?? [0, 0, 0];
    return this.#lines.linePos(start).line <= line && line <= this.#lines.linePos(end).line;
  }

  /** Where the value at `path` stands, or the next one above it that the document has. */
  near(path: Path): Place {
    return this.at(path) ?? (path.length === 0 ? { file: this.file, line: 1 } : this.near(path.slice(0, -1)));
  }
}

/** A file that is not YAML. */
export class YamlError extends Error {
  override name = "YamlError";
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

/** YAML as Flux reads it: version 1.1, without the kinds of scalars that Go's parser does not have. */
// biome-ignore lint/suspicious/noExplicitAny: the library's type of customTags does not know its own function form
export const asFlux: any = {
  version: "1.1",
  customTags: (tags: readonly unknown[]) =>
    tags.filter((tag) => {
      const { tag: name, format } = tag as { tag: string; format?: string };
      return format !== "TIME" && name !== "tag:yaml.org,2002:timestamp";
    }),
};

interface Parsed {
  readonly parts: readonly Part[];
  readonly lines: LineCounter;
  /** What is wrong first; then there are no parts. */
  readonly error?: { readonly line: number; readonly message: string };
}

const known = new Map<string, Parsed>();

/** Freezes a value with all that is in it; aliases may lead back to it. */
export function frozen(value: unknown): unknown {
  // What `!!binary` gives can't be frozen.
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
}

/** Parses each text once: the states of a comparison, and the folders of clusters made from one template, are mostly the same. */
function parsed(text: string): Parsed {
  const before = known.get(text);
  if (before) return before;
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { ...asFlux, lineCounter: lines }) as Document<ParsedNode>[];
  const [error] = documents.flatMap(({ errors }) => errors);
  const result: Parsed = error
    ? {
        parts: [],
        lines,
        error: { line: error.linePos?.[0].line ?? 1, message: error.message.split("\n")[0] as string },
      }
    : {
        parts: documents
          .filter(({ contents }) => contents !== null)
          .map((document) => ({ document, content: frozen(document.toJS()) })),
        lines,
      };
  known.set(text, result);
  return result;
}

/** What the documents of a text say; nothing where it is not YAML. */
export const contentsIn = (text: string): readonly unknown[] => parsed(text).parts.map(({ content }) => content);

/** What the documents of a file say; nothing where it is not YAML. */
export const contentsOf = (file: string): readonly unknown[] => contentsIn(readFileSync(file, "utf8"));

/** Reads each file once. */
export class Files {
  readonly #texts = new Map<string, string>();
  readonly #read = new Map<string, readonly Source[]>();

  text(file: string): string {
    const text = this.#texts.get(file) ?? readFileSync(file, "utf8");
    this.#texts.set(file, text);
    return text;
  }

  /** @throws YamlError */
  documents(file: string): readonly Source[] {
    const before = this.#read.get(file);
    if (before) return before;
    const { parts, lines, error } = parsed(this.text(file));
    if (error) throw new YamlError({ file, line: error.line }, error.message);
    const sources = parts.map((part) => new Source(file, part, lines));
    this.#read.set(file, sources);
    return sources;
  }
}

/** Where a value of a file stands: of one that is not YAML, where it stops to be. */
export function placeIn(files: Files, file: string): (path: Path) => Place {
  try {
    const [source] = files.documents(file);
    return (path) => source?.near(path) ?? { file, line: 1 };
  } catch (error) {
    if (error instanceof YamlError) return () => error.place;
    throw error;
  }
}

/** All files below a folder, what is hidden aside; no links, which may lead anywhere. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith(".") && (entry.isFile() || entry.isDirectory()))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

export const isYaml = (file: string): boolean => /\.ya?ml$/.test(file);

/** YAML files below a folder, without those of Helm charts, whose templates are none. */
export function manifestsBelow(folder: string): string[] {
  const all = filesBelow(folder);
  const charts = all.filter((file) => basename(file) === "Chart.yaml").map((file) => `${dirname(file)}${sep}`);
  return all.filter((file) => isYaml(file) && !charts.some((chart) => file.startsWith(chart)));
}

export const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that should be a list; none where it is something else. */
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const isManifest = (value: unknown): value is Manifest =>
  isObject(value) && typeof value["apiVersion"] === "string" && typeof value["kind"] === "string";

/** API group of an object; "" for Kubernetes' core. */
export const groupOf = ({ apiVersion }: Pick<Manifest, "apiVersion">): string =>
  apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";

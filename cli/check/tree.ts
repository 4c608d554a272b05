import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Files, isFolder, isObject, type Path, type Source, YamlError } from "./files.ts";
import type { Findings, Place } from "./findings.ts";

/** What a kustomization.yaml reads, before it is built: a missing file is told with its line, and once. */

const names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** The kustomization file of a folder. */
export function kustomizationFile(folder: string): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file) && !isFolder(file));
}

export interface Tree {
  /** The kustomization files. */
  readonly kustomizations: readonly Source[];
  /** Documents of the resources. */
  readonly resources: readonly Source[];
  /** Documents of the patches. */
  readonly patches: readonly Source[];
  /** Whether something can't be read: a build would fail. */
  readonly broken: boolean;
}

const nothing: Tree = { kustomizations: [], resources: [], patches: [], broken: false };
const unreadable: Tree = { ...nothing, broken: true };

const joined = (trees: readonly Tree[]): Tree => ({
  kustomizations: trees.flatMap(({ kustomizations }) => kustomizations),
  resources: trees.flatMap(({ resources }) => resources),
  patches: trees.flatMap(({ patches }) => patches),
  broken: trees.some(({ broken }) => broken),
});

interface Reference {
  readonly path: Path;
  readonly target: string;
  readonly is: "resource" | "component" | "patch" | "data";
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isInline = (text: string): boolean => text.includes("\n") || text.includes(": ");

/** Files that generators put into ConfigMaps and Secrets: `name` or `key=name`. */
const dataFiles = (content: Record<string, unknown>): Reference[] =>
  ["configMapGenerator", "secretGenerator"].flatMap((field) =>
    list(content[field]).flatMap((generator, index) =>
      ["files", "envs"].flatMap((kind) =>
        list(isObject(generator) ? generator[kind] : undefined).map((item, at) => ({
          path: [field, index, kind, at],
          target: String(item).replace(/^[^=]*=/, ""),
          is: "data" as const,
        })),
      ),
    ),
  );

function references(content: Record<string, unknown>): Reference[] {
  const named = (field: string, is: Reference["is"]) =>
    list(content[field]).flatMap((item, index) =>
      typeof item === "string" && !isInline(item) ? [{ path: [field, index], target: item, is }] : [],
    );
  const inPath = ["patches", "patchesJson6902", "replacements"].flatMap((field) =>
    list(content[field]).flatMap((item, index) =>
      isObject(item) && typeof item["path"] === "string"
        ? [{ path: [field, index, "path"], target: item["path"], is: "patch" as const }]
        : [],
    ),
  );
  return [
    ...["resources", "bases"].flatMap((field) => named(field, "resource")),
    ...named("components", "component"),
    ...named("patchesStrategicMerge", "patch"),
    ...["crds", "configurations", "generators", "transformers", "validators"].flatMap((field) => named(field, "data")),
    ...inPath,
    ...dataFiles(content),
  ];
}

/** The file of a patch in a kustomization's `patches`. */
export const patchFile = (kustomization: Source, { path }: Record<string, unknown>): string =>
  join(dirname(kustomization.file), String(path));

export class Trees {
  readonly #files: Files;
  readonly #findings: Findings;
  /** Folder of the repositories: nothing outside it is read. */
  readonly #root: string;
  readonly #known = new Map<string, Tree>();

  constructor(root: string, files: Files, findings: Findings) {
    this.#root = root;
    this.#files = files;
    this.#findings = findings;
  }

  /** What a build of `folder`, which has a kustomization file, reads. */
  of(folder: string): Tree {
    const known = this.#known.get(folder);
    if (known) return known;
    // Against a folder that names itself: kustomize reports the cycle.
    this.#known.set(folder, nothing);
    const tree = this.#read(folder);
    this.#known.set(folder, tree);
    return tree;
  }

  /** What a build reads of resources without a kustomization file. */
  loose(paths: readonly string[]): Tree {
    return joined(paths.map((path) => (isFolder(path) ? this.of(path) : this.#documents(path, "resources"))));
  }

  #read(folder: string): Tree {
    const file = kustomizationFile(folder) as string;
    const own = this.#documents(file, "kustomizations");
    const [source] = own.kustomizations;
    if (!source || !isObject(source.content)) return own;
    const content = source.content;
    return joined([own, ...references(content).map((reference) => this.#follow(folder, source, reference))]);
  }

  #follow(folder: string, source: Source, { path, target, is }: Reference): Tree {
    const place = source.near(path);
    if (/^(https?|ssh|git|oci|file):|^git@|[?&]ref=|^github\.com\//.test(target)) {
      this.#findings.add(
        "source",
        place,
        `${target} is a remote base`,
        "Flux here runs with --no-remote-bases: copy it into the repository, or make a GitRepository or OCIRepository of it",
      );
      return unreadable;
    }
    const to = join(folder, target);
    if (relative(this.#repository(folder), to).startsWith(".."))
      return this.#missing(place, target, is, "is outside the repository");
    if (!existsSync(to)) return this.#missing(place, target, is, "does not exist");
    if (!isFolder(to)) {
      if (is === "data") return nothing;
      return this.#documents(to, is === "patch" ? "patches" : "resources");
    }
    if (is !== "patch" && is !== "data" && kustomizationFile(to)) return this.of(to);
    return this.#missing(place, target, is, "is a folder without a kustomization.yaml");
  }

  #repository(folder: string): string {
    return join(this.#root, relative(this.#root, folder).split("/")[0] as string);
  }

  #missing(place: Place, target: string, is: Reference["is"], why: string): Tree {
    this.#findings.add(
      is === "patch" ? "patch" : "path",
      place,
      `${is === "patch" ? "the patch" : is === "component" ? "the component" : "the file"} ${target} ${why}`,
      `name a path that exists, relative to ${dirname(relative(this.#root, place.file))}`,
    );
    return unreadable;
  }

  #documents(file: string, into: "kustomizations" | "resources" | "patches"): Tree {
    try {
      return { ...nothing, [into]: this.#files.documents(file) };
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      this.#findings.add("build", error.place, `this is no YAML: ${error.message}`, "mend the syntax");
      return unreadable;
    }
  }
}

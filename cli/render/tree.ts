import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { asFlux, type Files, isFolder, isManifest, isObject, type Source, YamlError } from "./files.ts";
import type { Findings, Place } from "./findings.ts";
import { inside, isBelow } from "./inside.ts";
import { pluginReferences, pluginRefusals, type Reference, type Refusal, references, refusals } from "./references.ts";

/**
 * What a kustomization.yaml reads, before it is built: a missing file is reported with its line, and once. What is not a file of the
 * same checkout is refused: a report and a comment are read by others than those who may read the files of this machine.
 */

const names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** The kustomization file of a folder. */
export function kustomizationFile(folder: string): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file) && !statSync(file).isDirectory());
}

export interface Tree {
  /** The kustomization files. */
  readonly kustomizations: readonly Source[];
  /** Documents of the resources. */
  readonly resources: readonly Source[];
  /** Documents of the patches. */
  readonly patches: readonly Source[];
  /** Documents that configure generators and transformers. */
  readonly plugins: readonly Source[];
  /** Whether a kustomization reads a file that is not in or below its folder: kustomize refuses that unless it is told not to. */
  readonly reachesOut: boolean;
  /** Whether something can't be read: a build would fail. */
  readonly broken: boolean;
}

const nothing: Tree = { kustomizations: [], resources: [], patches: [], plugins: [], reachesOut: false, broken: false };
/** What can't be built. */
export const unreadable: Tree = { ...nothing, broken: true };

export const joined = (trees: readonly Tree[]): Tree => ({
  kustomizations: trees.flatMap(({ kustomizations }) => kustomizations),
  resources: trees.flatMap(({ resources }) => resources),
  patches: trees.flatMap(({ patches }) => patches),
  plugins: trees.flatMap(({ plugins }) => plugins),
  reachesOut: trees.some(({ reachesOut }) => reachesOut),
  broken: trees.some(({ broken }) => broken),
});

/** What kustomize fetches from another host (kustomize api v0.21, internal/git/repospec.go and internal/loader). */
export const isRemote = (target: string): boolean =>
  /^(git::|[a-z][a-z0-9+.-]*:|[a-z][a-z0-9-]*@|github\.com[/:])/i.test(target);

/** Whether kustomize reads a text as an object, not as a path to one (kustomize api v0.21, resource.Factory.SliceFromBytes). */
function isInlinePatch(target: string): boolean {
  try {
    const content: unknown = parse(target, asFlux);
    return isManifest(content) && typeof content.metadata?.name === "string";
  } catch {
    return false;
  }
}

/** What YAML takes for a line break, and other characters that no path needs. */
const isOneLine = (target: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(target);

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
    const [source, ...more] = own.kustomizations;
    if (own.broken) return own;
    if (!source || more.length > 0 || !isObject(source.content))
      return this.#refused(source?.near([]) ?? { file, line: 1 }, {
        problem: `a kustomization is one YAML document with fields; got ${more.length > 0 ? `${more.length + 1} documents` : "something else"}`,
        remedy: "write apiVersion, kind and the fields of one kustomization",
      });
    return joined([own, ...this.#content(folder, source, references(source.content), refusals(source.content))]);
  }

  #content(folder: string, source: Source, named: readonly Reference[], refused: readonly Refusal[]): Tree[] {
    return [
      ...refused.map((refusal) => this.#refused(source.near(refusal.path), refusal)),
      ...named.map((reference) => this.#follow(folder, source, reference)),
    ];
  }

  #refused(place: Place, { problem, remedy }: Pick<Refusal, "problem" | "remedy">): Tree {
    this.#findings.add("build", place, problem, remedy);
    return unreadable;
  }

  #follow(folder: string, source: Source, { path, target, is, mayBeInline }: Reference): Tree {
    const place = source.near(path);
    const remedy = "put it into a file of the repository, and name that file";
    const to = inside(this.#checkout(folder), folder, target);
    if (mayBeInline && isInlinePatch(target)) {
      // Should another reader of YAML take it for a path, that path leads nowhere else either.
      if (to !== undefined) return nothing;
      return this.#refused(place, {
        problem: "the patch that stands here would be a path out of the repository",
        remedy,
      });
    }
    if (is === "plugin" && (target.includes("{") || !isOneLine(target))) {
      const problem = "a generator or a transformer stands here inline, not in a file";
      return this.#refused(place, { problem, remedy });
    }
    if (!isOneLine(target)) {
      const problem = `the path ${JSON.stringify(target)} has a line break or a control character`;
      return this.#refused(place, {
        problem,
        remedy:
          "write a path of one line; only an item of patchesStrategicMerge may itself be a patch, with apiVersion, kind and metadata.name",
      });
    }
    if (isRemote(target)) {
      this.#findings.add(
        "source",
        place,
        `${target} is a remote base`,
        "Flux here runs with --no-remote-bases: copy it into the repository, or make a GitRepository or OCIRepository of it",
      );
      return unreadable;
    }
    if (to === undefined) return this.#missing(place, target, is, "is outside the repository");
    if (!existsSync(to)) return this.#missing(place, target, is, "does not exist");
    if (!statSync(to).isDirectory())
      return joined([this.#file(folder, to, is), { ...nothing, reachesOut: !isBelow(folder, to) }]);
    if ((is === "resource" || is === "component") && kustomizationFile(to)) return this.of(to);
    return this.#missing(place, target, is, "is a folder without a kustomization.yaml");
  }

  #file(folder: string, file: string, is: Reference["is"]): Tree {
    if (is === "data") return nothing;
    if (is === "patch") return this.#documents(file, "patches");
    if (is !== "plugin") return this.#documents(file, "resources");
    const own = this.#documents(file, "plugins");
    const documents = own.plugins.flatMap((source) => {
      const content = isObject(source.content) ? source.content : {};
      return this.#content(folder, source, pluginReferences(content), pluginRefusals(content));
    });
    return joined([own, ...documents]);
  }

  /** The checkout that a folder is in. */
  #checkout(folder: string): string {
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

  #documents(file: string, into: "kustomizations" | "resources" | "patches" | "plugins"): Tree {
    try {
      return { ...nothing, [into]: this.#files.documents(file) };
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      this.#findings.add("build", error.place, `this is not YAML: ${error.message}`, "fix the syntax");
      return unreadable;
    }
  }
}

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contentsOf, isFolder, isObject, list, type Source } from "./files.ts";
import type { Build } from "./kustomize.ts";
import { type BuiltObject, documents } from "./render.ts";
import { kustomizationFile, type Tree } from "./tree.ts";

/** What Flux does to a folder before it builds it (github.com/fluxcd/pkg/kustomize, the generator). */

interface FluxPatch {
  readonly patch: unknown;
  readonly target?: unknown;
}

/** The members of a Flux Kustomization's specification that change the build. */
export interface BuildSpec {
  readonly targetNamespace?: string;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly patches?: readonly FluxPatch[];
  readonly components?: readonly string[];
  readonly ignoreMissingComponents?: boolean;
  readonly images?: readonly { readonly name: string }[];
}

/** In a folder without a kustomization file: manifests, and the folders below that have one. */
export function scanned(folder: string, prefix = "."): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = `${prefix}/${entry.name}`;
      if (entry.isDirectory()) return kustomizationFile(path) ? [name] : scanned(path, name);
      return /\.ya?ml$/.test(entry.name) ? [name] : [];
    });
}

/** A replacement of the same image is merged; a new tag or digest takes the place of both. */
function images(own: unknown, more: NonNullable<BuildSpec["images"]>): unknown[] {
  const known = list(own).filter(isObject);
  const merged = more.map((image) => {
    const { newTag, digest, ...rest } = known.find(({ name }) => name === image.name) ?? {};
    const version = "newTag" in image || "digest" in image ? {} : { newTag, digest };
    return { ...rest, ...version, ...image };
  });
  return [...known.filter(({ name }) => more.every((image) => image.name !== name)), ...merged];
}

/** The components of a specification that Flux takes. */
const componentsOf = (folder: string, { components = [], ignoreMissingComponents }: BuildSpec): readonly string[] =>
  ignoreMissingComponents ? components.filter((name) => existsSync(join(folder, name))) : components;

/** The members that a patch of a Flux Kustomization has; the API server drops others, a path to a file among them. */
const inline = ({ patch, target }: FluxPatch): FluxPatch => ({ patch, ...(target === undefined ? {} : { target }) });

/** The kustomization that Flux builds. */
function generated(folder: string, own: Record<string, unknown>, spec: BuildSpec): Record<string, unknown> {
  const components = componentsOf(folder, spec);
  return {
    ...own,
    ...(list(own["resources"]).length === 0 ? { buildMetadata: ["originAnnotations"] } : {}),
    ...(spec.targetNamespace ? { namespace: spec.targetNamespace } : {}),
    ...(spec.namePrefix ? { namePrefix: spec.namePrefix } : {}),
    ...(spec.nameSuffix ? { nameSuffix: spec.nameSuffix } : {}),
    ...(spec.patches?.length ? { patches: [...list(own["patches"]), ...spec.patches.map(inline)] } : {}),
    ...(components.length > 0 ? { components: [...list(own["components"]), ...components] } : {}),
    ...(spec.images?.length ? { images: images(own["images"], spec.images) } : {}),
  };
}

const header = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" };

/** What a build may read. */
export interface Reading {
  /** What the kustomizations of the build name. */
  readonly tree: Pick<Tree, "kustomizations" | "plugins" | "reachesOut">;
  /** The checkout that they are in. */
  readonly checkout: string;
}

/** Builds folders as Flux does; the same folder with the same specification once. Folders may be changed meanwhile. */
export class FluxBuild {
  readonly #build: Build;
  readonly #known = new Map<string, readonly BuiltObject[]>();

  constructor(build: Build) {
    this.#build = build;
  }

  /** @throws BuildError */
  build(folder: string, spec: BuildSpec, reading: Reading): readonly BuiltObject[] {
    const { targetNamespace, namePrefix, nameSuffix, patches, components, images: replaced } = spec;
    const key = JSON.stringify([folder, targetNamespace, namePrefix, nameSuffix, patches, components, replaced]);
    return this.#once(key, () => this.#made(folder, spec, reading));
  }

  /** The build of a kustomization with only the first `count` of its patches. @throws BuildError */
  before(folder: string, count: number, reading: Reading): readonly BuiltObject[] {
    const first = (own: Record<string, unknown>) => ({ ...own, patches: list(own["patches"]).slice(0, count) });
    return this.#once(JSON.stringify([folder, count]), () => this.#changed(folder, first, reading));
  }

  #once(key: string, make: () => string): readonly BuiltObject[] {
    const objects = this.#known.get(key) ?? documents(make());
    this.#known.set(key, objects);
    return objects;
  }

  #made(folder: string, spec: BuildSpec, reading: Reading): string {
    if (kustomizationFile(folder) === undefined && scanned(folder).length === 0) return "";
    return this.#changed(folder, (own) => generated(folder, own, spec), reading);
  }

  /** Builds a folder with another kustomization, and puts its own back. */
  #changed(
    folder: string,
    change: (own: Record<string, unknown>) => Record<string, unknown>,
    { tree, checkout }: Reading,
  ): string {
    const file = kustomizationFile(folder) ?? join(folder, "kustomization.yaml");
    const contents = contentsByFile([...tree.kustomizations, ...tree.plugins]);
    const [own = { ...header, resources: scanned(folder) }] = contents.get(file) ?? [];
    contents.set(file, [change(own as Record<string, unknown>)]);
    return withFiles(contents, () => this.#build(folder, { checkout, reachesOut: tree.reachesOut }));
  }
}

/** The documents of each file. */
function contentsByFile(sources: readonly Source[]): Map<string, unknown[]> {
  const contents = new Map<string, unknown[]>();
  for (const { file, content } of new Set(sources)) contents.set(file, [...(contents.get(file) ?? []), content]);
  return contents;
}

/**
 * What `use` makes while files have other contents. kustomize gets what was looked at and nothing else: two readers of YAML don't
 * always see the same in a file, but they do in JSON.
 */
function withFiles<T>(contents: ReadonlyMap<string, readonly unknown[]>, use: () => T): T {
  const before = [...contents.keys()].map((file) => [file, existsSync(file) ? readFileSync(file) : undefined] as const);
  try {
    for (const [file, documents] of contents) writeFileSync(file, documents.map(plain).join("\n---\n"));
    return use();
  } finally {
    for (const [file, text] of before)
      if (text === undefined) rmSync(file, { force: true });
      else writeFileSync(file, text);
  }
}

/** JSON in ASCII, which is also YAML: Go's reader takes some other characters for line breaks. */
const plain = (content: unknown): string =>
  JSON.stringify(content).replaceAll(
    /[^\x20-\x7e]/gu,
    (character) => `\\U${(character.codePointAt(0) as number).toString(16).padStart(8, "0")}`,
  );

/** Components that a folder can have: folders in it with a kustomization file of kind Component. */
export function componentsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isFolder(join(folder, name)))
    .filter((name) => {
      const file = kustomizationFile(join(folder, name));
      return (
        file !== undefined && contentsOf(file).some((content) => isObject(content) && content["kind"] === "Component")
      );
    })
    .sort();
}

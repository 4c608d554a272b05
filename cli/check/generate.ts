import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { isFolder, isObject } from "./files.ts";
import type { Build } from "./kustomize.ts";
import { type BuiltObject, documents } from "./render.ts";
import { kustomizationFile } from "./tree.ts";

/** What Flux does to a folder before it builds it (github.com/fluxcd/pkg/kustomize, the generator). */

/** The members of a Flux Kustomization's specification that change the build. */
export interface BuildSpec {
  readonly targetNamespace?: string;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly patches?: readonly unknown[];
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

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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

/** The kustomization that Flux builds. */
function generated(folder: string, own: Record<string, unknown>, spec: BuildSpec): Record<string, unknown> {
  const components = componentsOf(folder, spec);
  return {
    ...own,
    ...(list(own["resources"]).length === 0 ? { buildMetadata: ["originAnnotations"] } : {}),
    ...(spec.targetNamespace ? { namespace: spec.targetNamespace } : {}),
    ...(spec.namePrefix ? { namePrefix: spec.namePrefix } : {}),
    ...(spec.nameSuffix ? { nameSuffix: spec.nameSuffix } : {}),
    ...(spec.patches?.length ? { patches: [...list(own["patches"]), ...spec.patches] } : {}),
    ...(components.length > 0 ? { components: [...list(own["components"]), ...components] } : {}),
    ...(spec.images?.length ? { images: images(own["images"], spec.images) } : {}),
  };
}

const header = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" };

/** Builds folders as Flux does; the same folder with the same specification once. Folders may be changed meanwhile. */
export class FluxBuild {
  readonly #build: Build;
  readonly #known = new Map<string, readonly BuiltObject[]>();

  constructor(build: Build) {
    this.#build = build;
  }

  /** @throws BuildError */
  build(folder: string, spec: BuildSpec): readonly BuiltObject[] {
    const { targetNamespace, namePrefix, nameSuffix, patches, components, images: replaced } = spec;
    const key = JSON.stringify([folder, targetNamespace, namePrefix, nameSuffix, patches, components, replaced]);
    return this.#once(key, () => this.#made(folder, spec));
  }

  /** The build of a kustomization with only the first `count` of its patches. @throws BuildError */
  before(folder: string, count: number): readonly BuiltObject[] {
    const first = (own: Record<string, unknown>) => ({ ...own, patches: list(own["patches"]).slice(0, count) });
    return this.#once(JSON.stringify([folder, count]), () => this.#changed(folder, first));
  }

  #once(key: string, make: () => string): readonly BuiltObject[] {
    const objects = this.#known.get(key) ?? documents(make());
    this.#known.set(key, objects);
    return objects;
  }

  #made(folder: string, spec: BuildSpec): string {
    if (kustomizationFile(folder) === undefined && scanned(folder).length === 0) return "";
    return this.#changed(folder, (own) => generated(folder, own, spec));
  }

  /** Builds a folder with another kustomization, and puts its own back. */
  #changed(folder: string, change: (own: Record<string, unknown>) => Record<string, unknown>): string {
    const file = kustomizationFile(folder);
    const before = file === undefined ? undefined : readFileSync(file, "utf8");
    const own =
      before === undefined ? { ...header, resources: scanned(folder) } : (parse(before) as Record<string, unknown>);
    const after = change(own);
    if (before !== undefined && isDeepStrictEqual(own, after)) return this.#build(folder);
    const target = file ?? join(folder, "kustomization.yaml");
    writeFileSync(target, stringify(after));
    try {
      return this.#build(folder);
    } finally {
      if (before === undefined) rmSync(target);
      else writeFileSync(target, before);
    }
  }
}

/** Components that a folder can have: folders in it with a kustomization file of kind Component. */
export function componentsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isFolder(join(folder, name)))
    .filter((name) => {
      const file = kustomizationFile(join(folder, name));
      return file !== undefined && (parse(readFileSync(file, "utf8")) as { kind?: string }).kind === "Component";
    })
    .sort();
}

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ImageFile } from "../product.ts";
import { CHECKOUT, layerSource } from "../product-paths.ts";
import { contentKey, type Entry, ensureEntry, readTexts } from "./cache.ts";
import { moduleDir } from "./go.ts";
import { externalSecretsGroup, type GoGroup, mainGroup, podinfoGroup } from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";
import { type ImageSpec, writeImageArchive } from "./image-archive.ts";

const NONROOT = "65532:65532";
const NOBODY = "65534:65534";
const main = (path: string): string => versionOf(mainGroup.mod, path);

/** Name and tag of every image, as the charts and manifests in use name them. The versions come from go.mod. */
export const imageReferences = {
  pause: "registry.k8s.io/pause:3.10",
  coredns: `registry.k8s.io/coredns/coredns:${main("github.com/coredns/coredns")}`,
  sourceController: `ghcr.io/fluxcd/source-controller:${main("github.com/fluxcd/source-controller")}`,
  kustomizeController: `ghcr.io/fluxcd/kustomize-controller:${main("github.com/fluxcd/kustomize-controller")}`,
  helmController: `ghcr.io/fluxcd/helm-controller:${main("github.com/fluxcd/helm-controller")}`,
  notificationController: `ghcr.io/fluxcd/notification-controller:${main("github.com/fluxcd/notification-controller")}`,
  sourceWatcher: `ghcr.io/fluxcd/source-watcher:${main("github.com/fluxcd/source-watcher/v2")}`,
  crossplane: `xpkg.crossplane.io/crossplane/crossplane:${main("github.com/crossplane/crossplane/v2")}`,
  sealedSecrets: `docker.io/bitnami/sealed-secrets-controller:${main("github.com/bitnami/sealed-secrets").slice(1)}`,
  externalSecrets: `ghcr.io/external-secrets/external-secrets:${versionOf(externalSecretsGroup.mod, "github.com/external-secrets/external-secrets")}`,
  // Upstream's release of the commit in go.mod: its tags have no v, so Go knows no version of it.
  podinfo: "ghcr.io/stefanprodan/podinfo:6.9.2",
} as const;

type ImageName = keyof typeof imageReferences;

/** How an image is made of a program: where the program is in it, and the user, as in upstream's own image. */
export interface Recipe {
  readonly group: GoGroup;
  readonly program: string;
  readonly path: string;
  readonly user: string;
  /** What the image's entrypoint gives the program. */
  readonly arguments?: readonly string[];
  /** More programs of the group, by their path in the image. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Folders of a module whose files are in the image, by their path there. */
  readonly folders?: { readonly module: string; readonly paths: Readonly<Record<string, string>> };
}

const inMain = (program: string, path: string, user: string): Recipe => ({ group: mainGroup, program, path, user });
const flux = (program: string): Recipe => inMain(program, `/usr/local/bin/${program}`, NOBODY);

const recipes: Readonly<Record<ImageName, Recipe>> = {
  pause: inMain("pause", "/pause", "65535:65535"),
  coredns: inMain("coredns", "/coredns", NONROOT),
  sourceController: flux("source-controller"),
  kustomizeController: flux("kustomize-controller"),
  helmController: flux("helm-controller"),
  notificationController: flux("notification-controller"),
  // Its main package is the folder cmd of its module, after which go build names the program.
  sourceWatcher: inMain("cmd", "/usr/local/bin/source-watcher", NOBODY),
  sealedSecrets: inMain("controller", "/usr/local/bin/controller", "1001"),
  externalSecrets: {
    group: externalSecretsGroup,
    program: "external-secrets",
    path: "/bin/external-secrets",
    user: NOBODY,
  },
  crossplane: {
    ...inMain("crossplane", "/bin/crossplane", NONROOT),
    folders: {
      module: "github.com/crossplane/crossplane/v2",
      paths: { "/crds": "cluster/crds", "/webhookconfigurations": "cluster/webhookconfigurations" },
    },
  },
  podinfo: {
    group: podinfoGroup,
    program: "podinfo",
    path: "/home/app/podinfo",
    user: "100:101",
    folders: { module: "github.com/stefanprodan/podinfo", paths: { "/home/app/ui": "ui" } },
  },
};

/** An image that a node imports, and is never pulled. */
export interface Image {
  readonly name: string;
  readonly reference: string;
  /** A `docker save` archive, uncompressed: `ctr --namespace k8s.io images import <tar>`. */
  readonly tar: string;
}

/** Where an image is, or will be. The key is the file with its recipe and the content key of its programs. */
export async function imageEntry(
  root: string,
  name: string,
  programsKey: string,
  recipes = "images.ts",
): Promise<Entry> {
  const own = ["image-archive.ts", recipes].map((file) => `local/toolchain/${file}`);
  const sources = await readTexts(CHECKOUT, [layerSource, ...own]);
  return { root, group: `image-${name}`, key: contentKey({ ...sources, programsKey }) };
}

/** Where the images with files of Go modules are, or will be: without Go they can't be made. `keyOf` gives a group's content key. */
export async function moduleImageEntries(root: string, keyOf: (group: GoGroup) => Promise<string>): Promise<Entry[]> {
  const names = (Object.keys(recipes) as ImageName[]).filter((name) => recipes[name].folders !== undefined);
  return Promise.all(names.map(async (name) => imageEntry(root, name, await keyOf(recipes[name].group))));
}

function moduleFiles(folders: NonNullable<Recipe["folders"]>): Record<string, ImageFile> {
  const module = moduleDir(folders.module);
  const files: Record<string, ImageFile> = {};
  for (const [target, folder] of Object.entries(folders.paths)) {
    for (const name of readdirSync(join(module, folder))) {
      files[`${target}/${name}`] = { source: join(module, folder, name), mode: 0o644 };
    }
  }
  return files;
}

/** Makes the images that are not cached. `programs` gives a group's folder and content key. */
export async function ensureImages(
  root: string,
  programs: (group: GoGroup) => { dir: string; key: string },
  say: (detail: string) => void,
): Promise<Image[]> {
  const images: Image[] = [];
  const names = Object.keys(recipes) as ImageName[];
  for (const name of names) {
    const recipe = recipes[name];
    const reference = imageReferences[name];
    const { dir: programDir, key } = programs(recipe.group);
    const tar = await ensureImage(await imageEntry(root, name, key), reference, recipe, programDir, () =>
      say(`${images.length} of ${names.length} images, now ${reference}`),
    );
    images.push({ name, reference, tar });
  }
  return images;
}

/** Makes an image unless it is cached, and returns its archive. */
export async function ensureImage(
  entry: Entry,
  reference: string,
  recipe: Recipe,
  programs: string,
  begins: () => void,
): Promise<string> {
  const dir = await ensureEntry(entry, async (folder) => {
    begins();
    const spec: ImageSpec = {
      reference,
      entrypoint: [recipe.path, ...(recipe.arguments ?? [])],
      user: recipe.user,
      files: {
        [recipe.path]: { source: join(programs, recipe.program) },
        ...Object.fromEntries(
          Object.entries(recipe.beside ?? {}).map(([path, program]) => [path, { source: join(programs, program) }]),
        ),
        ...(recipe.folders ? moduleFiles(recipe.folders) : {}),
      },
    };
    await writeImageArchive(spec, join(folder, "image.tar"));
  });
  return join(dir, "image.tar");
}

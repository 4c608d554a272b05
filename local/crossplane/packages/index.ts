import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { functionPackage } from "../../product.ts";
import { functionSources } from "../../product-paths.ts";
import type { Published } from "../../registry/index.ts";
import { ensurePackage, ensureRuntime, type MadePackage } from "./made.ts";
import { providerPackages } from "./provider.ts";

export { PROVIDER_VERSIONS } from "./provider.ts";

const compositionFunction: MadePackage = { ...functionPackage, sources: functionSources };

/** Every package that an instance's registry serves. */
export const packages: readonly MadePackage[] = [...providerPackages, compositionFunction];

/** Digest of the composition function in an instance's registry: `crane push` pushes the only image of a layout. `root` is the toolchain's cache. */
export async function functionDigest(root: string, say: (detail: string) => void): Promise<string> {
  const platform = await ensureRuntime(resolve(root), say);
  const { layout } = await ensurePackage(resolve(root), compositionFunction, platform, say);
  const { manifests } = JSON.parse(await readFile(join(layout, "index.json"), "utf8")) as {
    readonly manifests: readonly [{ readonly digest: string }];
  };
  return manifests[0].digest;
}

/** Makes the packages that are not cached. `root` is the toolchain's cache. */
export async function ensurePackages(root: string, say: (detail: string) => void): Promise<Published[]> {
  const platform = await ensureRuntime(resolve(root), say);
  const made: Published[] = [];
  for (const spec of packages) made.push(await ensurePackage(resolve(root), spec, platform, say));
  return made;
}

import { resolve } from "node:path";
import { functionPackage } from "../../product.ts";
import { functionSources } from "../../product-paths.ts";
import type { Published } from "../../registry/index.ts";
import { ensurePackage, ensureRuntime, type MadePackage } from "./made.ts";
import { providerPackages } from "./provider.ts";

export { PROVIDER_VERSIONS } from "./provider.ts";

/** Every package that an instance's registry serves. */
export const packages: readonly MadePackage[] = [...providerPackages, { ...functionPackage, sources: functionSources }];

/** Makes the packages that are not cached. `root` is the toolchain's cache. */
export async function ensurePackages(root: string, say: (detail: string) => void): Promise<Published[]> {
  const platform = await ensureRuntime(resolve(root), say);
  const made: Published[] = [];
  for (const spec of packages) made.push(await ensurePackage(resolve(root), spec, platform, say));
  return made;
}

import { resolve } from "node:path";
import type { Published } from "../../registry/index.ts";
import type { Platform } from "../../registry/layout.ts";
import { functionPackage } from "./function.ts";
import { ensurePackage, type PackageSpec } from "./package.ts";
import { providerPackages } from "./provider.ts";
import { runtimeLayer } from "./runtime.ts";

export { FUNCTION_REPOSITORY } from "./function.ts";
export type { PackageSpec } from "./package.ts";
export { PROVIDER_VERSIONS } from "./provider.ts";

/** Every package that an instance's registry serves. */
export const packages: readonly PackageSpec[] = [...providerPackages, functionPackage];

/**
 * Makes the packages that are not cached. `root` is the toolchain's cache; with `architectures` each is an index of images to
 * publish, without it is an image for this machine.
 */
export async function ensurePackages(
  root: string,
  say: (detail: string) => void,
  wanted: readonly PackageSpec[] = packages,
  architectures: readonly string[] = [],
): Promise<Published[]> {
  const platforms: Platform[] = [];
  for (const architecture of architectures.length > 0 ? architectures : [undefined])
    platforms.push(await runtimeLayer(resolve(root), say, architecture));
  const made: Published[] = [];
  for (const spec of wanted) made.push(await ensurePackage(resolve(root), spec, platforms, say));
  return made;
}

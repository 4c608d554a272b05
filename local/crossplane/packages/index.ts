import { resolve } from "node:path";
import type { Published } from "../../registry/index.ts";
import { functionPackage } from "./function.ts";
import { ensurePackage, type PackageSpec } from "./package.ts";
import { providerPackages } from "./provider.ts";
import { runtimeLayer } from "./runtime.ts";

export { FUNCTION_REPOSITORY } from "./function.ts";
export type { PackageSpec } from "./package.ts";
export { PROVIDER_VERSIONS } from "./provider.ts";

/** Every package that an instance's registry serves. */
export const packages: readonly PackageSpec[] = [...providerPackages, functionPackage];

/** Makes the packages that are not cached. `root` is the toolchain's cache. */
export async function ensurePackages(
  root: string,
  say: (detail: string) => void,
  wanted: readonly PackageSpec[] = packages,
): Promise<Published[]> {
  const runtime = await runtimeLayer(resolve(root), say);
  const made: Published[] = [];
  for (const spec of wanted) made.push(await ensurePackage(resolve(root), spec, runtime, say));
  return made;
}

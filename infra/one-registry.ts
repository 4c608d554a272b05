import { hostOf } from "../lib/registries.ts";
import type { Readable } from "./settings.ts";

/** The composition function's repository below `registry`; one that is on its host already stays. */
const below = (registry: string, repository: string): string =>
  hostOf(repository) === hostOf(registry) ? repository : `${registry}/${repository}`;

/** The settings with `registry` in place of each mirror that the stack does not name: charts, images, packages and the composition function. */
export function withOneRegistry(settings: Readable): Readable {
  const { registry, chartsRegistry, imagesRegistry, packagesRegistry, functionPackage } = settings;
  if (!registry) return settings;
  return {
    ...settings,
    ...(chartsRegistry === "" && { chartsRegistry: `oci://${registry}/charts` }),
    ...(imagesRegistry === "" && { imagesRegistry: registry }),
    ...(packagesRegistry === "" && { packagesRegistry: registry }),
    ...(functionPackage !== undefined && { functionPackage: below(registry, functionPackage) }),
  };
}

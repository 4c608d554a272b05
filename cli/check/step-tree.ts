import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Findings } from "./findings.ts";
import { nameOf, type Step } from "./fleet.ts";
import { scanned } from "./generate.ts";
import { kustomizationFile, type Tree, type Trees } from "./tree.ts";

/** What a build of `folder` for a step reads: its own kustomization, or all manifests in it, and the components of the step. */
export function stepTree(step: Step, folder: string, trees: Trees, findings: Findings): Tree {
  const components: unknown = step.manifest.spec.components ?? [];
  // What is no list, the definition of the kind tells.
  if (!Array.isArray(components)) return { kustomizations: [], resources: [], patches: [], broken: true };
  const missing = components.filter((name) => !existsSync(join(folder, name)));
  const isMissing = missing.length > 0 && step.manifest.spec.ignoreMissingComponents !== true;
  if (isMissing)
    findings.add(
      "path",
      step.place(["spec", "components"]),
      `Kustomization ${nameOf(step)} takes the components ${missing.join(", ")}, which ${step.manifest.spec.path} does not have`,
      "name folders of kind Component, relative to spec.path",
      step.on.name,
      "components",
    );
  const own = kustomizationFile(folder)
    ? trees.of(folder)
    : trees.loose(scanned(folder).map((name) => join(folder, name)));
  const more = trees.loose(components.filter((name) => !missing.includes(name)).map((name) => join(folder, name)));
  return {
    kustomizations: [...own.kustomizations, ...more.kustomizations],
    resources: [...own.resources, ...more.resources],
    patches: [...own.patches, ...more.patches],
    broken: own.broken || more.broken || isMissing,
  };
}

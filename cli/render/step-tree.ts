import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { tellAddons } from "./blame.ts";
import type { Findings } from "./findings.ts";
import { nameOf, type Step } from "./fleet.ts";
import { componentsIn, scanned } from "./generate.ts";
import { inside } from "./inside.ts";
import { isRemote, joined, kustomizationFile, type Tree, type Trees, unreadable } from "./tree.ts";

/** What a build of `folder` for a step reads: its own kustomization, or all manifests in it, and the components of the step. */
export function stepTree(step: Step, folder: string, checkout: string, trees: Trees, findings: Findings): Tree {
  const components: unknown = step.manifest.spec.components ?? [];
  // The definition of the kind says what is not a list.
  if (!Array.isArray(components)) return unreadable;
  const refused = (names: readonly unknown[], problem: string): boolean => {
    if (names.length > 0)
      findings.add(
        "path",
        step.place(["spec", "components"]),
        `Kustomization ${nameOf(step)} takes the components ${names.join(", ")}, which ${problem}`,
        "name folders of kind Component, relative to spec.path",
        step.on.name,
        "components",
      );
    return names.length > 0;
  };
  const outside = components
    .map(String)
    .filter((name) => isRemote(name) || inside(checkout, folder, name) === undefined);
  if (refused(outside, `are outside ${basename(checkout)}`)) return unreadable;
  const missing = components.filter((name) => !existsSync(join(folder, name)));
  const isMissing = step.manifest.spec.ignoreMissingComponents !== true && missing.length > 0;
  if (isMissing)
    refused(tellAddons(step, missing, componentsIn(folder), findings), `${step.manifest.spec.path} does not have`);
  const own = kustomizationFile(folder)
    ? trees.of(folder)
    : trees.loose(scanned(folder).map((name) => join(folder, name)));
  const more = trees.loose(components.filter((name) => !missing.includes(name)).map((name) => join(folder, name)));
  return joined([own, more, ...(isMissing ? [unreadable] : [])]);
}

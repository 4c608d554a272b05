import type { Findings } from "./findings.ts";
import { isSpoke, type Rendered, type Step } from "./fleet.ts";

/** Where a Spoke's own field is wrong: the step that stumbles over it is the same for every spoke, and right. */

const first = (step: Step): Step => (step.parent ? first(step.parent) : step);

/** The Spoke of the cluster that a step acts on; undefined on the hub. */
const spokeBehind = (step: Step): Rendered | undefined =>
  first(step).home.objects.find(({ manifest }) => isSpoke(manifest) && manifest.metadata.name === step.on.name);

/** Tells the add-ons of a Spoke that are not there. @returns the other missing components */
export function tellAddons(step: Step, missing: readonly unknown[], known: readonly string[], findings: Findings) {
  const spoke = spokeBehind(step);
  const addons: readonly unknown[] = spoke?.manifest.spec.addons ?? [];
  if (spoke === undefined) return missing;
  for (const name of missing.filter((each) => addons.includes(each)))
    findings.add(
      "path",
      spoke.place(["spec", "addons", addons.indexOf(name)]),
      `Spoke ${step.on.name}: there is no add-on ${String(name)} in ${String(step.manifest.spec.path)}`,
      `choose among ${known.join(", ")}, or add it as docs/guides/add-ons.md says`,
      step.on.name,
    );
  return missing.filter((each) => !addons.includes(each));
}

/** Tells the field of a Spoke that leads a step to a folder which is not there. @returns whether there is such a field */
export function tellFolder(step: Step, findings: Findings): boolean {
  const spoke = spokeBehind(step);
  const path = String(step.manifest.spec.path);
  const hasOwnKeys = spoke?.manifest.spec.sealing === "cluster" && path.endsWith("/sealing-keys");
  const isOfEnvironment = /\$\{(environment|sealing_scope)\}/.test(String(step.raw.spec.path));
  if (spoke === undefined || !(hasOwnKeys || isOfEnvironment)) return false;
  const field = hasOwnKeys ? "sealing" : "environment";
  findings.add(
    "path",
    spoke.place(["spec", field]),
    `Spoke ${step.on.name}: ${field} ${String(spoke.manifest.spec[field])} leads Kustomization ${step.name} to ${path}, which is not there`,
    hasOwnKeys
      ? `fleet sealing-keys ${step.on.name} writes it`
      : "choose an environment that has it, or add the environment: docs/guides/environments.md#add-an-environment",
    step.on.name,
  );
  return true;
}

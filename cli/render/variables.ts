import { contractOf } from "../../lib/bridge-keys.ts";
import { closest } from "../closest.ts";
import { SubstitutionError, uses, variable } from "./envsubst.ts";
import type { Findings } from "./findings.ts";
import { allObjects, nameOf, type RenderedFleet, type Step, type Values } from "./fleet.ts";
import { texts } from "./render.ts";

/** Variables and the keys that clusters emit for them. */

/** Where the values of a Kustomization come from, in words. */
function sources({ raw, namespace }: Step): string {
  const { substituteFrom = [], substitute } = raw.spec.postBuild ?? {};
  const from = (substituteFrom as { kind: string; name: string }[]).map(
    ({ kind, name }) => `${kind} ${namespace}/${name}`,
  );
  return [...from, ...(substitute ? ["spec.postBuild.substitute"] : [])].join(", ") || "an empty spec.postBuild";
}

/** What to say of `${name}` that `step` can't replace. */
export function missingVariable(name: string, step: Step): { problem: string; remedy: string } {
  const similar = closest(name, Object.keys(step.values ?? {}));
  return {
    problem: `${variable(name)} is not emitted: Kustomization ${nameOf(step)} has no ${name} from ${sources(step)}`,
    remedy: similar
      ? `did you mean ${variable(similar)}? docs/reference/contract.md lists all keys`
      : contractOf(name)
        ? `the contract has it, but what this Kustomization substitutes from does not pass it on: add ${name} there`
        : `use a key of docs/reference/contract.md, add ${name} to lib/bridge-facts.ts (docs/reference/contract.md says how), or give a default: ${variable(`${name}:=…`)}`,
  };
}

/** Names of the variables in a text; none where Flux can't read it, which is reported elsewhere. */
function variablesIn(text: string): string[] {
  try {
    return uses(text).map(({ name }) => name);
  } catch (error) {
    if (error instanceof SubstitutionError) return [];
    throw error;
  }
}

/** A key of the contract in a manifest that nobody substitutes in: it would be applied as it stands. */
export function unsubstituted(fleet: RenderedFleet, findings: Findings): void {
  for (const { raw, by, place } of allObjects(fleet)) {
    if (by.values) continue;
    for (const { path, text } of texts(raw))
      for (const name of variablesIn(text))
        if (contractOf(name))
          findings.add(
            "variable",
            place(path),
            `${variable(name)} is applied as it stands: Kustomization ${nameOf(by)} has no spec.postBuild.substituteFrom`,
            "add substituteFrom to the Kustomization: the cluster secret on the hub, ConfigMap cluster-info on a spoke",
            by.on.name,
            name,
          );
  }
}

/** Keys that a source of variables has, and nobody uses or documents. */
export function unusedKeys(
  fleet: RenderedFleet,
  findings: Findings,
  isDocumented = (key: string) => contractOf(key) !== undefined,
): void {
  const used = new Set(allObjects(fleet).flatMap(({ raw }) => texts(raw).flatMap(({ text }) => variablesIn(text))));
  const isIdle = (key: string) => !used.has(key) && !isDocumented(key);
  const tell = (key: string, place: Parameters<Findings["add"]>[1], cluster: string) =>
    findings.add(
      "unused-key",
      place,
      `the key ${key} is neither used as a variable nor documented`,
      "remove it, or document it in lib/bridge-facts.ts",
      cluster,
      key,
    );
  for (const cluster of fleet.clusters.values())
    for (const [name, values] of cluster.emitted)
      for (const key of Object.keys(values).filter(isIdle))
        tell(key, fleet.steps[0]?.place([]) ?? { file: name, line: 1 }, cluster.name);
  for (const step of fleet.steps) {
    const { substitute, substituteFrom = [] } = step.manifest.spec.postBuild ?? {};
    for (const key of Object.keys((substitute ?? {}) as Values).filter(isIdle))
      tell(key, step.place(["spec", "postBuild", "substitute", key]), step.on.name);
    for (const { kind, name } of substituteFrom as { kind: string; name: string }[]) {
      const source = step.home.find(kind, step.namespace, name);
      for (const key of Object.keys(source?.manifest["data"] ?? {}).filter(isIdle))
        tell(key, source?.place(["data", key]) ?? step.place([]), step.on.name);
    }
  }
}

import { dirname } from "node:path";
import { contentsIn, type Files, groupOf, isObject, type Manifest, type Source } from "./files.ts";
import type { Findings, Place } from "./findings.ts";
import type { FluxBuild, Reading } from "./generate.ts";
import { inside } from "./inside.ts";

/** Patches that kustomize takes without a word though they miss: a target that selects nothing, a `replace` of what isn't there. */

interface PatchOperation {
  readonly op: string;
  readonly path: string;
}

interface Target {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly annotationSelector?: string;
}

/** kustomize takes each member of a target as a regular expression of the whole. */
const fits = (pattern: string | undefined, text: string): boolean =>
  pattern === undefined || pattern === "" || new RegExp(`^(?:${pattern})$`).test(text);

/** A selector of Kubernetes: `a=b`, `a!=b`, `a`, `!a`, `a in (b, c)`, `a notin (b)`. */
function selects(selector: string | undefined, labels: Readonly<Record<string, string>> = {}): boolean {
  const terms = (selector ?? "").match(/[^,(]+(\([^)]*\))?/g) ?? [];
  return terms.every((term) => {
    const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(term);
    if (set) {
      const [, key = "", operator, values = ""] = set;
      const isIn = key in labels && values.split(",").some((value) => value.trim() === labels[key]);
      return operator === "in" ? isIn : !isIn;
    }
    const [, key = "", operator, value = ""] = /^\s*!?([^=!\s]+)\s*(==?|!=)?\s*(\S*)\s*$/.exec(term) ?? [];
    if (operator === "!=") return labels[key] !== value;
    if (operator) return labels[key] === value;
    return key in labels !== term.trim().startsWith("!");
  });
}

function matches(manifest: Manifest, target: Target): boolean {
  const { kind, apiVersion, metadata } = manifest;
  return (
    fits(target.group, groupOf(manifest)) &&
    fits(target.version, apiVersion.split("/").at(-1) as string) &&
    fits(target.kind, kind) &&
    fits(target.name, metadata.name) &&
    fits(target.namespace, metadata.namespace ?? "") &&
    selects(target.labelSelector, metadata.labels) &&
    selects(target.annotationSelector, metadata.annotations)
  );
}

function has(value: unknown, pointer: string): boolean {
  const keys = pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  let inner = value;
  for (const key of keys) {
    if (typeof inner !== "object" || inner === null || !(key in inner)) return false;
    inner = (inner as Record<string, unknown>)[key];
  }
  return true;
}

interface Patch {
  readonly source: Source;
  readonly index: number;
  readonly target: Target;
  readonly operations: readonly { readonly operation: PatchOperation; readonly place: Place }[];
}

/** The operations of a JSON patch; none for a strategic merge patch. */
function operations(
  files: Files,
  source: Source,
  index: number,
  patch: Record<string, unknown>,
  checkout: string,
): Patch["operations"] {
  const { patch: text, path: target } = patch;
  const path = typeof target === "string" ? inside(checkout, dirname(source.file), target) : undefined;
  const file = path === undefined ? undefined : files.documents(path)[0];
  // What is not YAML the build reports in kustomize's words.
  const content = typeof text === "string" ? contentsIn(text)[0] : file?.content;
  if (!Array.isArray(content)) return [];
  return (content as PatchOperation[]).map((operation, at) => ({
    operation,
    place: file?.near([at, "path"]) ?? source.near(["patches", index, "patch"]),
  }));
}

const targeted = (files: Files, source: Source, checkout: string): Patch[] => {
  const { kind, patches } = source.content as { kind?: string; patches?: Record<string, unknown>[] };
  // A component is not built by itself.
  if (kind === "Component") return [];
  return (patches ?? []).flatMap((patch, index) =>
    isObject(patch["target"])
      ? [
          {
            source,
            index,
            target: patch["target"] as Target,
            operations: operations(files, source, index, patch, checkout),
          },
        ]
      : [],
  );
};

/** What of the patches in a tree misses. Whether something does. @throws BuildError */
export function missingPatches(reading: Reading, build: FluxBuild, files: Files, findings: Findings): boolean {
  let misses = false;
  for (const { source, index, target, operations } of reading.tree.kustomizations.flatMap((each) =>
    targeted(files, each, reading.checkout),
  )) {
    const objects = build
      .before(dirname(source.file), index, reading)
      .map(({ manifest }) => manifest)
      .filter((manifest) => matches(manifest, target));
    if (objects.length === 0) {
      misses = true;
      findings.add(
        "patch",
        source.near(["patches", index, "target"]),
        `the patch's target selects nothing: ${JSON.stringify(target)}`,
        "name what is among the resources here; kustomize says nothing about a patch that patches nothing",
      );
    }
    for (const { operation, place } of operations) {
      if (operation.op !== "replace") continue;
      const lacking = objects.filter((object) => !has(object, operation.path));
      // By name, as kustomize and a builder of ours may order them differently.
      const [first] = lacking.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
      if (first === undefined) continue;
      misses = true;
      const { kind, metadata } = first;
      findings.add(
        "patch",
        place,
        `the patch replaces ${operation.path}, which ${kind} ${metadata.name} does not have: kustomize adds it instead`,
        "fix the path; write op: add where a new member is meant",
      );
    }
  }
  return misses;
}

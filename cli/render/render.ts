import { type Document, parseAllDocuments } from "yaml";
import { SubstitutionError, substitute, uses } from "./envsubst.ts";
import { asFlux, isManifest, type Manifest, type Path } from "./files.ts";
import type { Findings } from "./findings.ts";
import type { Rendered, Step, Values } from "./fleet.ts";
import { placeIn } from "./origin.ts";
import type { Tree } from "./tree.ts";

/** From the text of a build to the objects that a cluster gets. */

const disabled = "kustomize.toolkit.fluxcd.io/substitute";

/** An object of a build, and the text that Flux substitutes in. */
export interface BuiltObject {
  readonly text: string;
  readonly manifest: Manifest;
}

const knownBuilds = new Map<string, readonly BuiltObject[]>();

/** The objects of a build. Reads each text once, as {@link read} does. */
export function documents(text: string): readonly BuiltObject[] {
  const before = knownBuilds.get(text);
  if (before) return before;
  const objects = text
    .split(/^---$/m)
    .map((part) => ({ text: part, manifest: read(part) }))
    .filter((each): each is BuiltObject => isManifest(each.manifest));
  knownBuilds.set(text, objects);
  return objects;
}

const known = new Map<string, unknown>();

/**
 * Parses each text once: clusters of one environment, and the states of a comparison, are mostly the same.
 * @throws Error when it is not YAML
 */
function read(text: string): unknown {
  if (known.has(text)) return known.get(text);
  const [document] = parseAllDocuments(text, asFlux) as Document[];
  const [error] = document?.errors ?? [];
  if (error) throw error;
  const content: unknown = document?.toJS();
  known.set(text, content);
  return content;
}

export interface Text {
  readonly path: Path;
  readonly text: string;
}

function addTexts(value: unknown, path: (string | number)[], found: Text[]): void {
  if (typeof value === "string") {
    if (value.includes("$")) found.push({ path: [...path], text: value });
  } else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      path.push(key);
      if (typeof key === "string" && key.includes("${")) found.push({ path: [...path], text: key });
      addTexts(inner, path, found);
      path.pop();
    }
  }
}

/** The texts in an object that may use a variable, keys too, with their paths. */
export function texts(value: unknown): readonly Text[] {
  const found: Text[] = [];
  addTexts(value, [], found);
  return found;
}

const isDisabled = ({ metadata }: Manifest): boolean =>
  [metadata?.labels?.[disabled], metadata?.annotations?.[disabled]].includes("disabled");

export interface Variables {
  readonly values: Values;
  readonly findings: Findings;
  /** What to say of a variable that is missing. */
  readonly missing: (name: string) => { readonly problem: string; readonly remedy: string };
}

/** The objects of a build, as the cluster of `step` gets them. */
export function rendered(
  built: readonly BuiltObject[],
  step: Step,
  tree: Tree,
  folder: string,
  variables?: Variables,
): Rendered[] {
  return built.flatMap((document) => {
    const place = placeIn(tree, document.manifest, folder);
    const object = { raw: document.manifest, by: step, place };
    if (!variables || !document.text.includes("$") || isDisabled(document.manifest))
      return [{ ...object, manifest: document.manifest }];
    const manifest = substituted(document.text, object, variables);
    return manifest ? [{ ...object, manifest }] : [];
  });
}

function substituted(
  text: string,
  { raw, by, place }: Pick<Rendered, "raw" | "by" | "place">,
  { values, findings, missing }: Variables,
): Manifest | undefined {
  const cluster = by.on.name;
  for (const { path, text: part } of texts(raw)) {
    try {
      for (const { name, hasDefault } of uses(part)) {
        if (hasDefault || values[name] !== undefined) continue;
        const { problem, remedy } = missing(name);
        findings.add("variable", place(path), problem, remedy, cluster, name);
      }
    } catch (error) {
      if (!(error instanceof SubstitutionError)) throw error;
      findings.add(
        "variable",
        place(path),
        `Flux can't substitute this: ${error.message}`,
        "write $${ for a literal ${",
        cluster,
      );
      return undefined;
    }
  }
  // Other problems of the object are still reported.
  const after = substitute(text, (name) => values[name] ?? "missing");
  try {
    const manifest = read(after);
    return isManifest(manifest) ? manifest : undefined;
  } catch (error) {
    const message = (error as Error).message.split("\n")[0];
    findings.add(
      "variable-type",
      place([]),
      `${raw.kind} ${raw.metadata.name} is no longer YAML after the substitution: ${message}`,
      "look at the forms of the values in docs/reference/contract.md; a JSON list can't stand inside quotes",
      cluster,
    );
    return undefined;
  }
}

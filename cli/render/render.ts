import { type Document, parseAllDocuments } from "yaml";
import { SubstitutionError, substitute, uses } from "./envsubst.ts";
import { asFlux, isManifest, isObject, type Manifest, type Path } from "./files.ts";
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

/** The objects of a build. */
export function documents(text: string): BuiltObject[] {
  return text
    .split(/^---$/m)
    .map((part) => ({ text: part, manifest: read(part) }))
    .filter((each): each is BuiltObject => isManifest(each.manifest));
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

/** Every text in an object, keys too, with its path. */
export function texts(value: unknown, path: Path = []): { readonly path: Path; readonly text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => texts(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    return [...(key.includes("${") ? [{ path: at, text: key }] : []), ...texts(inner, at)];
  });
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

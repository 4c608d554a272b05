import { variable } from "../../render/envsubst.ts";
import { groupOf } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { allObjects, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import { oldVersion } from "../api-versions.ts";
import type { Definitions } from "../definitions.ts";
import type { SchemaError } from "../schema-errors.ts";

/** Checks each object against the definition of its kind. */

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value,
  );
}

/** Indices of lists as numbers, which the lookup of lines expects. */
const lookup = (path: readonly string[]): (string | number)[] =>
  path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));

/** Whether clusters serve the API version; otherwise reports what to write instead. */
function isServed({ manifest, by, place }: Rendered, definitions: Definitions, findings: Findings): boolean {
  const { apiVersion, kind } = manifest;
  const tell = (problem: string, remedy: string) => {
    findings.add("api-version", place(["apiVersion"]), problem, remedy, by.on.name);
    return false;
  };
  const old = oldVersion(apiVersion, kind);
  if (old) return tell(`${apiVersion} ${kind} is ${old.fate}`, `use ${old.successor}`);
  const definition = definitions.find(groupOf(manifest), kind);
  if (!definition)
    return definitions.knowsGroup(groupOf(manifest))
      ? tell(`${kind} is not a kind of ${groupOf(manifest)}`, "fix the name of the kind or the apiVersion")
      : true;
  const served = definition.versions.filter((version) => version.served);
  const version = served.find(({ name }) => apiVersion === `${definition.group}/${name}`);
  const others = served.filter(({ deprecated }) => !deprecated).map(({ name }) => `${definition.group}/${name}`);
  if (!version) return tell(`${apiVersion} ${kind} is not served`, `use ${others.join(" or ")}`);
  if (version.deprecated) return tell(`${apiVersion} ${kind} is deprecated`, `use ${others.join(" or ")}`);
  return true;
}

function tell({ path, problem }: SchemaError, object: Rendered, findings: Findings): void {
  const { manifest, raw, by, place } = object;
  const name = `${manifest.kind} ${raw.metadata.name}`;
  const written = valueAt(raw, path);
  const isVariable = typeof written === "string" && written.includes("${");
  if (isVariable)
    findings.add(
      "variable-type",
      place(lookup(path)),
      `${name}: ${written} is of the wrong type here: ${problem}`,
      `docs/reference/contract.md says what the values look like; write a value that looks like a number between two ${variable("quote")}`,
      by.on.name,
      path.join("."),
    );
  else
    findings.add(
      "schema",
      place(lookup(path)),
      `${name}: ${problem}`,
      "kubectl explain shows the fields of the kind",
      by.on.name,
      path.join("."),
    );
}

export function checkManifests(fleet: RenderedFleet, definitions: Definitions, findings: Findings): void {
  for (const object of allObjects(fleet))
    if (isServed(object, definitions, findings))
      for (const error of definitions.schemaErrors(object.manifest) ?? []) tell(error, object, findings);
}

/** Kinds without a definition, whose fields were not checked. */
export function unknownKinds(fleet: RenderedFleet, definitions: Definitions): string[] {
  const unknown = allObjects(fleet).filter(({ manifest }) => !definitions.knows(manifest));
  return [...new Set(unknown.map(({ manifest }) => `${manifest.apiVersion} ${manifest.kind}`))].sort();
}

import type { Findings } from "../../render/findings.ts";
import { allObjects, nameOf, type RenderedFleet } from "../../render/fleet.ts";
import { hasRules, validate } from "../cel/validations.ts";
import type { Definitions } from "../definitions.ts";

/** Checks each object against the CEL rules of its definition: a refused object holds up everything that is applied with it. */

/** @param notes receives the rules that could not be evaluated */
export function checkValidations(
  fleet: RenderedFleet,
  definitions: Definitions,
  findings: Findings,
  notes: Set<string>,
): void {
  for (const { manifest, raw, by, place } of allObjects(fleet)) {
    const schema = definitions.schemaOf(manifest);
    // The API server evaluates the rules only if the object conforms to the schema.
    if (!schema || !hasRules(schema) || definitions.schemaErrors(manifest)?.some(({ isBlocking }) => isBlocking))
      continue;
    const { broken, unknown } = validate(schema, manifest);
    for (const { path, rule, message } of broken) {
      const where = path.join(".");
      findings.add(
        "validation",
        place(path),
        `${manifest.kind} ${raw.metadata.name}: ${where || "the object"} is refused: ${message}`,
        `fix it before the merge: the API server refuses it, and Kustomization ${nameOf(by)} fails as a whole`,
        by.on.name,
        `${where} ${rule}`,
      );
    }
    for (const { rule, why } of unknown)
      notes.add(`${manifest.apiVersion} ${manifest.kind}: the rule ${rule} was not evaluated: ${why}`);
  }
}

import { type Broken, validate } from "../../../../cli/check/cel/validations.ts";
import { Definitions } from "../../../../cli/check/definitions.ts";
import type { Manifest } from "../../../../cli/render/files.ts";
import { withMachinery } from "../../../../lib/machinery.ts";
import { type RuleCase, spokeWith } from "./rule-cases.ts";

/** What a definition says of a case, as the API server would. */
export interface Verdict {
  /** Paths that are not of the schema's shape. */
  readonly shape: () => readonly string[];
  readonly broken: readonly Broken[];
  /** Rules that can't be evaluated here. */
  readonly unknown: readonly unknown[];
}

/** Asks a definition of the Spoke API. */
export function verdictOf(definition: Manifest): (ruleCase: RuleCase) => Verdict {
  const definitions = new Definitions();
  definitions.add(definition);
  const schema = withMachinery(definition.spec.versions[0].schema.openAPIV3Schema);
  return ({ change, before, status }) => {
    const base = before ?? {};
    const patch = { metadata: { ...base.metadata, ...change.metadata }, spec: { ...base.spec, ...change.spec } };
    const stored = before && { ...spokeWith(base), status };
    const spoke = { ...spokeWith(patch), ...(before ? { status } : {}) };
    const violations = () => definitions.schemaErrors(spoke as unknown as Manifest) ?? [];
    return { shape: () => violations().map(({ path }) => path.join(".")), ...validate(schema, spoke, stored) };
  };
}

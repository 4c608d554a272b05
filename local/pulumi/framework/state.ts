/** From inputs and outputs to what is recorded: defaults, previews, drift, secret marks. */
import { same } from "./diff.ts";
import type { ResourceDefinition } from "./provider.ts";
import { markSecret, mirrorSecrets } from "./secrets.ts";
import { isMap, type PropertyMap, reveal, UNKNOWN, type Value } from "./values.ts";

/** Input that lists the names of inputs whose values the provider generated, as Pulumi's bridged providers record it. */
export const DEFAULTS_KEY = "__defaults";

/** Names of the inputs that the provider generated. */
export function madeUp(inputs: PropertyMap): string[] {
  const names = inputs[DEFAULTS_KEY];
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** The inputs without the provider's own bookkeeping. */
export function withoutBookkeeping(inputs: PropertyMap): PropertyMap {
  const { [DEFAULTS_KEY]: _, ...rest } = inputs;
  return rest;
}

/** Outputs with all secret marks: those of the SDK, and of secret inputs and earlier secret outputs. */
export function recordedOutputs<S>(
  definition: ResourceDefinition<S>,
  outputs: PropertyMap,
  sources: readonly PropertyMap[],
): PropertyMap {
  const mirrored = sources.reduce((result, source) => mirrorSecrets(result, source), outputs);
  return markSecret(mirrored, definition.shape.secretOutputs);
}

/** What a preview shows for a new resource: its inputs, and every other output unknown. */
export function previewOfCreate<S>(definition: ResourceDefinition<S>, inputs: PropertyMap): PropertyMap {
  const { inputs: inputNames, outputs } = definition.shape;
  // Inputs that the program left out may be filled in by the service (an availability zone, a key id).
  const unknown = [...outputs, ...inputNames].filter((name) => !(name in inputs));
  return { ...Object.fromEntries(unknown.map((name) => [name, UNKNOWN])), ...inputs };
}

/** What a preview shows for an update: the old outputs under the new inputs, unknown where the update may change them. */
export function previewOfUpdate<S>(
  definition: ResourceDefinition<S>,
  state: PropertyMap,
  oldInputs: PropertyMap,
  inputs: PropertyMap,
): PropertyMap {
  const removed = Object.keys(oldInputs).filter((name) => !(name in inputs));
  const kept = Object.fromEntries(Object.entries(state).filter(([name]) => !removed.includes(name)));
  const unknown = Object.fromEntries((definition.changedByUpdate ?? []).map((name) => [name, UNKNOWN]));
  return { ...kept, ...unknown, ...inputs };
}

/**
 * The inputs that the resource really has now, so that a refresh shows drift: the recorded inputs with the values of the outputs.
 * Of objects only the members that the program set are compared, of maps with free keys (`tags.*`) all; an input that has no output of
 * its name keeps its value (write-only ones).
 */
export function inputsFromOutputs<S>(
  definition: ResourceDefinition<S>,
  recorded: PropertyMap,
  outputs: PropertyMap,
): PropertyMap {
  const entries = Object.entries(recorded).map(([name, value]) => {
    const now = outputs[name];
    if (now === undefined || name === DEFAULTS_KEY) return [name, value] as const;
    return [name, project(definition, name, value, now)] as const;
  });
  return Object.fromEntries(entries);
}

function project<S>(definition: ResourceDefinition<S>, path: string, recorded: Value, current: Value): Value {
  const [before, now] = [reveal(recorded), reveal(current)];
  if (same(path, before, now, definition.equals)) return recorded;
  if (isMap(before) && isMap(now) && !definition.accepts?.includes(`${path}.*`)) {
    const known = Object.keys(before).filter((key) => key in now && now[key] !== null && now[key] !== undefined);
    return Object.fromEntries(
      known.map((key) => [key, project(definition, `${path}.${key}`, before[key] as Value, now[key] as Value)]),
    );
  }
  if (Array.isArray(before) && Array.isArray(now) && before.length === now.length)
    return now.map((item, index) => project(definition, path, before[index] as Value, item));
  return now;
}

/** The inputs of an imported resource: its outputs that are also inputs of the type and implemented. */
export function importedInputs<S>(definition: ResourceDefinition<S>, outputs: PropertyMap): PropertyMap {
  const implemented = definition.accepts?.map((path) => path.split(".")[0]) ?? definition.shape.inputs;
  const entries = Object.entries(outputs).filter(
    ([name, value]) => implemented.includes(name) && value !== null && value !== undefined,
  );
  return Object.fromEntries(entries);
}

import { type Checked, strings } from "./rule.ts";
import { isSet, parseJson, record, text } from "./values.ts";

/** A parameter that exempts environments. */
export const exceptEnvironments = (what: string, value: readonly string[]) =>
  strings(`Environments (tag environment) ${what}.`, value);

/** A tag of an AWS resource: its own, or one that its provider sets on all; undefined without it. */
export function tagOf({ props, provider }: Pick<Checked, "props" | "provider">, key: string): unknown {
  const own = record(props["tags"]);
  return isSet(own, key) ? own[key] : defaultTags(record(provider?.props)["defaultTags"])[key];
}

/** The environment of an AWS resource by its tag; empty without one. */
export function environmentOf(resource: Pick<Checked, "props" | "provider">): string {
  return text(tagOf(resource, "environment"));
}

/** The engine hands a provider's nested inputs over as JSON. */
function defaultTags(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "string") return record(record(value)["tags"]);
  return record(record(parseJson(value))["tags"]);
}

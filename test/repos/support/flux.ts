import { parse, stringify } from "yaml";
import type { Manifest } from "./kustomize.ts";

export type Variables = Readonly<Record<string, string>>;

const disabled = "kustomize.toolkit.fluxcd.io/substitute";
const variable = /\$\$\{|\$\{([a-zA-Z_]\w*)(?::?=([^}]*))?\}/g;

/** Names of the variables that a text asks for; `$${name}` is none. */
export const variables = (text: string): string[] =>
  [...text.matchAll(variable)].flatMap(([, name]) => (name === undefined ? [] : [name]));

/**
 * Flux's post-build substitution of one manifest, strict: kustomize has dropped the quotes around the variables before.
 * @throws for a variable that is not defined and has no default
 */
export function substituted(manifest: Manifest, values: Variables): Manifest {
  if (manifest.metadata.annotations?.[disabled] === "disabled") return manifest;
  const text = stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
  const filled = text.replaceAll(variable, (whole, name?: string, fallback?: string) => {
    if (name === undefined) return whole.slice(1);
    const value = values[name]?.replaceAll("\n", "");
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new Error(`${manifest.kind} ${manifest.metadata.name} uses the variable ${name}, which is not defined`);
  });
  return parse(filled) as Manifest;
}

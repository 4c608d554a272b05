import { parse, stringify } from "yaml";
import { substitute } from "../../../cli/render/envsubst.ts";
import type { Manifest } from "./kustomize.ts";

export type Variables = Readonly<Record<string, string>>;

const disabled = "kustomize.toolkit.fluxcd.io/substitute";

/**
 * Flux's post-build substitution of one manifest, strict: kustomize has dropped the quotes around the variables before.
 * @throws for a variable that is not defined; a default is not taken into account
 */
export function substituted(manifest: Manifest, values: Variables): Manifest {
  if (manifest.metadata.annotations?.[disabled] === "disabled") return manifest;
  const text = stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
  const value = (name: string): string => {
    const found = values[name];
    if (found !== undefined) return found;
    throw new Error(`${manifest.kind} ${manifest.metadata.name} uses the variable ${name}, which is not defined`);
  };
  return parse(substitute(text, value)) as Manifest;
}

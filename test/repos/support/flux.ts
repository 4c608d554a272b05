import { parse } from "yaml";
import { substitute } from "../../../cli/render/envsubst.ts";
import { frozen } from "../../support/frozen.ts";
import { type Manifest, text } from "./kustomize.ts";

export type Variables = Readonly<Record<string, string>>;

const disabled = "kustomize.toolkit.fluxcd.io/substitute";

const known = new Map<string, Manifest>();

/** Parses each text once: most objects are the same for every Spoke. */
function parsed(yaml: string): Manifest {
  const manifest = known.get(yaml) ?? frozen(parse(yaml) as Manifest);
  known.set(yaml, manifest);
  return manifest;
}

/**
 * Flux's post-build substitution of one manifest, strict: kustomize has dropped the quotes around the variables before.
 * @throws for a variable that is not defined; a default is not taken into account
 */
export function substituted(manifest: Manifest, values: Variables): Manifest {
  if (manifest.metadata.annotations?.[disabled] === "disabled") return manifest;
  const value = (name: string): string => {
    const found = values[name];
    if (found !== undefined) return found;
    throw new Error(`${manifest.kind} ${manifest.metadata.name} uses the variable ${name}, which is not defined`);
  };
  return parsed(substitute(text(manifest), value));
}

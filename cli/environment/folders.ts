import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clusterScopePrefix } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { foldersIn } from "../fleet/folders.ts";
import { below, type Files, readFiles } from "../folder.ts";
import { broughtLike, environmentKeys } from "../rotation/keys-folder.ts";
import { type Offer, schemaProblems } from "../spoke/rules.ts";
import { together } from "../usage.ts";
import { textProblems } from "../yaml-text.ts";

/** The folders of an environment in a checkout of gitops-system. */

export const environmentTools = (environment: string): string => join("tools", environment);

/** A comment of an add-on's kustomization in an environment. */
const keeping = /^# *not promoted\b[: -]*(.*)$/im;

/** Why an add-on that an environment offers is for no other one; undefined where it does not say so. */
export function keptOf(checkout: string, environment: string, addon: string): string | undefined {
  const file = join(checkout, environmentTools(environment), addon, "kustomization.yaml");
  const found = existsSync(file) ? keeping.exec(readFileSync(file, "utf8")) : null;
  return found === null ? undefined : found[1] ? `not promoted: ${found[1]}` : "not promoted";
}

/** Add-ons that an environment offers and that are for no other one, each with why. */
export const keptAddons = (checkout: string, environment: string): [addon: string, why: string][] =>
  foldersIn(join(checkout, environmentTools(environment))).flatMap((addon) => {
    const why = keptOf(checkout, environment, addon);
    return why === undefined ? [] : [[addon, why]];
  });

/** Folders that lie beside those of environments, and are none. */
const reserved = ["base", "store"];

/** The problems of a new environment's name. */
export function environmentNameProblems(name: string, { schema }: Pick<Offer, "schema">): Problem[] {
  const key = "<name>";
  const taken = (what: string) => ({
    ...{ key, what, got: name },
    allowed: `a name that does not begin with ${clusterScopePrefix}, and none of ${reserved.join(", ")}`,
    remedy: "choose another name",
  });
  return together(schemaProblems(schema, { environment: name }, { environment: key }), [
    ...(name.startsWith(clusterScopePrefix) ? [taken("is a name for the sealing scope of a single cluster")] : []),
    ...(reserved.includes(name) ? [taken("is the name of a folder that all environments share")] : []),
    ...textProblems({ [key]: name }),
  ]);
}

/** The kustomization of the keys says in its comment whose they are. */
const renamed = (files: Files, from: string, to: string): Files => ({
  ...files,
  "kustomization.yaml": (files["kustomization.yaml"] ?? "").replace(
    new RegExp(`^(#.* scope )${from}(?![-a-z0-9])`, "m"),
    `$1${to}`,
  ),
});

/**
 * The folders that an environment lacks, made from those of another one: the tools as they are, but for add-ons that are for that one only, and these generations of its own sealing
 * key. A folder that exists stays as it is.
 * @throws UsageError when the other one's folder of keys has another form
 */
export async function environmentFiles(
  checkout: string,
  name: string,
  like: string,
  generations: readonly string[],
): Promise<Files> {
  const lacks = (folder: string) => !existsSync(join(checkout, folder));
  const kept = keptAddons(checkout, like).map(([addon]) => `${addon}/`);
  const isFor = ([path]: [string, string]) => !kept.some((folder) => path.startsWith(folder));
  const [tools, keys] = [environmentTools(name), environmentKeys(name)];
  const keysOfLike = join(checkout, environmentKeys(like));
  return {
    ...(lacks(tools)
      ? below(
          tools,
          Object.fromEntries(Object.entries(await readFiles(join(checkout, environmentTools(like)))).filter(isFor)),
        )
      : {}),
    ...(lacks(keys) ? below(keys, renamed(broughtLike(keysOfLike, generations), like, name)) : {}),
  };
}

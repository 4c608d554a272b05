import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { clusterScopePrefix } from "../../lib/spoke.ts";
import { below, type Files, readFiles } from "../folder.ts";
import { broughtLike, environmentKeys } from "../rotation/keys-folder.ts";
import { type Offer, schemaProblems } from "../spoke/rules.ts";
import { together } from "../usage.ts";
import { textProblems } from "../yaml-text.ts";

/** The folders of an environment in a checkout of gitops-system. */

export const environmentTools = (environment: string): string => join("tools", environment);

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
 * The folders that an environment lacks, made from those of another one: the tools as they are, and these generations of its own sealing
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
  const [tools, keys] = [environmentTools(name), environmentKeys(name)];
  const keysOfLike = join(checkout, environmentKeys(like));
  return {
    ...(lacks(tools) ? below(tools, await readFiles(join(checkout, environmentTools(like)))) : {}),
    ...(lacks(keys) ? below(keys, renamed(broughtLike(keysOfLike, generations), like, name)) : {}),
  };
}

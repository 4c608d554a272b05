import { join } from "node:path";
import { type Instance, readJson, writeAtomic } from "../instance/index.ts";

/** What an instance can be made with: values of the stack's configuration that decide how its clusters reach Git and charts. */
export const choices = {
  /** How the clusters read Git: gitAuthentication. */
  git: ["deploy-key", "token", "github-app"],
  /** Where they get charts from: a Helm repository, an OCI registry, or a private one that has their images and the packages too. */
  charts: ["https", "oci", "private"],
} as const;

export type Choices = { readonly [K in keyof typeof choices]: (typeof choices)[K][number] };
export type GitMethod = Choices["git"];

const defaults: Choices = { git: "deploy-key", charts: "https" };

// In Pulumi's folder, which goes with the instance.
const fileOf = ({ paths }: Pick<Instance, "paths">) => join(paths.pulumi, "choices.json");

/** What an instance was made with. */
export async function choicesOf(instance: Pick<Instance, "paths">): Promise<Choices> {
  return { ...defaults, ...((await readJson(fileOf(instance))) as Partial<Choices> | undefined) };
}

/**
 * Settles the choices of an instance: the wanted ones where nothing was made yet.
 * @throws when it was made with others: its spokes hold sealed credentials and charts of that kind.
 */
export async function settleChoices(
  instance: Pick<Instance, "dir" | "paths">,
  wanted: Partial<Choices>,
  isMade: boolean,
): Promise<void> {
  const settled = await choicesOf(instance);
  const next = { ...settled, ...wanted };
  const changed = (Object.keys(choices) as (keyof Choices)[]).find((key) => next[key] !== settled[key]);
  if (changed === undefined) return;
  if (isMade)
    throw new Error(
      `${instance.dir} was made with --${changed} ${settled[changed]}, got --${changed} ${next[changed]}: npm run down removes it, then npm start makes a new one`,
    );
  await writeAtomic(fileOf(instance), `${JSON.stringify(next)}\n`);
}

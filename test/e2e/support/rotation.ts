import { join } from "node:path";
import { expect } from "vitest";
import { repositories } from "../../../lib/names.ts";
import { succeeds } from "../../support/process.ts";
import { fetchNow } from "./apps.ts";
import { eventually, execute, instance } from "./fleet.ts";
import type { Checkout } from "./repository.ts";
import { fleet, getOnSpoke, untilReady } from "./spokes.ts";

/** Replacing the deploy keys with which a spoke reads the fleet's repositories (docs/guides/secrets.md#rotate-keys, "A deploy key"). */

/** Seconds that a change may take from a push until it holds on the spoke, on a machine that is busy. */
export const ROTATION_SECONDS = 300;

/** The public keys with which a spoke reads, in the order of `repositories`. */
export const deployKeysOf = (spoke: string): Promise<string[]> =>
  Promise.all(
    repositories.map(async (name) =>
      atob((await getOnSpoke(spoke, ["secret", name, "--namespace", "flux-system"])).data["identity.pub"]).trim(),
    ),
  );

/** Has a spoke's Flux fetch a repository and waits for what comes of it: True, or False with the message. */
export async function fetched(
  spoke: string,
  name: string,
  status: "True" | "False",
  message = "",
  seconds = 60,
): Promise<void> {
  const source = () => getOnSpoke(spoke, ["gitrepository", name, "--namespace", "flux-system"]);
  const before = (await source()).status?.lastHandledReconcileAt;
  await eventually(seconds, async () => {
    const { metadata, status: found } = await source();
    // Flux on the hub, which applies the source, may take a request away before it was seen.
    const asked = metadata.annotations?.["reconcile.fluxcd.io/requestedAt"] ?? before;
    if (asked === before) await fetchNow(spoke, name, "flux-system");
    expect(found.lastHandledReconcileAt).not.toBe(before);
    const ready = { type: "Ready", status, message: expect.stringContaining(message) };
    expect(found.conditions).toContainEqual(expect.objectContaining(ready));
  });
}

/** Public keys that `fleet rotate-deploy-key` names, by repository. */
export const keysIn = (said: string): string[] =>
  [...said.matchAll(/^ +(ssh-ed25519 .+)$/gm)].map(([, key]) => key as string);

/** Has the Git host know a deploy key, or with `--remove` not any more. */
export async function atHost(...args: string[]): Promise<void> {
  const { code, stderr } = await execute(join(instance.paths.bin, "deploy-key"), args);
  expect(code, stderr).toBe(0);
}

/** A step of the rotation in a checkout of gitops-system, which is not pushed; what the command says. */
export async function rotationSays(repository: Checkout, spoke: string, step: string): Promise<string> {
  const stdout = await succeeds(fleet(["rotate-deploy-key", spoke, step, "--repository", repository.folder]));
  return stdout;
}

/**
 * New deploy keys for a spoke, up to the moment when it reads with them.
 * @param meanwhile is called when the keys have been pushed that the spoke is to read with
 * @param seconds for each wait after that; the limits of these waits by default
 * @returns what the command says of the former ones
 */
export async function rotateDeployKeys(
  repository: Checkout,
  spoke: string,
  meanwhile: () => Promise<void> = async () => {},
  seconds?: number,
): Promise<string> {
  const keys = keysIn(await rotationSays(repository, spoke, "--new"));
  expect(keys).toHaveLength(repositories.length);
  await repository.push(`New deploy keys of spoke ${spoke}`);
  for (const [index, name] of repositories.entries()) {
    await atHost(name, keys[index] as string);
    await fetched(spoke, name, "True");
  }
  const said = await rotationSays(repository, spoke, "--registered");
  await repository.push(`Deploy keys of spoke ${spoke}`);
  await meanwhile();
  await eventually(seconds ?? ROTATION_SECONDS, async () => expect(await deployKeysOf(spoke)).toEqual(keys));
  await untilReady(spoke, seconds);
  for (const name of repositories) await fetched(spoke, name, "True", "", seconds);
  return said;
}

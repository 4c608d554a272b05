import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { type Sealing, sealingScope } from "../lib/spoke.ts";
import { requireCheckout } from "./folder.ts";
import { generationFile, keyFiles, ownKeyMistakes } from "./sealing-keys-folder.ts";
import type { Fleet } from "./sources.ts";
import { nameMistakes } from "./spoke-rules.ts";
import { type DeployKeys, registration, spokeSecrets } from "./spoke-secrets.ts";
import { refuse } from "./usage.ts";

/** Changes of the keys of a spoke that is there: its folder in a checkout of gitops-system. */

interface SpokeFile {
  readonly folder: string;
  readonly path: string;
  readonly document: Document;
  readonly environment: string;
  readonly sealing: Sealing;
}

/** @throws UsageError when the checkout has no such spoke, or its file is not a Spoke. */
async function readSpoke(command: string, checkout: string, name: string): Promise<SpokeFile> {
  requireCheckout(checkout, "gitops-system", "spokes");
  refuse(command, nameMistakes(name));
  const folder = join(checkout, "spokes", name);
  const path = join(folder, "spoke.yaml");
  const document = parseDocument(existsSync(path) ? await readFile(path, "utf8") : "");
  const environment: unknown = document.errors.length > 0 ? undefined : document.getIn(["spec", "environment"]);
  if (typeof environment !== "string")
    refuse(command, [
      {
        key: "<name>",
        problem: "is not the name of a spoke in this checkout",
        got: existsSync(path) ? `${path} without spec.environment` : name,
        allowed: "a folder below spokes with the spoke.yaml of a Spoke",
        remedy: "correct the name, or pull the checkout; fleet new-cluster makes a new spoke",
      },
    ]);
  const sealing = document.getIn(["spec", "sealing"]) === "cluster" ? "cluster" : "environment";
  return { folder, path, document, environment: environment as string, sealing };
}

export interface SealingKeysChange {
  readonly folder: string;
  /** Whether the spoke read its environment's keys so far. */
  readonly moved: boolean;
}

/**
 * Lets a spoke read sealing keys of its own, in every generation that the hub's stack has: writes the folder `sealing-keys` beside its
 * Spoke and sets `sealing: cluster`. Files of generations that are there stay as they are.
 * @throws UsageError when the fleet has no key of the spoke's own; then nothing was changed.
 */
export async function ownSealingKeys(
  checkout: string,
  name: string,
  connect: () => Promise<Fleet>,
): Promise<SealingKeysChange> {
  const { folder, path, document, environment, sealing } = await readSpoke("sealing-keys", checkout, name);
  const scope = sealingScope({ name, environment, sealing: "cluster" });
  const fleet = await connect();
  refuse("sealing-keys", ownKeyMistakes("<name>", scope, fleet));
  const generations = fleet.generations?.[scope] ?? [];
  const keys = join(folder, "sealing-keys");
  await mkdir(keys, { recursive: true });
  const gone = (await readdir(keys)).filter(
    (file) => /^generation-.*\.yaml$/.test(file) && !generations.map(generationFile).includes(file),
  );
  for (const file of gone) await rm(join(keys, file));
  for (const [file, text] of Object.entries(keyFiles(generations)))
    if (file === "kustomization.yaml" || !existsSync(join(keys, file))) await writeFile(join(keys, file), text);
  if (sealing === "cluster") return { folder, moved: false };
  document.setIn(["spec", "sealing"], "cluster");
  await writeFile(path, document.toString({ lineWidth: 0 }));
  return { folder, moved: true };
}

export interface Resealed {
  readonly folder: string;
  readonly scope: string;
  /** What a person does with new deploy keys; empty without any. */
  readonly register: string;
}

/**
 * Seals the deploy keys of a spoke anew, for the scope that its Spoke says: the fleet's, or new ones of its own.
 * @throws UsageError, and Error when the fleet has no sealing key of the scope; then nothing was changed.
 */
export async function reseal(
  checkout: string,
  request: { readonly name: string; readonly deployKeys: DeployKeys; readonly knownHosts?: string | undefined },
  connect: () => Promise<Fleet>,
): Promise<Resealed> {
  const { name } = request;
  const { folder, environment, sealing } = await readSpoke("reseal", checkout, name);
  const scope = sealingScope({ name, environment, sealing });
  const fleet = await connect();
  const secrets = await spokeSecrets("reseal", { ...request, scope }, fleet);
  for (const [path, text] of Object.entries(secrets.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return { folder, scope, register: registration(secrets, fleet) };
}

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { parseDocument } from "yaml";
import { repositories } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import { sealingScope } from "../../lib/spoke.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { checkoutProblems } from "../folder.ts";
import { generationFile, keyFiles, ownKeyProblems } from "../sealing/keys-folder.ts";
import { refuse, together } from "../usage.ts";
import { spokeProblems } from "./file.ts";
import { readSpoke } from "./sealed-spoke.ts";
import { secretsList, spokeSecrets } from "./secrets.ts";

/** Changes the keys of an existing spoke, in its folder in a checkout of gitops-system. */

/**
 * Before the fleet's stack is read.
 * @param told problems of the command line
 * @throws UsageError if no fleet in the checkout has such a spoke
 */
export function requireSpoke(command: string, checkout: string, name: string, told: readonly Problem[]): void {
  const wrong = [...checkoutProblems(checkout, "gitops-system", "spokes"), ...spokeProblems(checkout, name, "<spoke>")];
  refuse(command, together(told, wrong));
}

export interface SealingKeysChange {
  readonly folder: string;
  /** Whether the spoke read its environment's keys before. */
  readonly moved: boolean;
}

/**
 * Lets a spoke read sealing keys of its own, in every generation that the hub's stack has: writes the folder `sealing-keys` beside its
 * Spoke and sets `sealing: cluster`. Existing files of generations stay as they are.
 * @param told problems of the command line
 * @throws UsageError when the fleet has no key of the spoke's own; then nothing was changed.
 */
export async function ownSealingKeys(
  checkout: string,
  name: string,
  connect: () => Promise<FleetFacts>,
  told: readonly Problem[] = [],
): Promise<SealingKeysChange> {
  requireSpoke("sealing-keys", checkout, name, told);
  const fleet = await connect();
  const { folder, path, document, environment, sealing } = await readSpoke(
    "sealing-keys",
    checkout,
    fleet.name,
    name,
    "<spoke>",
  );
  const scope = sealingScope({ name, environment, sealing: "cluster" });
  refuse("sealing-keys", ownKeyProblems("<spoke>", scope, fleet));
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

/** The problem of a list without the deploy keys: with the token of a Receiver as its only file, Flux would prune them. */
function listProblems(file: string, list: string): Problem[] {
  const listed: unknown = parseDocument(list).toJS()?.resources;
  const names = Array.isArray(listed) ? listed.map((name) => normalize(String(name))) : [];
  const missing = repositories.map((repository) => `${repository}.yaml`).filter((name) => !names.includes(name));
  if (missing.length === 0) return [];
  return [
    {
      key: file,
      what: `does not list ${missing.join(" and ")}: if it listed a Receiver's token, Flux would remove from the spoke what is not listed`,
      got: existsSync(file) ? shown(names.join(", ")) : "no such file",
      allowed: "a kustomization whose resources are the SealedSecrets of its folder",
      remedy: "list them, as templates/spoke/secrets/kustomization.yaml does",
    },
  ];
}

export interface Resealed {
  readonly folder: string;
  readonly scope: string;
  /** How the Git host signs its calls, with a new token; undefined where nobody calls. */
  readonly gitReceiver: ReceiverType | undefined;
}

/** The problem of a Spoke of which nothing would be sealed. */
const nothingToSeal = (path: string): Problem => ({
  key: "--deploy-keys",
  what: "keep leaves nothing to seal: no Git host calls this spoke",
  got: `${path} without spec.gitReceiver`,
  allowed: "keep for a Spoke with gitReceiver, or fleet",
  remedy: "set gitReceiver in spoke.yaml first, or seal the fleet's deploy keys again",
});

/**
 * Seals the fleet's deploy keys for a spoke again, for the scope that its Spoke says, or keeps those that it has. A Receiver gets a new token.
 * @param told problems of the command line
 * @throws UsageError when its files don't fit that, and Error when the fleet has no sealing key of the scope; then nothing was changed.
 */
export async function reseal(
  checkout: string,
  request: { readonly name: string; readonly deployKeys: "fleet" | "keep" },
  connect: () => Promise<FleetFacts>,
  told: readonly Problem[] = [],
): Promise<Resealed> {
  const { name } = request;
  requireSpoke("reseal", checkout, name, told);
  const fleet = await connect();
  const { folder, path, environment, sealing, gitReceiver } = await readSpoke(
    "reseal",
    checkout,
    fleet.name,
    name,
    "<spoke>",
  );
  if (request.deployKeys === "keep" && gitReceiver === undefined) refuse("reseal", [nothingToSeal(path)]);
  const scope = sealingScope({ name, environment, sealing });
  const listFile = join(folder, secretsList);
  const list = existsSync(listFile) ? await readFile(listFile, "utf8") : "";
  if (gitReceiver !== undefined) refuse("reseal", listProblems(listFile, list));
  const secrets = await spokeSecrets({ ...request, scope, list, gitReceiver }, fleet);
  for (const [file, text] of Object.entries(secrets.files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return { folder, scope, gitReceiver };
}

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { type Document, isSeq, parseAllDocuments, parseDocument } from "yaml";
import { labelKeys } from "../../lib/labels.ts";
import { hubFolder, spokeFolder, spokesFolder } from "../../lib/layout.ts";
import { hubName } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { spokeApi } from "../../lib/spoke.ts";
import {
  foldersIn,
  isLeftOver,
  looseSpokes,
  movedTo,
  refuseLooseSpokes,
  requireFleet,
  writeFleetFiles,
} from "../fleet/folders.ts";
import { instantiate, textOf, writeFolder } from "../folder.ts";
import { filesBelow } from "../render/files.ts";
import { scanned } from "../render/generate.ts";
import { kustomizationFile } from "../render/tree.ts";
import { refuse } from "../usage.ts";

/** Moves a checkout of gitops-system from the layout of one hub (clusters/hub, spokes/<name>) to folders by fleet. */

/** The subfolders of a spoke that its chain reads. */
const readByTheChain = ["secrets", "sealing-keys"];

/**
 * A kustomization without resources, which hides a folder from Flux on a hub that still scans ./spokes; Flux's own generator writes such
 * ones.
 */
const leftOver = (
  fleet: string,
  spoke: string,
): string => `${movedTo}${spokeFolder(fleet, spoke)}. What is left is for the chain of a spoke that has not taken over the move yet;
# fleet move-spokes ${fleet} --finish removes it.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
buildMetadata: [originAnnotations]
`;

/** The kustomization that a hub's root Kustomization applies until pulumi up has set its path to the fleet's folder. */
const oldRoot = (
  fleet: string,
): string => `# For the hub of the fleet ${fleet} until pulumi up; fleet move-spokes ${fleet} --finish removes it.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../${fleet}
`;
const rootFile = join(hubFolder(hubName), "kustomization.yaml");

/** Adapts the relative paths in a spoke's kustomizations, formerly in `from`, to their new place one level deeper. */
function deepen(folder: string, from: string): void {
  for (const file of filesBelow(folder).filter((each) => kustomizationFile(dirname(each)) === each)) {
    const document = parseDocument(readFileSync(file, "utf8"));
    const before = join(from, relative(folder, dirname(file)));
    const isOutside = (entry: unknown): entry is string =>
      typeof entry === "string" && relative(from, join(before, entry)).startsWith("..");
    let changed = false;
    for (const member of ["resources", "components"]) {
      const list = document.get(member);
      for (const [index, entry] of isSeq(list) ? (list.toJSON() as unknown[]).entries() : []) {
        if (!isOutside(entry)) continue;
        document.setIn([member, index], normalize(join("..", entry)));
        changed = true;
      }
    }
    if (changed) writeFileSync(file, document.toString({ lineWidth: 0 }));
  }
}

/** Adds the fleet's label to the Spokes in a file; comments stay. */
function label(file: string, fleet: string): void {
  const documents = parseAllDocuments(readFileSync(file, "utf8"));
  for (const document of documents as Document[])
    if (document.get("kind") === spokeApi.kind) document.setIn(["metadata", "labels", labelKeys.fleet], fleet);
  writeFileSync(file, textOf(documents));
}

/** Prepares the new folder of a spoke, in a temporary folder. */
function prepared(checkout: string, fleet: string, spoke: string): string {
  const from = join(checkout, "spokes", spoke);
  const made = mkdtempSync(join(checkout, "spokes", ".new-"));
  cpSync(from, made, { recursive: true, filter: (path) => path !== join(checkout, spokeFolder(fleet, spoke)) });
  deepen(made, from);
  label(join(made, "spoke.yaml"), fleet);
  return made;
}

/** Moves a spoke; after an interruption the next run does the rest. */
function moveSpoke(checkout: string, fleet: string, spoke: string): void {
  const from = join(checkout, "spokes", spoke);
  const to = join(checkout, spokeFolder(fleet, spoke));
  const made = prepared(checkout, fleet, spoke);
  try {
    const text = (folder: string) => readFileSync(join(folder, "spoke.yaml"), "utf8");
    if (existsSync(to) && text(to) !== text(made))
      refuse("move-spokes", [
        {
          key: spoke,
          what: "is in two places that differ",
          got: `${from} and ${to}`,
          allowed: "one folder",
          remedy: "keep the right one: kubectl -n spokes get spoke shows what the hub has",
        },
      ]);
    mkdirSync(dirname(to), { recursive: true });
    if (!existsSync(to)) renameSync(made, to);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  // A kustomization.yaml in the fleet's own folder would hide its spokes, and Flux would remove them.
  const isFleetFolder = spoke === fleet;
  if (!isFleetFolder) writeFileSync(join(from, "kustomization.yaml"), leftOver(fleet, spoke));
  const kept = isFleetFolder ? [] : ["kustomization.yaml", ...readByTheChain];
  // spoke.yaml, which makes it the folder of a spoke, goes last.
  const names = [...readdirSync(to).filter((name) => name !== "spoke.yaml"), "spoke.yaml"];
  for (const name of names.filter((each) => !kept.includes(each)))
    rmSync(join(from, name), { recursive: true, force: true });
}

/** What Flux on the hub applies at present and would not find in the fleet's folder. */
function strayProblems(checkout: string, fleet: string): Problem[] {
  const spokes = join(checkout, "spokes");
  const loose = looseSpokes(checkout);
  const own = kustomizationFile(spokes);
  const isKnown = (name: string) =>
    name === fleet ||
    loose.includes(name) ||
    isLeftOver(join(spokes, name)) ||
    existsSync(join(checkout, hubFolder(name)));
  const strays = own
    ? [relative(checkout, own)]
    : scanned(spokes)
        .map((path) => normalize(path))
        .filter((path) => !isKnown(path.split(sep)[0] as string))
        .map((path) => join("spokes", path));
  if (strays.length === 0) return [];
  return [
    {
      key: "spokes",
      what: "contains something besides the folders of spokes, which the hub applies and would remove after the move",
      got: strays.join(", "),
      allowed: "folders with a spoke.yaml",
      remedy:
        "move it by hand: manifests for the hub to clusters/<fleet>, a Spoke to spokes/<name>/spoke.yaml; remove a kustomization.yaml that lists the spokes",
    },
  ];
}

/** Gives each spoke of a fleet that has none the Kustomization that applies it. @returns paths of the new files, from the top of the checkout */
async function writeSyncs(checkout: string, fleet: string): Promise<string[]> {
  const written: string[] = [];
  for (const name of foldersIn(join(checkout, spokesFolder(fleet)))) {
    const folder = join(spokeFolder(fleet, name), "flux");
    if (!existsSync(join(checkout, spokeFolder(fleet, name), "spoke.yaml")) || existsSync(join(checkout, folder)))
      continue;
    const files = await instantiate(checkout, join("templates", "spoke", "flux"), { name, fleet });
    await writeFolder(join(checkout, folder), files);
    written.push(...Object.keys(files).map((file) => join(folder, file)));
  }
  return written;
}

export interface Moved {
  readonly spokes: readonly string[];
  /** New files of the fleet and of its spokes. */
  readonly made: readonly string[];
}

/**
 * Moves spokes that are in no fleet's folder to the folder of their fleet. What hubs and chains still read before they take over the
 * move stays in its old place; {@link finishMove} removes it.
 * @throws UsageError; then nothing was moved, unless a spoke lies in two places.
 */
export async function moveSpokes(checkout: string, fleet: string): Promise<Moved> {
  requireFleet("move-spokes", checkout, fleet);
  refuse("move-spokes", strayProblems(checkout, fleet));
  const spokes = looseSpokes(checkout);
  // The spoke that is called like the fleet first: its files must not be among those of the fleet's folder.
  for (const spoke of spokes.toSorted((a, b) => Number(b === fleet) - Number(a === fleet)))
    moveSpoke(checkout, fleet, spoke);
  const root = join(checkout, rootFile);
  if (spokes.length > 0 && !existsSync(root)) {
    mkdirSync(dirname(root), { recursive: true });
    writeFileSync(root, oldRoot(fleet));
  }
  return { spokes, made: [...(await writeFleetFiles(checkout, fleet)), ...(await writeSyncs(checkout, fleet))] };
}

/**
 * Removes what {@link moveSpokes} left in the old place.
 * @returns the folders.
 * @throws UsageError while there are spokes to move.
 */
export function finishMove(checkout: string, fleet: string): string[] {
  requireFleet("move-spokes", checkout, fleet);
  refuseLooseSpokes("move-spokes", checkout, {
    key: "--finish",
    what: "is only for after the move",
    remedy: `run fleet move-spokes ${fleet} first, push, and wait until every spoke is Ready`,
  });
  const root = join(checkout, rootFile);
  const folders = [
    ...foldersIn(join(checkout, "spokes"))
      .map((name) => join("spokes", name))
      .filter((folder) => isLeftOver(join(checkout, folder))),
    ...(existsSync(root) && readFileSync(root, "utf8") === oldRoot(fleet) ? [hubFolder(hubName)] : []),
  ];
  for (const folder of folders) rmSync(join(checkout, folder), { recursive: true });
  return folders;
}

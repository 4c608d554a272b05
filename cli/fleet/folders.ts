import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hubFolder, spokeFolder, spokesFolder } from "../../lib/layout.ts";
import { hubName } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { checkoutProblems, type Files, instantiate } from "../folder.ts";
import { isFolder } from "../render/files.ts";
import { refuse, together } from "../usage.ts";

/** The folders of fleets in a checkout of gitops-system. */

/** What only a checkout of gitops-system has. */
export const systemTemplate = join("templates", "fleet");

/** Names of the folders in a folder, sorted; none if it does not exist. */
export const foldersIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name)
        .sort()
    : [];

/** Fleets in whose folder there is a spoke of this name. */
export const fleetsOf = (checkout: string, spoke: string): string[] =>
  foldersIn(join(checkout, "spokes")).filter((fleet) => existsSync(join(checkout, spokeFolder(fleet, spoke))));

/** The problem of `--fleet` where the fleet that was named, else the only one, is not one of those of `checkout`. */
export function chosenFleetProblems(named: string | undefined, fleets: readonly string[], checkout: string): Problem[] {
  if (named === undefined ? fleets.length === 1 : fleets.includes(named)) return [];
  return [
    {
      key: "--fleet",
      what:
        named === undefined ? `is needed: ${checkout} has not exactly one fleet` : `has no folder clusters/${named}`,
      got: named === undefined ? "(nothing)" : shown(named),
      allowed: fleets.join(", ") || "(none)",
      remedy: fleets.length === 0 ? "make the fleet's folders first: fleet new-fleet <fleet>" : "name one of them",
    },
  ];
}

/** Whether a folder is a checkout of gitops-system. */
export const isSystemCheckout = (folder: string): boolean => existsSync(join(folder, systemTemplate));

/** The template of an application's folder, which every checkout of gitops-workloads has. */
export const workloadsTemplate = join("templates", "app");

/** Whether a folder is a checkout of gitops-workloads. */
export const isWorkloadsCheckout = (folder: string): boolean => isFolder(join(folder, workloadsTemplate));

/** Names of a fleet's spokes in a checkout. */
export const spokesIn = (checkout: string, fleet: string): string[] =>
  foldersIn(join(checkout, spokesFolder(fleet))).filter((name) =>
    existsSync(join(checkout, spokeFolder(fleet, name), "spoke.yaml")),
  );

/** Names of all spokes in a checkout, whatever their fleet. */
export const spokesOfAll = (checkout: string): string[] =>
  [...new Set(foldersIn(join(checkout, "spokes")).flatMap((fleet) => spokesIn(checkout, fleet)))].sort();

/** The problems of the fleet in which a spoke is to be created or changed. */
export function fleetProblems(checkout: string, fleet: string): Problem[] {
  if (existsSync(join(checkout, hubFolder(fleet))) && existsSync(join(checkout, spokesFolder(fleet)))) return [];
  return [
    {
      key: "--fleet",
      what: "has no folders in this checkout",
      got: fleet,
      allowed: foldersIn(join(checkout, "clusters")).join(", ") || "(none)",
      remedy: `run fleet new-fleet ${fleet} first, or name the fleet's stack or checkout (--stack, --repository)`,
    },
  ];
}

/** The problems of a fleet's name, by the rules of the stack's configuration (infra/settings.ts). */
export function fleetNameProblems(fleet: string): Problem[] {
  if (/^[a-z][-a-z0-9]*[a-z0-9]$/.test(fleet) && fleet !== hubName) return [];
  return [
    {
      key: "<fleet>",
      what: "can't be the name of a fleet",
      got: shown(fleet),
      allowed: `lower-case letters, digits and hyphens, beginning with a letter, not ${hubName}: the name in the config of the hub's stack`,
      remedy: "correct the name",
    },
  ];
}

/** The files of a fleet in gitops-system, from the top of the checkout. */
export async function fleetFiles(checkout: string, fleet: string): Promise<Files> {
  const folders = { clusters: hubFolder(fleet), spokes: spokesFolder(fleet) };
  const files = Object.entries(folders).map(async ([part, folder]) => {
    const made = await instantiate(checkout, join(systemTemplate, part), { fleet });
    return Object.entries(made).map(([name, text]) => [join(folder, name), text] as const);
  });
  return Object.fromEntries((await Promise.all(files)).flat());
}

/**
 * Writes the files of a fleet in a checkout of gitops-system that do not exist yet.
 * @returns the paths of the new files, from the top of the checkout.
 */
export async function writeFleetFiles(checkout: string, fleet: string): Promise<string[]> {
  const missing = Object.entries(await fleetFiles(checkout, fleet)).filter(
    ([path]) => !existsSync(join(checkout, path)),
  );
  for (const [path, text] of missing) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  return missing.map(([path]) => path);
}

/**
 * Creates the folders of a new fleet.
 * @param told problems of the command line
 * @returns the new files; none if all exist.
 * @throws UsageError when `checkout` is not a checkout of gitops-system, or `fleet` not the name of a fleet.
 */
export async function newFleet(checkout: string, fleet: string, told: readonly Problem[] = []): Promise<string[]> {
  refuse(
    "new-fleet",
    together(told, [...checkoutProblems(checkout, "gitops-system", systemTemplate), ...fleetNameProblems(fleet)]),
  );
  return writeFleetFiles(checkout, fleet);
}

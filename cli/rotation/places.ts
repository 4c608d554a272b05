import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { hubSealingScope } from "../../lib/names.ts";
import { sealingScope } from "../../lib/spoke.ts";
import { isSystemCheckout, isWorkloadsCheckout } from "../fleet/folders.ts";
import { isBelow } from "../render/inside.ts";
import type { Sealed } from "../sealing/sealed-secrets.ts";

/** For which scope a SealedSecret is, by where it lies. */

/** The checkouts that a person names, of one fleet. */
export interface Places {
  readonly fleet: string;
  readonly checkouts: readonly string[];
}

export const systemOf = (checkouts: readonly string[]): string | undefined => checkouts.find(isSystemCheckout);

export const workloadsOf = (checkouts: readonly string[]): string | undefined => checkouts.find(isWorkloadsCheckout);

/** The scope whose keys a spoke reads; undefined where the checkout of gitops-system does not say. */
function scopeOfSpoke(name: string, { fleet, checkouts }: Places): string | undefined {
  const file = join(systemOf(checkouts) ?? "", spokeFolder(fleet, name), "spoke.yaml");
  if (!existsSync(file)) return undefined;
  const spec = parseDocument(readFileSync(file, "utf8")).toJS()?.spec;
  return typeof spec?.environment === "string" ? sealingScope({ ...spec, name }) : undefined;
}

/** The scope of the cluster in whose folder a file is: undefined in no cluster's, null in one of another fleet. */
function scopeOfFolder(file: string, places: Places): string | undefined | null {
  const checkout = places.checkouts.find((folder) => isBelow(folder, file));
  if (checkout === undefined) return undefined;
  const [top, first, second] = relative(checkout, file).split(sep);
  if (isSystemCheckout(checkout)) {
    if ((top === "spokes" || top === "clusters") && first !== places.fleet) return null;
    if (top === "clusters") return hubSealingScope;
    return top === "spokes" && second !== undefined ? scopeOfSpoke(second, places) : undefined;
  }
  const isOfCluster = checkout === workloadsOf(places.checkouts) && top === "clusters" && first !== undefined;
  return isOfCluster ? scopeOfSpoke(first, places) : undefined;
}

/** Whether a SealedSecret that does not say its key may be of a scope, or certainly is of another. */
export function mayBeOf(scope: string, { file, scope: noted }: Sealed, places: Places): boolean {
  if (noted !== undefined) return noted === scope;
  const found = scopeOfFolder(file, places);
  return found === undefined || found === scope;
}

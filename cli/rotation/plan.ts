import { byGeneration, type Generation } from "../sealing/generations.ts";
import type { Sealed } from "../sealing/sealed-secrets.ts";
import type { ListedKey } from "./stack-file.ts";

/** Where the rotation of a scope's sealing key stands, and what comes next. Nothing is kept between two runs. */

export interface Standing {
  readonly scope: string;
  /** Generations of the scope in the config of the hub's stack. */
  readonly listed: readonly ListedKey[];
  /** Former generations of the scope there, which no state has: they only open. */
  readonly former: readonly string[];
  /** Generations of the scope in the stack's outputs: what AWS has. */
  readonly made: readonly Generation[];
  /** Generations with a file in gitops-system; undefined for the hub, which gets them from Pulumi. */
  readonly inGit: readonly string[] | undefined;
  /** SealedSecrets in the checkouts that may be of this scope. */
  readonly sealed: readonly Sealed[];
}

export interface Wish {
  /** Begin another rotation. */
  readonly begin: boolean;
  /** Leave SealedSecrets that do not say their key out of account. */
  readonly ignoresUnknown: boolean;
}

export type Step =
  /** There is one generation, and it seals. */
  | { readonly kind: "nothing"; readonly generation: string }
  /** A new generation into the stack's config, not active yet. */
  | { readonly kind: "add"; readonly generation: string }
  /** A person runs pulumi up: config and outputs differ. */
  | { readonly kind: "up"; readonly differences: readonly string[] }
  /** The file of the generation into gitops-system. */
  | { readonly kind: "bring"; readonly generation: string }
  /** The generation seals from now on. */
  | { readonly kind: "activate"; readonly generation: string }
  /** SealedSecrets are sealed with older generations, or do not say with what. */
  | {
      readonly kind: "reseal";
      readonly generation: string;
      readonly stale: readonly Sealed[];
      readonly unknown: readonly Sealed[];
    }
  /** Files of older generations out of gitops-system. */
  | { readonly kind: "retire"; readonly generations: readonly string[] }
  /** Older generations out of the stack's config. */
  | { readonly kind: "forget"; readonly generations: readonly string[] };

/** What config and outputs do not have in common. */
function differences({ listed, former, made }: Standing): string[] {
  const asked = [...listed.map(({ generation }) => generation), ...former];
  const there = made.map(({ generation }) => generation);
  const wanted = listed.find(({ active }) => active)?.generation;
  const seals = made.find(({ isActive }) => isActive)?.generation;
  return [
    ...asked
      .filter((generation) => !there.includes(generation))
      .map((each) => `${former.includes(each) ? "takes in former" : "makes"} generation ${each}`),
    ...there.filter((generation) => !asked.includes(generation)).map((each) => `takes out generation ${each}`),
    ...(wanted === seals ? [] : [`lets generation ${wanted ?? "none"} seal`]),
  ];
}

/** The generation after the newest; a number where that is one. */
export function nextGeneration(newest: string): string {
  const [, name = "", number] = /^(.*?)(\d+)$/.exec(newest) ?? [];
  return number === undefined ? `${newest}-2` : `${name}${Number(number) + 1}`;
}

/** The first generation after the newest whose name is free: those of former ones may be any. */
function freeGeneration(newest: string, taken: readonly string[]): string {
  const next = nextGeneration(newest);
  return taken.includes(next) ? freeGeneration(next, taken) : next;
}

/** @param standing of a scope that has a key */
export function nextStep(standing: Standing, { begin, ignoresUnknown }: Wish): Step {
  const { listed, former, made, inGit, sealed } = standing;
  const missing = differences(standing);
  if (missing.length > 0) return { kind: "up", differences: missing };
  const generations = listed.map(({ generation }) => generation).sort(byGeneration);
  const newest = generations.at(-1) as string;
  const older = [...former, ...generations.slice(0, -1)].sort(byGeneration);
  const isActive = listed.some(({ generation, active }) => generation === newest && active);
  if (inGit !== undefined && !inGit.includes(newest)) return { kind: "bring", generation: newest };
  if (!isActive) return { kind: "activate", generation: newest };
  if (begin) return { kind: "add", generation: freeGeneration(newest, older) };
  if (older.length === 0) return { kind: "nothing", generation: newest };
  const olderPrints = made.filter(({ generation }) => generation !== newest).map(({ fingerprint }) => fingerprint);
  const stale = sealed.filter(({ certificate }) => certificate !== undefined && olderPrints.includes(certificate));
  const unknown = sealed.filter(({ certificate }) => certificate === undefined);
  if (stale.length > 0 || (unknown.length > 0 && !ignoresUnknown))
    return { kind: "reseal", generation: newest, stale, unknown };
  const files = older.filter((generation) => inGit?.includes(generation));
  return files.length > 0 ? { kind: "retire", generations: files } : { kind: "forget", generations: older };
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sealedAnnotations } from "../../lib/labels.ts";
import type { Problem } from "../../lib/problems.ts";
import { lossProblems } from "../change/commit.ts";
import { changesTo, type FileChange } from "../change/files.ts";
import { sealingKeyFor } from "../fleet/facts.ts";
import { newDeployKey, sealCredential } from "../sealing/deploy-key.ts";
import { dayOf, type NotedKey, nextFile, noteAt, readSealed, withNote } from "../sealing/deploy-key-notes.ts";
import { knownHostsProblems } from "../spoke/secrets.ts";
import { refuse } from "../usage.ts";
import { type Holder, name, type Place } from "./holder.ts";

/** Where the rotation of deploy keys stands, by the files of the checkout alone, and what each step changes in them. */

export const wishes = ["new", "registered", "removed"] as const;
type Wish = (typeof wishes)[number];

/** A deploy key in use, and the one that is to take its place. */
export interface Standing {
  readonly place: Place;
  readonly present: NotedKey;
  /** Sealed, and not applied to any cluster. */
  readonly next: NotedKey | undefined;
}

export const standingOf = ({ checkout, places }: Holder): Standing[] =>
  places.map((place) => {
    const next = join(checkout, nextFile(place.file));
    return {
      place,
      // holderOf rejects a credential without one.
      present: noteAt(join(checkout, place.file)) as NotedKey,
      next: existsSync(next) ? noteAt(next) : undefined,
    };
  });

/** Nothing is under way; new keys are to be registered; former ones are to be removed. */
type Phase = "idle" | "register" | "remove";

export function phaseOf(standing: readonly Standing[]): Phase {
  if (standing.some(({ next }) => next !== undefined)) return "register";
  return standing.some(({ present }) => present.former !== undefined) ? "remove" : "idle";
}

/** The problem of a step that comes before its turn. A step that was done already is none: the command may be run again. */
export function turnProblems(phase: Phase, wish: Wish | undefined, { target }: Holder): Problem[] {
  const tooEarly = (what: string, remedy: string) => [
    { key: `--${wish}`, what, got: `--${wish}`, allowed: "one step after the other", remedy },
  ];
  if (wish === "registered" && phase === "idle")
    return tooEarly(`comes too early: there are no new keys of ${target}`, "make them first: --new");
  if (wish === "removed" && phase === "register")
    return tooEarly(
      `comes too early: ${target} still reads with its present keys`,
      "register the new ones, then --registered",
    );
  if (wish === "new" && phase === "remove")
    return tooEarly(
      `comes too early: the keys that ${target} had before the present ones are not removed yet`,
      "leave --new out, which tells them; then --removed",
    );
  return [];
}

/** What a place's key is to be noted to replace; nothing where that is the fleet's, which the hub and other spokes go on to read with. */
const formerOf = ({ present }: Standing): string | undefined =>
  present.made === undefined ? undefined : present.publicKey;

/** Step 1: new keys, sealed beside the present ones. */
export async function made(
  holder: Holder,
  standing: readonly Standing[],
  knownHosts: string | undefined,
  now: Date,
): Promise<FileChange[]> {
  const { fleet, scope, checkout } = holder;
  const key = sealingKeyFor(fleet, scope);
  const files: Record<string, string> = {};
  for (const each of standing) {
    const { url, owner, source, trusted, namespace, secret, file } = each.place;
    const hosts = knownHosts ?? (await fleet.credential(trusted))["known_hosts"] ?? "";
    refuse(name, knownHostsProblems(source, url, hosts));
    // By its name people, and the local Git server, tell it from the former one.
    const data = newDeployKey(`${owner} ${now.toISOString().slice(0, 19)}Z`, hosts);
    const note = { made: dayOf(now), former: formerOf(each) };
    files[nextFile(file)] = await sealCredential(fleet.kubeseal, key, { namespace, name: secret, data }, note);
  }
  return changesTo(checkout, files);
}

const nextFiles = (standing: readonly Standing[]): string[] =>
  standing.flatMap(({ place, next }) => (next === undefined ? [] : [place.file]));

/** Why the next keys can't be used: their cluster would not open them, or Git does not have them yet. */
export function useProblems({ checkout, scope }: Holder, standing: readonly Standing[]): Problem[] {
  const files = nextFiles(standing).map(nextFile);
  const foreign = files.filter((file) => {
    const sealedFor = readSealed(join(checkout, file)).metadata?.annotations?.[sealedAnnotations.scope];
    return sealedFor !== scope;
  });
  return [
    ...foreign.map((file) => ({
      key: "--registered",
      what: "would use a key that the cluster can't open: it is sealed for another scope than the one that the cluster reads now",
      got: file,
      allowed: `a key that is sealed for ${scope}`,
      remedy: "remove the file, and begin again with --new; the key that was registered goes, too",
    })),
    ...lossProblems(checkout, files).map((problem) => ({
      ...problem,
      key: "--registered",
      what: "would move files that Git does not have yet",
      remedy: "commit and push the new keys first",
    })),
  ];
}

/** Step 2: the next keys come into the place of the present ones. */
export const used = ({ checkout }: Holder, standing: readonly Standing[]): FileChange[] =>
  changesTo(
    checkout,
    Object.fromEntries(
      nextFiles(standing).flatMap((file) => [
        [file, readFileSync(join(checkout, nextFile(file)), "utf8")],
        [nextFile(file), undefined],
      ]),
    ),
  );

/** Step 3: nothing is left to be removed at the Git host. */
export const forgotten = ({ checkout }: Holder, standing: readonly Standing[]): FileChange[] =>
  changesTo(
    checkout,
    Object.fromEntries(
      standing.flatMap(({ place: { file }, present }) =>
        present.former === undefined
          ? []
          : [[file, withNote(readFileSync(join(checkout, file), "utf8"), { ...present, former: undefined })]],
      ),
    ),
  );

import { join } from "node:path";
import { readJson, writeAtomic } from "../instance/index.ts";
import { STEP_TIMES } from "../toolchain/cache.ts";
import { demo } from "./demo.ts";

/** Milliseconds that steps take, by name. */
export type Durations = Readonly<Record<string, number>>;

/**
 * What a new instance took with two cores (docs/reference/benchmarks.md), until this machine has a run of its own. The toolchain is not
 * among them: it says itself how long a build takes.
 */
const measured: Durations = {
  "bring up the hub: pulumi up": 60_000,
  "wait until Flux has applied the repository": 30_000,
  [`wait until spoke ${demo.spoke} is Ready`]: 120_000,
  [`wait until ${demo.app} answers on ${demo.spoke}`]: 10_000,
};

/** What a run works on: a start that finds everything says nothing of one that makes it. */
export type Begins = "new" | "existing";

const fileIn = (root: string) => join(root, STEP_TIMES);

/** The file's content. */
type Kept = Partial<Record<Begins, Durations>>;

/** What the file has; nothing when it can't be read: an estimate must not keep anybody from starting. */
const kept = (root: string): Promise<Kept> =>
  readJson<Kept>(fileIn(root)).then(
    (read) => read ?? {},
    () => ({}),
  );

/** How long steps took the last time; undefined for an instance that exists, until there was such a run. `root`: the cache. */
export async function lastDurations(root: string, begins: Begins): Promise<Durations | undefined> {
  return (await kept(root))[begins] ?? (begins === "new" ? measured : undefined);
}

/** Keeps how long the steps of a whole run took; a build of the toolchain says nothing of the next run. */
export async function keepDurations(root: string, begins: Begins, timings: ReadonlyMap<string, number>): Promise<void> {
  const { "prepare the toolchain": _, ...durations } = Object.fromEntries(timings);
  const record = { ...(await kept(root)), [begins]: durations };
  // A full disk, say, is no failure of a start that has succeeded.
  await writeAtomic(fileIn(root), `${JSON.stringify(record, undefined, 2)}\n`).catch((error: Error) =>
    console.warn(`how long the steps took was not kept in ${fileIn(root)}: ${error.message}`),
  );
}

/**
 * How long steps probably still take, in milliseconds: the rest of the one that runs, and the later ones. A step without a duration
 * counts for nothing. @param elapsed of the step that runs
 */
export const timeLeft = (durations: Durations, [running = "", ...later]: readonly string[], elapsed: number): number =>
  Math.max(0, (durations[running] ?? 0) - elapsed) + later.reduce((sum, name) => sum + (durations[name] ?? 0), 0);

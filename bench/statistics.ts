/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new Error("a median needs at least one value, got none");
  return (low + high) / 2;
}

/** Runs each candidate in turn, `rounds` times over, so that a change of the machine's load meets all of them. Milliseconds. */
export async function interleaved<Name extends string>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<void>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(candidates) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of names) {
      const started = performance.now();
      await candidates[name]();
      times[name].push(performance.now() - started);
    }
  return times;
}

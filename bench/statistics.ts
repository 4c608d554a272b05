/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new Error("a median needs at least one value, got none");
  return (low + high) / 2;
}

/** Runs each candidate in turn, `rounds` times over, so that a change of the machine's load meets all of them. */
export async function interleaved<Name extends string, Value>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<Value>>>,
): Promise<Record<Name, Value[]>> {
  const names = Object.keys(candidates) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as Value[]])) as Record<Name, Value[]>;
  for (let round = 0; round < rounds; round++) for (const name of names) values[name].push(await candidates[name]());
  return values;
}

/** Milliseconds that something takes. */
export async function duration(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

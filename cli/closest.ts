/** Number of letters to change, remove or insert to turn `a` into `b` (Levenshtein distance). */
function distance(a: string, b: string): number {
  let row = [...Array(b.length + 1).keys()];
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(
        Math.min((row[j + 1] as number) + 1, (next[j] as number) + 1, (row[j] as number) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) as number;
}

/** The known name that somebody who wrote `name` probably meant. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const [best] = known.map((key) => ({ key, far: distance(name, key) })).sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(2, name.length / 4) ? best.key : undefined;
}

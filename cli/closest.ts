/**
 * Number of letters to change, remove, insert or swap with the next one to turn `a` into `b` (optimal string alignment, a form of the
 * Damerau-Levenshtein distance).
 */
function distance(a: string, b: string): number {
  let above: number[] = [];
  let row = [...Array(b.length + 1).keys()];
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const isSwap = i > 0 && j > 0 && letter === b[j - 1] && a[i - 1] === other;
      next.push(
        Math.min(
          ...[(row[j + 1] as number) + 1, (next[j] as number) + 1, (row[j] as number) + (letter === other ? 0 : 1)],
          ...(isSwap ? [(above[j - 1] as number) + 1] : []),
        ),
      );
    }
    [above, row] = [row, next];
  }
  return row.at(-1) as number;
}

/** The known name that somebody who wrote `name` probably meant. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const [best] = known.map((key) => ({ key, far: distance(name, key) })).sort((a, b) => a.far - b.far);
  // Two letters of three are another word.
  const most = name.length < 4 ? 1 : Math.max(2, name.length / 4);
  return best && best.far <= most ? best.key : undefined;
}

/** Compares the first version numbers in two texts, part by part: negative, zero or positive. */
export function compare(a: string, b: string): number {
  const parts = (text: string) => (/[0-9]+(\.[0-9]+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

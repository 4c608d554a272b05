/** Lines of cells as a table: each column as wide as its widest cell, nothing behind the last one. */
export function columns(lines: readonly (readonly string[])[]): string[] {
  const [header = []] = lines;
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** A headline with its items below it; nothing without items. */
export const headed = (head: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : [head, ...items.map((item) => `  ${item}`)];

/** A text of at most some characters, with a sign where something is left out. */
export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A text from a cluster without control characters, which would act on the terminal of whoever reads it; lines stay. */
export const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, "\u{fffd}");

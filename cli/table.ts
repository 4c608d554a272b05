/** Rows of cells in aligned columns, below a header. */
export function columns(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return padded.map((line) => line.trimEnd()).join("\n");
}

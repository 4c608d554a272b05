/** Milliseconds as seconds, for people. */
export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/** Lines with the cells of each row below each other: the first to the left, numbers to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => (row[column] ?? "").length));
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(width(0)) : cell.padStart(width(column)))).join("  "),
  );
}

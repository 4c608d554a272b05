/** A pipe or a line break would end a cell. */
const cell = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|")
    .trim();
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** The lines of a Markdown table. With `numbers`, every column but the first is set to the right. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { numbers = false } = {},
): string[] => [
  line(head),
  line(head.map((_, index) => (numbers && index > 0 ? "---:" : "---"))),
  ...rows.map((row) => line(row.map(cell))),
];

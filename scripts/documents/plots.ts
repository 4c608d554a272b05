/** Plots of docs/reference/benchmarks.md: one bar for each row of a table, in the table's own words and figures. */

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as the table has it, with its unit. */
  readonly shown: string;
}

const size = { label: 400, bar: 260, value: 90, row: 22, top: 30, gap: 6 };
const width = size.label + size.bar + size.value;

/** A text in XML. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const shortened = (text: string): string => (text.length > 64 ? `${text.slice(0, 63)}…` : text);

function row({ label, value, shown }: Bar, index: number, greatest: number): string {
  const y = size.top + index * size.row;
  const length = greatest === 0 ? 0 : Math.max(1, Math.round((value / greatest) * size.bar));
  const middle = y + size.row / 2 + 4;
  const name = `<text x="${size.label - size.gap}" y="${middle}" text-anchor="end">${escaped(shortened(label))}</text>`;
  const bar = `<rect x="${size.label}" y="${y + 3}" width="${length}" height="${size.row - 6}"/>`;
  const figure = `<text x="${size.label + length + size.gap}" y="${middle}">${escaped(shown)}</text>`;
  return `  ${name}${bar}${figure}`;
}

/** Horizontal bars as SVG, in colours that can be read on a light and on a dark page. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const height = size.top + bars.length * size.row + size.gap;
  const greatest = Math.max(0, ...bars.map(({ value }) => value));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <style>text { font: 12px sans-serif; fill: #6e7781 } rect { fill: #2f81c7 }</style>
  <text x="${size.gap}" y="18">${escaped(title)}</text>
${bars.map((bar, index) => row(bar, index, greatest)).join("\n")}
</svg>
`;
}

/** The lines of the table below a heading. @throws RangeError when the page has none there. */
function tableLines(page: string, heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const lines = section?.split("\n").filter((line) => line.startsWith("|")) ?? [];
  if (lines.length < 3) throw new RangeError(`the page has no table below "${heading}"`);
  return lines.map((line) => line.split("|").map((cell) => cell.trim()));
}

/**
 * The rows of the table below a heading: the first cell, and the figure in column `column`.
 * @throws RangeError when the page has no such heading with a table, or a cell without a figure.
 */
export function tableBars(page: string, heading: string, column: number): Bar[] {
  return tableLines(page, heading)
    .slice(2)
    .map((cells) => {
      const [label = "", shown = ""] = [cells[1], cells[column + 1]];
      const value = Number.parseFloat(shown);
      if (Number.isNaN(value)) throw new RangeError(`"${label}" has no figure in column ${column}: ${shown}`);
      return { label: label.replaceAll("`", ""), value, shown };
    });
}

/** The heads of the columns with figures of the table below a heading. */
const figureColumns = (page: string, heading: string): string[] => tableLines(page, heading)[0]?.slice(2, -1) ?? [];

const FLEET = "What a fleet costs the hub";

/** The plots of the page of benchmarks, by their file names. */
export const benchmarkPlots = {
  "start.svg": (page: string) =>
    barChart(
      "From npm start to the hub",
      tableBars(page, "From `npm start` to the hub", 1).filter(({ label }) => label !== "together"),
    ),
  "spoke.svg": (page: string) =>
    barChart(
      "From git push to an application that answers, seconds after the push",
      tableBars(page, "From `git push` of one folder to an application that answers", 1),
    ),
  "fleet.svg": (page: string) =>
    barChart(
      "What one more spoke costs the hub, processor seconds",
      figureColumns(page, FLEET).map((spokes, index) => {
        const cost = tableBars(page, FLEET, index + 1).find(({ label }) => label.startsWith("processor time"));
        if (cost === undefined) throw new RangeError("the table has no row processor time");
        return { ...cost, label: `among ${spokes} spoke${spokes === "1" ? "" : "s"}` };
      }),
    ),
} as const;

import { type Html, html } from "./html.ts";

/** Tables that stay tables for a screen reader, also where a phone shows a row as a block: their roles are said. */

interface Cell {
  readonly label: string;
  readonly content: Html;
}

export interface Line {
  /** What the filter goes by, as data-… */
  readonly about?: Readonly<Record<string, string | undefined>>;
  readonly name: Html;
  readonly cells: readonly Cell[];
}

export interface Group {
  readonly title?: string;
  readonly lines: readonly Line[];
}

const attributes = (about: Line["about"]): Html[] =>
  Object.entries(about ?? {}).map(([name, value]) => html` data-${name}="${value ?? ""}"`);

const lineOf = ({ about, name, cells }: Line): Html => html`<tr role="row"${attributes(about)}>
<th role="rowheader" scope="row" class="name">${name}</th>
${cells.map(({ label, content }) => html`<td role="cell" data-label="${label}">${content}</td>`)}
</tr>
`;

/** @param headers of all columns, the name's first */
export function table(caption: string, headers: readonly string[], groups: readonly Group[]): Html {
  return html`<table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${headers.map((header) => html`<th role="columnheader" scope="col">${header}</th>`)}</tr></thead>
${groups.map(
  ({ title, lines }) => html`<tbody role="rowgroup">
${title === undefined ? undefined : html`<tr role="row"><th role="rowheader" scope="rowgroup" class="group" colspan="${headers.length}">${title}</th></tr>`}
${lines.map(lineOf)}</tbody>
`,
)}</table>
`;
}

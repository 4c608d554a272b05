import { markdownTable } from "../../lib/markdown.ts";
import { columns, printable } from "../columns.ts";
import type { Section } from "./fit.ts";

/** How a report is set: as a comment at GitHub, or as text on a terminal. Its words are in words.ts. */
export interface Style {
  readonly title: (text: string) => string;
  readonly strong: (text: string) => string;
  /** A name or a value, on one line. */
  readonly code: (text: string) => string;
  /** Other text of a repository or a program, on one line. */
  readonly plain: (text: string) => string;
  /** Set apart from the rest. */
  readonly callout: (kind: "NOTE" | "WARNING" | "CAUTION", text: string, items?: readonly string[]) => string;
  readonly table: (head: readonly string[], rows: readonly (readonly string[])[]) => string;
  readonly diff: (lines: readonly string[]) => string;
  readonly section: (name: string, what: string) => Pick<Section, "opening" | "closing">;
  readonly aside: (text: string) => string;
  readonly small: (text: string) => string;
}

const longestTicks = (texts: readonly string[], least: number): number =>
  Math.max(least, ...texts.flatMap((text) => [...text.matchAll(/`+/g)].map(([run]) => run.length)));

/** Text inside backticks, whatever is in it. */
function ticked(text: string): string {
  const fence = "`".repeat(longestTicks([text], 0) + 1);
  const edge = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${edge}${text.replaceAll("\n", " ")}${edge}${fence}`;
}

/** Text that is neither Markdown nor HTML, on one line. */
const escaped = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_[\]|#~@]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A comment at GitHub. */
export const commentStyle: Style = {
  title: (text) => `## ${text}\n\n`,
  strong: (text) => `**${text}**`,
  code: ticked,
  plain: escaped,
  callout: (kind, text, items = []) =>
    `> [!${kind}]\n${[text, ...items.map((item) => `- ${item}`)].map((line) => `> ${line}\n`).join("")}\n`,
  table: (head, rows) => (rows.length === 0 ? "" : `${markdownTable(head, rows, { numbers: true }).join("\n")}\n\n`),
  diff(lines) {
    const fence = "`".repeat(longestTicks(lines, 2) + 1);
    return `\n${fence}diff\n${lines.join("\n")}\n${fence}\n\n`;
  },
  section: (name, what) => ({
    opening: `<details><summary><b>${escaped(name)}</b>: ${what}</summary>\n\n`,
    closing: "\n</details>\n\n",
  }),
  aside: (text) => `_${text}_`,
  small: (text) => `<sub>${text}</sub>\n\n`,
};

const bare = (text: string): string => text;
const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, " ");

/** Text on a terminal. */
export const textStyle: Style = {
  title: (text) => `${text}\n\n`,
  strong: bare,
  code: oneLine,
  plain: oneLine,
  callout: (_, text, items = []) => `${[text, ...items.map((item) => `- ${item}`)].join("\n")}\n\n`,
  table: (head, rows) => (rows.length === 0 ? "" : `${columns([head, ...rows]).join("\n")}\n\n`),
  diff: (lines) => `${lines.map((line) => `    ${printable(line)}\n`).join("")}`,
  section: (name, what) => ({ opening: `${oneLine(name)}: ${what}\n\n`, closing: "\n" }),
  aside: bare,
  small: (text) => `${text}\n\n`,
};

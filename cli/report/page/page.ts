import { createHash } from "node:crypto";
import type { Report } from "../model.ts";
import { states } from "../model.ts";
import { type Html, html, markupOf, trusted } from "./html.ts";
import { script } from "./script.ts";
import {
  attentionSection,
  costsSection,
  keysSection,
  notSeenSection,
  reachSection,
  sourcesSection,
  spokesSection,
} from "./sections.ts";
import { style } from "./style.ts";
import { sentence, signs } from "./words.ts";

/** A report as one HTML document that asks nobody for anything: style and script are in it, and nothing else may run or be loaded. */

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const rules = (connect: string): string =>
  `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; connect-src ${connect}; base-uri 'none'; form-action 'none'`;

/** What the browser may do with the page. In a file it may not even fetch the page itself. */
const filePolicy = rules("'none'");
export const servedPolicy = rules("'self'");

/** How a page that is served is kept up to date. */
interface Served {
  /** Seconds between two questions of the browser. */
  readonly refresh: number;
  /** Why the report is not of the present; undefined where it is. */
  readonly failure: string | undefined;
  /** What HTTP calls this page. */
  readonly etag: string;
}

const select = (name: string, label: string, values: readonly (string | undefined)[]): Html => {
  const known = [...new Set(values.filter((value) => value !== undefined && value !== ""))].sort();
  return html`<label>${label}<select name="${name}"><option value="">all</option>${known.map((value) => html`<option value="${value}">${value}</option>`)}</select></label>
`;
};

const filter = ({ spokes }: Report): Html => html`<form hidden role="search" aria-label="Filter">
<label>Filter by words (Ctrl+K or ⌘K to come here, Escape to clear)<input name="text" type="search" aria-keyshortcuts="Control+K Meta+K" autocomplete="off" spellcheck="false"></label>
${select(
  "environment",
  "Environment",
  spokes.map(({ environment }) => environment),
)}${select(
  "ring",
  "Ring",
  spokes.map(({ ring }) => ring),
)}${select(
  "tenant",
  "Tenant",
  spokes.map(({ tenant }) => tenant),
)}<label>State<select name="state"><option value="">all</option>${states.map((state) => html`<option value="${state}">${signs[state]}</option>`)}</select></label>
<p id="shown" role="status"></p>
</form>
`;

/** @param served undefined for a file */
export function pageOf(report: Report, served?: Served): string {
  const { fleet = "", asOf, counts } = report;
  const urgent = counts.failing + counts.unknown;
  const title = `Fleet ${fleet}`.trim();
  return markupOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${served === undefined ? filePolicy : servedPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${urgent === 0 ? "" : `(${urgent}) `}${title}</title>
<style>${trusted(style)}</style>
</head>
<body data-refresh="${served?.refresh ?? 0}" data-etag="${served?.etag ?? ""}">
<a class="skip" href="#spokes">Skip to the spokes</a>
<header>
<h1>${title}</h1>
<p id="said" class="summary" role="status">${sentence(report)}</p>
<p id="contact" class="notice" role="alert" hidden></p>
</header>
<main>
<div id="now">
<p class="faint">${served === undefined ? "As of" : "Last change seen at"} <time datetime="${asOf}">${asOf.replace("T", " ").slice(0, 19)} UTC</time></p>
${served?.failure === undefined ? undefined : html`<p class="notice" role="alert">This may be out of date: ${served.failure}</p>`}
${attentionSection(report)}</div>
${filter(report)}<div id="rest">
${spokesSection(report)}${reachSection(report)}${sourcesSection(report)}${keysSection(report)}${costsSection(report)}${notSeenSection(report)}</div>
</main>
<script>${trusted(script)}</script>
</body>
</html>
`);
}

import { columns, cut, printable } from "../columns.ts";
import { hour, inWords } from "../rollouts/durations.ts";
import type { Row } from "./rows.ts";

const day = 24 * hour;

/** How long ago something was made: `40s`, `5h12m`, and in days from two on. */
export function ageOf(created: string | undefined, now: number): string {
  if (created === undefined) return "-";
  const age = now - Date.parse(created);
  return age < 2 * day ? inWords(age) : `${Math.floor(age / day)}d`;
}

function applicationsText({ applications, unreached }: Row): string {
  if (unreached !== undefined) return "?";
  return applications === undefined ? "-" : `${applications.ready} of ${applications.total}`;
}

const versionText = ({ kubernetesVersion = "-", nextVersion }: Row): string =>
  nextVersion === undefined ? kubernetesVersion : `${kubernetesVersion} -> ${nextVersion}`;

/** The lines of the table: its header, then a line for each spoke. Nobody's ring is no column. */
function linesOf(rows: readonly Row[], now: number, width = Number.POSITIVE_INFINITY): string[] {
  const hasRings = rows.some(({ ring }) => ring !== undefined);
  const header = ["NAME", "ENVIRONMENT", "TENANT", ...(hasRings ? ["RING"] : [])];
  const cells = rows.map((row) => [
    ...[row.name, row.environment, row.tenant, ...(hasRings ? [row.ring ?? "-"] : [])],
    ...[versionText(row), applicationsText(row)],
    ...[row.isReady ? "True" : "False", row.phase ?? "-", ageOf(row.created, now)],
    (row.message ?? "-").replaceAll(/\s+/g, " "),
  ]);
  const lines = columns([[...header, "KUBERNETES", "APPLICATIONS", "READY", "PHASE", "AGE", "MESSAGE"], ...cells]);
  return lines.map((line) => cut(line, width));
}

/** Why spokes could not be asked. */
const below = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ name, unreached }) => (unreached === undefined ? [] : [`${name} was not reached: ${unreached}`]));

/** The table, with the reasons of its question marks below. */
export function tableOf(rows: readonly Row[], now: number, width?: number): string {
  if (rows.length === 0) return "no spokes\n";
  const reasons = below(rows);
  return printable(`${[...linesOf(rows, now, width), ...(reasons.length > 0 ? ["", ...reasons] : [])].join("\n")}\n`);
}

/** What makes a row worth showing again; time passes by itself. */
const newsIn = ({ created: _, ...row }: Row): string => JSON.stringify(row);

/** The lines of what is not as it was: of rows that changed, and of spokes that are gone. */
export function changesOf(before: readonly Row[], rows: readonly Row[], now: number): string[] {
  const known = new Map(before.map((row) => [row.name, newsIn(row)]));
  const isNew = rows.map((row) => known.get(row.name) !== newsIn(row));
  const [, ...lines] = linesOf(rows, now);
  const gone = before.filter(({ name }) => !rows.some((row) => row.name === name));
  return [
    ...lines.filter((_, index) => isNew[index]),
    ...below(rows.filter((_, index) => isNew[index])),
    ...gone.map(({ name }) => `${name} is gone`),
  ];
}

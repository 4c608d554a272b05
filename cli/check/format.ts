import { relative } from "node:path";
import type { Report } from "./check.ts";
import type { Finding } from "./findings.ts";

/** The report for a person, a program, or GitHub's annotations. */

export const formats = ["text", "json", "github"] as const;
export type Format = (typeof formats)[number];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const reached = ({ clusters }: Finding): string => (clusters.length > 0 ? ` [${clusters.join(", ")}]` : "");

function text({ findings, notes, clusters, objects }: Report, folder: string): string {
  const lines = findings.flatMap((finding) => [
    `${relative(folder, finding.place.file)}:${finding.place.line}: ${finding.rule}: ${finding.problem}${reached(finding)}`,
    `    ${finding.remedy}`,
  ]);
  const summary = `${counted(findings.length, "finding")}; ${counted(objects, "object")} on ${clusters.join(", ")}`;
  return [...lines, ...notes.map((note) => `note: ${note}`), summary, ""].join("\n");
}

function json({ findings, ...rest }: Report, folder: string): string {
  const flat = findings.map(({ place, ...finding }) => ({
    ...finding,
    file: relative(folder, place.file),
    line: place.line,
  }));
  return `${JSON.stringify({ findings: flat, ...rest }, undefined, 2)}\n`;
}

/** The escapes of GitHub's workflow commands: of a message, and of a property. */
const message = (value: string): string => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (value: string): string => message(value).replaceAll(":", "%3A").replaceAll(",", "%2C");

function github({ findings, notes }: Report, folder: string): string {
  const errors = findings.map((finding) => {
    const file = property(relative(folder, finding.place.file));
    const title = property(`fleet check: ${finding.rule}`);
    const body = message(`${finding.problem}${reached(finding)}\n${finding.remedy}`);
    return `::error file=${file},line=${finding.place.line},title=${title}::${body}`;
  });
  return [...errors, ...notes.map((note) => `::notice title=fleet check::${message(note)}`), ""].join("\n");
}

/** @param folder the folder that file names are relative to */
export const formatted = (report: Report, format: Format, folder: string): string =>
  ({ text, json, github })[format](report, folder);

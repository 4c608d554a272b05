import { relative } from "node:path";
import type { Finding, Warning } from "../render/findings.ts";
import type { Report } from "./check.ts";

/** The report for a person, a program, or GitHub's annotations. */

export const formats = ["text", "json", "github"] as const;
export type Format = (typeof formats)[number];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const reached = ({ clusters }: Warning): string => (clusters.length > 0 ? ` [${clusters.join(", ")}]` : "");

function text({ findings, warnings, notes, clusters, objects }: Report, folder: string): string {
  const told = (finding: Warning, label: string) => [
    `${relative(folder, finding.place.file)}:${finding.place.line}: ${label}: ${finding.problem}${reached(finding)}`,
    `    ${finding.remedy}`,
  ];
  const lines = [
    ...findings.flatMap((finding) => told(finding, finding.rule)),
    ...warnings.flatMap((warning) => told(warning, "warning")),
  ];
  const summary = `${counted(findings.length, "finding")}; ${counted(objects, "object")} on ${clusters.join(", ")}`;
  return [...lines, ...notes.map((note) => `note: ${note}`), summary, ""].join("\n");
}

function json({ findings, warnings, ...rest }: Report, folder: string): string {
  const flat = ({ place, ...finding }: Finding | Warning) => ({
    ...finding,
    file: relative(folder, place.file),
    line: place.line,
  });
  return `${JSON.stringify({ findings: findings.map(flat), warnings: warnings.map(flat), ...rest }, undefined, 2)}\n`;
}

/** The escapes of GitHub's workflow commands, for a message and for a property. */
const message = (value: string): string => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (value: string): string => message(value).replaceAll(":", "%3A").replaceAll(",", "%2C");

function github({ findings, warnings, notes }: Report, folder: string): string {
  const annotation = (level: "error" | "warning", name: string, finding: Warning) => {
    const file = property(relative(folder, finding.place.file));
    const title = property(name);
    const body = message(`${finding.problem}${reached(finding)}\n${finding.remedy}`);
    return `::${level} file=${file},line=${finding.place.line},title=${title}::${body}`;
  };
  const told = [
    ...findings.map((finding) => annotation("error", `fleet check: ${finding.rule}`, finding)),
    ...warnings.map((warning) => annotation("warning", "fleet check", warning)),
  ];
  return [...told, ...notes.map((note) => `::notice title=fleet check::${message(note)}`), ""].join("\n");
}

/** @param folder the folder that file names are relative to */
export const formatted = (report: Report, format: Format, folder: string): string =>
  ({ text, json, github })[format](report, folder);

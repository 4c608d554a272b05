import { type Finding, type Group, hasWork, type Status } from "./finding.ts";

const labels: Readonly<Record<Status, string>> = { ok: "ok", note: "note", wrong: "WRONG", unchecked: "UNKNOWN" };
const width = Math.max(...Object.values(labels).map((label) => label.length));

function lines({ status, name, message, todo }: Finding): string[] {
  const indent = " ".repeat(width + 4);
  return [
    `  ${labels[status].padEnd(width)}  ${name}: ${message.replaceAll("\n", `\n${indent}`)}`,
    ...(todo === "" ? [] : [`${indent}do: ${todo.replaceAll("\n", `\n${indent}    `)}`]),
  ];
}

/** The findings for a person, group by group. */
export function asText(groups: readonly Group[]): string {
  const work = groups.flatMap(({ findings }) => findings).filter(({ status }) => !["ok", "note"].includes(status));
  const end = hasWork(groups) ? `${work.length} to do, marked WRONG or UNKNOWN above` : "nothing has to be done";
  return `${groups.flatMap(({ name, findings }) => [name, ...findings.flatMap(lines), ""]).join("\n")}\n${end}\n`;
}

/** The findings for programs. */
export const asData = (groups: readonly Group[]): object => ({ ok: !hasWork(groups), groups });

import { columns, headed, printable } from "../columns.ts";
import { ageOf } from "../list/table.ts";
import type { Report } from "./model.ts";
import { sentence } from "./page/words.ts";

/** What a terminal shows of a report: whether all is well, and what is not; the rest is the page's. */
export function textOf(report: Report): string {
  const { fleet, attention, notSeen, asOf } = report;
  const now = Date.parse(asOf);
  const lines = attention.map(({ state, what, since, owner, command, says }) => [
    ...[state, what, ageOf(since, now), owner, command ?? "-"],
    says.replaceAll(/\s+/g, " "),
  ]);
  const table =
    lines.length === 0 ? [] : ["", ...columns([["STATE", "WHAT", "SINCE", "WHOSE", "DO", "SAYS"], ...lines])];
  const head = `${fleet === undefined ? "" : `fleet ${fleet}: `}${sentence(report)}`;
  return printable(`${[head, ...table, ...headed("Could not be looked at:", notSeen)].join("\n")}\n`);
}

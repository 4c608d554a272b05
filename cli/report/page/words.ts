import { ageOf } from "../../list/table.ts";
import { short } from "../../rollouts/plan.ts";
import { commitLink, commitOf } from "../links.ts";
import type { Report, State } from "../model.ts";
import { type Html, html, link } from "./html.ts";

/** Words and small parts that sections of the page share. */

export const signs: Readonly<Record<State, string>> = {
  failing: "✗ failing",
  unknown: "? not reached",
  due: "! due",
  working: "… on its way",
  well: "✓ well",
};

export const stateCell = (state: State): Html => html`<span class="state ${state}">${signs[state]}</span>`;

/** How long something has been so; the time itself as the tooltip and for programs. */
export function age(since: string | undefined, asOf: string): Html {
  if (since === undefined) return html`<span class="faint">not known</span>`;
  return html`<time datetime="${since}" title="${since}" data-age="">${ageOf(since, Date.parse(asOf))}</time>`;
}

/** How long ago something was. */
export const ago = (time: string | undefined, asOf: string): Html =>
  time === undefined ? age(time, asOf) : html`${age(time, asOf)} ago`;

/** A revision as people say it, with its page at the Git host. */
export function revision(text: string | undefined, repository?: string): Html {
  if (text === undefined) return html`<span class="faint">none yet</span>`;
  const commit = commitOf(text);
  return html`<code>${link(commitLink(repository, commit), commit === undefined ? text : short(commit))}</code>`;
}

const number = (count: number): string => count.toLocaleString("en-US");

export const plural = (count: number, one: string): string => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

/** What there is to say where nothing wrong was seen. */
function wellIn({ counts, notSeen }: Report): string {
  if (notSeen.length > 0) return "Nothing wrong was seen, but not everything could be looked at";
  return counts.applications === undefined ? "All is well, as far as the hub knows" : "All is well";
}

/** Whether all is well, in one sentence, and of how much. */
export function sentence(report: Report): string {
  const { failing, unknown, due, working, spokes, applications } = report.counts;
  const parts = [
    ...(failing > 0 ? [`${number(failing)} failing`] : []),
    ...(unknown > 0 ? [`${number(unknown)} not reached`] : []),
    ...(due > 0 ? [`${number(due)} due`] : []),
    ...(working > 0 ? [`${number(working)} on the way`] : []),
  ];
  const ofApplications =
    applications === undefined
      ? "the spokes were not asked for applications"
      : `${number(applications.ready)} of ${plural(applications.total, "application")} well`;
  const head = parts.length === 0 ? wellIn(report) : `Not all is well: ${parts.join(", ")}`;
  return `${head}. ${number(spokes.ready)} of ${plural(spokes.total, "spoke")} Ready, ${ofApplications}.`;
}

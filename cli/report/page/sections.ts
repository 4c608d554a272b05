import { inDollars } from "../../costs/table.ts";
import { type Application, type Attention, type Reach, type Report, type SpokeReport, states } from "../model.ts";
import { type Html, html, link } from "./html.ts";
import { type Group, type Line, table } from "./tables.ts";
import { age, ago, plural, revision, stateCell } from "./words.ts";

/** The parts of the page, each from what the report says. */

const section = (id: string, title: string, content: Html): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${content}</section>
`;

/** What is not well, since when, whose it is, and what to do. */
export function attentionSection({ attention, asOf }: Report): Html {
  const line = ({ state, what, says, since, owner, environment, ring, tenant, command, remedy }: Attention): Line => ({
    about: { state, environment, ring, tenant },
    name: html`${what}`,
    cells: [
      { label: "State", content: stateCell(state) },
      { label: "Since", content: state === "due" ? html`-` : age(since, asOf) },
      { label: "Whose", content: html`${owner}` },
      { label: "What it says", content: html`${says}` },
      {
        label: "What to do",
        content: html`${command === undefined ? undefined : html`<code>${command}</code>`}${remedy === undefined ? undefined : html` ${remedy}`}`,
      },
    ],
  });
  const rows = table(
    "What fails first, then what was not reached, what is due, and what is on its way; the oldest first",
    ["What", "State", "Since", "Whose", "What it says", "What to do"],
    [{ lines: attention.map(line) }],
  );
  return section(
    "attention",
    "What is not well",
    attention.length === 0 ? html`<p>Nothing: nobody has to do anything.</p>` : rows,
  );
}

const applicationItem = ({ name, state, revision: its, next }: Application): Html =>
  html`<li>${name}: ${stateCell(state)}, ${revision(its)}${next === undefined ? undefined : html`, next ${revision(next)}`}</li>`;

function applicationsOf({ name, applications }: SpokeReport): Html {
  if (applications === undefined) return html`<span class="faint">not looked at</span>`;
  if (applications.length === 0) return html`none`;
  const ready = applications.filter(({ state }) => state === "well").length;
  const worst = states.find((state) => applications.some((each) => each.state === state)) ?? "well";
  return html`<details id="applications-${name}"><summary class="${worst}">${ready} of ${applications.length} well</summary><ul>${applications.map(applicationItem)}</ul></details>`;
}

const version = ({ kubernetesVersion = "none yet", nextVersion }: SpokeReport): string =>
  nextVersion === undefined ? kubernetesVersion : `${kubernetesVersion}, on the way to ${nextVersion}`;

function spokeLine(spoke: SpokeReport, asOf: string): Line {
  const { name, environment, ring, tenant, state, since, region, month, message, phase } = spoke;
  return {
    about: { state, environment, ring, tenant },
    name: link(spoke.console, name),
    cells: [
      { label: "State", content: stateCell(state) },
      { label: "Since", content: age(since, asOf) },
      { label: "Whose", content: html`${tenant}` },
      { label: "Kubernetes", content: html`${version(spoke)}` },
      { label: "Applications", content: applicationsOf(spoke) },
      { label: "Region", content: html`${region}` },
      { label: "USD a month", content: html`${month === undefined ? "not known" : inDollars(month)}` },
      { label: "What it says", content: html`${phase === undefined ? "" : `${phase}: `}${message ?? "not begun"}` },
    ],
  };
}

const groupTitle = (spokes: readonly SpokeReport[]): string => {
  const [first] = spokes;
  const bad = spokes.filter(({ state }) => state !== "well").length;
  const where = `${first?.environment}${first?.ring === undefined ? "" : `, ring ${first.ring}`}`;
  return `${where}: ${plural(spokes.length, "spoke")}${bad === 0 ? "" : `, ${bad} not well`}`;
};

/** The spokes by environment and ring. */
export function spokesSection({ spokes, asOf }: Report): Html {
  const groups = [...Map.groupBy(spokes, ({ environment, ring }) => JSON.stringify([environment, ring])).values()];
  const headers = ["Spoke", "State", "Since", "Whose", "Kubernetes", "Applications", "Region", "USD a month"];
  const rows = table(
    "Spokes by environment and ring; a name leads to the cluster in the AWS console",
    [...headers, "What it says"],
    groups.map((those): Group => ({ title: groupTitle(those), lines: those.map((each) => spokeLine(each, asOf)) })),
  );
  return section("spokes", "Spokes", spokes.length === 0 ? html`<p>The hub has no spokes.</p>` : rows);
}

/** Names that are shown of many; `fleet report -o json` has all of them. */
const MOST = 12;

const names = (all: readonly string[]): string =>
  all.length > MOST ? `${all.slice(0, MOST).join(", ")} and ${all.length - MOST} more` : all.join(", ");

function reachLine({ kind, name, offered, since, link: repository, on, missing }: Reach, asOf: string): Line {
  const whys = [...Map.groupBy(missing, ({ why }) => why)].slice(0, MOST);
  return {
    name: html`${kind} ${name}`,
    cells: [
      {
        label: "Offered",
        content: offered === undefined ? html`` : html`${revision(offered, repository)}, ${ago(since, asOf)}`,
      },
      {
        label: "Has reached",
        content: html`<ul>${on.map(({ revision: its, spokes }) => html`<li>${revision(its, repository)}: ${plural(spokes.length, "spoke")} (${names(spokes)})</li>`)}</ul>`,
      },
      {
        label: "Has not reached, and why",
        content:
          whys.length === 0
            ? html`none`
            : html`<ul>${whys.map(([why, those]) => html`<li>${names(those.map(({ spoke }) => spoke))}: ${why}</li>`)}</ul>`,
      },
    ],
  };
}

export function reachSection({ reach, asOf }: Report): Html {
  const rows = table(
    "Commits of gitops-system by ring, or by environment where there are no rings; then those of each application",
    ["What", "Offered", "Has reached", "Has not reached, and why"],
    [{ lines: reach.map((each) => reachLine(each, asOf)) }],
  );
  return section("reach", "What commits have reached", rows);
}

export function sourcesSection({ sources, asOf }: Report): Html {
  const rows = table(
    "Git repositories that the hub follows",
    ["Source", "Commit", "Fetched"],
    [
      {
        lines: sources.map(({ name, revision: its, since, link: repository }) => ({
          name: link(repository, name),
          cells: [
            { label: "Commit", content: revision(its, repository) },
            { label: "Fetched", content: ago(since, asOf) },
          ],
        })),
      },
    ],
  );
  return section("sources", "Git", rows);
}

export function keysSection({ keys, asOf }: Report): Html {
  const rows = table(
    "Keys by their age",
    ["Key", "Age", "Ends", "Use"],
    [
      {
        lines: keys
          .toSorted((a, b) => a.made.localeCompare(b.made))
          .map(({ name, made, ends, use }) => ({
            name: html`${name}`,
            cells: [
              { label: "Age", content: age(made, asOf) },
              { label: "Ends", content: html`${ends?.slice(0, 10) ?? "never"}` },
              { label: "Use", content: html`${use}` },
            ],
          })),
      },
    ],
  );
  const none = html`<p class="faint">Not asked for: <code>--stack</code> adds the sealing keys, <code>--repository</code> the deploy keys.</p>`;
  return section("keys", "Keys", keys.length === 0 ? none : rows);
}

export function costsSection({ costs: { environments, tenants, total, unknown } }: Report): Html {
  const line = (kind: string, { name, clusters, month, isComplete }: Report["costs"]["total"]): Line => ({
    name: html`${kind} ${name}`,
    cells: [
      { label: "Spokes", content: html`${clusters}` },
      { label: "USD a month", content: html`${isComplete ? "" : "at least "}${inDollars(month.usual)}` },
    ],
  });
  const rows = table(
    "List prices of the spokes, on demand, without traffic, logs and what applications order",
    ["Of", "Spokes", "USD a month"],
    [
      {
        lines: [
          ...environments.map((each) => line("environment", each)),
          ...tenants.map((each) => line("tenant", each)),
          line("", total),
        ],
      },
    ],
  );
  return section(
    "costs",
    "Costs",
    html`${rows}${unknown.length === 0 ? undefined : html`<ul>${unknown.map((each) => html`<li>${each}</li>`)}</ul>`}`,
  );
}

export const notSeenSection = ({ notSeen }: Report): Html | undefined =>
  notSeen.length === 0
    ? undefined
    : section(
        "not-seen",
        "What could not be looked at",
        html`<ul>${notSeen.map((each) => html`<li>${each}</li>`)}</ul>`,
      );

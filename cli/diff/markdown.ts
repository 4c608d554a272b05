import { markdownTable } from "../../lib/markdown.ts";
import { type Change, changeOperations } from "./compare.ts";
import { fitted, type Section } from "./fit.ts";
import { type ResourceOperation, resourceOperations, type Stack, type StackChange } from "./preview.ts";
import type { ClusterReport, Report, SideReport } from "./report.ts";

/** The report as one comment of a pull request. */

/** The workflow finds its former comment by this marker. */
export const marker = "<!-- eks-gitops-fleet: fleet diff -->";

const most = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

/** Text inside backticks, whatever is in it. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const edge = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${edge}${text.replaceAll("\n", " ")}${edge}${fence}`;
}

/** Text that is neither Markdown nor HTML, on one line. */
const plain = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_[\]|#~@]/g, (character) => `&#${character.charCodeAt(0)};`);

function fenced(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${lines.join("\n")}\n${fence}\n`;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0 ? "" : `${markdownTable(head, rows, { numbers: true }).join("\n")}\n\n`;

const count = (changes: readonly { operation: string }[], operation: string): number =>
  changes.filter((change) => change.operation === operation).length;
const cell = (number: number): string => (number === 0 ? "" : String(number));
const counts = (changes: readonly { operation: string }[], of: readonly string[], words = of): string =>
  of
    .flatMap((operation, index) =>
      count(changes, operation) > 0 ? [`${count(changes, operation)} ${words[index]}`] : [],
    )
    .join(", ");

const title = ({ name, environment, template }: ClusterReport): string =>
  template ? `a new spoke of ${environment}` : environment === undefined ? name : `${name} (${environment})`;

const isTouched = ({ changes, problems }: ClusterReport): boolean => changes.length > 0 || problems.length > 0;
const side = ({ label, commit }: SideReport): string =>
  `${code(label)}${commit === undefined ? "" : ` (${commit.slice(0, 9)})`}`;

const named = (change: Change): string => [change.namespace, change.name].filter(Boolean).join("/");
const stackWords: Readonly<Record<ResourceOperation, string>> = {
  create: "created",
  update: "changed",
  replace: "replaced",
  delete: "deleted",
};

/** Changes that may lose data, at the top of the comment. */
function losses({ clusters, stacks }: Report): string {
  const lines = new Map<string, string[]>();
  const add = (what: string, where: string) => lines.set(what, [...(lines.get(what) ?? []), where]);
  for (const operation of ["deleted", "replaced"]) {
    for (const cluster of clusters)
      for (const change of cluster.changes)
        if (change.stateful && change.operation === operation)
          add(`**${operation}** ${change.kind}`, `${code(named(change))} – ${plain(title(cluster))}`);
    for (const { name, changes } of stacks)
      for (const change of changes)
        if (change.stateful && stackWords[change.operation] === operation)
          add(`**${operation}** ${plain(change.type)}`, `${code(change.name)} – stack ${plain(name)}`);
  }
  if (lines.size === 0) return "";
  const items = [...lines].map(([what, where]) => `> - ${what}: ${where.join("; ")}`);
  return `> [!CAUTION]\n> **Stateful resources are deleted or replaced: their data goes with them.**\n${items.join("\n")}\n\n`;
}

function gaps({ gaps: found }: Report): string {
  if (found.length === 0) return "";
  const shown = found.slice(0, 10).map((gap) => `> - ${plain(gap)}`);
  const more = found.length > shown.length ? [`> - and ${found.length - shown.length} more`] : [];
  return `> [!WARNING]\n> **Not complete**: what follows from these problems is left out. ${code("fleet check")} says more.\n${[...shown, ...more].join("\n")}\n\n`;
}

function byKind(clusters: readonly ClusterReport[]): string {
  const changes = clusters.flatMap((cluster) => cluster.changes);
  const kinds = [...new Set(changes.map(({ kind }) => kind))].sort();
  return table(
    ["Kind", ...changeOperations],
    kinds.map((kind) => {
      const own = changes.filter((change) => change.kind === kind);
      return [plain(kind), ...changeOperations.map((operation) => cell(count(own, operation)))];
    }),
  );
}

const byCluster = (clusters: readonly ClusterReport[]): string =>
  table(
    ["Cluster", ...changeOperations],
    clusters.map((cluster) => [
      `${plain(title(cluster))}${cluster.problems.length > 0 ? " ⚠" : ""}`,
      ...changeOperations.map((operation) => cell(count(cluster.changes, operation))),
    ]),
  );

const byStack = (stacks: readonly Stack[]): string =>
  table(
    ["Stack", ...resourceOperations.map((operation) => stackWords[operation]), "unchanged"],
    stacks.map(({ name, changes, same, errors }) => [
      `${plain(name)}${errors.length > 0 ? " ⚠" : ""}`,
      ...resourceOperations.map((operation) => cell(count(changes, operation))),
      cell(same),
    ]),
  );

function headline(report: Report): string {
  const real = report.clusters.filter(({ template }) => !template);
  const touched = real.filter(isTouched);
  const templates = report.clusters.filter((cluster) => cluster.template && isTouched(cluster));
  const stacks = report.stacks.filter(({ changes, errors }) => changes.length > 0 || errors.length > 0);
  const rendered = `${most(real.length, "cluster")} compared`;
  const nothing = report.gaps.length > 0 ? "Nothing changes in the part that could be compared" : "**Nothing changes**";
  const changes = counts(
    touched.flatMap((cluster) => cluster.changes),
    changeOperations,
  );
  return [
    touched.length === 0
      ? `${nothing}: ${rendered}.`
      : `**${touched.length} of ${most(real.length, "cluster")} touched**${changes ? `: ${changes}` : ""}.`,
    ...(templates.length === 0
      ? []
      : [
          `New spokes would be created differently too, in ${templates.map(({ environment }) => environment).join(", ")}.`,
        ]),
    ...(report.stacks.length === 0
      ? []
      : [
          stacks.length === 0
            ? "No stack changes."
            : `${stacks.length} of ${most(report.stacks.length, "stack")} changed by Pulumi.`,
        ]),
  ].join(" ");
}

function summaryOf(report: Report): string {
  const touched = report.clusters.filter(isTouched);
  const untouched = report.clusters.filter((cluster) => !isTouched(cluster)).map(title);
  const isChanged = touched.length > 0;
  return [
    `${marker}\n## What this change does to the fleet\n\n`,
    ...report.assumed.map((fact) => `> [!NOTE]\n> **Assumed**: ${plain(fact)}.\n\n`),
    `${headline(report)}\n\n`,
    losses(report),
    gaps(report),
    byKind(touched.filter(({ template }) => !template)),
    byCluster(touched),
    isChanged && untouched.length > 0 ? `Unchanged: ${untouched.map(plain).join(", ")}.\n\n` : "",
    byStack(report.stacks),
    `<sub>${side(report.base)} → ${side(report.head)}, after rendering</sub>\n\n`,
  ].join("");
}

function block(change: Change): string {
  const where = change.by === "the Composition" ? "made by the Composition" : `by ${code(change.by)}`;
  const because = change.because ? `; can't be changed in place: ${change.because.map(code).join(", ")}` : "";
  const line = `- **${change.operation}** ${plain(change.kind)} ${code(named(change))} on ${plain(change.on)}, ${where}${because}\n`;
  if (!change.diff) return line;
  return `${line}\n${fenced(change.diff)}\n`;
}

const folded = (name: string, what: string): Pick<Section, "opening" | "closing"> => ({
  opening: `<details><summary><b>${plain(name)}</b>: ${what}</summary>\n\n`,
  closing: "\n</details>\n\n",
});

const clusterSection = (cluster: ClusterReport): Section => ({
  ...folded(title(cluster), counts(cluster.changes, changeOperations) || "nothing changes, but see"),
  blocks: [...cluster.problems.map((problem) => `- ⚠ ${plain(problem)}\n`), ...cluster.changes.map(block)],
  leftOut: (number) =>
    `\n_${most(number, "more change")} left out: a comment has no room for more. ${code("fleet diff … --format json")} lists all._\n`,
});

function stackBlock({ operation, type, name, properties, because }: StackChange): string {
  const forced = because.length > 0 ? `; can't be changed in place: ${because.map(code).join(", ")}` : "";
  const changed = properties.length > 0 ? `: ${properties.map(code).join(", ")}` : "";
  return `- **${stackWords[operation]}** ${plain(type)} ${code(name)}${changed}${forced}\n`;
}

const stackSection = ({ name, changes, errors }: Stack): Section => ({
  ...folded(`stack ${name}`, counts(changes, resourceOperations, Object.values(stackWords)) || "its preview fails"),
  blocks: [...errors.map((error) => `- ⚠ ${plain(error)}\n`), ...changes.map(stackBlock)],
  leftOut: (number) => `\n_${most(number, "more change")} left out: a comment has no room for more._\n`,
});

const notesSection = (notes: readonly string[]): Section => ({
  ...folded("How this was compared", most(notes.length, "remark")),
  blocks: notes.map((note) => `- ${plain(note)}\n`),
  leftOut: (number) => `- and ${most(number, "more remark")}\n`,
});

/** The comment, within the size that GitHub accepts; the summary is always complete. */
export function markdown(report: Report, limit?: number): string {
  const { clusters, stacks, notes } = report;
  const sections = [
    ...clusters.filter(isTouched).map(clusterSection),
    ...stacks.filter(({ changes, errors }) => changes.length > 0 || errors.length > 0).map(stackSection),
    ...(notes.length > 0 ? [notesSection(notes)] : []),
  ];
  const rest = (number: number) => `_${most(number, "section")} left out: a comment has no room for more._\n`;
  return fitted(summaryOf(report), sections, rest, limit);
}

import { type Change, changeOperations } from "./compare.ts";
import { costLines } from "./costs.ts";
import { fitted, type Section } from "./fit.ts";
import { type ResourceOperation, resourceOperations, type Stack, type StackChange } from "./preview.ts";
import type { ClusterReport, Report, SideReport } from "./report.ts";
import type { Style } from "./style.ts";

/** The words of a report, in a style. */

const most = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

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
const side = ({ code }: Style, { label, commit }: SideReport): string =>
  `${code(label)}${commit === undefined ? "" : ` (${commit.slice(0, 9)})`}`;

const named = (change: Change): string => [change.namespace, change.name].filter(Boolean).join("/");
const stackWords: Readonly<Record<ResourceOperation, string>> = {
  create: "created",
  update: "changed",
  replace: "replaced",
  delete: "deleted",
};

/** Changes that may lose data, at the top of the comment. */
function losses({ callout, code, plain, strong }: Style, { clusters, stacks }: Report): string {
  const lines = new Map<string, string[]>();
  const add = (what: string, where: string) => lines.set(what, [...(lines.get(what) ?? []), where]);
  for (const operation of ["deleted", "replaced"]) {
    for (const cluster of clusters)
      for (const change of cluster.changes)
        if (change.stateful && change.operation === operation)
          add(`${strong(operation)} ${change.kind}`, `${code(named(change))} – ${plain(title(cluster))}`);
    for (const { name, changes } of stacks)
      for (const change of changes)
        if (change.stateful && stackWords[change.operation] === operation)
          add(`${strong(operation)} ${plain(change.type)}`, `${code(change.name)} – stack ${plain(name)}`);
  }
  if (lines.size === 0) return "";
  const items = [...lines].map(([what, where]) => `${what}: ${where.join("; ")}`);
  return callout("CAUTION", strong("Stateful resources are deleted or replaced: their data goes with them."), items);
}

function gaps({ callout, code, plain, strong }: Style, { gaps: found }: Report): string {
  if (found.length === 0) return "";
  const shown = found.slice(0, 10).map(plain);
  const more = found.length > shown.length ? [`and ${found.length - shown.length} more`] : [];
  const what = `${strong("Not complete")}: what follows from these problems is left out. ${code("fleet check")} says more.`;
  return callout("WARNING", what, [...shown, ...more]);
}

function byKind({ plain, table }: Style, clusters: readonly ClusterReport[]): string {
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

const byCluster = ({ plain, table }: Style, clusters: readonly ClusterReport[]): string =>
  table(
    ["Cluster", ...changeOperations],
    clusters.map((cluster) => [
      `${plain(title(cluster))}${cluster.problems.length > 0 ? " ⚠" : ""}`,
      ...changeOperations.map((operation) => cell(count(cluster.changes, operation))),
    ]),
  );

/** What the change does to list prices. */
function costs({ plain }: Style, clusters: readonly ClusterReport[]): string {
  const changed = clusters.flatMap((cluster) =>
    cluster.cost === undefined ? [] : [{ title: title(cluster), cost: cluster.cost }],
  );
  const lines = costLines(changed).map((line) => `- ${plain(line)}\n`);
  return lines.length === 0 ? "" : `${lines.join("")}\n`;
}

const byStack = ({ plain, table }: Style, stacks: readonly Stack[]): string =>
  table(
    ["Stack", ...resourceOperations.map((operation) => stackWords[operation]), "unchanged"],
    stacks.map(({ name, changes, same, errors }) => [
      `${plain(name)}${errors.length > 0 ? " ⚠" : ""}`,
      ...resourceOperations.map((operation) => cell(count(changes, operation))),
      cell(same),
    ]),
  );

function headline({ strong }: Style, report: Report): string {
  const real = report.clusters.filter(({ template }) => !template);
  const touched = real.filter(isTouched);
  const templates = report.clusters.filter((cluster) => cluster.template && isTouched(cluster));
  const stacks = report.stacks.filter(({ changes, errors }) => changes.length > 0 || errors.length > 0);
  const rendered = `${most(real.length, "cluster")} compared`;
  const nothing =
    report.gaps.length > 0 ? "Nothing changes in the part that could be compared" : strong("Nothing changes");
  const changes = counts(
    touched.flatMap((cluster) => cluster.changes),
    changeOperations,
  );
  return [
    touched.length === 0
      ? `${nothing}: ${rendered}.`
      : `${strong(`${touched.length} of ${most(real.length, "cluster")} touched`)}${changes ? `: ${changes}` : ""}.`,
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

function summaryOf(style: Style, report: Report): string {
  const { callout, plain, strong } = style;
  const touched = report.clusters.filter(isTouched);
  const untouched = report.clusters.filter((cluster) => !isTouched(cluster)).map(title);
  const isChanged = touched.length > 0;
  return [
    style.title("What this change does to the fleet"),
    ...report.assumed.map((fact) => callout("NOTE", `${strong("Assumed")}: ${plain(fact)}.`)),
    `${headline(style, report)}\n\n`,
    losses(style, report),
    gaps(style, report),
    byKind(
      style,
      touched.filter(({ template }) => !template),
    ),
    byCluster(style, touched),
    costs(style, touched),
    isChanged && untouched.length > 0 ? `Unchanged: ${untouched.map(plain).join(", ")}.\n\n` : "",
    byStack(style, report.stacks),
    style.small(`${side(style, report.base)} → ${side(style, report.head)}, after rendering`),
  ].join("");
}

const block =
  ({ code, diff, plain, strong }: Style) =>
  (change: Change): string => {
    const where = change.by === "the Composition" ? "made by the Composition" : `by ${code(change.by)}`;
    const because = change.because ? `; can't be changed in place: ${change.because.map(code).join(", ")}` : "";
    const line = `- ${strong(change.operation)} ${plain(change.kind)} ${code(named(change))} on ${plain(change.on)}, ${where}${because}\n`;
    return change.diff ? `${line}${diff(change.diff)}` : line;
  };

const clusterSection =
  (style: Style) =>
  (cluster: ClusterReport): Section => ({
    ...style.section(title(cluster), counts(cluster.changes, changeOperations) || "nothing changes, but see"),
    blocks: [
      ...cluster.problems.map((problem) => `- ⚠ ${style.plain(problem)}\n`),
      ...cluster.changes.map(block(style)),
    ],
    leftOut: (number) =>
      `\n${style.aside(`${most(number, "more change")} left out: a comment has no room for more. ${style.code("fleet diff … --format json")} lists all.`)}\n`,
  });

const stackBlock =
  ({ code, plain, strong }: Style) =>
  ({ operation, type, name, properties, because }: StackChange): string => {
    const forced = because.length > 0 ? `; can't be changed in place: ${because.map(code).join(", ")}` : "";
    const changed = properties.length > 0 ? `: ${properties.map(code).join(", ")}` : "";
    return `- ${strong(stackWords[operation])} ${plain(type)} ${code(name)}${changed}${forced}\n`;
  };

const stackSection =
  (style: Style) =>
  ({ name, changes, errors }: Stack): Section => ({
    ...style.section(
      `stack ${name}`,
      counts(changes, resourceOperations, Object.values(stackWords)) || "its preview fails",
    ),
    blocks: [...errors.map((error) => `- ⚠ ${style.plain(error)}\n`), ...changes.map(stackBlock(style))],
    leftOut: (number) =>
      `\n${style.aside(`${most(number, "more change")} left out: a comment has no room for more.`)}\n`,
  });

const notesSection = ({ plain, section }: Style, notes: readonly string[]): Section => ({
  ...section("How this was compared", most(notes.length, "remark")),
  blocks: notes.map((note) => `- ${plain(note)}\n`),
  leftOut: (number) => `- and ${most(number, "more remark")}\n`,
});

/** The report within some characters; the summary is always complete. */
export function written(style: Style, report: Report, limit: number): string {
  const { clusters, stacks, notes } = report;
  const sections = [
    ...clusters.filter(isTouched).map(clusterSection(style)),
    ...stacks.filter(({ changes, errors }) => changes.length > 0 || errors.length > 0).map(stackSection(style)),
    ...(notes.length > 0 ? [notesSection(style, notes)] : []),
  ];
  const rest = (number: number) =>
    `${style.aside(`${most(number, "section")} left out: a comment has no room for more.`)}\n`;
  return fitted(summaryOf(style, report), sections, rest, limit);
}

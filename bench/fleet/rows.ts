import { mebibytes, seconds } from "../report.ts";
import type { Commits, Stage } from "./result.ts";

type Rows = string[][];
type Cell = (stage: Stage) => string;

/** Controllers with less than this share of what all take together are one row. */
const SMALL = 0.02;

const row = (stages: readonly Stage[], name: string, cell: Cell): string[] => [name, ...stages.map(cell)];

/** A row for each controller that takes its share at any size, the greatest first, and one for the others. */
export function byController(
  stages: readonly Stage[],
  of: (stage: Stage) => ReadonlyMap<string, number>,
  show: (value: number) => string,
): Rows {
  const total = (stage: Stage) => [...of(stage).values()].reduce((sum, value) => sum + value, 0);
  const names = [...new Set(stages.flatMap((stage) => [...of(stage).keys()]))];
  const counts = (name: string) => stages.some((stage) => (of(stage).get(name) ?? 0) >= SMALL * total(stage));
  const [last] = stages.slice(-1);
  const value = (stage: Stage | undefined, name: string) => (stage === undefined ? 0 : (of(stage).get(name) ?? 0));
  const shown = names.filter(counts).toSorted((a, b) => value(last, b) - value(last, a));
  const rest = names.filter((name) => !counts(name));
  const others = (stage: Stage) => rest.reduce((sum, name) => sum + value(stage, name), 0);
  return [
    ...shown.map((name) => row(stages, name, (stage) => show(value(stage, name)))),
    ...(rest.length > 0 ? [row(stages, `${rest.length} others`, (stage) => show(others(stage)))] : []),
  ];
}

/** What a kind of commit costs at each size. */
function commitRows(stages: readonly Stage[], name: string, of: (stage: Stage) => Commits): Rows {
  const cell = (what: string, show: (commits: Commits) => string) =>
    row(stages, `${name}: ${what}`, (stage) => show(of(stage)));
  const milestones = Object.keys(stages[0] === undefined ? {} : of(stages[0]).reached);
  const parts = [
    ["root", "the hub's root"],
    ["platform", "of the platform"],
    ["spokes", "of spokes' folders"],
    ["chains", "of spokes' chains"],
  ] as const;
  return [
    ...milestones.map((milestone) =>
      cell(`${milestone}, after`, ({ reached }) => seconds(reached[milestone] ?? Number.NaN)),
    ),
    cell("everything, after", ({ took }) => seconds(took)),
    ...parts.map(([part, words]) =>
      cell(`Kustomizations ${words} with another revision`, ({ counts }) => {
        const { changed, all } = counts.kustomizations[part];
        return `${changed} of ${all}`;
      }),
    ),
    cell("artifacts with other content", ({ counts }) => `${counts.artifacts.changed} of ${counts.artifacts.all}`),
    cell("artifacts written to", ({ counts }) => `${counts.artifacts.written} of ${counts.artifacts.all}`),
    cell("generators that ran", ({ counts }) => `${counts.generators.written} of ${counts.generators.all}`),
    cell("reconciliations", ({ reconciles }) => reconciles.toFixed(0)),
    cell("processor time", ({ cpu }) => `${cpu.toFixed(1)} s`),
    cell("API requests", ({ requests }) => requests.toFixed(0)),
  ];
}

const at = (index: number, of: (stage: Stage) => readonly number[]): Cell => {
  return (stage) => seconds(of(stage)[index] ?? Number.NaN);
};

/** All tables, one below the other; each begins with a row of its name and the sizes of the fleet. */
export function rowsOf(stages: readonly Stage[]): Rows {
  const head = (name: string) => row(stages, name, ({ size }) => `${size} spoke${size === 1 ? "" : "s"}`);
  const line = (name: string, cell: Cell) => row(stages, name, cell);
  return [
    head("SPOKES"),
    line(
      "Flux has made the last Spoke after",
      at(2, ({ made }) => made),
    ),
    line(
      "time to Ready, first",
      at(0, ({ ready }) => ready),
    ),
    line(
      "time to Ready, median",
      at(1, ({ ready }) => ready),
    ),
    line(
      "time to Ready, last",
      at(2, ({ ready }) => ready),
    ),
    line("processor time for one more spoke", ({ each }) => `${each.cpu.toFixed(1)} s`),
    line("API requests for one more spoke", ({ each }) => each.requests.toFixed(0)),
    line("memory of the hub", ({ memory }) => mebibytes(memory)),
    line("memory for one more spoke", ({ each }) => mebibytes(each.memory)),
    line("etcd: file", ({ store }) => mebibytes(store)),
    line("etcd: objects", ({ objects }) => String(objects)),
    line("processors at rest", ({ rest }) => rest.cpu.toFixed(2)),
    line("API requests in a second at rest", ({ rest }) => rest.requests.toFixed(0)),
    line("reconciliations in a minute at rest", ({ rest }) => (60 * rest.reconciles).toFixed(0)),
    head("PROCESSOR TIME FOR ONE MORE SPOKE"),
    ...byController(
      stages,
      ({ cpuBy }) => cpuBy,
      (value) => `${value.toFixed(2)} s`,
    ),
    head("MEMORY"),
    ...byController(stages, ({ memoryBy }) => memoryBy, mebibytes),
    head("RECONCILIATIONS IN A MINUTE AT REST"),
    ...byController(
      stages,
      ({ restBy }) => restBy,
      (value) => value.toFixed(0),
    ),
    head("COMMITS"),
    ...commitRows(stages, "one spoke, the first by name", ({ first }) => first),
    ...commitRows(stages, "one spoke, the last by name", ({ last }) => last),
    ...commitRows(stages, "one tool", ({ tool }) => tool),
    ...commitRows(stages, "the chain", ({ chain }) => chain),
  ];
}

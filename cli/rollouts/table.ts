import type { History } from "./git.ts";
import { type Decision, type Facts, short } from "./plan.ts";
import { nextOf, stateOf } from "./words.ts";

/** What people and programs are shown. */

/** One ring, as `-o json` writes it. */
export interface Row {
  readonly ring: string;
  readonly spokes: { readonly ready: number; readonly total: number };
  readonly commit: string | undefined;
  readonly subject: string | undefined;
  /** Changes for rings that the ring before has, or the hub's branch, and this one has not; newest first. */
  readonly waiting: readonly { readonly commit: string; readonly subject: string }[];
  readonly verdict: Decision["verdict"];
  readonly health: Decision["health"];
  readonly state: string;
  readonly next: string;
}

export function rowsOf(decisions: readonly Decision[], { history, hub, now }: Facts): Row[] {
  let offered = history.main;
  return decisions.map((decision) => {
    const { ring, commit, health, verdict } = decision;
    const waiting = commit === undefined ? [] : history.changes(commit, offered);
    offered = commit ?? offered;
    return {
      ring: ring.name,
      spokes: {
        ready: health?.healthy.length ?? 0,
        total: hub.spokes.filter((spoke) => spoke.ring === ring.name).length,
      },
      ...{ commit, subject: commit === undefined ? undefined : history.subject(commit), waiting, verdict, health },
      ...{ state: stateOf(decision, now), next: nextOf(decision, now) },
    };
  });
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function waitingText(waiting: Row["waiting"]): string {
  const [newest] = waiting;
  if (newest === undefined) return "-";
  const rest = waiting.length > 1 ? `+${waiting.length - 1}: ` : "";
  return `${rest}${short(newest.commit)} ${cut(newest.subject, 30)}`;
}

const cells = ({ ring, spokes, commit, subject, waiting, verdict, state, next }: Row): readonly string[] => [
  ring,
  `${spokes.ready} of ${spokes.total}`,
  commit === undefined ? "-" : `${short(commit)} ${cut(subject ?? "", 30)}`,
  waitingText(waiting),
  state,
  verdict.kind === "problem" ? "see below" : next,
];

const header = ["RING", "READY", "COMMIT", "WAITS", "STATE", "NEXT"];

/** The table, with what a person has to put right below it. */
export function tableOf(rows: readonly Row[], notes: readonly string[]): string {
  const lines = [header, ...rows.map(cells)];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const problems = rows.flatMap(({ ring, verdict }) =>
    verdict.kind === "problem" ? [`ring ${ring}: ${verdict.problem}`] : [],
  );
  const below = [...problems, ...notes];
  return `${[...table, ...(below.length > 0 ? ["", ...below] : [])].join("\n")}\n`;
}

/** What no ring of the file answers for. */
export function notesOf({ rings, history, hub }: Facts & { readonly history: History }): string[] {
  const names = rings.map(({ name }) => name);
  const lost = Map.groupBy(
    hub.spokes.filter(({ ring }) => !names.includes(ring)),
    ({ ring }) => ring,
  );
  const branches = [...history.tips.keys()].filter((ring) => !names.includes(ring) && !lost.has(ring));
  return [
    ...[...lost].map(
      ([ring, spokes]) =>
        `ring ${ring} is not in rings.yaml, so nothing reaches its spokes: ${spokes.map(({ name }) => name).join(", ")}`,
    ),
    ...branches.map((ring) => `the branch ring/${ring} belongs to no ring of this fleet's rings.yaml`),
  ];
}

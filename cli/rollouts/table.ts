import { hubName } from "../../lib/names.ts";
import { ringBranch } from "../../lib/rings.ts";
import { columns, cut } from "../columns.ts";
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
  cut(state, 100),
  verdict.kind === "problem" ? "see below" : cut(next, 100),
];

const header = ["RING", "READY", "COMMIT", "WAITS", "STATE", "NEXT"];

/** The table, with what a person has to put right below it. */
export function tableOf(rows: readonly Row[], others: readonly string[]): string {
  const table = columns([header, ...rows.map(cells)]);
  const problems = rows.flatMap(({ ring, verdict }) =>
    verdict.kind === "problem" ? [`ring ${ring}: ${verdict.problem}`] : [],
  );
  const below = [...problems, ...others];
  return `${[table, ...(below.length > 0 ? ["", ...below] : [])].join("\n")}\n`;
}

/** What a person has to put right, besides rings. */
export function problemsOf({ rings, hub }: Facts): string[] {
  const lost = Map.groupBy(
    hub.spokes.filter(({ ring }) => !rings.some(({ name }) => name === ring)),
    ({ ring }) => ring,
  );
  return [
    ...(hub.frozen === undefined ? [] : [`${hub.frozen}. What Spokes say may be out of date, so no ring passes`]),
    ...[...lost].map(
      ([ring, spokes]) =>
        `ring ${ring} is not in rings.yaml, so nothing reaches its spokes: ${spokes.map(({ name }) => name).join(", ")}`,
    ),
  ];
}

/** What is worth knowing about branches. @param others rings of the repository's other fleets */
export function notesOf({ rings, history, hub }: Facts, others: readonly string[]): string[] {
  const names = [...rings.map(({ name }) => name), ...hub.spokes.map(({ ring }) => ring), ...others];
  return [
    ...rings
      .filter(({ name }) => !history.tips.has(name))
      .map(
        ({ name }) =>
          `${ringBranch(name)} does not exist, and the hub's Kustomization ${hubName} is not Ready before it does: fleet rollouts --promote makes it`,
      ),
    ...[...history.tips.keys()]
      .filter((ring) => !names.includes(ring))
      .map((ring) => `the branch ${ringBranch(ring)} belongs to no ring of a rings.yaml in this repository`),
  ];
}

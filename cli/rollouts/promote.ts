import { ringBranch } from "../../lib/rings.ts";
import { eventsOf } from "./events.ts";
import { type Clone, type Move, push } from "./git.ts";
import type { HubApi } from "./hub.ts";
import { type Decision, type Facts, short } from "./plan.ts";

/** What a run did, each as a line for a person. */
export interface Done {
  readonly moved: readonly Move[];
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

export const movesOf = (decisions: readonly Decision[]): Move[] =>
  decisions.flatMap(({ verdict }) => (verdict.kind === "moves" ? [verdict.move] : []));

/** `ring/early: 1234567 -> 89abcde` */
export const moveLine = ({ ring, from, to }: Move): string =>
  `${ringBranch(ring)}: ${from === undefined ? "new" : short(from)} -> ${short(to)}`;

/** Moves the branches that may move, and tells of it on the hub. One that fails holds up no other. */
export async function promote(decisions: readonly Decision[], facts: Facts, clone: Clone, hub: HubApi): Promise<Done> {
  const moved: Move[] = [];
  const lines: string[] = [];
  const failures: string[] = [];
  for (const move of movesOf(decisions)) {
    try {
      const isMoved = push(clone, move);
      if (isMoved) moved.push(move);
      lines.push(
        isMoved
          ? moveLine(move)
          : `${ringBranch(move.ring)} was moved by somebody else meanwhile; the next run looks again`,
      );
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  for (const event of eventsOf(decisions, moved, facts)) {
    try {
      await hub.tell(event);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  return { moved, lines, failures: [...new Set(failures)] };
}

import { inWords } from "./durations.ts";
import { type Decision, short } from "./plan.ts";

/** The decisions in words. */

/** How long a ring has been healthy, of how long it must be. */
function soaking({ ring, health }: Decision, now: number): string {
  if (health?.reason !== undefined) return "can't be judged";
  return `soaking ${inWords(now - (health?.since ?? now))} of ${inWords(ring.soak)}`;
}

function arriving({ health }: Decision, now: number): string {
  if (health?.isAgain) return "applied once more";
  if (health?.arrivingSince === undefined) return "arriving";
  return `arriving for ${inWords(now - health.arrivingSince)}${health.isLate ? ", which is late" : ""}`;
}

function waiting({ verdict }: Decision): string | undefined {
  switch (verdict.kind) {
    case "moves":
      return verdict.move.from === undefined ? undefined : "to be moved";
    case "blocked":
      return `stops behind ${verdict.by}`;
    case "waits for ring":
      return `waits for ${verdict.ring}`;
    case "keeps for ring":
      return `waits for ${verdict.ring} to take what it has`;
    case "waits for window":
      return `waits for its window (${verdict.opens})`;
    case "ahead":
      return `ahead of ${verdict.of}`;
    case "taken back":
      return `does not take ${short(verdict.offered)}`;
    default:
      return undefined;
  }
}

/** What a ring is at: `soaking 3h of 24h, held`. */
export function stateOf(decision: Decision, now: number): string {
  const { ring, health, verdict } = decision;
  if (verdict.kind === "problem") return "problem";
  const ofHealth = {
    stopped: `stopped: ${health?.reason}`,
    arriving: arriving(decision, now),
    soaking: soaking(decision, now),
    passed: undefined,
  };
  const parts = [
    health === undefined ? "no branch yet" : ofHealth[health.state],
    ring.revision === undefined ? undefined : "pinned",
    ring.hold ? "held" : undefined,
    waiting(decision),
  ].filter((part) => part !== undefined);
  return parts.join(", ") || "up to date";
}

/** What a ring that takes nothing at the moment is waiting for. */
function progress({ ring, health, before }: Decision, now: number): string {
  switch (health?.state) {
    case "stopped":
      if (before === undefined) return "takes a fix or a revert at once";
      return `takes a fix or a revert once ${before} has passed with it; revision in rings.yaml brings it back now`;
    case "arriving":
      return `must arrive: ${health.reason}`;
    case "soaking":
      if (health.reason !== undefined) return health.reason;
      return `passes in ${inWords((health.since ?? now) + ring.soak - now)}`;
    default:
      return health?.spokes === 0 ? "nothing waits; without spokes it passes at once" : "nothing waits";
  }
}

/** What happens next. */
export function nextOf(decision: Decision, now: number): string {
  const { verdict } = decision;
  switch (verdict.kind) {
    case "moves":
      return { create: "gets a branch at", promote: "takes", "roll back": "goes back to" }[verdict.move.kind].concat(
        ` ${short(verdict.move.to)}`,
      );
    case "problem":
      return verdict.problem;
    case "blocked":
      return "goes on when that is put right";
    case "at its revision":
      return "stays there until revision is taken away";
    case "taken back":
      return "nothing waits: those before it went back to what it has";
    case "held":
      return `takes ${short(verdict.offered)} once hold is taken away`;
    case "waits for ring":
      if (decision.commit === undefined) return `gets a branch when ${verdict.ring} has passed`;
      return `takes ${short(verdict.offered)} when ${verdict.ring} has passed`;
    case "keeps for ring":
      return `takes ${short(verdict.offered)} after that`;
    case "waits for window":
      return `takes ${short(verdict.offered)} then`;
    default:
      return progress(decision, now);
  }
}

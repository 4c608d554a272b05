import { title } from "./references.ts";
import type { Outcome } from "./resolve.ts";

const headings = {
  wrong: "Wrong: what is referenced is not there, or is not what the reference says",
  unanswered: "Unanswered: nobody could say, try again later",
  skipped: "Not asked",
} as const;

/** The outcomes as Markdown: what is wrong first, each with the places to fix. */
export function report(outcomes: readonly Outcome[], undecided: readonly string[]): string {
  const of = (state: Outcome["state"]) => outcomes.filter((outcome) => outcome.state === state);
  const sections = (Object.keys(headings) as (keyof typeof headings)[]).flatMap((state) => {
    const found = of(state);
    if (found.length === 0) return [];
    const items = found.map(
      ({ reference, message }) => `- ${title(reference)}: ${message}\n  - ${reference.origins.join("\n  - ")}`,
    );
    return [`## ${headings[state]}\n\n${items.join("\n")}\n`];
  });
  if (undecided.length > 0)
    sections.push(`## Not known from the files\n\n${undecided.map((each) => `- ${each}`).join("\n")}\n`);
  const right = of("right").length;
  return [`${right} of ${outcomes.length} external references are right.\n`, ...sections].join("\n");
}

/** 0: none is wrong and every asked one answered; 1: one is wrong; 2: none is known to be wrong, but one had no answer. */
export function exitCode(outcomes: readonly Outcome[]): 0 | 1 | 2 {
  if (outcomes.some(({ state }) => state === "wrong")) return 1;
  return outcomes.some(({ state }) => state === "unanswered") ? 2 : 0;
}

import type { Seen } from "./watch.ts";

/** What came of a drill. */
export interface Drill {
  readonly fault: string;
  readonly phase: string;
  /** From the push that begins the phase to its end, in seconds. */
  readonly seconds: number;
  readonly seen: Seen;
}

/** Seconds without an answer that a person notices. */
const NOTICED = 15;
/** Characters of a message that the table shows. */
const SHOWN = 160;

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function sawText({ failures, silence, commands }: Seen): string {
  const said = failures.map((failure) => (failure.length > SHOWN ? `${failure.slice(0, SHOWN)}…` : failure));
  const quiet = silence >= NOTICED ? [`the hub did not answer for ${silence} s`] : [];
  const ran = commands.map((command) => `**${command}**`);
  return [...quiet, ...said, ...ran].join("; ") || "it goes on";
}

/** A row of Markdown: a drill beside the seconds of the same phase without a fault, where they are known. */
export const rowOf = ({ fault, phase, seconds, seen }: Drill, without?: number): string =>
  `| ${fault} | ${phase} | ${seconds} s | ${without === undefined ? "" : `${without} s`} | ${cell(sawText(seen))} |`;

/** The rows of drills under their heads. */
export function tableOf(drills: readonly Drill[], undisturbed: string): string[] {
  const usual = new Map(
    drills.filter(({ fault }) => fault === undisturbed).map(({ phase, seconds }) => [phase, seconds]),
  );
  const others = drills.filter(({ fault }) => fault !== undisturbed);
  const rows = others.map((drill) => rowOf(drill, usual.get(drill.phase)));
  return [
    "| What | During | Took | Without | What a person saw, and did |",
    "| --- | --- | ---: | ---: | --- |",
    ...rows,
  ];
}

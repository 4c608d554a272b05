/** The score of a mutation test: how much of what could break is noticed. */

/** A change of the code for which the tests were asked. */
export interface Mutant {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  /** What stands there, and what in its place. */
  readonly what: string;
  readonly survived: boolean;
}

/** Per cent of the mutants that must not survive, in every area. */
export const LEAST = 85;

/** Per cent of the mutants that a test notices. @throws Error when there is none: a score of nothing would be a perfect one. */
export function scoreOf(mutants: readonly Mutant[]): number {
  if (mutants.length === 0)
    throw new Error("there is no mutant: the area's files are not where test/mutation/areas.ts says");
  return (100 * mutants.filter(({ survived }) => !survived).length) / mutants.length;
}

/** One line of the table. */
export function summary(area: string, mutants: readonly Mutant[]): string {
  const killed = mutants.filter(({ survived }) => !survived).length;
  const score = scoreOf(mutants);
  // Rounded down: 84.99 is not 85.
  const shown = (Math.floor(score * 10) / 10).toFixed(1);
  return `${area.padEnd(12)} ${shown.padStart(5)} %  ${killed} of ${mutants.length} mutants killed${score < LEAST ? `, at least ${LEAST} % are required` : ""}`;
}

/** The survivors in the order of the files, one a line. */
export const survivors = (mutants: readonly Mutant[]): string[] =>
  mutants
    .filter(({ survived }) => survived)
    .sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1))
    .map(({ file, line, what }) => `${file}:${line}  ${what.replaceAll(/\s+/g, " ")}`);

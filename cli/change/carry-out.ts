import { refuse } from "../usage.ts";
import { commit, editProblems, lossProblems, push } from "./commit.ts";
import { type Beside, effectOf, programs as installed, type Programs } from "./effect.ts";
import { type FileChange, type Proposal, writeFiles } from "./files.ts";
import { isCommitted, type Wish } from "./options.ts";
import { patchOf } from "./patch.ts";

export interface CarryOutOptions {
  /** The fleet that it is about; undefined for the only one. */
  readonly fleet?: string | undefined;
  /** Checkouts that the command line names, beside those that change. */
  readonly beside?: Beside;
  /** What a person does once it is pushed. */
  readonly next?: string;
  readonly programs?: Programs;
}

const pathsOf = (files: readonly FileChange[]): string[] => files.map(({ path }) => path);

/** What was done, with the names of places where all files are written or all are removed. */
function done({ files, checkout, places }: Proposal): string {
  const named = (word: string, some: readonly FileChange[]) => {
    const names = some.length === files.length && places !== undefined ? places : pathsOf(some);
    return some.length === 0 ? [] : [`${word} ${names.join(" ")}`];
  };
  const written = files.filter(({ after }) => after !== undefined);
  const removed = files.filter(({ after }) => after === undefined);
  return `${[...named("Wrote", written), ...named("Removed", removed)].join("; ")} in ${checkout}`;
}

const nextStep = (proposal: Proposal): string =>
  `Next, in ${proposal.checkout}:
  git add ${(proposal.places ?? pathsOf(proposal.files)).join(" ")} && git commit -m "${proposal.subject}" && git push`;

async function dryRun(proposals: readonly Proposal[], options: CarryOutOptions): Promise<void> {
  for (const { checkout, files } of proposals) console.log(`In ${checkout}:\n${patchOf(files)}`);
  console.log(await effectOf(proposals, options, options.programs ?? installed));
  console.log("Nothing was written.");
}

/**
 * Shows what a command wants to change, or writes it, and commits and pushes it where that is asked for: in each checkout what it
 * wrote there and nothing else. What the person does next is printed.
 * @throws UsageError while files to be committed or removed have other changes; then nothing was written
 */
export async function carryOut(
  command: string,
  all: readonly Proposal[],
  wish: Wish,
  options: CarryOutOptions = {},
): Promise<void> {
  const proposals = all.filter(({ files }) => files.length > 0);
  if (wish["dry-run"]) return dryRun(proposals, options);
  refuse(
    command,
    proposals.flatMap(({ checkout, files }) => [
      ...lossProblems(checkout, pathsOf(files.filter(({ after }) => after === undefined))),
      ...(isCommitted(wish) ? editProblems(checkout, pathsOf(files.filter(({ after }) => after !== undefined))) : []),
    ]),
  );
  for (const { checkout, files } of proposals) await writeFiles(checkout, files);
  if (isCommitted(wish)) commitAll(proposals, wish);
  else for (const proposal of proposals) console.log(`${done(proposal)}. ${nextStep(proposal)}`);
  if (options.next !== undefined) console.log(options.next);
}

function commitAll(proposals: readonly Proposal[], wish: Wish): void {
  for (const proposal of proposals) {
    const { checkout, subject, body, files } = proposal;
    const made = commit(checkout, pathsOf(files), [subject, ...(body === undefined ? [] : [body])]);
    console.log(`${done(proposal)}, commit ${made}: ${subject}`);
  }
  for (const { checkout } of proposals)
    console.log(wish.push ? `Pushed to ${push(checkout)}` : `Next: git -C ${checkout} push`);
}

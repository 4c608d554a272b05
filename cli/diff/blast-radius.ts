import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Report, type ReportOptions, reportOf } from "./report.ts";
import { openSide, type SideOptions } from "./side.ts";
import { type State, type StateOptions, stateOf } from "./state.ts";

export interface BlastRadiusOptions
  extends Pick<StateOptions, "build" | "hub" | "recorded">,
    Pick<ReportOptions, "stacks" | "charts">,
    Pick<SideOptions, "cwd" | "others"> {
  /** Git revisions or folders. */
  readonly base: string;
  readonly head: string;
}

/**
 * What the change from `base` to `head` does to every cluster.
 * @throws UsageError, WorkspaceError when a state is not there or is not a state of the repositories
 */
export async function blastRadius(options: BlastRadiusOptions): Promise<Report> {
  const { base, head, cwd, others, build, hub, recorded, stacks, charts } = options;
  const work = mkdtempSync(join(tmpdir(), "fleet-diff-"));
  const states: State[] = [];
  try {
    const sides = [base, head].map((spec, index) => {
      const folder = join(work, String(index));
      mkdirSync(folder);
      return openSide(spec, { cwd, work: folder, ...(others === undefined ? {} : { others }) });
    });
    for (const side of sides) {
      const before = states[0] ? { before: states[0] } : {};
      states.push(await stateOf({ side, build, recorded, ...(hub ? { hub } : {}), ...before }));
    }
    const [from, to] = states as [State, State];
    return reportOf({ base: from, head: to, stacks, charts });
  } finally {
    for (const { workspace } of states) workspace.remove();
    rmSync(work, { recursive: true });
  }
}

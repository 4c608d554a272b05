import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterMetadata } from "../../lib/bridge.ts";
import { removeFiles } from "../render/copy.ts";
import { inCheckouts, recordedFacts } from "../render/hub-facts.ts";
import { fleetsIn, madeUpFleet } from "../render/workspace.ts";
import { UsageError } from "../usage.ts";
import { type Report, type ReportOptions, reportOf } from "./report.ts";
import { openSide, type Side, type SideOptions } from "./side.ts";
import { type State, type StateOptions, stateOf } from "./state.ts";

export interface BlastRadiusOptions
  extends Pick<StateOptions, "build" | "hub" | "recorded">,
    Pick<ReportOptions, "stacks" | "charts">,
    Pick<SideOptions, "cwd" | "others"> {
  /** Git revisions or folders. */
  readonly base: string;
  readonly head: string;
  /** Default: that of `hub`, or the only one that has a hub. */
  readonly fleet?: string;
}

/** Where the facts about the hub come from. */
interface Facts {
  /** Undefined where samples stand for it. */
  readonly hub?: ClusterMetadata;
  /** Facts that are not the real ones. */
  readonly assumed: readonly string[];
  readonly notes: readonly string[];
}

const assumedHub =
  "no facts about the hub were given, so its account, network and addresses are samples, and each Spoke counts as one in its hub's region; " +
  "--bridge FILE takes the real ones (pulumi stack output --json bridgeData), and fleet facts records them in Git";

/** The given facts, or those that are recorded: first in the base, so that a change can't choose by which facts it is judged. */
function factsOf(sides: readonly Side[], fleet: string, given: ClusterMetadata | undefined): Facts {
  if (given !== undefined) return { hub: inCheckouts(given), assumed: [], notes: [] };
  const found = sides.flatMap(({ repos, label }) => {
    const recorded = recordedFacts(join(repos, "gitops-system"), fleet);
    return recorded === undefined ? [] : [{ ...recorded, label }];
  });
  const [right] = found.filter(({ hub }) => hub !== undefined);
  if (right?.hub !== undefined)
    return {
      hub: inCheckouts(right.hub),
      assumed: [],
      notes: [`the facts about the hub are those of gitops-system/${right.file} in ${right.label}`],
    };
  const why = found.map(
    ({ file, label, problems }) =>
      `; gitops-system/${file} in ${label} is not taken: ${problems.map(({ key, what, remedy }) => `${key} ${what} (${remedy})`).join(", ")}`,
  );
  return { assumed: [`${assumedHub}${why.join("")}`], notes: [] };
}

/** The fleet whose clusters are compared. @throws UsageError when there are several, or no such one */
function fleetOf(sides: readonly Side[], { fleet, hub }: Pick<BlastRadiusOptions, "fleet" | "hub">): string {
  const known = [...new Set(sides.flatMap(({ repos }) => fleetsIn(join(repos, "gitops-system"))))].sort();
  const wanted = fleet ?? hub?.fleet;
  if (wanted !== undefined && (known.length === 0 || known.includes(wanted))) return wanted;
  if (wanted === undefined && known.length <= 1) return known[0] ?? madeUpFleet;
  throw new UsageError(
    `--fleet must name one of the fleets of gitops-system: ${known.join(", ")}; got ${wanted ?? "none"}. Run the command once for each`,
  );
}

/**
 * What the change from `base` to `head` does to every cluster.
 * @throws UsageError, WorkspaceError when a state is not there or is not a state of the repositories
 */
export async function blastRadius(options: BlastRadiusOptions): Promise<Report> {
  const { base, head, cwd, others, build, recorded, stacks, charts } = options;
  const work = mkdtempSync(join(tmpdir(), "fleet-diff-"));
  const states: State[] = [];
  try {
    const sides = [base, head].map((spec, index) => {
      const folder = join(work, String(index));
      mkdirSync(folder);
      return openSide(spec, { cwd, work: folder, ...(others === undefined ? {} : { others }) });
    });
    const fleet = fleetOf(sides, options);
    const { hub, assumed, notes } = factsOf(sides, fleet, options.hub);
    for (const side of sides) {
      const before = states[0] ? { before: states[0] } : {};
      states.push(await stateOf({ side, build, recorded, fleet, ...(hub ? { hub } : {}), ...before }));
    }
    const [from, to] = states as [State, State];
    return reportOf({ base: from, head: to, stacks, charts, assumed, notes });
  } finally {
    for (const { workspace } of states) workspace.remove();
    removeFiles(work);
  }
}

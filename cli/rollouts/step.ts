import { describeProblems, type Problem } from "../../lib/problems.ts";
import { ringBranch } from "../../lib/rings.ts";
import { chosenFleet } from "../fleet/folders.ts";
import { UsageError } from "../usage.ts";
import { type Clone, fetchHistory, fleetsAt, type History, policyAt } from "./git.ts";
import type { HubApi } from "./hub.ts";
import { plan } from "./plan.ts";
import { policyFile, type Ring, readPolicy } from "./policy.ts";
import { type Done, moveLine, movesOf, promote } from "./promote.ts";
import { notesOf, type Row, rowsOf } from "./table.ts";

export interface Request {
  readonly clone: Clone;
  /** Undefined: the only one there is. */
  readonly fleet: string | undefined;
  readonly does: "show" | "promote" | "rehearse";
}

/** What was seen in one look at Git and the hub, and what was done about it. */
export interface Outcome extends Done {
  readonly fleet: string;
  /** Newest commit of the hub's branch. */
  readonly main: string;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

/** Rings whose name a ring of another fleet has: the branch would belong to both. */
function shared(rings: readonly Ring[], other: string, text: string): Problem[] {
  const read = readPolicy(text);
  const names = "rings" in read ? read.rings.map(({ name }) => name) : [];
  return rings.flatMap(({ name }, index) =>
    names.includes(name)
      ? [
          {
            key: `rings[${index}].name`,
            what: `is also a ring of the fleet ${other}, and ${ringBranch(name)} can't follow two hubs`,
            got: name,
            allowed: "a name that no other fleet in the repository has",
            remedy: "rename one of them",
          },
        ]
      : [],
  );
}

/** The rings of the fleet at the newest commit of the hub's branch. */
function ringsAt(
  clone: Clone,
  { main }: History,
  named: string | undefined,
): { fleet: string; rings: readonly Ring[] } {
  const fleets = fleetsAt(clone, main);
  const fleet = chosenFleet(named, fleets, "the hub's branch");
  const text = policyAt(clone, main, fleet);
  if (text === undefined)
    throw new UsageError(`the hub's branch has no ${policyFile(fleet)}: npx fleet new-ring makes the first ring`);
  const read = readPolicy(text);
  const problems =
    "problems" in read
      ? read.problems
      : fleets
          .filter((other) => other !== fleet)
          .flatMap((other) => shared(read.rings, other, policyAt(clone, main, other) ?? ""));
  if ("rings" in read && problems.length === 0) return { fleet, rings: read.rings };
  throw new UsageError(describeProblems(`${policyFile(fleet)} of the hub's branch`, problems));
}

/** Looks once, and does what was asked for. */
export async function step({ clone, fleet: named, does }: Request, hub: HubApi, now: number): Promise<Outcome> {
  const history = fetchHistory(clone);
  const { fleet, rings } = ringsAt(clone, history, named);
  const facts = { rings, history, hub: await hub.read(rings.map(({ name }) => name)), now };
  const decisions = plan(facts);
  const rehearsed = does === "rehearse" ? movesOf(decisions).map((move) => `would push ${moveLine(move)}`) : [];
  const done =
    does === "promote" ? await promote(decisions, facts, clone, hub) : { moved: [], lines: rehearsed, failures: [] };
  return { fleet, main: history.main, rows: rowsOf(decisions, facts), notes: notesOf(facts), ...done };
}

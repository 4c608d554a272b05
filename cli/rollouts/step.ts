import { hubFolder, ringsPolicy } from "../../lib/layout.ts";
import { describeProblems, type Problem } from "../../lib/problems.ts";
import { ringBranch } from "../../lib/rings.ts";
import { UsageError } from "../usage.ts";
import { type Clone, fetchHistory, fleetsAt, type History, policyAt } from "./git.ts";
import type { HubApi } from "./hub.ts";
import { plan } from "./plan.ts";
import { type Ring, readPolicy } from "./policy.ts";
import { type Done, moveLine, movesOf, promote } from "./promote.ts";
import type { Identity } from "./state.ts";
import { notesOf, problemsOf, type Row, rowsOf } from "./table.ts";

export interface Request {
  /** Without `branch`: the one that the hub follows. */
  readonly clone: Omit<Clone, "branch"> & { readonly branch: string | undefined };
  /** Undefined: that of the hub. */
  readonly fleet: string | undefined;
  readonly does: "show" | "promote" | "rehearse";
}

/** What was seen in one look at Git and the hub, and what was done about it. */
export interface Outcome extends Done {
  readonly fleet: string;
  /** Newest commit of the hub's branch. */
  readonly main: string;
  readonly rows: readonly Row[];
  /** What a person has to put right, besides rings. */
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Names of the rings in another fleet's file; none while it is wrong, which is that fleet's matter. */
function namesIn(text: string): string[] {
  const read = readPolicy(text);
  return "rings" in read ? read.rings.map(({ name }) => name) : [];
}

/** Rings whose name a ring of another fleet has: the branch would belong to both. */
function shared(rings: readonly Ring[], other: string, text: string): Problem[] {
  const names = namesIn(text);
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

/** @throws UsageError when the hub is another than the one that was meant: its spokes say nothing of these rings. */
function requireHub({ fleet, branch }: Identity, { fleet: named, clone }: Request): void {
  const wrong = [
    ...(named === undefined || named === fleet ? [] : [`of the fleet ${fleet}, not ${named}`]),
    ...(clone.branch === undefined || clone.branch === branch
      ? []
      : [`follows the branch ${branch}, not ${clone.branch}`]),
  ];
  if (wrong.length > 0)
    throw new UsageError(
      `the hub of this context is another one: it is ${wrong.join(" and ")}. ` +
        "Name its context with --context NAME, or leave --fleet and --branch out: they are the hub's to say",
    );
}

/** The rings of the fleet at the newest commit of the hub's branch, and those of the other fleets. */
function ringsAt(
  clone: Clone,
  { main }: History,
  fleet: string,
): { rings: readonly Ring[]; others: readonly string[] } {
  const fleets = fleetsAt(clone, main);
  if (!fleets.includes(fleet))
    throw new UsageError(
      `the hub applies ${hubFolder(fleet)}, which ${clone.remote} does not have on the branch ${clone.branch}; it has the fleets ` +
        `${fleets.join(", ") || "(none)"}. --repository DIR and --remote NAME choose the hub's gitops-system, --context NAME its hub`,
    );
  const text = policyAt(clone, main, fleet);
  if (text === undefined)
    throw new UsageError(`the hub's branch has no ${ringsPolicy(fleet)}: fleet new-ring makes the first ring`);
  const read = readPolicy(text);
  const texts = fleets
    .filter((other) => other !== fleet)
    .map((other) => ({ other, text: policyAt(clone, main, other) ?? "" }));
  const problems =
    "problems" in read ? read.problems : texts.flatMap((each) => shared(read.rings, each.other, each.text));
  if (!("rings" in read) || problems.length > 0)
    throw new UsageError(describeProblems(`${ringsPolicy(fleet)} of the hub's branch`, problems));
  return { rings: read.rings, others: texts.flatMap((each) => namesIn(each.text)) };
}

/** Looks once, and does what was asked for. */
export async function step(request: Request, hub: HubApi, now: number): Promise<Outcome> {
  const identity = await hub.identity();
  requireHub(identity, request);
  const { fleet, branch } = identity;
  const { does } = request;
  const clone = { ...request.clone, branch };
  const history = fetchHistory(clone);
  const { rings, others } = ringsAt(clone, history, fleet);
  const facts = { rings, history, hub: await hub.read(rings.map(({ name }) => name)), now };
  const decisions = plan(facts);
  const rehearsed = does === "rehearse" ? movesOf(decisions).map((move) => `would push ${moveLine(move)}`) : [];
  const done =
    does === "promote" ? await promote(decisions, facts, clone, hub) : { moved: [], lines: rehearsed, failures: [] };
  const rows = rowsOf(decisions, facts);
  return { fleet, main: history.main, rows, problems: problemsOf(facts), notes: notesOf(facts, others), ...done };
}

import { ringBranch } from "../../lib/rings.ts";
import { compositionFolder, type History, type Move } from "./git.ts";
import { type Health, healthOf } from "./health.ts";
import type { Ring } from "./policy.ts";
import type { Hub } from "./state.ts";
import { isOpen, nextOpening } from "./windows.ts";

/** Decides which ring receives what: a function of Git, of what the hub says, and of the time. */

/** What happens to a ring, and else why nothing does. `offered`: what the ring before has, or the hub's branch. */
type Verdict =
  | { readonly kind: "moves"; readonly move: Move }
  /** A person has to put something right in Git first. */
  | { readonly kind: "problem"; readonly problem: string }
  /** An earlier ring has a problem. */
  | { readonly kind: "blocked"; readonly by: string }
  | { readonly kind: "at its revision" }
  | { readonly kind: "up to date" }
  | { readonly kind: "ahead"; readonly of: string }
  | { readonly kind: "held"; readonly offered: string }
  /** What the ring before has is not what those before it have any more: they went back to what this one has. */
  | { readonly kind: "taken back"; readonly offered: string }
  /** The ring before has not passed yet. */
  | { readonly kind: "waits for ring"; readonly ring: string; readonly offered: string }
  /** The next ring has to get what this one has first. */
  | { readonly kind: "keeps for ring"; readonly ring: string; readonly offered: string }
  | { readonly kind: "waits for window"; readonly opens: string | undefined; readonly offered: string };

export interface Decision {
  readonly ring: Ring;
  /** Commit at the end of its branch; undefined while there is no branch. */
  readonly commit: string | undefined;
  readonly health: Health | undefined;
  readonly verdict: Verdict;
  /** The ring before; undefined for the first. */
  readonly before: string | undefined;
}

export interface Facts {
  readonly rings: readonly Ring[];
  readonly history: History;
  readonly hub: Hub;
  readonly now: number;
}

type RingFacts = Omit<Decision, "verdict" | "before"> & { readonly problem: string | undefined };

export const short = (commit: string): string => commit.slice(0, 7);

/** What a person has to put right before the ring, and those after it, go on. */
function problemOf({ name, revision }: Ring, commit: string | undefined, history: History): string | undefined {
  if (revision !== undefined && !history.contains(history.main, revision))
    return `revision ${revision} is not a commit of the hub's branch: correct it in rings.yaml`;
  if (revision !== undefined && !history.hasComposition(revision))
    return `revision ${revision} has no ${compositionFolder}, so that Flux could apply none of it: choose a later commit in rings.yaml`;
  const foreign = commit === undefined ? [] : history.foreign(commit);
  if (foreign.length === 0) return undefined;
  const named = foreign.slice(0, 3).map((each) => `${short(each.commit)} ${each.subject}`);
  const more = foreign.length > named.length ? ` and ${foreign.length - named.length} more` : "";
  const branch = ringBranch(name);
  return (
    `${branch} has commits that the hub's branch lacks: ${named.join("; ")}${more}. Merge them into the hub's branch, or take them away: ` +
    `git push --force-with-lease=${branch}:${commit} origin <commit of the hub's branch>:refs/heads/${branch}`
  );
}

const factsOf = (ring: Ring, { history, hub, now }: Facts): RingFacts => {
  const commit = history.tips.get(ring.name);
  const health = commit === undefined ? undefined : healthOf(ring, commit, hub, now);
  return { ring, commit, health, problem: problemOf(ring, commit, history) };
};

/** Rings in their order, seen from one of them. */
interface Neighbours {
  readonly before: RingFacts | undefined;
  readonly after: readonly RingFacts[];
  /** Newest commits of the hub's branch and of the rings before the one before. */
  readonly upstream: readonly string[];
}

/** Whether newer commits than `offered` went back to what one of `holders` has. */
function isTakenBack(
  offered: string,
  upstream: readonly string[],
  holders: readonly (string | undefined)[],
  { content, contains, changes }: History,
): boolean {
  const held = holders.filter((commit) => commit !== undefined).map(content);
  return upstream.some(
    (newest) =>
      contains(newest, offered) &&
      content(newest) !== content(offered) &&
      [newest, ...changes(offered, newest).map(({ commit }) => commit)].some((each) => held.includes(content(each))),
  );
}

const tipsOf = (rings: readonly RingFacts[]) => rings.map(({ commit }) => commit);

/** Whether nothing is lost when a ring takes `offered`: the next one has what it has, won't take it by itself, or is not to have it. */
function isFree(commit: string, offered: string, after: readonly RingFacts[], history: History): boolean {
  const [next] = after;
  if (next === undefined || next.problem !== undefined || next.ring.hold || next.ring.revision !== undefined)
    return true;
  if (next.commit === undefined) return false;
  const { content, contains } = history;
  if (content(next.commit) === content(commit) || !contains(commit, next.commit)) return true;
  return isTakenBack(commit, [offered], tipsOf(after), history);
}

/** What a ring without a revision of its own does that has a branch. */
function follow(
  { ring, commit, health }: RingFacts & { readonly commit: string; readonly health: Health },
  offered: string,
  { before, after, upstream }: Neighbours,
  { history, now }: Facts,
): Verdict {
  if (history.content(offered) === history.content(commit)) return { kind: "up to date" };
  if (!history.contains(offered, commit)) return { kind: "ahead", of: before?.ring.name ?? "the hub's branch" };
  if (ring.hold) return { kind: "held", offered };
  if (isTakenBack(offered, upstream, [commit, ...tipsOf(after)], history)) return { kind: "taken back", offered };
  if (before !== undefined && before.health?.state !== "passed")
    return { kind: "waits for ring", ring: before.ring.name, offered };
  // Or frequent commits would keep the later rings from ever getting one. A fix or a revert reaches an unhealthy ring at once.
  const isHealthy = health.state === "soaking" || health.state === "passed" || health.isAgain;
  const [next] = after;
  if (isHealthy && next !== undefined && !isFree(commit, offered, after, history))
    return { kind: "keeps for ring", ring: next.ring.name, offered };
  if (health.state !== "stopped" && !isOpen(ring.windows, now))
    return { kind: "waits for window", opens: nextOpening(ring.windows, now), offered };
  return { kind: "moves", move: { ring: ring.name, kind: "promote", from: commit, to: offered } };
}

/** Gives a ring its branch, at what the ring before has passed with. */
function create(ring: string, offered: string, before: RingFacts | undefined): Verdict {
  if (before !== undefined && before.health?.state !== "passed")
    return { kind: "waits for ring", ring: before.ring.name, offered };
  return { kind: "moves", move: { ring, kind: "create", from: undefined, to: offered } };
}

/** Moves a ring to the revision that a person wrote down, whenever that is. */
function pin(ring: string, commit: string | undefined, revision: string, { contains }: History): Verdict {
  if (commit === revision) return { kind: "at its revision" };
  const forward = commit === undefined ? "create" : "promote";
  const kind = commit !== undefined && !contains(revision, commit) ? "roll back" : forward;
  return { kind: "moves", move: { ring, kind, from: commit, to: revision } };
}

/** The decisions about all rings, in their order. */
export function plan(facts: Facts): Decision[] {
  const { history } = facts;
  const all = facts.rings.map((ring) => factsOf(ring, facts));
  const decisions: Decision[] = [];
  let broken: string | undefined;
  // What the ring before has, or begins with.
  let offered = history.main;
  for (const [index, each] of all.entries()) {
    const { ring, commit, health, problem } = each;
    const neighbours = {
      before: all[index - 1],
      after: all.slice(index + 1),
      upstream: [history.main, ...tipsOf(all.slice(0, Math.max(0, index - 1))).filter((tip) => tip !== undefined)],
    };
    const { before } = neighbours;
    const verdict = ((): Verdict => {
      if (problem !== undefined) return { kind: "problem", problem };
      if (ring.revision !== undefined) return pin(ring.name, commit, ring.revision, history);
      if (broken !== undefined) return { kind: "blocked", by: broken };
      if (commit === undefined || health === undefined) return create(ring.name, offered, before);
      return follow({ ...each, commit, health }, offered, neighbours, facts);
    })();
    decisions.push({ ring, commit, health, verdict, before: before?.ring.name });
    if (problem !== undefined) broken ??= ring.name;
    offered = commit ?? (verdict.kind === "moves" ? verdict.move.to : offered);
  }
  return decisions;
}

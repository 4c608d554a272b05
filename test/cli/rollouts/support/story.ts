import type { History } from "../../../../cli/rollouts/git.ts";
import type { RingState, SpokeState } from "../../../../cli/rollouts/health.ts";
import { type Decision, type Facts, plan } from "../../../../cli/rollouts/plan.ts";
import { type Ring, readPolicy } from "../../../../cli/rollouts/policy.ts";
import { nextOf, stateOf } from "../../../../cli/rollouts/words.ts";

const minute = 60_000;

/** The ID of the commit with this name. */
export const id = (name: string): string => Buffer.from(name).toString("hex").padEnd(40, "0");

/** Rings as their file says. */
export function rings(text: string): readonly Ring[] {
  const read = readPolicy(text);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.rings;
}

/** A repository, a hub and a clock in memory: what happens to rings over several steps. */
export class Story {
  /** 2026-11-23 is a Monday. */
  now = Date.parse("2026-11-23T09:00:00Z");
  rings: readonly Ring[];
  readonly tips = new Map<string, string>();
  readonly spokes = new Map<string, SpokeState>();
  readonly states = new Map<string, RingState>();
  /** Commits of the hub's branch, oldest first, each with what it has for rings. */
  readonly #main: { commit: string; content: string }[] = [];
  readonly #pushed = new Map<string, string>();

  /** @param policy rings.yaml @param spokes rings of spokes by name */
  constructor(policy: string, spokes: Readonly<Record<string, string>> = {}) {
    this.rings = rings(policy);
    this.commit("a");
    for (const [name, ring] of Object.entries(spokes)) this.spoke(name, { ring });
  }

  /** A commit on the hub's branch; with `content` it has the same for rings as another. */
  commit(name: string, content = name): void {
    this.#main.push({ commit: id(name), content });
  }

  /** A commit on a ring's branch that the hub's branch lacks. */
  push(ring: string, name: string): void {
    this.#pushed.set(id(name), name);
    this.tips.set(ring, id(name));
  }

  spoke(name: string, change: Partial<SpokeState>): void {
    const fresh = { name, ring: "", isReady: true, isSynced: true, phase: "Ready", message: undefined, rollout: {} };
    this.spokes.set(name, { ...fresh, ...this.spokes.get(name), ...change });
  }

  /** Flux and Crossplane bring a ring's commit to its spokes, but for those that are named. */
  arrive(ring: string, ...without: readonly string[]): void {
    const revision = `ring/${ring}@sha1:${this.tips.get(ring)}`;
    const composition = `spoke-${ring}-${this.tips.get(ring)?.slice(0, 7)}`;
    const sync = { status: "True", reason: "", message: "", attempted: revision, applied: revision, isCurrent: true };
    this.states.set(ring, { composition, sync, source: `uid-${ring}` });
    const healthySince = new Date(this.now).toISOString();
    for (const spoke of this.spokes.values())
      if (spoke.ring === ring && !without.includes(spoke.name))
        this.spoke(spoke.name, {
          isReady: true,
          phase: "Ready",
          rollout: { ring, revision, composition, healthySince },
        });
  }

  fail(name: string, message = "the step tools fails"): void {
    const { healthySince: _, ...rollout } = this.spokes.get(name)?.rollout ?? {};
    this.spoke(name, { isReady: false, phase: "Failing", message, rollout });
  }

  pass(minutes: number): void {
    this.now += minutes * minute;
  }

  get history(): History {
    const order = (commit: string) => this.#main.findIndex((each) => each.commit === commit);
    const isOn = (commit: string) => order(commit) >= 0;
    return {
      main: this.#main.at(-1)?.commit ?? "",
      tips: this.tips,
      content: (commit) => this.#main[order(commit)]?.content ?? commit,
      contains: (commit, other) => isOn(commit) && isOn(other) && order(other) <= order(commit),
      foreign: (commit) => {
        const subject = this.#pushed.get(commit);
        return subject === undefined ? [] : [{ commit, subject }];
      },
      changes: (from, to) =>
        this.#main
          .slice(order(from) + 1, order(to) + 1)
          .filter(({ content }, index, all) => content !== (all[index - 1] ?? this.#main[order(from)])?.content)
          .map(({ commit }) => ({ commit, subject: `subject of ${this.name(commit)}` }))
          .reverse(),
      subject: (commit) => `subject of ${this.name(commit)}`,
    };
  }

  get facts(): Facts {
    const hub = { spokes: [...this.spokes.values()], rings: this.states };
    return { rings: this.rings, history: this.history, hub, now: this.now };
  }

  get decisions(): Decision[] {
    return plan(this.facts);
  }

  /** Does what the plan says. @returns the moves, such as `early: a -> b`. */
  run(): string[] {
    return this.decisions.flatMap(({ ring, verdict }) => {
      if (verdict.kind !== "moves") return [];
      const { from, to, kind } = verdict.move;
      this.tips.set(ring.name, to);
      return [
        `${ring.name}: ${from === undefined ? kind : this.name(from)} -> ${this.name(to)}${kind === "roll back" ? " (back)" : ""}`,
      ];
    });
  }

  /** The state of each ring, in words. */
  get told(): Record<string, string> {
    return Object.fromEntries(this.decisions.map((each) => [each.ring.name, stateOf(each, this.now)]));
  }

  get next(): Record<string, string> {
    return Object.fromEntries(this.decisions.map((each) => [each.ring.name, nextOf(each, this.now)]));
  }

  name(commit: string): string {
    return Buffer.from(commit.replace(/(00)+$/, ""), "hex").toString();
  }
}

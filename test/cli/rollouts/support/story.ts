import type { History } from "../../../../cli/rollouts/git.ts";
import { type Decision, type Facts, plan } from "../../../../cli/rollouts/plan.ts";
import { type Ring, readPolicy } from "../../../../cli/rollouts/policy.ts";
import type { RingState, SpokeState } from "../../../../cli/rollouts/state.ts";
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
  /** Commits without a Composition. */
  readonly bare = new Set<string>();
  /** Why the hub's Crossplane does not run. */
  frozen: string | undefined;

  /** @param policy rings.yaml @param spokes rings of spokes by name */
  constructor(policy: string, spokes: Readonly<Record<string, string>> = {}) {
    this.rings = rings(policy);
    this.commit("a");
    for (const [name, ring] of Object.entries(spokes)) this.spoke(name, { ring });
  }

  /** A commit on the hub's branch; with `content` it has the same for rings as another. */
  commit(name: string, content = name): this {
    this.#main.push({ commit: id(name), content });
    return this;
  }

  /** A commit on a ring's branch that the hub's branch lacks. */
  push(ring: string, name: string): this {
    this.#pushed.set(id(name), name);
    this.tips.set(ring, id(name));
    return this;
  }

  spoke(name: string, change: Partial<SpokeState>): this {
    const fresh = {
      ...{ name, ring: "", created: this.now, isReady: true, unreadySince: undefined, unsynced: undefined },
      ...{ phase: "Ready", message: undefined, takes: {}, rollout: {} },
    };
    this.spokes.set(name, { ...fresh, ...this.spokes.get(name), ...change });
    return this;
  }

  /** Flux fetches a ring's commit and applies its Composition on the hub. */
  fetch(ring: string): this {
    const revision = `ring/${ring}@sha1:${this.tips.get(ring)}`;
    const known = this.states.get(ring)?.revisions ?? [];
    const name = `spoke-${ring}-${this.tips.get(ring)?.slice(0, 7)}`;
    const revisions = [{ name, labels: {} }, ...known.filter((each) => each.name !== name)];
    const sync = { status: "True", reason: "", message: "", attempted: revision, applied: revision, isCurrent: true };
    const before = this.states.get(ring)?.source;
    const since = before?.revision === revision ? before.since : this.now;
    this.states.set(ring, { revisions, sync, source: { uid: `uid-${ring}`, revision, since, failure: undefined } });
    return this;
  }

  /** Flux and Crossplane bring a ring's commit to its spokes, but for those that are named. */
  arrive(ring: string, ...without: readonly string[]): this {
    this.fetch(ring);
    for (const spoke of this.spokes.values())
      if (spoke.ring === ring && !without.includes(spoke.name)) this.heal(spoke.name);
    return this;
  }

  /** A spoke has what its ring has, from now on. */
  heal(name: string): this {
    const { ring = "" } = this.spokes.get(name) ?? {};
    const { revisions, source } = this.states.get(ring) ?? {};
    const { revision } = source ?? {};
    const healthySince = new Date(this.now).toISOString();
    const rollout = { ring, healthySince, composition: revisions?.[0]?.name, revision } as SpokeState["rollout"];
    this.spoke(name, { isReady: true, phase: "Ready", rollout });
    return this;
  }

  /** A spoke fails with what its ring has; Flux has tried that. */
  fail(name: string, message = "the step tools fails"): this {
    const { healthySince: _, next: __, ...rollout } = this.spokes.get(name)?.rollout ?? {};
    const tried = this.states.get(this.spokes.get(name)?.ring ?? "")?.source?.revision;
    const next = tried === undefined || tried === rollout.revision ? {} : { next: tried };
    this.spoke(name, { isReady: false, phase: "Failing", message, rollout: { ...rollout, ...next } });
    return this;
  }

  pass(minutes: number): this {
    this.now += minutes * minute;
    return this;
  }

  get history(): History {
    const order = (commit: string) => this.#main.findIndex((each) => each.commit === commit);
    const isOn = (commit: string) => order(commit) >= 0;
    return {
      main: this.#main.at(-1)?.commit ?? "",
      tips: this.tips,
      content: (commit) => this.#main[order(commit)]?.content ?? commit,
      hasComposition: (commit) => !this.bare.has(commit),
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
    const hub = { frozen: this.frozen, spokes: [...this.spokes.values()], rings: this.states };
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

  /** Makes the branches, one ring after another, and lets their spokes have what is there for long. */
  settle(): void {
    for (const { name } of this.rings) {
      this.run();
      this.arrive(name);
      this.pass(10_000);
    }
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

export const threeRings = `
rings:
  - { name: canary, soak: 1h }
  - { name: early, soak: 24h, maxUnavailable: 10% }
  - { name: rest, soak: 24h }
`;

/** Three rings with the commit a, long healthy: two spokes, ten and one. */
export function threeHealthy(policy = threeRings): Story {
  const early = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`early-${index}`, "early"]));
  const story = new Story(policy, { blue: "canary", teal: "canary", ...early, prod: "rest" });
  story.settle();
  return story;
}

/** Moves the ring and lets its spokes have it. */
export function runAndArrive(story: Story, ring: string): string[] {
  const moves = story.run();
  story.arrive(ring);
  return moves;
}

/** Canary has b, which waits for nothing any more. */
export function withB(policy = threeRings): Story {
  const story = threeHealthy(policy).commit("b");
  runAndArrive(story, "canary");
  return story;
}

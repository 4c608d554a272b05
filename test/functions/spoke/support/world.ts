import type { Spoke } from "../../../../functions/spoke/api.ts";
import { addressRegion, type Claim } from "../../../../functions/spoke/claims.ts";
import { type Answer, compose } from "../../../../functions/spoke/compose.ts";
import type { Hub } from "../../../../functions/spoke/hub.ts";
import { at, type KubeObject } from "../../../../functions/spoke/kube.ts";
import { Observed } from "../../../../functions/spoke/observed.ts";
import { isDeleting, isGuarded } from "../../../../functions/spoke/parts/guard.ts";
import {
  chainPrefix,
  claimsPrefix,
  remainsPrefix,
  requirements,
  type Selector,
} from "../../../../functions/spoke/requirements.ts";
import type { Settings } from "../../../../functions/spoke/settings.ts";
import * as fixtures from "./fixtures.ts";
import { mustOutlive, reported } from "./providers.ts";

type Status = Record<string, unknown>;

interface Live {
  object: KubeObject;
  /** Whether Crossplane still refers to it: what is no longer wanted is forgotten at once. */
  referred: boolean;
  deleting: boolean;
}

/** Calls in which a function has to be content with what it has, without the first, which asks for the hub (Crossplane, internal/xfn). */
const mostCalls = 4;

export interface WorldOptions {
  readonly settings?: Settings;
  readonly hub?: Hub;
  readonly others?: readonly Claim[];
  /** What Flux reports of the chain, beside what is simulated. */
  readonly chainStatus?: Status;
}

/**
 * Crossplane, the AWS provider and Flux around one Spoke, as far as the function can tell: every step reconciles once and then
 * lets the providers report on what was asked of them. It checks on the way that nothing is made before AWS would have it, and that
 * a removal keeps to the order of the design.
 */
export class World {
  spoke: Spoke;
  settings: Settings;
  hub: Hub;
  /** Claims of other Spokes on networks. */
  others: readonly Claim[];
  answer: Answer | undefined;
  gone = false;
  readonly live = new Map<string, Live>();
  /** Keys in the order in which they vanished. */
  readonly removed: string[] = [];
  readonly reports = new Map<string, (status: Status) => Status>();
  readonly stuck = new Set<string>();
  chain: KubeObject[] = [];
  /** The clock, in milliseconds; it stands still. */
  now = Date.parse("2026-01-01T00:00:00Z");

  constructor(
    spoke: Spoke,
    { settings = fixtures.settings(), hub = fixtures.hub, others = [], chainStatus }: WorldOptions = {},
  ) {
    this.spoke = spoke;
    this.settings = settings;
    this.hub = hub;
    this.others = others;
    if (chainStatus) this.reports.set("bootstrap", (status) => ({ ...status, ...chainStatus }));
  }

  /** What Crossplane shows the function. */
  observed(): Map<string, KubeObject> {
    return new Map([...this.live].flatMap(([key, { object, referred }]) => (referred ? [[key, object]] : [])));
  }

  ask(): Answer {
    const composed = this.observed();
    const { needed, claims } = this.#required(new Observed(composed));
    return compose({
      spoke: this.spoke,
      composed,
      settings: this.settings,
      hub: this.hub,
      claims,
      chain: Object.keys(needed).some((name) => name.startsWith(chainPrefix)) ? this.chain : [],
      labelled: this.#labelled(needed),
      now: this.now,
    });
  }

  /** What the function asks for of what exists, with what Crossplane has forgotten. */
  #labelled(needed: Readonly<Record<string, Selector>>): KubeObject[] {
    const asked = Object.entries(needed).flatMap(([name, selector]) =>
      name.startsWith(remainsPrefix) ? [selector] : [],
    );
    const all = [...[...this.live.values()].map(({ object }) => object), ...this.chain];
    return all.filter(({ kind, metadata }) =>
      asked.some((selector) => selector.kind === kind && (selector.matchName ?? metadata.name) === metadata.name),
    );
  }

  /** What the function gets, after as many calls as Crossplane makes. */
  #required(observed: Observed) {
    let claims = new Map<string, Claim[]>();
    for (let call = 0; call < mostCalls; call += 1) {
      const needed = requirements(this.spoke, observed, this.settings, { hub: this.hub, claims });
      const regions = Object.keys(needed)
        .filter((name) => name.startsWith(claimsPrefix))
        .map((name) => name.slice(claimsPrefix.length));
      if (regions.every((region) => claims.has(region))) return { needed, claims };
      claims = new Map(
        regions.map((region) => [region, this.others.filter(({ cidr }) => addressRegion(cidr) === region)]),
      );
    }
    throw new Error(`the function asks for more after ${mostCalls} calls`);
  }

  /** One reconciliation. */
  step(): Answer {
    const guarded = isGuarded(new Observed(this.observed()));
    const answer = this.ask();
    for (const [key, { manifest }] of answer.wanted) this.#apply(key, manifest);
    for (const [key, live] of this.live) if (live.referred && !answer.wanted.has(key)) this.#remove(key, live);
    this.spoke = { ...this.spoke, status: { ...answer.status, conditions: answer.conditions } };
    this.answer = answer;
    this.#work();
    if (guarded && !this.live.has("deletion-guard")) this.gone = true;
    return answer;
  }

  /** Reconciles until nothing changes any more. */
  settle(most = 60): Answer {
    let before = "";
    for (let count = 0; count < most && !this.gone; count += 1) {
      this.step();
      const now = JSON.stringify([[...this.live].map(([key, { object }]) => [key, object.spec]), this.spoke.status]);
      if (now === before) return this.answer as Answer;
      before = now;
    }
    if (this.gone) return this.answer as Answer;
    throw new Error(`not settled after ${most} steps: ${JSON.stringify(this.spoke.status)}`);
  }

  /** The same once more, with objects of its own: tests change them. */
  copy(): World {
    return Object.assign(new World(this.spoke), this, {
      spoke: structuredClone(this.spoke),
      live: structuredClone(this.live),
      removed: [...this.removed],
      reports: new Map(this.reports),
      stuck: new Set(this.stuck),
      chain: [...this.chain],
    });
  }

  change(spec: Record<string, unknown>): this {
    const { metadata } = this.spoke;
    const generation = (metadata.generation ?? 1) + 1;
    this.spoke = { ...this.spoke, metadata: { ...metadata, generation }, spec: { ...this.spoke.spec, ...spec } };
    return this;
  }

  /** Somebody deletes the Spoke: the guard refuses, and Crossplane notes the attempt. */
  delete(): this {
    const { metadata } = this.spoke;
    const annotations = { ...metadata.annotations, "usage.crossplane.io/deletion-attempt-with-policy": "Background" };
    this.spoke = { ...this.spoke, metadata: { ...metadata, annotations } };
    return this;
  }

  /** Overrides what a provider reports of a key. */
  report(key: string, change: (status: Status) => Status): this {
    this.reports.set(key, change);
    return this;
  }

  object(key: string): KubeObject {
    const found = this.live.get(key);
    if (!found) throw new Error(`there is no ${key}; there is ${[...this.live.keys()].join(", ")}`);
    return found.object;
  }

  forProvider(key: string): Record<string, unknown> {
    return at(this.object(key).spec, "forProvider") as Record<string, unknown>;
  }

  condition(type: string) {
    return this.answer?.conditions.find((condition) => condition.type === type);
  }

  #apply(key: string, manifest: KubeObject): void {
    const existing = this.live.get(key);
    if (existing?.deleting) {
      if (isDeleting(this.spoke)) throw new Error(`${key} is wanted while it is being deleted`);
      return;
    }
    const annotations = { ...manifest.metadata.annotations, "crossplane.io/composition-resource-name": key };
    const same = existing && JSON.stringify(existing.object.spec) === JSON.stringify(manifest.spec);
    const generation = (existing?.object.metadata.generation ?? 0) + (same ? 0 : 1);
    const object = { ...manifest, metadata: { ...manifest.metadata, annotations, generation } };
    const status = existing?.object.status;
    this.live.set(key, {
      object: status === undefined ? object : { ...object, status },
      referred: true,
      deleting: false,
    });
  }

  #remove(key: string, live: Live): void {
    const blockers = isDeleting(this.spoke) ? mustOutlive(key, live.object, this.#objects()) : [];
    if (blockers.length > 0) throw new Error(`${key} is removed before ${blockers.join(", ")}`);
    live.referred = false;
    live.deleting = true;
    const deletionTimestamp = new Date(this.now).toISOString();
    live.object = { ...live.object, metadata: { ...live.object.metadata, deletionTimestamp } };
  }

  #objects(): Map<string, KubeObject> {
    return new Map([...this.live].map(([key, { object }]) => [key, object]));
  }

  #work(): void {
    const objects = this.#objects();
    for (const [key, live] of [...this.live]) {
      if (live.deleting && !this.stuck.has(key)) {
        this.live.delete(key);
        objects.delete(key);
        this.removed.push(key);
      } else if (!live.deleting) {
        const status = reported(key, live.object, objects);
        live.object = { ...live.object, status: this.reports.get(key)?.(status) ?? status };
        objects.set(key, live.object);
      }
    }
  }
}

/** A status in which the controller failed with `message`. */
export const failing =
  (message: string, ready = false) =>
  (status: Status): Status => ({
    ...status,
    ...(ready ? {} : { atProvider: {} }),
    conditions: [
      { type: "Synced", status: "False", reason: "ReconcileError", message },
      { type: "Ready", status: ready ? "True" : "False", reason: ready ? "Available" : "Creating" },
    ],
  });

const known = new Map<string, World>();

/** A world of its own that has settled; the way there is gone once for the same Spoke and options. */
export function settled(...args: ConstructorParameters<typeof World>): World {
  const key = JSON.stringify(args);
  const before = known.get(key) ?? new World(...args);
  if (!known.has(key)) before.settle();
  known.set(key, before);
  return before.copy();
}

/** A spoke that runs. */
export function running(...args: ConstructorParameters<typeof World>): World {
  const world = settled(...args);
  if (!world.answer?.ready) throw new Error(`the spoke is not ready: ${JSON.stringify(world.answer?.conditions)}`);
  // The hub's admin policies went when the chain was ready.
  world.removed.length = 0;
  return world;
}

/** The hub's admin policies, which come and go beside the chain. */
export const hubAdmin = ["access-policy-kustomize-controller", "access-policy-helm-controller"];

import type { Spoke } from "../../../../functions/spoke/api.ts";
import type { InventoryApi } from "../../../../functions/spoke/inventory/api.ts";
import { readHubFacts } from "../../../../functions/spoke/inventory/cluster.ts";
import type { ClusterProfile } from "../../../../functions/spoke/inventory/profile.ts";
import { bridgeData } from "../../../../lib/bridge.ts";
import { hub, spoke } from "./fixtures.ts";
import { running, type World } from "./world.ts";

export const now = new Date("2026-11-26T08:00:00.123Z");
export const later = new Date("2026-11-26T09:00:00Z");
export const authority = Buffer.from("-----BEGIN CERTIFICATE-----").toString("base64");
export const hubFacts = readHubFacts(bridgeData(hub));

/** The Spoke as Crossplane stores it after the function's last answer. */
export function storedSpoke(world: World, at = "2026-11-26T07:00:00Z"): Spoke {
  const conditions = (world.answer?.conditions ?? []).map((condition) => ({ ...condition, lastTransitionTime: at }));
  return { ...world.spoke, status: { ...world.answer?.status, conditions } };
}

/** A spoke that is Ready. */
export const ready = (change: Record<string, unknown> = {}): World =>
  running(spoke(change), { chainStatus: { lastAppliedOriginRevision: "main@sha1:1a2b" } });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a JSON merge patch makes of a value (RFC 7396). */
export const merged = (target: unknown, patch: object): unknown => merge(target, JSON.parse(JSON.stringify(patch)));

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  return result;
}

/** The hub's API server, as far as the program asks it: it merges, and keeps status and the rest apart. */
export class FakeApi implements InventoryApi {
  readonly stored = new Map<string, ClusterProfile>();
  readonly calls: string[] = [];
  all: Spoke[];
  refused = "";

  constructor(all: Spoke[]) {
    this.all = all;
  }
  spokes = async () => this.all;
  profiles = async () => [...this.stored.values()];
  create = async ({ status: _, ...profile }: ClusterProfile) => {
    const { name } = profile.metadata;
    this.#called("create", name);
    if (this.stored.has(name)) throw new Error(`can't create ${name}: 409 already exists`);
    this.stored.set(name, profile);
  };
  patch = async (name: string, body: object) => {
    const before = this.#called("patch", name);
    const { status: _, ...rest } = merged(before, body) as ClusterProfile;
    if (rest.spec.clusterManager.name !== before?.spec.clusterManager.name)
      throw new Error(`can't patch ${name}: 422 ClusterManager is immutable`);
    this.stored.set(name, { ...before, ...rest });
  };
  patchStatus = async (name: string, body: object) => {
    const before = this.#called("status", name);
    if (before === undefined) throw new Error(`can't status ${name}: 404 not found`);
    const { status = {} } = merged(before, body) as ClusterProfile;
    this.stored.set(name, { ...before, status });
  };
  remove = async (name: string) => {
    this.#called("remove", name);
    this.stored.delete(name);
  };
  #called(call: string, name: string): ClusterProfile | undefined {
    if (name === this.refused) throw new Error(`can't ${call} ${name}: 403 no`);
    this.calls.push(`${call} ${name}`);
    return this.stored.get(name);
  }
  /** Somebody else changes a profile. */
  meddle(name: string, patch: object): void {
    this.stored.set(name, merged(this.stored.get(name), patch) as ClusterProfile);
  }
  /** The calls since the last time. */
  taken = () => this.calls.splice(0);
}

import type { Look } from "../../../cli/list/rows.ts";
import type { Key } from "../../../cli/report/model.ts";
import { type HubFacts, reportOf } from "../../../cli/report/report.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { flux, spoke as listed } from "../list/support.ts";

/** Fleets as a hub and its spokes have them, with what a report reads of them. */

export const now = Date.parse("2026-11-26T12:00:00Z");
export const ago = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

export const commit = (digit: string): string => digit.repeat(40);

const ready = (minutes = 60) => ({
  ...{ type: "Ready", status: "True", reason: "Available", message: "applied" },
  lastTransitionTime: ago(minutes),
});
export const unready = (message: string, minutes = 60, reason = "Failed") => ({
  ...{ type: "Ready", status: "False", reason, message },
  lastTransitionTime: ago(minutes),
});

const shape = {
  nodes: { instanceTypes: ["t3.large"], diskSize: 50, min: 2, desired: 2, max: 4 },
  network: { natGateways: "single", zones: 2 },
};

export function spoke(name: string, spec: object = {}, status: object = {}): Spoke {
  const arn = `arn:aws:eks:eu-central-1:123456789012:cluster/fleet-spoke-${name}`;
  const cluster = { name: `fleet-spoke-${name}`, arn };
  return listed(name, { spec: { ...shape, ...spec }, status: { conditions: [ready()], cluster, ...status } }) as Spoke;
}

/** An application of a spoke's own Flux, at a commit. */
export const app = (name: string, digit: string, status: object = {}): KubeObject =>
  flux("Kustomization", name, name, {
    status: {
      conditions: [ready()],
      lastAppliedRevision: `main@sha1:${commit(digit)}`,
      lastAttemptedRevision: `main@sha1:${commit(digit)}`,
      ...status,
    },
  });

export const source = (name: string, branch: string, digit: string, more: object = {}): KubeObject =>
  flux("GitRepository", "flux-system", name, {
    spec: { url: "ssh://git@github.com:22/example/gitops-system.git" },
    status: {
      conditions: [ready()],
      artifact: { revision: `${branch}@sha1:${commit(digit)}`, lastUpdateTime: ago(30) },
    },
    ...more,
  });

export const hubSync = flux("Kustomization", "flux-system", "hub", { spec: { path: "./clusters/pilot" } });

export const hubFacts = (spokes: readonly Spoke[], more: Partial<HubFacts> = {}): HubFacts => ({
  ...{ fleet: "pilot", spokes, sources: [source("gitops-system", "main", "a")], syncs: [hubSync], frozen: undefined },
  notSeen: [],
  ...more,
});

export const report = (
  facts: HubFacts,
  looks: Readonly<Record<string, Look>> = {},
  keys: readonly Key[] = [],
  at: number = now,
) => reportOf(facts, new Map(Object.entries(looks)), keys, at);

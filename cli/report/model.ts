import type { Costs } from "../costs/rows.ts";
import type { Row } from "../list/rows.ts";

/** What a report says, as `-o json` writes it. Times are in RFC 3339; a text that is not known is missing. */

/**
 * Most urgent first. unknown: it was not reached; due: it has to be done before a day; working: it is on its way, and nobody has to do
 * anything yet.
 */
export const states = ["failing", "unknown", "due", "working", "well"] as const;
export type State = (typeof states)[number];

/** One thing that is not well: what, since when, whose it is, and what to do. */
export interface Attention {
  readonly state: Exclude<State, "well">;
  /** Such as `application shop on blue`. */
  readonly what: string;
  readonly says: string;
  readonly since: string | undefined;
  /** The team or tenant; the platform for what is the hub's. */
  readonly owner: string;
  readonly environment: string | undefined;
  readonly ring: string | undefined;
  readonly tenant: string | undefined;
  /** The command that says more. */
  readonly command: string | undefined;
  /** What to do, where its message is a known one. */
  readonly remedy: string | undefined;
}

/** One application on one spoke. */
export interface Application {
  readonly name: string;
  readonly state: State;
  readonly says: string | undefined;
  readonly since: string | undefined;
  /** Revision that runs: a commit in Flux's form, or the version of a chart. */
  readonly revision: string | undefined;
  /** Revision that Flux tries, while it is another. */
  readonly next: string | undefined;
  readonly owner: string;
  readonly remedy: string | undefined;
}

export interface SpokeReport extends Omit<Row, "applications"> {
  readonly state: State;
  /** Since when it has been Ready, or not. */
  readonly since: string | undefined;
  readonly region: string;
  readonly applications: readonly Application[] | undefined;
  /** Revision of gitops-system that it has, and the one that it is getting. */
  readonly revision: string | undefined;
  readonly next: string | undefined;
  /** US dollars a month by list prices; undefined where a price is not known. */
  readonly month: number | undefined;
  readonly console: string | undefined;
}

/** What commits have reached, in a ring, an environment, or for an application. */
export interface Reach {
  readonly kind: "ring" | "environment" | "application";
  readonly name: string;
  /** Revision that the hub has fetched for a ring. */
  readonly offered: string | undefined;
  readonly since: string | undefined;
  readonly link: string | undefined;
  /** The offered revision first, then the one on most spokes. */
  readonly on: readonly { readonly revision: string; readonly spokes: readonly string[] }[];
  readonly missing: readonly { readonly spoke: string; readonly why: string }[];
}

export interface Source {
  readonly name: string;
  readonly revision: string | undefined;
  readonly since: string | undefined;
  readonly link: string | undefined;
}

export interface Key {
  /** Such as `sealing key of dev, generation 2`. */
  readonly name: string;
  /** That of a sealing key. */
  readonly scope: string | undefined;
  readonly made: string;
  readonly ends: string | undefined;
  /** Such as `seals`. */
  readonly use: string;
}

export interface Report {
  readonly asOf: string;
  /** Undefined where the hub's Kustomization could not be read. */
  readonly fleet: string | undefined;
  readonly counts: {
    readonly spokes: { readonly ready: number; readonly total: number };
    /** Of spokes that were reached; undefined where none was asked. */
    readonly applications: { readonly ready: number; readonly total: number } | undefined;
  } & Readonly<Record<Exclude<State, "well">, number>>;
  readonly attention: readonly Attention[];
  /** By environment, ring and name. */
  readonly spokes: readonly SpokeReport[];
  readonly reach: readonly Reach[];
  readonly sources: readonly Source[];
  readonly keys: readonly Key[];
  /** Of the spokes; the hub costs what `fleet costs --stack` says. */
  readonly costs: Pick<Costs, "environments" | "tenants" | "total"> & { readonly unknown: readonly string[] };
  /** What could not be looked at, and why. */
  readonly notSeen: readonly string[];
}

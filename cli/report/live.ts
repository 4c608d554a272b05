import { createHash } from "node:crypto";
import type { Fleet } from "../kubernetes/fleet.ts";
import { looks } from "../list/look.ts";
import type { Look } from "../list/rows.ts";
import { pause } from "../repeat.ts";
import type { Key, Report } from "./model.ts";
import { pageOf } from "./page/page.ts";
import { readHub } from "./read.ts";
import { type HubFacts, reportOf } from "./report.ts";
import type { Shown } from "./server.ts";
import { shownText } from "./texts.ts";

/** Keeps a report up to date: the hub's part and the spokes' one beside each other, so that a slow spoke holds nothing up. */

/** Seconds between two questions of a browser. */
const REFRESH = 2;

/**
 * Milliseconds. A change of a spoke shows within interval + deadline + interval + REFRESH, nine seconds, as long as no more spokes than are
 * asked at once keep silent.
 */
interface Pace {
  readonly interval: number;
  /** For a spoke's answer. */
  readonly deadline: number;
  /**
   * After this long without a question nobody looks, and nothing is asked any more. More than the minute between two questions of a page in
   * the background (Chrome, "Heavy throttling of chained JS timers").
   */
  readonly idle: number;
}

const usual: Pace = { interval: 1500, deadline: 4000, idle: 90_000 };

type Part = "hub" | "spokes";

/** What was read of the hub, and what could not be. */
interface Seen {
  readonly facts: HubFacts;
  /** Why the spokes could not be asked. */
  readonly unasked: string | undefined;
  readonly failure: string | undefined;
  /** What was seen before nobody looked for a while, and not since. */
  readonly past: readonly Part[];
}

/** The page and the data of a report; the tag changes with anything but the time of the look. */
export function shownOf(report: Report, failure: string | undefined, before?: Shown): Shown {
  const { asOf: _, ...said } = report;
  const etag = `"${createHash("sha256")
    .update(JSON.stringify([said, failure]))
    .digest("base64url")}"`;
  if (etag === before?.etag) return before;
  return { etag, json: `${JSON.stringify(report)}\n`, html: pageOf(report, { refresh: REFRESH, failure, etag }) };
}

interface Live {
  /** What there is to show now; who asks is looking. */
  readonly shown: () => Shown;
  /** Ends with the signal. */
  readonly ended: Promise<unknown>;
}

/** @throws where the hub can't be read at all */
export async function live(
  fleet: Fleet,
  { keys, isOffline, now }: { readonly keys: readonly Key[]; readonly isOffline: boolean; readonly now: () => number },
  signal: AbortSignal,
  { interval, deadline, idle }: Pace = usual,
): Promise<Live> {
  const found = new Map<string, Look>();
  let seen: Seen = { facts: await readHub(fleet.hub), unasked: undefined, failure: undefined, past: [] };
  let lastAsked = now();
  let shown: Shown | undefined;
  const show = (): Shown => {
    const { facts, unasked, past } = seen;
    const failure =
      seen.failure ?? (past.length > 0 ? "nobody looked for a while, so it is being asked again" : undefined);
    const total = facts.spokes.length;
    const sofar = isOffline || found.size >= total ? [] : [`${found.size} of ${total} spokes have been asked so far`];
    const notSeen = [...facts.notSeen, ...(unasked === undefined ? sofar : [unasked])];
    shown = shownOf(reportOf({ ...facts, notSeen }, found, keys, now()), failure, shown);
    return shown;
  };

  const seenAnew = (part: Part) => seen.past.filter((each) => each !== part);
  const again = async (work: () => Promise<void>) => {
    while (!signal.aborted) {
      if (now() - lastAsked < idle) await work();
      await pause(interval, signal);
    }
  };
  const lookAtHub = async () => {
    try {
      const facts = await readHub(fleet.hub);
      seen = { ...seen, facts, failure: undefined, past: seenAnew("hub") };
    } catch (error) {
      seen = { ...seen, failure: shownText((error as Error).message) };
    }
    const names = new Set(seen.facts.spokes.map(({ metadata }) => metadata.name));
    for (const name of found.keys()) if (!names.has(name)) found.delete(name);
    show();
  };
  const lookAtSpokes = async () => {
    try {
      await looks(fleet, seen.facts.spokes, { deadline, atOnce: 50 }, (spoke, look) =>
        found.set(spoke.metadata.name, look),
      );
      seen = { ...seen, unasked: undefined, past: seenAnew("spokes") };
    } catch (error) {
      seen = { ...seen, unasked: (error as Error).message };
    }
  };
  show();
  return {
    shown() {
      if (now() - lastAsked >= idle) {
        seen = { ...seen, past: isOffline ? ["hub"] : ["hub", "spokes"] };
        show();
      }
      lastAsked = now();
      return shown ?? show();
    },
    ended: Promise.all([again(lookAtHub), ...(isOffline ? [] : [again(lookAtSpokes)])]),
  };
}

import type { CoreV1Event } from "@kubernetes/client-node";
import { namespaces } from "../../lib/names.ts";
import { ringSource } from "../../lib/rings.ts";
import { inWords } from "./durations.ts";
import type { History, Move } from "./git.ts";
import type { Hub } from "./health.ts";
import { type Decision, short } from "./plan.ts";

/** What happened to a ring, as an event on its GitRepository. The name follows from what it says, so the same is told once. */

type Reason = "RolloutPromoted" | "RolloutRolledBack" | "RolloutStopped" | "RolloutPassed";

/** How long an API server keeps events unless it is told otherwise (kube-apiserver, --event-ttl). */
const KEPT = 60 * 60_000;

const MAX_MESSAGE = 1024;

interface Told {
  readonly ring: string;
  readonly reason: Reason;
  /** Commits that make it another event. */
  readonly commits: readonly string[];
  readonly message: string;
}

function eventOf({ ring, reason, commits, message }: Told, uid: string | undefined, now: number): CoreV1Event {
  const name = ringSource(ring);
  const time = new Date(now);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: [name, reason.toLowerCase(), ...commits.map((commit) => commit.slice(0, 12))].join("."),
      namespace: namespaces.flux,
    },
    involvedObject: {
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "GitRepository",
      name,
      namespace: namespaces.flux,
      ...(uid === undefined ? {} : { uid }),
    },
    reason,
    message: message.slice(0, MAX_MESSAGE),
    type: reason === "RolloutStopped" ? "Warning" : "Normal",
    source: { component: "fleet-rollouts" },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

const named = (commit: string, { subject }: History): string => `${short(commit)} (${subject(commit)})`;

function ofMove({ ring, kind, from, to }: Move, history: History): Told {
  const commits = [...(from === undefined ? [] : [from]), to];
  const at = named(to, history);
  switch (kind) {
    case "create":
      return { ring, reason: "RolloutPromoted", commits, message: `ring ${ring} begins with ${at}` };
    case "promote":
      return { ring, reason: "RolloutPromoted", commits, message: `ring ${ring} takes ${at}` };
    case "roll back":
      return { ring, reason: "RolloutRolledBack", commits, message: `ring ${ring} goes back to ${at}` };
  }
}

function ofHealth({ ring: { name: ring, soak }, commit, health }: Decision, history: History, now: number): Told[] {
  if (commit === undefined || health === undefined) return [];
  const common = { ring, commits: [commit] };
  if (health.state === "stopped")
    return [
      {
        ...common,
        reason: "RolloutStopped",
        message: `ring ${ring} stopped at ${named(commit, history)}: ${health.reason}`,
      },
    ];
  const { since } = health;
  // Once its event is forgotten, that a ring has passed is no news.
  if (health.state !== "passed" || since === undefined || now - (since + soak) >= KEPT) return [];
  const message = `ring ${ring} passed with ${named(commit, history)}: healthy for ${inWords(soak)}`;
  return [{ ...common, reason: "RolloutPassed", message }];
}

/** Events about what was seen before a run, and what it moved. */
export function eventsOf(
  decisions: readonly Decision[],
  moved: readonly Move[],
  { history, hub, now }: { readonly history: History; readonly hub: Hub; readonly now: number },
): CoreV1Event[] {
  const told = [
    ...decisions.flatMap((each) => ofHealth(each, history, now)),
    ...moved.map((move) => ofMove(move, history)),
  ];
  return told.map((each) => eventOf(each, hub.rings.get(each.ring)?.source, now));
}

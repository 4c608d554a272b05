import { createHash } from "node:crypto";
import type { CoreV1Event } from "@kubernetes/client-node";
import { namespaces } from "../../lib/names.ts";
import { ringSource } from "../../lib/rings.ts";
import { inWords } from "./durations.ts";
import type { History, Move } from "./git.ts";
import { type Decision, short } from "./plan.ts";
import type { Hub } from "./state.ts";

/** What happened to a ring, as an event on its GitRepository. The name follows from what it says, so the same is told once. */

type Reason = "RolloutPromoted" | "RolloutRolledBack" | "RolloutStopped" | "RolloutLate" | "RolloutPassed";

const warnings: readonly Reason[] = ["RolloutStopped", "RolloutLate"];

/** How long an API server keeps events unless it is told otherwise (kube-apiserver, --event-ttl). */
const KEPT = 60 * 60_000;

const MAX_MESSAGE = 1024;

interface Told {
  readonly ring: string;
  readonly reason: Reason;
  /** What makes it another event, besides ring and reason. */
  readonly about: readonly string[];
  readonly message: string;
}

/** Stands for a text in a name. Without durations: Flux's "failed after 30.04s" is the same each time. */
const digest = (text: string): string =>
  createHash("sha256")
    .update(text.replace(/\d[\d.hmµ]*s\b/g, ""))
    .digest("hex")
    .slice(0, 8);

const part = (commit: string): string => commit.slice(0, 12);

function eventOf({ ring, reason, about, message }: Told, uid: string | undefined, now: number): CoreV1Event {
  const name = ringSource(ring);
  const time = new Date(now);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: [name, reason.toLowerCase(), ...about].join("."),
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
    type: warnings.includes(reason) ? "Warning" : "Normal",
    source: { component: "fleet-rollouts" },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

const named = (commit: string, { subject }: History): string => `${short(commit)} (${subject(commit)})`;

/** A move is made once, so it is told once; another one like it is another event. */
function ofMove({ ring, kind, to }: Move, history: History, now: number): Told {
  const common = { ring, about: [part(to), now.toString(36)] };
  const at = named(to, history);
  switch (kind) {
    case "create":
      return { ...common, reason: "RolloutPromoted", message: `ring ${ring} begins with ${at}` };
    case "promote":
      return { ...common, reason: "RolloutPromoted", message: `ring ${ring} takes ${at}` };
    case "roll back":
      return { ...common, reason: "RolloutRolledBack", message: `ring ${ring} goes back to ${at}` };
  }
}

function ofHealth(
  { ring: { name: ring, soak, deadline }, commit, health }: Decision,
  history: History,
  now: number,
): Told[] {
  if (commit === undefined || health === undefined) return [];
  const at = named(commit, history);
  const { state, reason, since, isLate } = health;
  const because = (event: Reason, message: string): Told[] => [
    { ring, reason: event, about: [part(commit), digest(reason ?? "")], message: `${message}: ${reason}` },
  ];
  if (state === "stopped") return because("RolloutStopped", `ring ${ring} stopped at ${at}`);
  if (isLate)
    return because("RolloutLate", `ring ${ring} has been arriving at ${at} for more than ${inWords(deadline)}`);
  // After its event has expired, nobody needs to hear again that a ring has passed.
  if (state !== "passed" || since === undefined || now - (since + soak) >= KEPT) return [];
  const message = `ring ${ring} passed with ${at}: healthy for ${inWords(soak)}`;
  return [{ ring, reason: "RolloutPassed", about: [part(commit)], message }];
}

/** Events about what was seen before a run, and what it moved. */
export function eventsOf(
  decisions: readonly Decision[],
  moved: readonly Move[],
  { history, hub, now }: { readonly history: History; readonly hub: Hub; readonly now: number },
): CoreV1Event[] {
  const told = [
    ...decisions.flatMap((each) => ofHealth(each, history, now)),
    ...moved.map((move) => ofMove(move, history, now)),
  ];
  return told.map((each) => eventOf(each, hub.rings.get(each.ring)?.source?.uid, now));
}

import type { Spoke } from "../../functions/spoke/api.ts";
import { tidy } from "../../functions/spoke/failures.ts";
import { at, condition, type KubeCondition, type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { failureMessage, isHealthy } from "../../functions/spoke/observed.ts";
import { informative } from "../../functions/spoke/status.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { credentialIn } from "../../policies/lib/credentials.ts";
import type { Node, Path } from "./paths.ts";
import type { Details } from "./read.ts";
import { podRemedyOf, remedyOf } from "./remedies.ts";

/** An object on the way to what hinders. */
interface Step {
  readonly side: Node["side"];
  /** Such as `Kustomization spokes/blue-tools`. */
  readonly object: string;
  readonly says: string | undefined;
  /** Events about it, and the last lines of its log. */
  readonly notes: readonly string[];
}

/** One thing that hinders. */
export interface Finding {
  readonly steps: readonly Step[];
  /** What to do next. */
  readonly remedy: string | undefined;
}

const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

const MOST_EVENTS = 3;

const timeOf = (event: KubeObject): string =>
  textAt(event, "lastTimestamp") ?? textAt(event, "eventTime") ?? event.metadata.creationTimestamp ?? "";

/** The newest warnings about an object, each once. */
function eventsOf(events: readonly KubeObject[], { kind, metadata }: KubeObject): string[] {
  const own = events.filter((event) => {
    const about = at(event, "involvedObject");
    const isThere = (textAt(about, "namespace") ?? metadata.namespace) === metadata.namespace;
    return textAt(about, "kind") === kind && textAt(about, "name") === metadata.name && isThere;
  });
  const newest = own.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)));
  const texts = newest.map((event) => `event ${textAt(event, "reason")}: ${tidy(textAt(event, "message") ?? "")}`);
  return [...new Set(texts)].slice(0, MOST_EVENTS);
}

/** A line, unless it shows a credential. */
export function shownLine(line: string): string {
  const credential = credentialIn(line);
  return credential === undefined ? line : `(a line with ${credential} is left out)`;
}

/** The lines of a log, without those that show a credential. */
const logLines = (log: string): string[] =>
  log
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `log: ${shownLine(line)}`);

/** How far an object without a message is. */
function stage(object: KubeObject): string {
  const reason = condition(object, "Ready")?.reason;
  const since = object.metadata.annotations?.[crossplaneAnnotations.createPending];
  if (reason === "Creating" && since !== undefined) return `being created since ${since}`;
  return reason ?? "not begun";
}

const says = (object: KubeObject): string | undefined => {
  const failure = failureMessage(object);
  if (failure === undefined && isHealthy(object)) return undefined;
  const message = failure ?? condition(object, "Ready")?.message;
  return message ? tidy(message) : stage(object);
};

const stepOf = ({ side, object }: Node, events: readonly KubeObject[]): Step => ({
  ...{ side, object: nameOf(object), says: says(object) },
  notes: isHealthy(object) ? [] : eventsOf(events, object),
});

/** What hinders under the last object of a path; nothing where that object itself is the last to say something. */
function under({ objects, troubles, events }: Details): Finding[] {
  const failing = objects.filter((object) => failureMessage(object) !== undefined);
  const ofObjects = failing.map((object): Finding => {
    const node: Node = { side: "spoke", object };
    return { steps: [stepOf(node, events)], remedy: remedyOf(node) };
  });
  const ofPods = troubles.map(({ pod, container, reason, message, log }): Finding => {
    const step: Step = {
      ...{ side: "spoke", object: nameOf({ ...pod, kind: "Pod" }) },
      says: `${container === undefined ? "" : `container ${container}: `}${reason}${message === "" ? "" : `: ${tidy(message)}`}`,
      notes: [...eventsOf(events, { ...pod, kind: "Pod" }), ...logLines(log)],
    };
    return { steps: [step], remedy: podRemedyOf(reason) };
  });
  if (ofPods.length > 0) return [...ofObjects, ...ofPods];
  const refused = events
    .filter((event) => textAt(event, "reason") === "FailedCreate")
    .sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
  const last = refused.at(-1);
  if (last === undefined) return ofObjects;
  const about = `${textAt(last, "involvedObject", "kind")} ${last.metadata.namespace}/${textAt(last, "involvedObject", "name")}`;
  const step: Step = { side: "spoke", object: about, says: tidy(textAt(last, "message") ?? ""), notes: [] };
  return [...ofObjects, { steps: [step], remedy: podRemedyOf("FailedCreate") }];
}

/** What hinders at the end of a path, and under it. */
export function findingsOf(path: Path, details: Details, events: readonly KubeObject[]): Finding[] {
  const last = path.at(-1);
  if (last === undefined) return [];
  const steps = path.map((node) => stepOf(node, events));
  const deeper = under(details);
  // Flux waits for a commit that goes well.
  if (deeper.length === 0) return isHealthy(last.object) ? [] : [{ steps, remedy: remedyOf(last) }];
  return deeper.map((found) => ({
    steps: [...steps, ...found.steps],
    remedy: found.remedy ?? remedyOf(last),
  }));
}

/** What the Spoke itself says that is not as it should be; the function puts what to do into its messages. */
export function findingsOfSpoke(spoke: Spoke): Finding[] {
  const conditions: readonly KubeCondition[] = spoke.status?.conditions ?? [];
  const wrong = conditions.filter(
    ({ type, status }) => status === "False" && type !== "Ready" && !informative.includes(type),
  );
  const parts = wrong.map(
    ({ type, reason, message }): Finding => ({
      steps: [
        { side: "hub", object: `condition ${type}`, says: [reason, message].filter(Boolean).join(": "), notes: [] },
      ],
      remedy: undefined,
    }),
  );
  const ready = condition(spoke, "Ready");
  if (parts.length > 0 || ready?.status === "True") return parts;
  const step: Step = {
    ...{ side: "hub", object: "condition Ready", notes: [] },
    says: spoke.status?.message ?? ready?.message ?? "Crossplane has not begun",
  };
  return [{ steps: [step], remedy: "kubectl -n crossplane-system get pods on the hub shows whether Crossplane runs" }];
}

/** Of a spoke that could not be asked. */
export const unreachedFinding = (cluster: string, why: string): Finding => ({
  steps: [{ side: "spoke", object: `API server of ${cluster}`, says: why, notes: [] }],
  remedy:
    "what is on the spoke could not be looked at: docs/guides/clusters.md#reach-a-cluster-with-kubectl says what it takes",
});

/** What a Spoke says of itself. */
export const standing = (spoke: Spoke) => ({
  spoke: spoke.metadata.name,
  isReady: condition(spoke, "Ready")?.status === "True",
  phase: spoke.status?.phase,
  message: spoke.status?.message,
});

/** What is printed: the Spoke, then each path down to what hinders. */
export function textOf(of: Spoke, findings: readonly Finding[]): string {
  const { spoke, isReady, phase = "not begun", message = "-" } = standing(of);
  const head = `Spoke ${spoke} is ${isReady ? "Ready" : "not Ready"} (${phase}): ${message}`;
  if (findings.length === 0) return `${head}\nNothing hinders it, or its applications.\n`;
  const blocks = findings.map(({ steps, remedy }, index) => {
    const lines = steps.flatMap((step, depth) => {
      const margin = "  ".repeat(depth);
      const where = step.side === "hub" ? "hub" : "spoke";
      const line = `${margin}${depth === 0 ? `${index + 1}. ` : "   "}${where}: ${step.object}${step.says === undefined ? "" : `: ${step.says}`}`;
      return [line, ...step.notes.map((note) => `${margin}     ${note}`)];
    });
    return [...lines, ...(remedy === undefined ? [] : [`   do: ${remedy}`])].join("\n");
  });
  return `${[head, ...blocks].join("\n\n")}\n`;
}

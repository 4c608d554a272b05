import { at, type KubeObject, textAt } from "../../functions/spoke/kube.ts";

/** Why a pod does not run. */
export interface Trouble {
  readonly pod: KubeObject;
  /** The container that is meant; undefined for the pod as a whole. */
  readonly container: string | undefined;
  /** Kubernetes' own word, such as ImagePullBackOff. */
  readonly reason: string;
  readonly message: string;
  /** Whether the log of the container's predecessor says more than its own. */
  readonly hasEnded: boolean;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What is read of the status of a container (Kubernetes API, ContainerStatus). */
function ofContainer(pod: KubeObject, status: unknown): Trouble[] {
  const state = (name: string, ...path: string[]) => at(status, name, ...path);
  const ended = state("lastState", "terminated") ?? state("state", "terminated");
  const waiting = textAt(status, "state", "waiting", "reason");
  const code = at(ended, "exitCode");
  const hasFailed = typeof code === "number" && code !== 0;
  const isOut = waiting !== undefined && waiting !== "ContainerCreating" && waiting !== "PodInitializing";
  if (!isOut && !(hasFailed && at(status, "ready") !== true)) return [];
  const reason = textAt(ended, "reason");
  const end = hasFailed ? `it ended with code ${code}${reason === undefined ? "" : ` (${reason})`}` : undefined;
  const told = [textAt(status, "state", "waiting", "message"), end].filter((text) => text !== undefined).join("; ");
  const isKilled = reason === "OOMKilled";
  return [
    {
      pod,
      container: textAt(status, "name"),
      reason: isKilled ? reason : (waiting ?? reason ?? "Error"),
      message: told,
      hasEnded: state("lastState", "terminated") !== undefined,
    },
  ];
}

/** Why pods do not run; those that have done their work, or are just starting, have no trouble. */
export function troublesOf(pods: readonly KubeObject[]): Trouble[] {
  return pods.flatMap((pod) => {
    if (textAt(pod.status, "phase") === "Succeeded" || pod.metadata.deletionTimestamp !== undefined) return [];
    const conditions = list(at(pod.status, "conditions"));
    const scheduled = conditions.find((each) => textAt(each, "type") === "PodScheduled");
    if (textAt(scheduled, "status") === "False") {
      const [reason, message] = [textAt(scheduled, "reason") ?? "Unschedulable", textAt(scheduled, "message") ?? ""];
      return [{ pod, container: undefined, reason, message, hasEnded: false }];
    }
    const statuses = [...list(at(pod.status, "initContainerStatuses")), ...list(at(pod.status, "containerStatuses"))];
    const found = statuses.flatMap((status) => ofContainer(pod, status));
    if (found.length > 0) return found;
    const running = statuses.find((status) => at(status, "state", "running") && at(status, "ready") === false);
    if (running === undefined) return [];
    const message = "it runs, and its readiness probe does not succeed";
    return [{ pod, container: textAt(running, "name"), reason: "NotReady", message, hasEnded: false }];
  });
}

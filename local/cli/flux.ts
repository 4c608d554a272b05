import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, run } from "../instance/index.ts";

/** What is read of a Flux object, a pod or any other object with conditions. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly suspend?: boolean; readonly sourceRef?: { readonly kind?: string } };
  readonly status?: {
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly lastAppliedRevision?: string;
    readonly artifact?: { readonly revision?: string };
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
    }[];
    readonly initContainerStatuses?: readonly Container[];
    readonly containerStatuses?: readonly Container[];
  };
}

interface Container {
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}

// Each poll costs a process and an EKS token.
const POLL_MS = 2000;

/** Runs kubectl on a cluster of the instance and gives its standard output. */
export type Kubectl = (args: readonly string[]) => Promise<string>;

/** kubectl with a context of the instance's kubeconfig. */
export const kubectlFor =
  (kubectl: string, context: string, env: NodeJS.ProcessEnv): Kubectl =>
  (args) =>
    run([kubectl, "--context", context, ...args], { env });

/** The objects of some kinds; where, as flags of kubectl. */
export async function objects<T = KubernetesObject>(
  kubectl: Kubectl,
  kinds: readonly string[],
  where: readonly string[] = ["--all-namespaces"],
): Promise<T[]> {
  return JSON.parse(await kubectl(["get", kinds.join(","), ...where, "--output", "json"])).items;
}

/** What kubectl says of an object that was gone when it came to it, one line each; its warnings say nothing of objects. */
const gone = /^(Error from server \(NotFound\): \S+ "[^"]+" not found|Warning: .*)$/;

const isGone = (error: unknown): boolean =>
  error instanceof CommandError &&
  error.stderr
    .trim()
    .split("\n")
    .every((line) => gone.test(line));

/**
 * Sets an annotation of all objects of a kind. Those that somebody removes meanwhile need none: kubectl lists them, goes on to the
 * others and fails at the end (kubernetes/kubectl, pkg/cmd/annotate/annotate.go, ContinueOnError).
 */
export async function annotateAll(kubectl: Kubectl, kind: string, annotation: string): Promise<void> {
  try {
    await kubectl(["annotate", kind, "--all", "--all-namespaces", "--overwrite", annotation]);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/**
 * Why an object isn't Ready, with its own words; undefined when it is. A Flux object counts only at its newest generation
 * and, with a revision of the repository given, once it has that revision; what takes a part of it has a revision of its own.
 */
export function unready({ kind, metadata, spec, status }: KubernetesObject, revision?: string): string | undefined {
  const name = `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
  if (spec?.suspend === true) return `${name} is suspended`;
  if (kind === "Pod" && status?.phase === "Succeeded") return undefined;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") return `${name}: ${ready?.message || status?.phase || "no status yet"}`;
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) {
    return `${name}: its newest specification is not observed yet`;
  }
  const has = status?.lastAppliedRevision ?? status?.artifact?.revision;
  const isCut = kind === "ExternalArtifact" || spec?.sourceRef?.kind === "ExternalArtifact";
  if (revision !== undefined && !isCut && has !== undefined && has !== revision)
    return `${name}: has ${has}, not yet ${revision}`;
  return undefined;
}

/** Why Crossplane could not bring a resource to its desired state, in its own words; undefined when its last reconciliation was without error. */
export function problemOf({ kind, metadata, status }: KubernetesObject): string | undefined {
  const synced = status?.conditions?.find(({ type }) => type === "Synced");
  return synced?.status === "False" ? `${kind} ${metadata.name}: ${synced.message ?? "not synced"}` : undefined;
}

/** How many objects a line of progress names. */
const NAMED = 2;

/**
 * What is waited for, in one line: how many objects, and the first of those that wait for no other one (a Kustomization whose
 * dependency isn't Ready says so itself).
 */
export function waitingLine(waiting: readonly string[], of: number): string {
  if (of === 0) return "waiting: nothing is there yet";
  const first = waiting.filter((state) => !/: dependency '.*' is not ready/.test(state));
  const named = (first.length > 0 ? first : waiting).slice(0, NAMED);
  const others = waiting.length - named.length;
  const count = of > 1 ? `${waiting.length} of ${of}: ` : "";
  return `waiting for ${count}${named.join("; ")}${others > 0 ? `; and ${others} more` : ""}`;
}

interface Wait {
  readonly seconds: number;
  readonly report: (detail: string) => void;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds between two looks. */
  readonly pause?: number;
}

/** Waits until every object that `list` gives is Ready, and there is at least one; reports what it waits for whenever that changes. */
export async function untilReady(
  list: () => Promise<readonly (string | undefined)[]>,
  { seconds, report, signal, pause = POLL_MS }: Wait,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  let said = "";
  for (;;) {
    const states = await list();
    const waiting = states.filter((state) => state !== undefined);
    if (waiting.length === 0 && states.length > 0) return;
    if (Date.now() > deadline)
      throw new Error(`not ready after ${seconds} s: ${waiting.join("; ") || "nothing is there yet"}`);
    const now = waitingLine(waiting, states.length);
    if (now !== said) report(now);
    said = now;
    await sleep(pause, undefined, signal && { signal });
  }
}

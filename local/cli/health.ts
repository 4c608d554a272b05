import type { ProcessStatus } from "../supervisor/client.ts";
import { exitsLine, keepsExiting } from "../supervisor/exits.ts";
import { type KubernetesObject, unready } from "./flux.ts";
import { isSpokeReady, type Spoke, spokeLine } from "./spokes.ts";

/** What isn't as it should be: `problem`, somebody has to look; `progress`, it is on its way; `unknown`, nobody here can see it. */
export interface Note {
  readonly sort: "problem" | "progress" | "unknown";
  readonly text: string;
}

/** Reasons for which a container waits that waiting alone does not end (kubernetes/kubernetes, pkg/kubelet/images/types.go and kuberuntime). */
const failingContainers: readonly string[] = [
  ...["CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"],
  ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError"],
];
/** Flux's reasons of an object that waits for its turn, or for what it has just applied. */
const waiting: readonly string[] = ["DependencyNotReady", "Progressing"];
/** How long a pod, or a new node, takes at most when all is well. */
const PATIENCE_MS = 5 * 60_000;

const since = (time: string | undefined, now: number): number => (time === undefined ? 0 : now - Date.parse(time));

/** Whether an object that isn't Ready is only not finished, by what it says of itself. */
function isOnItsWay({ kind, metadata, spec, status }: KubernetesObject, now: number): boolean {
  if (spec?.suspend === true) return false;
  if (metadata.deletionTimestamp !== undefined) return true;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (kind === "Node") return since(metadata.creationTimestamp, now) < PATIENCE_MS;
  if (kind === "Pod") {
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const failing = containers.some(({ state }) => failingContainers.includes(state?.waiting?.reason ?? ""));
    const changed = ready?.lastTransitionTime ?? metadata.creationTimestamp;
    return !failing && status?.phase !== "Failed" && since(changed, now) < PATIENCE_MS;
  }
  return ready?.status !== "False" || waiting.includes(ready.reason ?? "");
}

/** What there is to say of objects of a cluster that aren't Ready. */
export const objectNotes = (objects: readonly KubernetesObject[], now: number): Note[] =>
  objects.flatMap((object) => {
    const text = unready(object);
    return text === undefined ? [] : [{ sort: isOnItsWay(object, now) ? "progress" : "problem", text } as const];
  });

/** What there is to say of a Spoke that isn't Ready. */
export function spokeNotes(spoke: Spoke): Note[] {
  if (isSpokeReady(spoke)) return [];
  const { phase, conditions } = spoke.status ?? {};
  const removal = conditions?.find(({ type, status }) => type === "Deleting" && status === "True");
  const isHeld = removal !== undefined && !["InProgress", "Finishing"].includes(removal.reason ?? "");
  const failing = phase === "Failing" || phase === "Refused" || isHeld;
  return [{ sort: failing ? "problem" : "progress", text: `spoke ${spokeLine(spoke)}` }];
}

const passing: readonly string[] = ["CREATING", "UPDATING", "DELETING"];

/** What there is to say of an EKS cluster by its status. */
export function clusterNotes(name: string, status: string | undefined): Note[] {
  if (status === "ACTIVE") return [];
  return [{ sort: passing.includes(status ?? "") ? "progress" : "problem", text: `cluster ${name} is ${status}` }];
}

/** What there is to say of the processes of an instance. */
export function processNotes(processes: readonly ProcessStatus[]): Note[] {
  if (processes.length === 0)
    return [{ sort: "problem", text: "no process runs: the supervisor is gone or nothing was started" }];
  return processes.flatMap((process): Note[] => {
    const { id, state, log } = process;
    if (keepsExiting(process)) return [{ sort: "problem", text: `process ${id} ${exitsLine(process)}. Log: ${log}` }];
    if (state === "ready") return [];
    const sort = state === "starting" || state === "stopping" ? "progress" : "problem";
    return [{ sort, text: `process ${id} is ${state}` }];
  });
}

/** What there is to say while a command brings up or removes the instance, whatever is there so far. */
export const commandNotes = (busy: string | undefined): Note[] =>
  busy === undefined ? [] : [{ sort: "progress", text: `${busy} is under way` }];

/** What there is to say of a hub by the number of its Flux objects. @param absent how what a hub must have counts while it is not there */
export const hubNotes = (fluxObjects: number, absent: Note["sort"]): Note[] =>
  fluxObjects > 0 ? [] : [{ sort: absent, text: "has no Flux objects, so nothing is applied from Git" }];

const titles = {
  problem: "Not as it should be:",
  progress: "Not finished yet:",
  unknown: "Could not be looked at from here:",
} as const;

/** The last words of `npm run status`, and its exit code: 1 with a problem, 2 while something is on its way, else 0. */
export function verdict(notes: readonly Note[]): { readonly text: string; readonly code: number } {
  const lists = (Object.keys(titles) as Note["sort"][]).flatMap((sort) => {
    const found = notes.filter((note) => note.sort === sort);
    return found.length === 0 ? [] : [[titles[sort], ...found.map(({ text }) => `- ${text}`)].join("\n")];
  });
  const has = (sort: Note["sort"]) => notes.some((note) => note.sort === sort);
  const code = has("problem") ? 1 : has("progress") ? 2 : 0;
  return { text: [...lists, ...(code === 0 ? ["All is well."] : [])].join("\n\n"), code };
}

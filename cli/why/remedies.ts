import { failureOf } from "../../functions/spoke/failures.ts";
import type { Node } from "./paths.ts";

/** What a person does next, and where they read more. */

/** Reasons of the composition function that mean something else on a spoke, where teams and tools are, than in the chain. */
const onSpoke: Readonly<Record<string, string>> = {
  CreationInterrupted:
    "Crossplane's provider ended while AWS made it: look whether AWS has it, and set the annotations that docs/guides/clusters.md#interrupted-creations names",
  AlreadyExists:
    "AWS has one of this name already: docs/guides/clusters.md#interrupted-creations if a creation was interrupted, else choose another name",
  MissingInGit:
    "the folder that its spec.path names is not in its repository: correct the path, or push the folder, on the branch that its source follows",
  UndefinedVariable:
    "a manifest uses a variable that the ConfigMap cluster-info in its namespace does not have: docs/reference/contract.md lists those that there are",
  AccessDenied:
    "AWS, or the API server, refuses it to the role or service account that acts here: docs/guides/applications.md#onboard-an-application says what applications may do",
  SpokeUnreachable: "what it calls does not answer: the message names it; the spoke itself was reached",
  SealingKeyUnreadable: "kubectl describe of the object on the spoke shows which secret can't be read",
};

/** What to do about a pod, by Kubernetes' own reason. */
const ofPods: Readonly<Record<string, string>> = {
  CrashLoopBackOff: "its log says why it ends: correct that in the application's repository",
  CreateContainerConfigError: "a ConfigMap or Secret that it names is not there: docs/guides/secrets.md#seal-a-secret",
  ErrImagePull: "correct the image's name or tag; for a registry that asks for credentials see docs/guides/mirrors.md",
  FailedCreate:
    "what refuses its pods is in the message: the quota in namespace.yaml of the application's folder in gitops-workloads, or an admission policy",
  NotReady: "its log and its readiness probe say what it waits for",
  OOMKilled: "raise its memory limit in the application's repository, or let it need less",
  Unschedulable:
    "lower what it requests, or raise spec.nodes or a group of spec.nodeGroups of the Spoke; nodes behind a taint take only pods that tolerate it",
};

const samePods: Readonly<Record<string, string>> = {
  ImagePullBackOff: "ErrImagePull",
  InvalidImageName: "ErrImagePull",
  Error: "CrashLoopBackOff",
};

/** Where a guide has more on a reason; others are in troubleshooting.md. */
const guides: Readonly<Record<string, string>> = {
  AlreadyExists: "clusters.md#interrupted-creations",
  CommitNotVerified: "signatures.md",
  CreationInterrupted: "clusters.md#interrupted-creations",
  GitUnreachable: "git-access.md",
  PodsNotEvicted: "clusters.md",
  ReceiverNotReady: "git-access.md#webhooks",
  SealingKeyUnreadable: "secrets.md#rotate-keys",
  SpokeUnreachable: "deploy.md#private-endpoints",
  WrongSealingKey: "secrets.md#seal-a-secret",
};

/** What to do about an object that fails; undefined where nobody has to, or its message is not a known one. */
export function remedyOf({ side, object }: Node): string | undefined {
  const failure = failureOf(object);
  if (failure === undefined) return undefined;
  const remedy = (side === "spoke" ? onSpoke[failure.reason] : undefined) ?? failure.remedy;
  return `${remedy === "" ? "" : `${remedy}. `}See docs/guides/${guides[failure.reason] ?? "troubleshooting.md"}`;
}

/** What to do about a pod that does not run for a reason. */
export const podRemedyOf = (reason: string): string | undefined => ofPods[samePods[reason] ?? reason];

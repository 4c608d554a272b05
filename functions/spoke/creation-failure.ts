import { creationFailureAnnotation } from "../../lib/labels.ts";
import { condition, type KubeObject, statusInAws } from "./kube.ts";

/** Statuses of an EKS cluster or node group that EKS failed to create. */
const failed: readonly (string | undefined)[] = ["CREATE_FAILED", "FAILED"];

/** The error of a creation whose wait ended (terraform-plugin-sdk, helper/retry, UnexpectedStateError), as upjet prints it: `[{0 … []}]`. */
const unexpectedState = /unexpected state '(?:CREATE_FAILED|FAILED)'.*?last error: (.*?)(?:\s*\[\]\}\])?$/s;

/** EKS's health issues, from the error of a creation that has just failed. */
function issuesIn(object: KubeObject): string | undefined {
  const { status, message = "" } = condition(object, "LastAsyncOperation") ?? {};
  return status === "False" ? unexpectedState.exec(message)?.[1] : undefined;
}

/** Why EKS failed to create a cluster or a node group: its health issues; undefined if it didn't fail, or if they are unknown. */
export function creationFailure(object: KubeObject): string | undefined {
  const noted = failed.includes(statusInAws(object))
    ? object.metadata.annotations?.[creationFailureAnnotation]
    : undefined;
  return issuesIn(object) ?? noted;
}

/**
 * `manifest` with the health issues for which EKS failed to create it. The provider reports them once: at its next look, milliseconds later,
 * the error is lost and only the status is left (upjet 2, pkg/controller/external_async_tfpluginsdk.go, Observe; crossplane/upjet#594).
 */
export function withCreationFailure(manifest: KubeObject, observed: KubeObject | undefined): KubeObject {
  const isEks = manifest.kind === "NodeGroup" || manifest.kind === "Cluster";
  const failure = observed !== undefined && isEks ? creationFailure(observed) : undefined;
  if (failure === undefined) return manifest;
  const annotations = { ...manifest.metadata.annotations, [creationFailureAnnotation]: failure };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

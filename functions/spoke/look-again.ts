import { lookAgainAnnotation } from "../../lib/labels.ts";
import { type KubeObject, statusInAws } from "./kube.ts";

/** Statuses of an EKS cluster or node group that pass by themselves. */
const passing: readonly string[] = ["CREATING", "PENDING"];
const SECONDS = 30;

/**
 * `manifest` with an annotation that changes twice a minute while AWS is still making what it stands for. Crossplane's provider reports no
 * status before AWS is done, unless it was killed meanwhile; then it would look again only at its next poll, up to an hour later, and a
 * changed annotation has it look at once (crossplane-runtime, pkg/resource/predicates.go).
 */
export function withLook(manifest: KubeObject, observed: KubeObject | undefined, now: number): KubeObject {
  if (observed === undefined || !passing.includes(statusInAws(observed) ?? "")) return manifest;
  const period = SECONDS * 1000;
  const annotations = {
    ...manifest.metadata.annotations,
    [lookAgainAnnotation]: new Date(Math.floor(now / period) * period).toISOString(),
  };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

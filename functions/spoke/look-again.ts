import { lookAgainAnnotation } from "../../lib/labels.ts";
import { type KubeObject, lacksAddress, statusInAws } from "./kube.ts";
import { troubled } from "./observed.ts";

/**
 * Seconds between two looks at a cluster, node group or NAT gateway, by its status: what passes by itself, and what a person mends or removes. The provider
 * reports no status before AWS is done, unless it was killed meanwhile.
 */
const seconds: Readonly<Record<string, number>> = {
  ...Object.fromEntries(["CREATING", "PENDING"].map((status) => [status, 30])),
  ...Object.fromEntries(["DELETING", ...troubled].map((status) => [status, 300])),
};

/** Seconds between two looks at what somebody else has to change. */
export const UNTIL_CHANGED = 30;

/**
 * `manifest` with an annotation that changes every so many seconds, for what has a status that does not last. Crossplane's provider would look again only at its
 * next poll, up to an hour later; a changed annotation has it look at once (crossplane-runtime, pkg/resource/predicates.go).
 * @param every seconds, where something else than its status says that it does not last
 */
export function withLook(
  manifest: KubeObject,
  observed: KubeObject | undefined,
  now: number,
  every = seconds[lacksAddress(observed) ? "PENDING" : (statusInAws(observed) ?? "")],
): KubeObject {
  if (every === undefined) return manifest;
  const period = every * 1000;
  const annotations = {
    ...manifest.metadata.annotations,
    [lookAgainAnnotation]: new Date(Math.floor(now / period) * period).toISOString(),
  };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

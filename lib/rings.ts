import { group } from "./labels.ts";
import { spokeApi } from "./spoke.ts";

/**
 * Rings: groups of spokes that take a change of the platform one after another. A ring is a branch of gitops-system, and Flux on the hub
 * applies the Composition of that branch under the ring's name.
 */

/** Branch of gitops-system that the ring's spokes follow; its commits are those of the hub's branch. */
export const ringBranch = (ring: string): string => `ring/${ring}`;

/** GitRepository on the hub of the ring's branch. */
export const ringSource = (ring: string): string => `gitops-system-ring-${ring}`;

/** Kustomization on the hub that applies the ring's Composition. */
export const ringSync = (ring: string): string => `ring-${ring}`;

/** Composition of the ring's spokes: the file of all, under the ring's name. */
export const ringComposition = (ring: string): string => `${spokeApi.composition}-${ring}`;

/** Label of a ring's GitRepository and Kustomization, with the ring's name. */
export const ringLabel = `${group}/ring`;

/** Folders of gitops-system that a ring takes from its branch: the Composition, and the bootstrap chain and the tools with what they read. */
export const ringFolders = [
  "platform/charts",
  "platform/composition",
  "platform/crossplane/policies",
  "platform/deletion-order",
  "platform/kyverno",
  "platform/policies",
  "spoke-bootstrap",
  "tools",
] as const;

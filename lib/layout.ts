/** Where in gitops-system the things of one fleet lie, so that several hubs can follow one repository, also on branches that are merged. */

/** What Flux on the fleet's hub applies. */
export const hubFolder = (fleet: string): string => `clusters/${fleet}`;

/** What every hub applies. A folder in it with a kustomization.yaml is for the hubs whose {@link hubFolder} names it. */
export const platformHub = "platform/hub";

/** The facts about the fleet's hub, recorded for commands without credentials (cli/fleet/record.ts); Flux does not apply it. */
export const bridgeFile = (fleet: string): string => `${hubFolder(fleet)}/bridge.yaml`;

/** The order of the fleet's rings, and when a ring takes what the one before has (cli/rollouts/policy.ts). */
export const ringsPolicy = (fleet: string): string => `${hubFolder(fleet)}/rings.yaml`;

/** What makes the fleet's rings on the hub: a file for each ring. */
export const ringsFolder = (fleet: string): string => `${hubFolder(fleet)}/rings`;

/** The fleet's spokes; Flux on the hub gets the same from ./spokes/${"$"}{fleet} (platform/hub/spokes.yaml). */
export const spokesFolder = (fleet: string): string => `spokes/${fleet}`;

export const spokeFolder = (fleet: string, spoke: string): string => `${spokesFolder(fleet)}/${spoke}`;

/** Name of the Kustomization that applies a spoke's folder to the hub, and of the artifact that it takes (platform/hub/artifacts.yaml). */
export const spokeSync = (spoke: string): string => `spoke-${spoke}`;

/** Name of the artifact with the bootstrap chain. */
export const chainArtifact = "bootstrap-chain";

/** What becomes the Argo CD cluster secret of a spoke, on hubs whose Argo CD acts on spokes. */
export const argocdClusterFolder = "spoke-bootstrap/argocd";

/** The same, which also goes to Secrets Manager, where Argo CD is elsewhere. */
export const argocdElsewhereFolder = "spoke-bootstrap/argocd-elsewhere";

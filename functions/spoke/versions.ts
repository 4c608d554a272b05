/** Kubernetes minor versions of EKS, all of major version 1. */

const minor = (version: string): number => Number(version.split(".")[1]);

/** Below zero when `a` is older than `b`, above when it is newer. */
export function compareVersions(a: string, b: string): number {
  return minor(a) - minor(b);
}

/**
 * The version to request for the control plane: EKS goes up one minor at a time and never down. The API server already refuses
 * a larger step; this also covers a Spoke that was changed while its cluster was being created.
 */
export function nextVersion(wanted: string, running: string | undefined): string {
  if (running === undefined) return wanted;
  return compareVersions(wanted, running) > 0 ? `1.${minor(running) + 1}` : running;
}

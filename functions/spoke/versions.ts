/** Kubernetes minor versions of EKS, all of major version 1. */

const minor = (version: string): number => Number(version.split(".")[1]);

/** Below zero when `a` is older than `b`, above when it is newer. */
export function compareVersions(a: string, b: string): number {
  return minor(a) - minor(b);
}

/** What a Composition has for a version, by add-on; `nodes` are releases of AMIs. */
export type VersionTable = Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;

/** The version of a new spoke: the newest that names versions of EKS add-ons, or the newest of all. EKS's own defaults change over time. */
export function defaultVersion(table: VersionTable): string | undefined {
  const versions = Object.keys(table).sort(compareVersions);
  const namesAddons = (version: string) => Object.keys(table[version] ?? {}).some((name) => name !== "nodes");
  return versions.findLast(namesAddons) ?? versions.at(-1);
}

/**
 * The version to request for the control plane: the fleet raises it one minor at a time and never lowers it. The Spoke API already
 * rejects a larger step; this also covers a Spoke that was changed while its cluster was being created.
 * @param rolledBackFrom version from which someone rolled the control plane back, which is not requested again
 */
export function nextVersion(wanted: string, running: string | undefined, rolledBackFrom?: string): string {
  if (running === undefined) return wanted;
  const isRaise = compareVersions(wanted, running) > 0 && rolledBackFrom === undefined;
  return isRaise ? `1.${minor(running) + 1}` : running;
}

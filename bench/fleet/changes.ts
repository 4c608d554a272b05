import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Kubectl } from "@eks-gitops-fleet/local/cli";

/** What is read of objects that a commit can change. */
export interface Seen {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** What a Kustomization has applied, or the artifact that a source has; empty when there is none. */
  readonly revision: string;
  /** The commit that an artifact was cut from, or that a Kustomization has applied; empty when there is none. */
  readonly origin: string;
  /** Days for which a Spoke keeps its logs: what the benchmark's commits change. */
  readonly days: string;
}

const KINDS = {
  kustomizations: "kustomizations.kustomize.toolkit.fluxcd.io",
  artifacts: "externalartifacts.source.toolkit.fluxcd.io",
  generators: "artifactgenerators.source.extensions.fluxcd.io",
  repositories: "gitrepositories.source.toolkit.fluxcd.io",
  spokes: "spokes.fleet.internal",
} as const;

const ORIGIN = ".status.artifact.metadata.org\\.opencontainers\\.image\\.revision";
/** Not a tab: kubectl aligns columns while it watches. */
const SEPARATOR = "|";
/** The fields of {@link Seen}; each that an object lacks is empty. */
const FIELDS = [
  ["{.kind}"],
  ["{.metadata.namespace}"],
  ["{.metadata.name}"],
  ["{.metadata.resourceVersion}"],
  ["{.status.lastAppliedRevision}", "{.status.artifact.revision}"],
  ["{.status.lastAppliedOriginRevision}", `{${ORIGIN}}`],
  ["{.spec.logRetentionDays}"],
];
const LINE = `${FIELDS.map((alternatives) => alternatives.join("")).join(`{"${SEPARATOR}"}`)}{"\\n"}`;

export function seen(line: string): Seen {
  const [kind = "", namespace = "", name = "", resourceVersion = "", revision = "", origin = "", days = ""] =
    line.split(SEPARATOR);
  return { kind, namespace, name, resourceVersion, revision, origin, days };
}

/** All objects that a commit can change, as they are. */
export async function snapshot(kubectl: Kubectl): Promise<Seen[]> {
  const kinds = Object.values(KINDS).join(",");
  const output = `jsonpath={range .items[*]}${LINE}{end}`;
  const text = await kubectl(["get", kinds, "--all-namespaces", "--output", output]);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(seen);
}

/** A change, and when it was seen by `performance.now()`. */
export interface Change extends Seen {
  readonly at: number;
}

/**
 * Watches everything that a commit can change, by the command of a cluster's administrator, until the signal. Gives all changes until now,
 * and throws when a watch has ended before the signal.
 */
export function watch(
  [kubectl, ...flags]: readonly [string, ...string[]],
  signal: AbortSignal,
): () => readonly Change[] {
  const changes: Change[] = [];
  let failure: Error | undefined;
  const fail = (error: Error) => {
    if (!signal.aborted) failure ??= error;
  };
  for (const kind of Object.values(KINDS)) {
    const args = ["get", kind, "--all-namespaces", "--watch-only", "--output", `jsonpath=${LINE}`];
    const child = spawn(kubectl, [...flags, ...args], { stdio: ["ignore", "pipe", "inherit"], signal });
    createInterface({ input: child.stdout }).on("line", (line) => {
      changes.push({ ...seen(line), at: performance.now() });
    });
    child.once("error", fail);
    child.once("close", (code) => fail(new Error(`kubectl stopped watching ${kind} (exit code ${code})`)));
  }
  return () => {
    if (failure !== undefined) throw failure;
    return changes;
  };
}

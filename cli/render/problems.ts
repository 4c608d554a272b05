import { isManifest } from "./files.ts";
import type { Findings, Place } from "./findings.ts";
import type { Step } from "./fleet.ts";
import type { BuildError } from "./kustomize.ts";
import type { Tree } from "./tree.ts";
import type { Workspace } from "./workspace.ts";

/** What kustomize refuses, in its own words, at the line that it is about where it says enough. */

export interface Refused {
  readonly step: Step;
  readonly tree: Tree;
  readonly folder: string;
  readonly workspace: Workspace;
  readonly findings: Findings;
}

/** The operation of a JSON patch on `pointer`. */
function operationPlace({ patches, kustomizations }: Tree, pointer: string): Place | undefined {
  for (const source of patches)
    if (Array.isArray(source.content)) {
      const index = source.content.findIndex((operation: { path?: string }) => operation?.path === pointer);
      if (index >= 0) return source.near([index, "path"]);
    }
  for (const source of kustomizations) {
    const inline = (source.content as { patches?: { patch?: string }[] }).patches ?? [];
    const index = inline.findIndex(({ patch }) => patch?.includes(pointer));
    if (index >= 0) return source.near(["patches", index, "patch"]);
  }
  return undefined;
}

/** The strategic merge patch for `kind` and `name`. */
const patchPlace = ({ patches }: Tree, kind: string, name: string): Place | undefined =>
  patches
    .find(({ content }) => isManifest(content) && content.kind === kind && content.metadata?.name === name)
    ?.near(["metadata", "name"]);

export function buildProblem(error: BuildError, { step, tree, folder, workspace, findings }: Refused): void {
  // Paths of the copy mean nothing to anybody.
  const message = error.message.replaceAll(`${workspace.folder}/`, "");
  const cluster = step.on.name;
  const [, pointer] = /operation does not apply: doc is missing (?:path|key): "?([^":]+)/.exec(message) ?? [];
  const [, kind, name] = /no matches for Id ([^.\s]+)\.\S*\/([^.\s]+)\./.exec(message) ?? [];
  const patch = pointer ? operationPlace(tree, pointer) : kind && name ? patchPlace(tree, kind, name) : undefined;
  if (pointer && patch) {
    const remedy = "fix the path; add the members above it first where a new one is meant";
    findings.add("patch", patch, `the patch finds nothing at ${pointer}`, remedy, cluster);
  } else if (patch) {
    const remedy = "name what is among the resources of this kustomization.yaml";
    findings.add("patch", patch, `the patch is of ${kind} ${name}, which is not there`, remedy, cluster);
  } else {
    const place = tree.kustomizations[0]?.near([]) ?? { file: folder, line: 1 };
    findings.add(
      "build",
      place,
      `kustomize refuses this: ${message}`,
      "kubectl kustomize on this folder shows the same",
      cluster,
    );
  }
}

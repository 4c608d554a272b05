import { join } from "node:path";
import { cutsOf } from "./artifacts.ts";
import { repositoryName } from "./clusters.ts";
import { isObject, type Manifest } from "./files.ts";
import type { Findings } from "./findings.ts";
import { type Cluster, nameOf, type Step, type Values } from "./fleet.ts";

/** Where a Flux Kustomization takes its manifests and its variables from. */

export const sourceKey = (kind: string, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;

/** The artifacts through which what a step is built from is cut out of a repository; none when it takes the repository itself. */
export function cutOf({ manifest, namespace, home }: Step): ReturnType<typeof cutsOf> {
  const { kind, name, namespace: other } = manifest.spec.sourceRef ?? {};
  return kind === "ExternalArtifact" ? cutsOf(home, other ?? namespace, name) : undefined;
}

/** Specification of the source that a step is built from, or of the one that its artifact is cut from; undefined while there is none. */
export function sourceOf(step: Step): Manifest["spec"] {
  const { manifest, namespace, home } = step;
  const { kind, name, namespace: at = namespace } = cutOf(step)?.source ?? manifest.spec.sourceRef ?? {};
  return home.sources.get(sourceKey(kind, at, name)) ?? home.find(kind, at, name)?.manifest.spec;
}

/** Name of the repository that a step is built from; undefined while its source is not there. */
export function repositoryOf(step: Step): string | undefined {
  const source = sourceOf(step);
  return typeof source?.url === "string" ? repositoryName(source.url) : undefined;
}

/** The folder that a source keeps of its repository: what its list of ignored files lets in last, as in the chain's sources. */
function keptFolder(source: Manifest["spec"]): string {
  const last = typeof source?.ignore === "string" ? source.ignore.trim().split("\n").at(-1) : undefined;
  return last?.startsWith("!/") ? last.slice(2) : ".";
}

/** The folder of the repository that a path in a source stands for: of one above what the source keeps, what it keeps. */
export function folderAt(source: Manifest["spec"], path: string): string {
  const [kept, wanted] = [join(".", keptFolder(source)), join(".", path)];
  return `${wanted}/`.startsWith(`${kept}/`) ? wanted : join(kept, wanted);
}

function dataOf(home: Cluster, kind: string, namespace: string, name: string): Values | undefined {
  const emitted = kind === "Secret" ? home.emitted.get(`${namespace}/${name}`) : undefined;
  if (emitted) return emitted;
  const found = home.find(kind, namespace, name)?.manifest;
  // A Secret in Git is written in plain text, and filled from another: its data would be in base64.
  const data = found?.[kind === "Secret" ? "stringData" : "data"] as Record<string, unknown> | undefined;
  return data && Object.fromEntries(Object.entries(data).map(([key, value]) => [key, String(value)]));
}

/**
 * The variables of a step; undefined when it substitutes nothing, "unknown" while a source of them is not there.
 * @param isLast whether optional sources are no longer waited for
 */
export function valuesOf({ manifest, namespace, home }: Step, isLast: boolean): Values | undefined | "unknown" {
  const { postBuild } = manifest.spec;
  if (!isObject(postBuild)) return undefined;
  const all: Record<string, string> = {};
  for (const { kind, name, optional } of (postBuild["substituteFrom"] ?? []) as Record<string, string>[]) {
    const values = dataOf(home, kind as string, namespace, name as string);
    if (!values && !(optional && isLast)) return "unknown";
    Object.assign(all, values);
  }
  return { ...all, ...(postBuild["substitute"] as Values | undefined) };
}

/** Reports what a step waits for and nothing makes. */
export function tellUnresolved(step: Step, findings: Findings): void {
  const { sourceRef, postBuild } = step.manifest.spec;
  if (repositoryOf(step) === undefined) {
    const wanted = sourceKey(sourceRef?.kind, sourceRef?.namespace ?? step.namespace, sourceRef?.name);
    findings.add(
      "source",
      step.place(["spec", "sourceRef", "name"]),
      `Kustomization ${nameOf(step)} takes ${wanted}, which nothing makes there`,
      "name a source that is applied on that cluster, in that namespace",
      step.on.name,
      "sourceRef",
    );
    return;
  }
  for (const [index, { kind, name }] of (postBuild?.substituteFrom ?? []).entries())
    if (!dataOf(step.home, kind, step.namespace, name))
      findings.add(
        "source",
        step.place(["spec", "postBuild", "substituteFrom", index, "name"]),
        `Kustomization ${nameOf(step)} substitutes from ${sourceKey(kind, step.namespace, name)}, which nothing makes there`,
        "substituteFrom reads its own namespace only; on the hub name a cluster secret, on a spoke a ConfigMap that is applied there",
        step.on.name,
        "substituteFrom",
      );
}

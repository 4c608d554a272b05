import { join, relative, resolve } from "node:path";
import { Definitions } from "./definitions.ts";
import { Files, filesBelow, isFolder, isYaml } from "./files.ts";
import { type Finding, Findings } from "./findings.ts";
import { allObjects, type Fleet } from "./fleet.ts";
import { follow } from "./follow.ts";
import { FluxBuild } from "./generate.ts";
import type { Build } from "./kustomize.ts";
import { checkKinds } from "./rules/kinds.ts";
import { checkManifests } from "./rules/manifests.ts";
import { checkNetworks } from "./rules/networks.ts";
import { checkOrder } from "./rules/order.ts";
import { checkPinned } from "./rules/pinned.ts";
import { checkSecrets } from "./rules/secrets.ts";
import { unsubstituted, unusedKeys } from "./variables.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

export interface CheckOptions {
  /** Folder with the repositories side by side. */
  readonly repos: string;
  /** Folders and files with CustomResourceDefinitions and OpenAPI documents. */
  readonly definitions?: readonly string[];
  readonly build: Build;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** What was not looked at, and why. */
  readonly notes: readonly string[];
  readonly clusters: readonly string[];
  /** Number of objects that the clusters get. */
  readonly objects: number;
}

function checked(fleet: Fleet, paths: readonly string[], findings: Findings): string[] {
  const definitions = new Definitions(paths);
  for (const { manifest } of allObjects(fleet)) definitions.add(manifest);
  checkOrder(fleet, findings);
  checkKinds(fleet, definitions, findings);
  checkPinned(fleet, findings);
  checkNetworks(fleet, findings);
  unsubstituted(fleet, findings);
  // A key may be used in what could not be built.
  if (fleet.steps.every(({ complete }) => complete)) unusedKeys(fleet, findings);
  return checkManifests(fleet, definitions, findings);
}

/** Manifests of the platform and governance teams that no cluster gets; an application's repository may hold other YAML too. */
function unapplied(root: string, fleet: Fleet, { original }: Workspace): string[] {
  const sources = fleet.steps.flatMap(({ tree }) =>
    tree ? [...tree.kustomizations, ...tree.resources, ...tree.patches] : [],
  );
  const applied = new Set(sources.map(({ file }) => original(file)));
  return ["gitops-system", "gitops-workloads"]
    .map((name) => join(root, name))
    .filter(isFolder)
    .flatMap(filesBelow)
    .filter((file) => isYaml(file) && !applied.has(file))
    .map((file) => relative(root, file));
}

/**
 * Compiles the repositories: everything that Flux would make of them for the hub and every spoke.
 * @throws WorkspaceError when they are not there, KustomizeMissing
 */
export function check({ repos, definitions = [], build }: CheckOptions): Report {
  const root = resolve(repos);
  const workspace = openWorkspace(root);
  try {
    const findings = new Findings(workspace.original);
    const files = new Files();
    checkSecrets(root, files, findings);
    const fleet = follow({ workspace, build: new FluxBuild(build), files, findings });
    const unknown = checked(fleet, definitions, findings);
    const isWhole = fleet.steps.every(({ complete }) => complete);
    const notes = [
      ...fleet.notes,
      ...(isWhole ? unapplied(root, fleet, workspace).map((file) => `nothing applies ${file}`) : []),
      ...(unknown.length > 0
        ? [`no definition was given of ${unknown.join(", ")}: their fields were not checked`]
        : []),
    ];
    if (!isWhole && findings.sorted().length === 0 && fleet.notes.length === 0)
      throw new Error("a Kustomization was not looked at, and nothing says why: this is a fault of the compiler");
    return {
      findings: findings.sorted(),
      notes,
      clusters: [...fleet.clusters.keys()],
      objects: allObjects(fleet).length,
    };
  } finally {
    workspace.remove();
  }
}

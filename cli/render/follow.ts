import { join } from "node:path";
import { bridgeData, type ClusterMetadata, clusterSecretName } from "../../lib/bridge.ts";
import { hubFolder } from "../../lib/layout.ts";
import { hubName, namespaces } from "../../lib/names.ts";
import { credentialVariables, noCredentials, registrySecrets } from "../../lib/registries.ts";
import { hubMetadata } from "./clusters.ts";
import { Cutter } from "./cutter.ts";
import type { Findings } from "./findings.ts";
import { isFluxKustomization, isSpoke, type Rendered, type RenderedFleet, type Step, type Values } from "./fleet.ts";
import { type Builder, type Outcome, outcomeOf } from "./outcome.ts";
import { repositoryOf, sourceKey, tellUnresolved, valuesOf } from "./sources.ts";
import { addSpokes, compositionRef } from "./spoke-steps.ts";
import { Trees } from "./tree.ts";
import { addStep, type FollowOptions, newWalk, type Walk } from "./walk.ts";

/** Follows Flux from the hub's root Kustomization to the applications on every spoke. */
export function follow(options: FollowOptions): RenderedFleet {
  const { workspace, findings, fleet, handover, bridge = bridgeData } = options;
  const { hub = hubMetadata(fleet, workspace.environments[0] ?? "dev", workspace.hubAddons) } = options;
  const walk = newWalk();
  const builder = builderOf(options);
  const composing = { findings, hub, ...(handover ? { handover } : {}) };
  emit(walk, hub, bridge(hub));
  addStep(walk, findings, root(workspace.system, fleet), walk.hub);
  // On the last round optional sources are no longer waited for.
  for (const isLast of [false, true])
    while ([...walk.waiting].some((step) => take(walk, step, isLast, builder)) || addSpokes(walk, composing));
  leftOver(walk, findings);
  return {
    name: fleet,
    hub: walk.hub,
    clusters: walk.clusters,
    steps: walk.steps,
    notes: [...walk.notes].sort(),
  };
}

function builderOf({ workspace, build, files, findings, root }: FollowOptions): Builder {
  const known = new Map<string, Trees>();
  const trees = (folder: string) => {
    const found = known.get(folder) ?? new Trees(folder, files, findings);
    known.set(folder, found);
    return found;
  };
  const rootOf: Builder["root"] = (source) => root?.(source) ?? workspace.folder;
  // Between renderings a caller may change the checkouts.
  return { workspace, build, files, findings, trees, root: rootOf, cutter: new Cutter() };
}

/** What the Pulumi program makes that is not in Git: the Secrets to substitute from, and the source of everything. */
function emit({ hub }: Walk, { repositories }: ClusterMetadata, data: Values): void {
  hub.emitted.set(`${namespaces.flux}/${clusterSecretName(hubName)}`, data);
  hub.emitted.set(`${namespaces.flux}/${registrySecrets.variables}`, credentialVariables(noCredentials));
  const { url, revision } = repositories.gitopsSystem;
  hub.sources.set(sourceKey("GitRepository", namespaces.flux, "gitops-system"), { url, ref: { branch: revision } });
}

/** The Kustomization that the Pulumi program makes. */
function root(system: string, fleet: string): Omit<Rendered, "by"> {
  const folder = hubFolder(fleet);
  const metadata = { name: "flux-system", namespace: namespaces.flux };
  const spec = {
    path: `./${folder}`,
    sourceRef: { kind: "GitRepository", name: "gitops-system" },
    wait: true,
    postBuild: { substituteFrom: [{ kind: "Secret", name: clusterSecretName(hubName) }] },
  };
  const manifest = { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", metadata, spec };
  const file = join(system, folder, "kustomization.yaml");
  return { manifest, raw: manifest, place: () => ({ file, line: 1 }) };
}

/** Whether the step's source and variables are there, so that it could be taken. */
function take(walk: Walk, step: Step, isLast: boolean, builder: Builder): boolean {
  const repository = repositoryOf(step);
  if (repository === undefined) return false;
  const values = valuesOf(step, isLast);
  if (values === "unknown") return false;
  walk.waiting.delete(step);
  if (values) step.values = values;
  record(walk, step, outcomeOf(step, repository, builder), builder.findings);
  return true;
}

/** Goes on with what a step applies. */
function record(walk: Walk, step: Step, { tree, objects, complete, broken, note }: Outcome, findings: Findings): void {
  if (tree) step.tree = tree;
  step.complete = complete;
  walk.broken ||= broken;
  if (note !== undefined) walk.notes.add(note);
  step.objects.push(...objects);
  step.on.objects.push(...objects);
  for (const object of objects) {
    if (isFluxKustomization(object.manifest)) addStep(walk, findings, object, step.on, step);
    if (isSpoke(object.manifest) && step.on.isHub) walk.spokes.push(object);
  }
}

/** Reports the Kustomizations that Flux can never apply, because nothing makes their source or their variables. */
function leftOver({ broken, waiting, notes, spokes }: Walk, findings: Findings): void {
  if (broken) {
    if (waiting.size > 0)
      notes.add(`${waiting.size} Kustomizations were not looked at: what they need is among what is broken`);
    return;
  }
  for (const step of waiting) tellUnresolved(step, findings);
  for (const { place, manifest } of spokes)
    findings.add(
      "source",
      place([]),
      `Spoke ${manifest.metadata.name}: the hub applies no Composition ${compositionRef(manifest)} or no CompositeResourceDefinition for Spokes`,
      "name platform/api in a Kustomization of platform/hub, and for the Composition of a ring the ring's file in clusters/<fleet>/kustomization.yaml",
      hubName,
      "composition",
    );
}

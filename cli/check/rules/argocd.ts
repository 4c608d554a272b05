import type { SpokeSpec } from "../../../functions/spoke/api.ts";
import { argocdOf, placesOf, problemAt } from "../../../functions/spoke/argocd.ts";
import { argocdClusterSecret, argocdIdentity } from "../../../lib/argocd.ts";
import { exampleMetadata } from "../../../lib/bridge.ts";
import { labelKeys } from "../../../lib/labels.ts";
import { hubFolder } from "../../../lib/layout.ts";
import { namespaces } from "../../../lib/names.ts";
import { spokeApi } from "../../../lib/spoke.ts";
import { isObject, list, type Manifest, type Path } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { isSpoke, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import type { RecordedFacts } from "../../render/hub-facts.ts";
import { compositionOf } from "../../render/spoke-steps.ts";

/** What Git and the stack say of Argo CD fits together; of the stack only the recorded facts tell. */

export function checkArgocd(fleet: RenderedFleet, recorded: RecordedFacts | undefined, findings: Findings): void {
  checkDestinations(fleet, findings);
  const argocd = recorded?.hub && argocdOf(recorded.hub);
  if (argocd === undefined) return;
  if (argocd.elsewhere) checkHub(fleet, argocd.roleArn, findings);
  for (const spoke of fleet.hub.objects.filter(({ manifest }) => isSpoke(manifest)))
    checkRole(spoke, argocd.roleArn, fleet, findings);
}

/** Without a role on the hub the chart's controller would assume none, and its service account is another cluster's. */
function checkHub({ hub, name }: RenderedFleet, roleArn: string, findings: Findings): void {
  const found = hub.find("Kustomization", namespaces.flux, argocdIdentity);
  if (found === undefined) return;
  findings.add(
    "fleet",
    found.place(["metadata", "name"]),
    `platform/hub/argocd installs Argo CD on the hub of ${name}, whose stack names the role of one in another cluster (argocdRoleArn ${roleArn}): the hub has no role for its own`,
    `take ../../platform/hub/argocd out of ${hubFolder(name)}/kustomization.yaml, or turn Argo CD elsewhere off (docs/guides/argocd.md) and run fleet facts again`,
    hub.name,
  );
}

/** What the definition's schema refuses is another finding. */
function accessOf({ spec }: Rendered["manifest"]): Pick<SpokeSpec, "admins" | "teams"> {
  const teams = list(spec?.teams).map((team) => ({
    members: list(isObject(team) ? team["members"] : undefined).map((member) => (isObject(member) ? member : {})),
  }));
  return { admins: list(spec?.admins), teams } as unknown as Pick<SpokeSpec, "admins" | "teams">;
}

function checkRole({ manifest, place }: Rendered, roleArn: string, { hub }: RenderedFleet, findings: Findings): void {
  const composition = compositionOf(manifest, hub)?.manifest;
  if (!composition?.spec?.pipeline?.[0]?.input?.argocd) return;
  const { name } = manifest.metadata;
  for (const path of placesOf(accessOf(manifest), roleArn)) {
    const [problem, remedy] = problemAt(roleArn, path);
    findings.add("spoke", place(["spec", ...path]), `Spoke ${name}: ${problem}`, remedy, name);
  }
}

/** Where Argo CD's kinds say where their objects go. */
const destinations: Readonly<Record<string, Path>> = {
  Application: ["spec", "destination"],
  ApplicationSet: ["spec", "template", "spec", "destination"],
};

/** Labels of the spokes' cluster secrets; besides them each add-on has one. */
const labelsOfSpokes = Object.keys(argocdClusterSecret(exampleMetadata, { kind: "in-cluster" }, "ring").labels);
const isOfSpokes = (label: string): boolean => labelsOfSpokes.includes(label) || label.startsWith("enable_");

/** Whether the generator makes Applications for spokes: others that are registered have no such labels, or are chosen by their own. */
function takesSpokes({ clusters }: Record<string, unknown>): boolean {
  if (!isObject(clusters)) return false;
  const selector = isObject(clusters["selector"]) ? clusters["selector"] : {};
  const labels = isObject(selector["matchLabels"]) ? selector["matchLabels"] : {};
  const required = list(selector["matchExpressions"]).filter(
    (each): each is Record<string, unknown> => isObject(each) && ["In", "Exists"].includes(String(each["operator"])),
  );
  const keys = [...Object.keys(labels), ...required.map(({ key }) => String(key))];
  return labels[labelKeys.role] !== "hub" && keys.every(isOfSpokes);
}

/** Generators of an ApplicationSet, those in others too. */
const generatorsIn = (generators: unknown): Record<string, unknown>[] =>
  list(generators)
    .filter(isObject)
    .flatMap((each) => [
      each,
      ...[each["matrix"], each["merge"]].flatMap((outer) => (isObject(outer) ? generatorsIn(outer["generators"]) : [])),
    ]);

const isTemplate = (value: unknown): boolean => typeof value === "string" && value.includes("{{");

/** An address tells nothing: that of a spoke is in no file. Clusters that are no spokes have the access that somebody gave to Argo CD. */
function isForSpokes(
  { server, name }: Record<string, unknown>,
  { spec }: Manifest,
  spokes: readonly string[],
): boolean {
  if (isTemplate(server) || isTemplate(name)) return generatorsIn(spec?.generators).some(takesSpokes);
  return typeof name === "string" && spokes.includes(name);
}

/** The namespaces of spokes in which a Composition lets Argo CD act; undefined where none says it. */
function argocdNamespaces({ objects }: RenderedFleet["hub"]): readonly unknown[] | undefined {
  const compositions = objects.filter(
    ({ manifest: { kind, spec } }) => kind === "Composition" && spec?.compositeTypeRef?.kind === spokeApi.kind,
  );
  const inputs = compositions.flatMap(({ manifest: { spec } }) => spec?.pipeline?.[0]?.input?.argocd ?? []);
  return inputs.length === 0 ? undefined : inputs.flatMap(({ namespaces: named }) => list(named));
}

/** Without access to a namespace Argo CD can neither make nor remove what its Applications have there. */
function checkDestinations({ hub }: RenderedFleet, findings: Findings): void {
  const known = argocdNamespaces(hub);
  // Then the fleet does not decide what Argo CD may do on spokes.
  if (known === undefined) return;
  const spokes = hub.objects.filter(({ manifest }) => isSpoke(manifest)).map(({ manifest }) => manifest.metadata.name);
  for (const { manifest, place } of hub.objects) {
    const { apiVersion, kind, metadata } = manifest;
    const path = apiVersion.startsWith("argoproj.io/") ? destinations[kind] : undefined;
    if (path === undefined) continue;
    const destination: unknown = path.reduce((at, key) => (isObject(at) ? at[key] : undefined), manifest as unknown);
    if (!isObject(destination) || !isForSpokes(destination, manifest, spokes)) continue;
    const { namespace } = destination;
    // Of a template only Argo CD knows what it becomes; Applications of Applications go to its own namespace.
    if (typeof namespace !== "string" || isTemplate(namespace) || namespace === metadata.namespace) continue;
    if (known.includes(namespace)) continue;
    findings.add(
      "application",
      place([...path, "namespace"]),
      `${kind} ${metadata.name} goes to the namespace ${namespace} of spokes, where the Composition gives Argo CD no access: it can neither make nor remove anything there; argocd.namespaces has ${known.join(", ") || "none"}`,
      "add the namespace to argocd.namespaces in platform/composition/composition.yaml; to take it away from Argo CD, remove what goes there first, and wait until Argo CD has removed its objects",
      hub.name,
    );
  }
}

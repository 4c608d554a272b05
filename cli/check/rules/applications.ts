import { join } from "node:path";
import { clusterFacts } from "../../../lib/bridge-facts.ts";
import type { Repository } from "../../../lib/names.ts";
import { closest } from "../../closest.ts";
import { foldersIn, spokesOfAll } from "../../fleet/folders.ts";
import { filesBelow } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { type Cluster, isSpoke, type Rendered, type RenderedFleet, type Step } from "../../render/fleet.ts";
import { repositoryOf } from "../../render/sources.ts";

/** The folders of applications in gitops-workloads fit the Spokes in gitops-system. */

const workloads: Repository = "gitops-workloads";
/** The ConfigMap with the bridge's values on a spoke. */
const clusterInfo = "cluster-info";
const providerGroup = "aws.m.upbound.io/";

/** @param root folder of the checkouts */
export function checkApplications(root: string, fleet: RenderedFleet, findings: Findings): void {
  checkClusters(root, findings);
  const spokes = fleet.hub.objects.filter(({ manifest }) => isSpoke(manifest));
  const environments = new Set(spokes.map(({ manifest }) => String(manifest.spec?.environment)));
  for (const spoke of spokes) checkOverlays(spoke, environments, fleet, findings);
  for (const cluster of fleet.clusters.values()) checkCredentials(cluster, findings);
}

const { key: sourceKey } = clusterFacts.identitySource;

/** A ProviderConfig asks for IRSA's token where Crossplane's pods have none: they get their role by EKS Pod Identity. */
function checkCredentials({ name, objects }: Cluster, findings: Findings): void {
  const info = objects.find(
    ({ manifest: { kind, metadata } }) => kind === "ConfigMap" && metadata.name === clusterInfo,
  );
  if (info?.manifest["data"]?.[sourceKey] !== "PodIdentity") return;
  for (const { manifest, place } of objects) {
    const { apiVersion, kind, metadata, spec } = manifest;
    const isConfig = apiVersion.startsWith(providerGroup) && kind.endsWith("ProviderConfig");
    if (!isConfig || spec?.credentials?.source !== "IRSA") continue;
    findings.add(
      "application",
      place(["spec", "credentials", "source"]),
      `${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join("/")} takes credentials by IRSA; Crossplane's pods on ${name} get theirs by EKS Pod Identity`,
      `write source: \${${sourceKey}}, which is right with both`,
      name,
    );
  }
}

/** No cluster of the fleet reads the folder of a Spoke that does not exist; one that was let go still does. */
function checkClusters(root: string, findings: Findings): void {
  const spokes = spokesOfAll(join(root, "gitops-system"));
  for (const cluster of foldersIn(join(root, workloads, "clusters"))) {
    const [file] = filesBelow(join(root, workloads, "clusters", cluster));
    if (file === undefined || spokes.includes(cluster)) continue;
    const similar = closest(cluster, spokes);
    const meant =
      similar === undefined
        ? "correct the name (spokes/<fleet> has those that exist)"
        : `did you mean ${similar}? If not`;
    findings.add(
      "application",
      { file, line: 1 },
      `clusters/${cluster} is of an unknown cluster: no fleet's folder in gitops-system has a Spoke ${cluster}; if the spoke was let go (fleet release), its own Flux still applies this folder, otherwise nothing does`,
      `${meant}, make the spoke with fleet new-cluster ${cluster}, remove the folder if the spoke is gone, or check out the branch of gitops-system that has it; if the spoke was let go, first suspend the Kustomizations workloads and tools in its namespace flux-system: removing the folder before that deletes the applications and what they ordered in AWS`,
    );
  }
}

const isOfWorkloads = ({ parent }: Step): boolean => parent !== undefined && repositoryOf(parent) === workloads;

/** An application takes the overlay of another environment than its Spoke's; overlays that are no environment's are the team's choice. */
function checkOverlays(
  { manifest: spoke }: Rendered,
  environments: ReadonlySet<string>,
  { clusters, steps }: RenderedFleet,
  findings: Findings,
): void {
  const { name } = spoke.metadata;
  const environment = String(spoke.spec?.environment);
  const cluster = clusters.get(name);
  for (const { manifest, place } of steps.filter((step) => step.on === cluster && isOfWorkloads(step))) {
    const path = String(manifest.spec.path);
    const folders = path.split("/");
    const other = folders.find((folder) => environments.has(folder));
    if (other === undefined || folders.includes(environment)) continue;
    findings.add(
      "application",
      place(["spec", "path"]),
      `Kustomization ${manifest.metadata.name} takes ${path}, of the environment ${other}; Spoke ${name} has the environment ${environment}`,
      `take ${folders.map((folder) => (folder === other ? environment : folder)).join("/")}, or move the application to a spoke of ${other}; what was onboarded for ${other} may be sealed for its keys too`,
      name,
    );
  }
}

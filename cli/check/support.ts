import { compatibilityWarning, supportWarning } from "../../components/versions.ts";
import type { Warning } from "../render/findings.ts";
import type { RenderedFleet } from "../render/fleet.ts";
import { specimenOf, type Workspace } from "../render/workspace.ts";

/** Why the Kubernetes minor of a Spoke needs attention, each with the fix. */
const warningsOf = (minor: string, today: Date): Pick<Warning, "problem" | "remedy">[] =>
  [
    {
      problem: supportWarning(minor, today),
      remedy:
        "raise spec.kubernetesVersion by one minor before: after that day EKS raises the control plane by itself, at a time of its choice",
    },
    {
      problem: compatibilityWarning(minor),
      remedy: "keep spec.kubernetesVersion at a supported minor until a release of the fleet has a newer component",
    },
  ].flatMap(({ problem, remedy }) => (problem === undefined ? [] : [{ problem, remedy }]));

/** Spokes whose Kubernetes minor leaves EKS's standard support soon, or has left it, and Spokes with a newer minor than pinned components support. */
export function supportWarnings({ hub }: RenderedFleet, workspace: Workspace, today: Date): Warning[] {
  return hub.objects.flatMap(({ manifest, place }) => {
    const { kind, metadata, spec } = manifest;
    // A sample spoke has the version of new spokes.
    if (kind !== "Spoke" || specimenOf(metadata.name, workspace) !== undefined) return [];
    const { file, line } = place(["spec", "kubernetesVersion"]);
    return warningsOf(String(spec?.["kubernetesVersion"]), today).map(({ problem, remedy }) => ({
      place: { file: workspace.original(file), line },
      problem: `Spoke ${metadata.name}: ${problem}`,
      remedy,
      clusters: [metadata.name],
    }));
  });
}

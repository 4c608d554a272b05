import { supportWarning } from "../../components/versions.ts";
import type { Warning } from "../render/findings.ts";
import type { RenderedFleet } from "../render/fleet.ts";
import { specimenOf, type Workspace } from "../render/workspace.ts";

/** Spokes whose Kubernetes minor leaves EKS's standard support soon, or has left it. */
export function supportWarnings({ hub }: RenderedFleet, workspace: Workspace, today: Date): Warning[] {
  return hub.objects.flatMap(({ manifest, place }) => {
    const { kind, metadata, spec } = manifest;
    // A sample spoke has the version of new spokes.
    if (kind !== "Spoke" || specimenOf(metadata.name, workspace) !== undefined) return [];
    const warning = supportWarning(String(spec?.kubernetesVersion), today);
    if (warning === undefined) return [];
    const { file, line } = place(["spec", "kubernetesVersion"]);
    return [
      {
        place: { file: workspace.original(file), line },
        problem: `Spoke ${metadata.name}: ${warning}`,
        remedy:
          "raise spec.kubernetesVersion by one minor before: after that day EKS raises the control plane by itself, at a time of its choice",
        clusters: [metadata.name],
      },
    ];
  });
}

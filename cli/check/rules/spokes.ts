import type { Findings } from "../../render/findings.ts";
import { isSpoke, type RenderedFleet } from "../../render/fleet.ts";
import { compositionOf, takes, unsupportedVersion } from "../../render/spoke-steps.ts";

/** Kubernetes versions of Spokes that their Composition does not have: the hub would make or raise nothing. */
export function checkSpokes({ hub }: RenderedFleet, findings: Findings): void {
  for (const { manifest, place } of hub.objects.filter((object) => isSpoke(object.manifest))) {
    const composition = compositionOf(manifest, hub)?.manifest;
    // An environment whose channel is off takes an earlier revision, which the files do not have.
    if (composition === undefined || !takes(manifest, composition)) continue;
    const problem = unsupportedVersion(manifest, composition);
    if (problem === undefined) continue;
    const { name } = manifest.metadata;
    findings.add(
      "spoke",
      place(["spec", "kubernetesVersion"]),
      `Spoke ${name}: ${problem}`,
      "choose one of those, or add the version to platform/composition/composition.yaml first",
      name,
    );
  }
}

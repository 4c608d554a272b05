import { lacksEksAuth } from "../../../functions/spoke/pod-identity.ts";
import type { Manifest } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { isSpoke, type RenderedFleet } from "../../render/fleet.ts";
import { compositionOf, takes, unsupportedVersion } from "../../render/spoke-steps.ts";

/** What Spokes can't have by their Composition: a new one is not made, and one that runs stays as it is. */
export function checkSpokes({ hub }: RenderedFleet, findings: Findings): void {
  for (const { manifest, place } of hub.objects.filter((object) => isSpoke(object.manifest))) {
    const composition = compositionOf(manifest, hub)?.manifest;
    // An environment whose channel is off takes an earlier revision, which the files do not have.
    if (composition === undefined || !takes(manifest, composition)) continue;
    const { name } = manifest.metadata;
    const problem = unsupportedVersion(manifest, composition);
    if (problem !== undefined)
      findings.add(
        "spoke",
        place(["spec", "kubernetesVersion"]),
        `Spoke ${name}: ${problem}`,
        "choose one of those, or add the version to platform/composition/composition.yaml first",
        name,
      );
    if (hasNoEksAuth(manifest, composition))
      findings.add(
        "spoke",
        place(["spec", "network", "natGateways"]),
        `Spoke ${name}: natGateways isolated leaves the agent of EKS Pod Identity, which the Composition ${composition.metadata.name} chooses, no way to EKS Auth`,
        "add eks-auth to spec.network.endpoints",
        name,
      );
  }
}

/** By the files alone: a Spoke has natGateways isolated only where its file says so. */
const hasNoEksAuth = ({ spec }: Manifest, composition: Manifest): boolean =>
  lacksEksAuth({
    settings: { workloadIdentity: composition.spec?.pipeline?.[0]?.input?.workloadIdentity },
    spoke: { spec: { network: {}, ...spec } as never },
  });

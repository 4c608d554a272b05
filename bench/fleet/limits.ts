import type { Kubectl } from "@eks-gitops-fleet/local/cli";
import { type FleetSize, fleetSizes } from "../../components/fleet-size.ts";
import { namespaces } from "../../lib/names.ts";

/** The size that is meant for so many spokes; above all of them the largest. */
export function sizeFor(spokes: number): FleetSize {
  const sizes: readonly FleetSize[] = Object.values(fleetSizes);
  return sizes.find((size) => size.spokes >= spokes) ?? fleetSizes.large;
}

/**
 * Gives the controllers whose work grows with the fleet the limits of a fleet of this size. Their requests stay those of the local stack's `minimal`, because all
 * pods have to find room on one node.
 */
export async function raiseLimits(kubectl: Kubectl, spokes: number): Promise<void> {
  const { crossplane, reconcilers } = sizeFor(spokes);
  const wanted = [
    [namespaces.crossplane, "crossplane", crossplane],
    [namespaces.flux, "kustomize-controller", reconcilers],
  ] as const;
  for (const [namespace, name, { limits }] of wanted) {
    const given = Object.entries(limits).map(([resource, value]) => `${resource}=${value}`);
    const flags = ["--namespace", namespace];
    await kubectl(["set", "resources", `deployment/${name}`, ...flags, `--limits=${given.join(",")}`]);
    await kubectl(["rollout", "status", `deployment/${name}`, ...flags, "--timeout=300s"]);
  }
}

import { type Cidr, formatCidr, overlaps, parseCidr } from "../../../lib/cidr.ts";
import type { Findings, Place } from "../../render/findings.ts";
import { allObjects, isSpoke, type RenderedFleet } from "../../render/fleet.ts";

/** One network for each spoke. Those from the fleet's pool are chosen by the composition function, which sees them all. */

interface Network {
  readonly spoke: string;
  readonly cidr: Cidr;
  readonly place: Place;
}

export function checkNetworks(fleet: RenderedFleet, findings: Findings): void {
  const networks: Network[] = [];
  for (const { manifest, by, place } of allObjects(fleet)) {
    if (!isSpoke(manifest) || !by.on.isHub) continue;
    // The Spoke's definition refuses text that is not a network.
    const cidr = parseCidr(String(manifest.spec?.network?.cidr));
    if (cidr) networks.push({ spoke: manifest.metadata.name, cidr, place: place(["spec", "network", "cidr"]) });
  }
  networks.sort((a, b) => a.spoke.localeCompare(b.spoke));
  for (const [index, one] of networks.entries())
    for (const other of networks.slice(0, index))
      if (overlaps(one.cidr, other.cidr))
        findings.add(
          "network",
          one.place,
          `Spoke ${one.spoke}: ${formatCidr(one.cidr)} overlaps ${formatCidr(other.cidr)} of Spoke ${other.spoke}`,
          "give one of them a network of its own, or leave spec.network.cidr out: the fleet's pool has a free one",
          one.spoke,
        );
}

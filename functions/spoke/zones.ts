import type { SpokeSpec } from "./api.ts";
import type { Hub } from "./hub.ts";
import { at } from "./kube.ts";
import type { Observed } from "./observed.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources, sides } from "./resources.ts";

export interface ZoneQuestion {
  readonly spec: SpokeSpec;
  readonly hub: Hub;
  readonly observed: Observed;
}

/** The zone that the subnets of place `index` were made in. */
function madeIn(observed: Observed, index: number): string | undefined {
  const zone = sides
    .map((side) => at(observed.get(resources.subnet(side, index))?.spec, "forProvider", "availabilityZone"))
    .find((found) => found !== undefined);
  return typeof zone === "string" ? zone : undefined;
}

/**
 * Name of each of the spoke's zones: the one that its subnets are in, else the one that the Spoke names, else the next that the hub
 * found. Names are not the same letters everywhere, and a subnet can't move: what is made stays. Undefined where none is left.
 */
export function zoneNames({ spec, hub, observed }: ZoneQuestion): readonly (string | undefined)[] {
  const places = Array.from({ length: spec.network.zones }, (_, index) => index);
  const fixed = places.map((index) => madeIn(observed, index) ?? spec.network.availabilityZones?.[index]);
  const known = spec.region === hub.aws.region ? hub.hubAvailabilityZones : [];
  const free = known.filter((zone) => !fixed.includes(zone));
  return fixed.map((zone) => zone ?? free.shift());
}

/** The problem of a spoke that has fewer zones than its subnets need. */
export function zoneProblem(question: ZoneQuestion): SpokeProblem[] {
  const { spec, hub } = question;
  if (spec.network.existing !== undefined || zoneNames(question).every((zone) => zone !== undefined)) return [];
  const { region, network } = spec;
  const cause =
    region === hub.aws.region
      ? `the hub found ${hub.hubAvailabilityZones.length} zones of ${region} for EKS (${hub.hubAvailabilityZones.join(", ")})`
      : `the hub knows the zones of its own region ${hub.aws.region} only`;
  const message =
    `spec.network.zones asks for ${network.zones} zones of ${region}, and ${cause}: a network can't be changed, so remove this Spoke and add ` +
    `it again with spec.network.availabilityZones (aws ec2 describe-availability-zones --region ${region}), or with fewer zones`;
  return [{ reason: "ZonesUnknown", message }];
}

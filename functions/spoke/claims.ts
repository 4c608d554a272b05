import { type Cidr, formatCidr, parseCidr } from "../../lib/cidr.ts";
import { networkLabel } from "../../lib/labels.ts";
import type { SpokeSpec } from "./api.ts";
import { otherKinds } from "./kinds.ts";
import type { KubeObject } from "./kube.ts";
import type { ClaimKey } from "./resources.ts";

/** Prefix length of the largest VPC (Amazon VPC User Guide, "VPC CIDR blocks"): every network lies in one /16. */
const regionPrefix = 16;

/** The /16 that a network lies in, as a label value. Networks that overlap lie in the same one. */
export function addressRegion({ base }: Cidr): string {
  const size = 2 ** (32 - regionPrefix);
  return formatCidr({ base: base - (base % size), prefix: regionPrefix }).replace("/", "-");
}

/** Key of the claim on `cidr`. */
export function claimKey(cidr: string): ClaimKey {
  return `network-${cidr.replaceAll(/[./]/g, "-")}`;
}

/** Whether a Spoke takes its network from the fleet's pool. */
export const isFromPool = ({ network }: Pick<SpokeSpec, "network">): boolean =>
  network.cidr === undefined && network.existing === undefined;

/** A network that a Spoke has or is about to get, as it tells the other Spokes. */
export interface Claim {
  /** Name of the Spoke. */
  readonly owner: string;
  readonly cidr: Cidr;
  /** Whether it is a block of the fleet's pool, and not a network that the Spoke names itself. */
  readonly fromPool: boolean;
  /** When the API server stored it, in RFC 3339; empty if it never did, as in a simulation. */
  readonly created: string;
}

/**
 * The claim as an object. One on a block of the pool is named after the block, so the API server gives the block to one Spoke only. One on
 * a network that the Spoke names has a name of its own: whether it overlaps is decided by looking at the others.
 */
export function claimManifest(spoke: string, cidr: string, fromPool: boolean): KubeObject {
  const network = parseCidr(cidr);
  return {
    apiVersion: otherKinds.ConfigMap,
    kind: "ConfigMap",
    metadata: {
      name: fromPool ? claimKey(cidr) : `${claimKey(cidr)}-of-${spoke}`,
      labels: network ? { [networkLabel]: addressRegion(network) } : {},
    },
    data: { cidr, spoke },
  };
}

/** Reads a claim; undefined when the object is none. */
export function readClaim({ metadata, data }: KubeObject): Claim | undefined {
  const { cidr = "", spoke: owner } = data ?? {};
  const network = parseCidr(cidr);
  if (network === undefined || owner === undefined) return undefined;
  return {
    owner,
    cidr: network,
    fromPool: metadata.name === claimKey(cidr),
    created: metadata.creationTimestamp ?? "",
  };
}

/** Whether claim `a` comes before claim `b`: the older one does; of two of the same second one on a block of the pool, then the first by name. */
export function comesBefore(a: Claim, b: Claim): boolean {
  const rank = ({ created, fromPool, owner }: Claim) => `${created} ${fromPool ? 0 : 1} ${owner}`;
  return rank(a) < rank(b);
}

import { type Cidr, formatCidr, overlaps, parseCidr } from "../../lib/cidr.ts";
import { poolPrefix } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import { at } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { freeBlock } from "./pool.ts";
import type { SpokeProblem } from "./problems.ts";
import { type ClaimKey, resources } from "./resources.ts";

/** Which network a Spoke gets. */
export interface NetworkChoice {
  /** The network, recorded in the status: a proposal until it is {@link accepted}. */
  readonly cidr?: string;
  /** Whether the network may be made. */
  readonly accepted: boolean;
  /** Composition resource name of the claim on a block of the pool; none for a network that the Spoke names itself. */
  readonly claim?: ClaimKey;
  readonly problem?: SpokeProblem;
}

export interface NetworkQuestion {
  readonly spoke: Spoke;
  readonly observed: Observed;
  readonly hub: Hub;
  /** The other Spokes of the fleet; only read while the VPC does not exist. */
  readonly others: readonly Spoke[];
}

interface Taken {
  readonly owner: string;
  readonly cidr: Cidr;
}

/** Key and object name of the claim on `cidr`: two Spokes can't both own an object of one name, so the first one gets it. */
export function claimKey(cidr: string): ClaimKey {
  return `network-${cidr.replaceAll(/[./]/g, "-")}`;
}

/** Whether Spoke `a` has precedence over Spoke `b`: the older one has; of two of the same age the first by name. */
function comesBefore(a: Spoke, b: Spoke): boolean {
  const age = (spoke: Spoke) => `${spoke.metadata.creationTimestamp ?? ""} ${spoke.metadata.name}`;
  return age(a) < age(b);
}

function named(spoke: Spoke, cidr: string | undefined): Taken[] {
  const parsed = parseCidr(cidr ?? "");
  return parsed ? [{ owner: `Spoke ${spoke.metadata.name}`, cidr: parsed }] : [];
}

const hubNetwork = (hub: Hub): Taken[] => {
  const cidr = parseCidr(hub.aws.vpcCidr);
  return cidr ? [{ owner: "the hub", cidr }] : [];
};

function collision(cidr: Cidr, taken: readonly Taken[]): Taken | undefined {
  return taken.find((other) => overlaps(cidr, other.cidr));
}

/** A network that the Spoke names: refused where it overlaps the hub's, a recorded one, or the proposal of an older Spoke. */
function given(text: string, { spoke, hub, others }: NetworkQuestion): NetworkChoice {
  const cidr = parseCidr(text);
  if (!cidr) {
    const message = `spec.network.cidr ${text} is not an IPv4 network: use a.b.c.d/n with no bits set after the prefix`;
    return { accepted: false, problem: { reason: "InvalidNetwork", message } };
  }
  const taken = [
    ...hubNetwork(hub),
    ...others.flatMap((other) => named(other, other.status?.network?.cidr)),
    ...others.filter((other) => comesBefore(other, spoke)).flatMap((other) => named(other, other.spec.network.cidr)),
  ];
  const other = collision(cidr, taken);
  if (!other) return { cidr: text, accepted: true };
  const message =
    `spec.network.cidr ${text} overlaps ${formatCidr(other.cidr)} of ${other.owner}: ` +
    "a network can't be changed, so remove this Spoke and add it again with a free network, or without spec.network.cidr for one from the fleet's pool";
  return { accepted: false, problem: { reason: "NetworkOverlap", message } };
}

/**
 * A block of the pool, in two steps: first a claim and the record in the status, then, when the claim is ours, the network.
 * If another Spoke claimed the block first, or names it in its specification, this one takes another block.
 */
function fromPool({ spoke, observed, hub, others }: NetworkQuestion): NetworkChoice {
  const pool = parseCidr(hub.spokeCidrPool);
  const explicit = [...hubNetwork(hub), ...others.flatMap((other) => named(other, other.spec.network.cidr))];
  const recorded = others.flatMap((other) => named(other, other.status?.network?.cidr));
  const wish = spoke.status?.network?.cidr;
  const wished = parseCidr(wish ?? "");
  if (wish !== undefined && wished && !collision(wished, explicit)) {
    const claim = claimKey(wish);
    if (observed.has(resources.claim(claim))) return { cidr: wish, accepted: true, claim };
    if (!collision(wished, recorded)) return { cidr: wish, accepted: false, claim };
  }
  const block =
    pool &&
    freeBlock(
      pool,
      [...explicit, ...recorded].map(({ cidr }) => cidr),
      spoke.metadata.name,
    );
  if (block) return { cidr: formatCidr(block), accepted: false, claim: claimKey(formatCidr(block)) };
  const message =
    `the fleet's pool ${hub.spokeCidrPool} has no free /${poolPrefix}: ` +
    "give spec.network.cidr a network outside the pool, remove a Spoke, or enlarge spokeCidrPool of the hub's stack";
  return { accepted: false, problem: { reason: "PoolExhausted", message } };
}

/** The network of a Spoke. Once its VPC exists nothing is chosen any more. */
export function chooseNetwork(question: NetworkQuestion): NetworkChoice {
  const { spoke, observed } = question;
  const { cidr: wanted } = spoke.spec.network;
  const made = at(observed.get(resources.vpc)?.spec, "forProvider", "cidrBlock");
  if (typeof made === "string") {
    return { cidr: made, accepted: true, ...(wanted === undefined ? { claim: claimKey(made) } : {}) };
  }
  return wanted === undefined ? fromPool(question) : given(wanted, question);
}

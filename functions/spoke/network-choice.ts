import { type Cidr, formatCidr, overlaps, parseCidr } from "../../lib/cidr.ts";
import { poolPrefix } from "../../lib/spoke.ts";
import type { ExistingNetwork, Spoke } from "./api.ts";
import { addressRegion, type Claim, claimKey, comesBefore, readClaim } from "./claims.ts";
import { existingNetworkProblem, isSeen } from "./existing-network.ts";
import type { Hub } from "./hub.ts";
import { at } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { candidates } from "./pool.ts";
import type { SpokeProblem } from "./problems.ts";
import { type ClaimKey, resources } from "./resources.ts";

/** Which network a Spoke gets. */
export interface NetworkChoice {
  /** The network, recorded in the status: a proposal until it is {@link accepted}. */
  readonly cidr?: string;
  /** Whether the network may be made. */
  readonly accepted: boolean;
  /** Composition resource name of the Spoke's claim on the network; none while it may not have it. */
  readonly claim?: ClaimKey;
  readonly problem?: SpokeProblem;
}

export interface NetworkQuestion {
  readonly spoke: Spoke;
  readonly observed: Observed;
  readonly hub: Hub;
  /** Claims by {@link addressRegion}, of the regions that {@link regionsToRead} names; only read while the VPC does not exist. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Milliseconds after which a claim on a network that the Spoke names counts: then every claim of an earlier second is seen, although
 * timestamps are whole seconds and Crossplane reads through a cache.
 */
const settling = 5000;

/** Numbers of the pool's blocks that are looked at, until one of them is free. Crossplane calls a function six times; this takes at most five. */
const searches = [16, 128, Number.POSITIVE_INFINITY] as const;

/**
 * The blocks of the Spoke's own pods and Services, which its VPC must not overlap, and the networks behind its transit gateway that a block of the
 * pool could contain. Of a wider one the VPC can be a part.
 */
function ownBlocks({ spec: { network } }: Spoke): Pick<Claim, "owner" | "cidr">[] {
  const blocks = { "its pods": [network.podCidr], "its Services": [network.serviceIpv4Cidr] };
  const own = Object.entries({ ...blocks, "its transit gateway": network.transitGateway?.destinationCidrs ?? [] });
  const parsed = own.flatMap(([owner, texts]) =>
    texts.flatMap((text) => {
      const cidr = parseCidr(text ?? "");
      return cidr ? [{ owner, cidr }] : [];
    }),
  );
  return parsed.filter(({ owner, cidr }) => owner !== "its transit gateway" || cidr.prefix >= poolPrefix);
}

const hubNetwork = ({ aws }: Hub): Pick<Claim, "owner" | "cidr">[] => {
  const cidr = parseCidr(aws.vpcCidr);
  return cidr ? [{ owner: "the hub", cidr }] : [];
};

const collision = <Taken extends Pick<Claim, "cidr">>(cidr: Cidr, taken: readonly Taken[]): Taken | undefined =>
  taken.find((other) => overlaps(cidr, other.cidr));

const othersOf = ({ claims, spoke }: Pick<NetworkQuestion, "claims" | "spoke">): Claim[] =>
  [...claims.values()].flat().filter(({ owner }) => owner !== spoke.metadata.name);

/**
 * A VPC that is there. Its network is claimed so that no other Spoke gets it, and refused to nobody: spokes may share it. What the Spoke was made in stays
 * its network, whatever becomes of the tag that permitted it.
 */
function ofExisting(network: ExistingNetwork, { spoke, observed, hub }: NetworkQuestion): NetworkChoice {
  const problem = existingNetworkProblem(spoke, network, observed, hub);
  const cidr = observed.text(resources.vpc, "cidrBlock") ?? spoke.status?.network?.cidr;
  const isUsed = observed.has(resources.key);
  return {
    ...(cidr === undefined ? {} : { cidr, claim: claimKey(cidr) }),
    accepted: cidr !== undefined && (isUsed || (problem === undefined && isSeen(network, observed))),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** The blocks of the pool in the order in which the Spoke tries them. */
function candidatesOf({ spoke, hub }: Pick<NetworkQuestion, "spoke" | "hub">): Cidr[] {
  const pool = parseCidr(hub.spokeCidrPool);
  return pool ? candidates(pool, spoke.metadata.name) : [];
}

/** The Spoke's own claim, once it is stored. */
function ownClaim({ observed }: NetworkQuestion, claim: ClaimKey): Claim | undefined {
  const object = observed.get(resources.claim(claim));
  return object && readClaim(object);
}

/** Whether no claim of an earlier second can still appear. A claim without a time is of a simulation. */
const isSettled = ({ created }: Claim, now: number): boolean => created === "" || now - Date.parse(created) >= settling;

/** A VPC that exists keeps its network, so whoever has it on this hub has to leave it. */
function overlapRemedy({ spec }: Spoke, owner: string): string {
  if (spec.existing === undefined)
    return "a network can't be changed, so remove this Spoke and add it again with a free network, or without spec.network.cidr for one from the fleet's pool";
  const its = "it is the network of the VPC that spec.existing names and can't be changed, so";
  if (owner === "the hub") return `${its} a hub in this network can't take the spoke in: remove this Spoke's folder`;
  return `${its} ${owner} has to leave it: remove ${owner}, and add it again once this Spoke has its network`;
}

/** A network that the Spoke names: claimed first, and refused where it overlaps the hub's or one that was claimed before. */
function given(text: string, question: NetworkQuestion): NetworkChoice {
  const cidr = parseCidr(text);
  if (!cidr) {
    const message = `spec.network.cidr ${text} is not an IPv4 network: use a.b.c.d/n with no bits set after the prefix`;
    return { accepted: false, problem: { reason: "InvalidNetwork", message } };
  }
  const claim = claimKey(text);
  const own = ownClaim(question, claim);
  // A block of the pool counts at once, so it comes first whatever its age.
  const before = othersOf(question).filter((other) => own === undefined || other.fromPool || comesBefore(other, own));
  const spokes = before.map((other) => ({ ...other, owner: `Spoke ${other.owner}` }));
  const other = collision(cidr, [...hubNetwork(question.hub), ...spokes]);
  if (!other) return { cidr: text, accepted: own !== undefined && isSettled(own, question.now), claim };
  const message = `spec.network.cidr ${text} overlaps ${formatCidr(other.cidr)} of ${other.owner}: ${overlapRemedy(question.spoke, other.owner)}`;
  return { accepted: false, problem: { reason: "NetworkOverlap", message } };
}

/**
 * A block of the pool, in two steps: first a claim and the record in the status, then, when the claim is ours, the network.
 * If another Spoke claimed the block first, or a network that overlaps it, this one takes another block.
 */
function fromPool(question: NetworkQuestion): NetworkChoice {
  const { spoke, hub } = question;
  const taken = [...hubNetwork(hub), ...ownBlocks(spoke), ...othersOf(question)];
  const wish = spoke.status?.network?.cidr;
  const wished = parseCidr(wish ?? "");
  if (wish !== undefined && wished && !collision(wished, hubNetwork(hub))) {
    const claim = claimKey(wish);
    const own = ownClaim(question, claim);
    const before = othersOf(question).filter((other) => own === undefined || comesBefore(other, own));
    if (!collision(wished, before)) return { cidr: wish, accepted: own !== undefined, claim };
  }
  const block = candidatesOf(question).find(
    (each) => question.claims.has(addressRegion(each)) && !collision(each, taken),
  );
  if (block) return { cidr: formatCidr(block), accepted: false, claim: claimKey(formatCidr(block)) };
  const message =
    `the fleet's pool ${hub.spokeCidrPool} has no free /${poolPrefix}: ` +
    "give spec.network.cidr a network outside the pool, remove a Spoke, or enlarge spokeCidrPool of the hub's stack";
  return { accepted: false, problem: { reason: "PoolExhausted", message } };
}

/**
 * The regions whose claims the Spoke has to know, given those that are known: so many of the pool's that one has a free block. A network that
 * the Spoke names needs one region, and a pool with room needs about five, however many spokes there are.
 */
export function regionsToRead(question: Pick<NetworkQuestion, "spoke" | "hub" | "claims">): readonly string[] {
  const { spoke, hub, claims } = question;
  const known = [spoke.spec.network.cidr ?? spoke.status?.network?.cidr ?? ""].flatMap((text) => parseCidr(text) ?? []);
  const own = known.map(addressRegion);
  if (spoke.spec.network.cidr !== undefined) return own;
  const all = candidatesOf(question);
  const taken = [...hubNetwork(hub), ...ownBlocks(spoke), ...othersOf(question)];
  const searched = searches.map((most) => all.slice(0, most));
  const enough = searched.find(
    (blocks) =>
      blocks.some((block) => !claims.has(addressRegion(block))) || blocks.some((block) => !collision(block, taken)),
  );
  return [...new Set([...own, ...(enough ?? all).map(addressRegion)])];
}

/** The network of a Spoke. Once its VPC exists nothing is chosen any more. */
export function chooseNetwork(question: NetworkQuestion): NetworkChoice {
  const { spoke, observed } = question;
  const { cidr: wanted, existing } = spoke.spec.network;
  if (existing !== undefined) return ofExisting(existing, question);
  const made = at(observed.get(resources.vpc)?.spec, "forProvider", "cidrBlock");
  if (typeof made === "string") return { cidr: made, accepted: true, claim: claimKey(made) };
  return wanted === undefined ? fromPool(question) : given(wanted, question);
}

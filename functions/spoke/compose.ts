import type { Spoke, SpokeStatus } from "./api.ts";
import type { Claim } from "./claims.ts";
import type { Entry } from "./composer.ts";
import {
  accepted,
  deletingCondition,
  hubAccessCondition,
  partCondition,
  type SpokeCondition,
  versionCondition,
} from "./conditions.ts";
import { type Context, contextOf } from "./context.ts";
import { withCreationFailure } from "./creation-failure.ts";
import { isForeign, isToldToLeave } from "./foreign.ts";
import { type Part, parts } from "./groups.ts";
import type { Hub } from "./hub.ts";
import { hubAccessOf, needsMore } from "./hub-access.ts";
import { deletionAttempt } from "./kinds.ts";
import { goesOn, isReady, type KubeObject } from "./kube.ts";
import { UNTIL_CHANGED, withLook } from "./look-again.ts";
import { isMadeElsewhere } from "./made-elsewhere.ts";
import { chooseNetwork } from "./network-choice.ts";
import { launchTemplateOf, leavingTemplates, nodeGroupOf } from "./node-groups.ts";
import { isHealthy, Observed } from "./observed.ts";
import { isOnlyObserved } from "./orphan.ts";
import { composeAddons } from "./parts/addons.ts";
import { argocdLeaves, composeArgocd } from "./parts/argocd.ts";
import { composeControlPlane } from "./parts/control-plane.ts";
import { composeGatewayEndpoints, composeInterfaceEndpoints } from "./parts/endpoints.ts";
import { composeFlowLog } from "./parts/flow-logs.ts";
import { deletionGuard, guardKey, isDeleting, isGuarded } from "./parts/guard.ts";
import { composeHandover } from "./parts/handover.ts";
import { composeIdentities } from "./parts/identities.ts";
import { observeCluster } from "./parts/made-elsewhere.ts";
import { claimNetwork, composeNetwork, observeNetwork } from "./parts/network.ts";
import { composeNodes } from "./parts/nodes.ts";
import { composePodNetwork } from "./parts/pods.ts";
import { composeTransitGateway } from "./parts/transit-gateway.ts";
import { plan } from "./plan.ts";
import { leavesPodIdentity } from "./pod-identity.ts";
import { resources } from "./resources.ts";
import { rolloutEvents, rolloutOf } from "./rollout.ts";
import type { Settings } from "./settings.ts";
import { facts, informative, summaryOf } from "./status.ts";
import { remains, stillWanted } from "./teardown.ts";

/** All that is known when a Spoke is reconciled. */
export interface Question {
  readonly spoke: Spoke;
  /** Composed resources as they are, by composition resource name. */
  readonly composed: ReadonlyMap<string, KubeObject>;
  readonly settings: Settings;
  readonly hub: Hub;
  /** Claims on networks by their region (`claims.ts`); empty once the network is made. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** Flux objects of the bootstrap chain; empty once it is ready. */
  readonly chain: readonly KubeObject[];
  /**
   * Everything that carries the spoke's label during a removal; else what writes Argo CD's cluster secret while Argo CD leaves, the
   * node groups while one leaves, and associations of EKS Pod Identity while these do.
   */
  readonly labelled: readonly KubeObject[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Wanted {
  readonly manifest: KubeObject;
  readonly ready: boolean;
}

export interface Answer {
  /** Composed resources by composition resource name: what is not here any more is removed. */
  readonly wanted: ReadonlyMap<string, Wanted>;
  readonly status: SpokeStatus;
  readonly conditions: readonly SpokeCondition[];
  readonly ready: boolean;
  /** What has happened since the call before, for people. */
  readonly events: readonly string[];
  /** Seconds until Crossplane calls the function again, if nothing changes before. */
  readonly ttl: number;
}

/**
 * Crossplane calls the function at once when a composed resource changes. These times are for what it does not watch: the hub's facts,
 * the objects of the chain, and resources that are being deleted.
 */
const ttl = { ready: 300, working: 15, deleting: 3 } as const;

function composeParts(context: Context): void {
  claimNetwork(context);
  observeNetwork(context);
  // A Spoke that loses its network to another one must leave nothing behind in AWS.
  if (!context.plan.network.accepted && !isDeleting(context.spoke)) return;
  if (isMadeElsewhere(context.spoke)) observeCluster(context);
  else {
    composeNetwork(context);
    composePodNetwork(context);
    composeTransitGateway(context);
    composeGatewayEndpoints(context);
    composeFlowLog(context);
    composeControlPlane(context);
    composeInterfaceEndpoints(context);
    composeAddons(context);
    composeNodes(context);
  }
  composeIdentities(context);
  composeHandover(context);
  composeArgocd(context);
}

function wanted(
  { observed, plan: { network }, spoke }: Context,
  entries: ReadonlyMap<string, Entry>,
  guarded: boolean,
  now: number,
): Map<string, Wanted> {
  // Its owner has to do something, and nobody tells Crossplane when that is done.
  const isRefused = spoke.spec.network.existing !== undefined && network.problem !== undefined;
  const look = (manifest: KubeObject, object: KubeObject | undefined) =>
    withLook(
      withCreationFailure(manifest, object),
      object,
      now,
      isRefused && isOnlyObserved(manifest) ? UNTIL_CHANGED : undefined,
    );
  const all = new Map<string, KubeObject>(
    [...entries].map(([key, { manifest }]) => [key, look(manifest, observed.objects.get(key))]),
  );
  if (guarded) all.set(guardKey, deletionGuard(spoke));
  return new Map([...all].map(([key, manifest]) => [key, { manifest, ready: isHealthy(observed.objects.get(key)) }]));
}

const entriesOfExisting = ({ composer, observed }: Context): ReadonlyMap<string, Entry> =>
  new Map([...composer.entries].filter(([key]) => observed.objects.has(key)));

/** The removal: the groups whose turn it is are no longer wanted, the guard goes last, and Crossplane then deletes the Spoke. */
function takeDown(question: Question, context: Context): Answer {
  const { composer, spoke } = context;
  // A former node group is no longer composed while EKS drains it.
  const groupOf = (key: string) =>
    (composer.entries.get(key) ?? composer.waiting.get(key))?.group ??
    (nodeGroupOf(key) ?? launchTemplateOf(key))?.resource.group;
  const left = remains(spoke.metadata.name, question.composed, question.labelled, groupOf);
  const mustWait = context.orphan && !isToldToLeave(context.composer, context.observed);
  const staying = mustWait ? entriesOfExisting(context) : stillWanted(composer.entries, left);
  const conditions = [deletingCondition(spoke, left, question.now), hubAccessCondition(context.hubAccess)];
  return {
    wanted: wanted(context, staying, left.present.size > 0, question.now),
    status: { ...facts(context), ...summaryOf(conditions) },
    conditions,
    ready: false,
    events: [],
    ttl: ttl.deleting,
  };
}

/** The condition of a Spoke whose deletion was requested while it is protected; once the request is withdrawn, that there is none. */
function heldDeletion(spoke: Spoke): SpokeCondition[] {
  const asked = spoke.metadata.annotations?.[deletionAttempt] !== undefined;
  const said = spoke.status?.conditions?.some(({ type }) => type === "Deleting") === true;
  if (!asked && !said) return [];
  const message = asked
    ? `somebody deleted this Spoke while spec.deletionProtection is on: turn it off to carry out the deletion, or withdraw it with kubectl annotate spoke ${spoke.metadata.name} ${deletionAttempt}-`
    : "no deletion is requested";
  return [{ type: "Deleting", status: "False", reason: asked ? "Protected" : "NotAskedFor", message }];
}

/**
 * Objects of the chain whose own state counts. A refusal is not a failure while a chain that worked before is getting the rights it
 * needs.
 */
function speaking({ chain }: Question, { composer, observed }: Context): readonly KubeObject[] {
  const bootstrap = observed.get(resources.bootstrap);
  const isHandled = bootstrap !== undefined && (isReady(bootstrap) || goesOn(bootstrap));
  return chain.filter(
    (object) => object.metadata.name !== composer.objectName(resources.bootstrap) && !(isHandled && needsMore(object)),
  );
}

/**
 * Whether nothing is under way in what Crossplane does not watch: the chain while Flux applies a commit, Argo CD's secret, node groups
 * and associations of EKS Pod Identity while they go.
 */
const isQuiet = (context: Context): boolean =>
  context.observed.ready(resources.bootstrap) &&
  context.hubAccess.reason !== "ChangeRefused" &&
  !argocdLeaves(context) &&
  !leavesPodIdentity(context) &&
  leavingTemplates(context).length === 0;

/** What a Spoke is made of, given what exists. The same question always has the same answer. */
export function compose(question: Question): Answer {
  const { spoke, hub, settings, composed, claims, labelled, now } = question;
  const observed = new Observed(composed);
  const network = chooseNetwork({ spoke, observed, hub, claims, now });
  const decided = plan({ spoke, hub, settings, observed, network });
  const hubAccess = hubAccessOf(spoke, observed, settings, question.chain);
  const context = contextOf({ spoke, hub, settings, plan: decided, observed, hubAccess, labelled });
  const { composer } = context;
  const begun = [...composed.keys()].some((key) => key !== guardKey);
  const mayBegin = isGuarded(observed) && decided.problems.length === 0;
  if (begun || mayBegin || isDeleting(spoke)) composeParts(context);
  if (isDeleting(spoke)) return takeDown(question, context);

  // Beside a cluster that another Spoke made nothing more is made.
  const entries = isForeign(observed) ? entriesOfExisting(context) : composer.entries;
  const chain = speaking(question, context);
  const conditions = [
    accepted(decided.problems),
    ...(Object.keys(parts) as Part[]).map((part) => partCondition(part, context, chain, spoke.status?.conditions)),
    versionCondition(context),
    hubAccessCondition(hubAccess),
    ...heldDeletion(spoke),
  ];
  const ready = conditions.every(({ type, status }) => status === "True" || informative.includes(type));
  const rollout = rolloutOf(spoke, observed, ready, now);
  return {
    wanted: wanted(context, entries, true, now),
    status: { ...facts(context), ...summaryOf(conditions), rollout },
    conditions,
    ready,
    events: rolloutEvents(spoke.status?.rollout, rollout),
    ttl: ready && isQuiet(context) ? ttl.ready : ttl.working,
  };
}

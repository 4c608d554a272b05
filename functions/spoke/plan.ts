import { hubGroups, kubeconfigIdentity } from "../../lib/spoke.ts";
import { addonProblems } from "./addon-roles.ts";
import { anyEksAddons, type Spoke, type SpokeSpec } from "./api.ts";
import { argocdProblems } from "./argocd.ts";
import { bucketProblems } from "./buckets.ts";
import { foreignProblem } from "./foreign.ts";
import type { Hub } from "./hub.ts";
import { textAt } from "./kube.ts";
import { isMadeElsewhere, madeElsewhereProblems } from "./made-elsewhere.ts";
import type { NetworkChoice } from "./network-choice.ts";
import type { Observed } from "./observed.ts";
import { isOrphan } from "./orphan.ts";
import { guardKey } from "./parts/guard.ts";
import { placeProblems } from "./places.ts";
import { podIdentityProblems } from "./pod-identity.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";
import type { Settings } from "./settings.ts";
import { surroundingsOf } from "./surroundings.ts";
import { companyTagProblems } from "./tags.ts";
import { transitProblems } from "./transit-gateway.ts";
import { compareVersions, nextVersion } from "./versions.ts";
import { volumeKeyProblems } from "./volume-key.ts";
import { zoneProblem } from "./zones.ts";

/** What may be made for a Spoke, and why the rest may not. */
export interface Plan {
  readonly network: NetworkChoice;
  /** Version to request for the control plane; undefined while none may be requested. */
  readonly kubernetesVersion?: string;
  /** Version from which someone rolled the control plane back, while spec.kubernetesVersion still requests a raise. */
  readonly rolledBackFrom?: string;
  /** Networks that the public endpoint admits; undefined while the endpoint can't be made. */
  readonly publicAccessCidrs?: readonly string[];
  /** Networks connected to the VPC that the private endpoint admits. */
  readonly privateAccessCidrs: readonly string[];
  readonly problems: readonly SpokeProblem[];
}

export interface PlanQuestion {
  readonly spoke: Spoke;
  readonly hub: Hub;
  readonly settings: Settings;
  readonly observed: Observed;
  readonly network: NetworkChoice;
}

/** The version that the control plane runs; undefined while there is none. */
export function runningVersion(observed: Observed): string | undefined {
  return observed.text(resources.cluster, "version");
}

/**
 * The version from which someone rolled the control plane back outside of Git: the function recorded it as running
 * (parts/control-plane.ts) and hasn't requested another one since.
 */
function rolledBackFrom(observed: Observed, running: string | undefined): string | undefined {
  const spec = observed.get(resources.cluster)?.spec;
  const [ran, requested] = ["initProvider", "forProvider"].map((place) => textAt(spec, place, "version"));
  if (running === undefined || ran === undefined || requested !== undefined) return undefined;
  return compareVersions(ran, running) > 0 ? ran : undefined;
}

function versionPlan({ spoke: { spec }, settings, observed }: PlanQuestion): {
  version?: string;
  rolledBackFrom?: string;
  problem?: SpokeProblem;
} {
  const running = runningVersion(observed);
  const from = rolledBackFrom(observed, running);
  const version = nextVersion(spec.kubernetesVersion, running, from);
  const supported = Object.keys(settings.kubernetesVersions).sort(compareVersions);
  if (from !== undefined && compareVersions(spec.kubernetesVersion, version) > 0)
    return { version, rolledBackFrom: from };
  if (version === running || supported.includes(version)) return { version };
  const problem = {
    reason: "UnsupportedVersion",
    message: `spec.kubernetesVersion ${spec.kubernetesVersion} is not supported: choose one of ${supported.join(", ")}`,
  };
  return running === undefined ? { problem } : { version: running, problem };
}

/** The hub's own addresses and those that the Spoke adds. Without any the endpoint would be open to everybody: refused. */
function endpointPlan({ spoke: { spec }, hub }: PlanQuestion): { cidrs?: readonly string[]; problem?: SpokeProblem } {
  if (!spec.endpoint.public) return { cidrs: [] };
  const cidrs = [...new Set([...hub.hubEgressCidrs, ...spec.endpoint.publicAccessCidrs])].sort();
  if (cidrs.length > 0) return { cidrs };
  const message =
    "the public endpoint has no networks to admit: the hub has no fixed egress address (natGateways none, or an existing VPC without egressCidrs); " +
    "name the networks in spec.endpoint.publicAccessCidrs, or set spec.endpoint.public to false and connect the networks";
  return { problem: { reason: "EndpointUnreachable", message } };
}

/** The networks that the Spoke names, and the hub's own where the hub has no other way in. */
function privateAccessCidrs({
  spoke: {
    spec: { endpoint },
  },
  hub,
}: PlanQuestion): readonly string[] {
  return [...new Set([...endpoint.privateAccessCidrs, ...(endpoint.public ? [] : [hub.aws.vpcCidr])])].sort();
}

function identityProblem({ hub, settings }: PlanQuestion): SpokeProblem[] {
  const missing = Object.keys(fluxIdentities(settings)).filter((identity) => hub.identities[identity] === undefined);
  if (missing.length === 0) return [];
  const message = `the hub's cluster secret names no role for ${missing.join(", ")}: run pulumi up with the current program`;
  return [{ reason: "HubIdentityMissing", message }];
}

/** A Spoke that begins by being let go: what there is of it in AWS would be made a second time. */
function releaseProblem({ spoke, observed }: PlanQuestion): SpokeProblem[] {
  const begun = [...observed.objects.keys()].some((key) => key !== guardKey);
  if (begun || !isOrphan(spoke)) return [];
  const message =
    "spec.deletionPolicy is Orphan, so nothing is made for this Spoke: remove its folder. To take in what is there in AWS, wait until this Spoke is gone, " +
    "then put the folder back, run fleet adopt, and push both together";
  return [{ reason: "Released", message }];
}

/** The identities on the hub that act on a spoke, by name in the hub's cluster secret, with their Kubernetes groups there. */
export function fluxIdentities({ kubeConfig }: Settings): Readonly<Record<string, readonly string[]>> {
  if (kubeConfig === "secret") return { [kubeconfigIdentity]: Object.values(hubGroups) };
  return Object.fromEntries(Object.entries(hubGroups).map(([identity, group]) => [identity, [group]]));
}

/** Decides what may be made. A spoke that runs keeps running: what the new specification may not have stays as it is and is reported. */
export function plan(question: PlanQuestion): Plan {
  const { network, spoke, observed } = question;
  const { names } = surroundingsOf(spoke, question.hub);
  const elsewhere = isMadeElsewhere(spoke);
  const { version, rolledBackFrom: from, problem: versionProblem } = elsewhere ? {} : versionPlan(question);
  const { cidrs, problem: endpointProblem } = elsewhere ? {} : endpointPlan(question);
  const problems = [
    network.problem,
    ...transitProblems(spoke, network.cidr),
    ...placeProblems(spoke, question.hub),
    ...(elsewhere ? [] : zoneProblem({ ...question, spec: spoke.spec })),
    versionProblem,
    endpointProblem,
    ...identityProblem(question),
    ...addonProblems(question),
    ...argocdProblems(question),
    ...bucketProblems({ spoke, names }),
    ...companyTagProblems(question),
    ...volumeKeyProblems(question),
    ...podIdentityProblems(question),
    ...releaseProblem(question),
    ...madeElsewhereProblems(spoke, observed),
    ...foreignProblem(observed, spoke.metadata.name, names.cluster),
  ].filter((problem) => problem !== undefined);
  return {
    network,
    ...(version === undefined ? {} : { kubernetesVersion: version }),
    ...(from === undefined ? {} : { rolledBackFrom: from }),
    ...(cidrs === undefined ? {} : { publicAccessCidrs: cidrs }),
    privateAccessCidrs: elsewhere ? [] : privateAccessCidrs(question),
    problems,
  };
}

/** Version of each EKS add-on for the Kubernetes version; the Spoke's own choice wins, and none means EKS's default at creation. */
export function addonVersions(spec: SpokeSpec, settings: Settings, kubernetesVersion: string) {
  const table = settings.kubernetesVersions[kubernetesVersion] ?? {};
  return Object.fromEntries(anyEksAddons.map((addon) => [addon, spec.eksAddonVersions[addon] ?? table[addon]]));
}

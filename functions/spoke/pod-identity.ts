import { fromBase64 } from "../../lib/base64.ts";
import { clusterFacts, type IdentitySource } from "../../lib/bridge-facts.ts";
import type { Puller } from "../../lib/names.ts";
import type { SpokeIdentity } from "../../lib/spoke.ts";
import { type AnyEksAddon, anyEksAddons, eksAddons, type Spoke } from "./api.ts";
import { isAuto } from "./auto-mode.ts";
import { needsEndpoints } from "./isolated.ts";
import type { KubeObject } from "./kube.ts";
import { isMadeElsewhere } from "./made-elsewhere.ts";
import type { Observed } from "./observed.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";
import type { Settings } from "./settings.ts";

/** How pods of a spoke get the roles of its controllers and add-ons: by its OIDC provider in IAM (IRSA), or by EKS Pod Identity. */

interface Question {
  readonly settings: Pick<Settings, "workloadIdentity">;
  readonly spoke: Pick<Spoke, "spec">;
}

/** Whether they should by EKS Pod Identity. A cluster of Cluster API has the EKS add-ons that its chart names, and no agent among them. */
const shouldUse = ({ settings, spoke }: Question): boolean =>
  settings.workloadIdentity === "pod-identity" && !isMadeElsewhere(spoke);

/** Whether they should, and the agent can't ask EKS Auth for credentials: without internet access it does by an endpoint only. */
export const lacksEksAuth = (question: Question): boolean =>
  shouldUse(question) && needsEndpoints(question) && !question.spoke.spec.network.endpoints?.includes("eks-auth");

/** Whether they do by EKS Pod Identity. */
export const usesPodIdentity = (question: Question): boolean => shouldUse(question) && !lacksEksAuth(question);

/** Why a spoke can't have EKS Pod Identity, which the Composition chooses for it. */
export function podIdentityProblems(question: Question): SpokeProblem[] {
  if (!lacksEksAuth(question)) return [];
  const message =
    "the Composition gives pods their roles by EKS Pod Identity (workloadIdentity), and spec.network.natGateways isolated leaves the agent on the nodes no way " +
    "to EKS Auth: add eks-auth to spec.network.endpoints. Until then a spoke that runs uses IRSA, and a new one is not made";
  return [{ reason: "EndpointMissing", message }];
}

/**
 * Whether pods get this role so. No pod has that of External Secrets: its store asks for the token of a service account under which none runs
 * (docs/decisions/0008-irsa-or-pod-identity.md), and EKS takes tokens of pods only.
 */
export const isForPods = (question: Question, identity: SpokeIdentity | Puller): boolean =>
  identity !== "external_secrets" && usesPodIdentity(question);

/** The EKS add-ons of a spoke: none with EKS Auto Mode, which has them built in. */
export function eksAddonsOf(question: Question): readonly AnyEksAddon[] {
  if (isAuto(question.spoke)) return [];
  return usesPodIdentity(question) ? anyEksAddons : eksAddons;
}

/** What the bridge of the spoke says of its pods' credentials; undefined before there is one. */
export function toldSource(observed: Observed): IdentitySource | undefined {
  const { key, form } = clusterFacts.identitySource;
  const secret = observed.get(resources.clusterSecret);
  return secret && form.decode(fromBase64(secret.data ?? {})[key] ?? "");
}

/** Whether the spoke goes back to IRSA: its pods may only then start anew when no association is left, which counts before the annotation. */
export const leavesPodIdentity = ({ observed, ...question }: Question & { readonly observed: Observed }): boolean =>
  !usesPodIdentity(question) && toldSource(observed) === "PodIdentity";

/** Whether there are associations, also those that Crossplane has forgotten and that are not gone. */
export const hasAssociations = ({
  observed,
  labelled,
}: {
  readonly observed: Observed;
  readonly labelled: readonly KubeObject[];
}): boolean =>
  [...observed.objects.values(), ...labelled].some(({ kind }: KubeObject) => kind === "PodIdentityAssociation");

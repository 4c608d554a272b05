import { at, condition, type KubeObject } from "./kube.ts";
import { failure } from "./observed.ts";

/** What hinders a part of the spoke. */
export interface Trouble {
  /** For machines. */
  readonly reason: string;
  /** Which object says what. */
  readonly message: string;
  /** What a person can do about it; empty when nothing is known. */
  readonly todo: string;
}

interface Advice {
  readonly pattern: RegExp;
  readonly reason: string;
  readonly todo: string;
}

/** What AWS and Flux say, and what a person can do about it. The first match counts. */
const advices: readonly Advice[] = [
  {
    pattern: /AccessDenied|UnauthorizedOperation|not authorized to perform|explicit deny/i,
    reason: "AccessDenied",
    todo: "the role of Crossplane's AWS provider lacks the permission: compare lib/iam/crossplane.ts and the ProviderConfig, then run pulumi up",
  },
  {
    pattern: /LimitExceeded|QuotaExceeded|TooManyAddresses|limit exceeded|maximum number of/i,
    reason: "QuotaExceeded",
    todo: "raise the quota in Service Quotas, or remove what is not used; it goes on by itself",
  },
  {
    pattern: /InsufficientInstanceCapacity|could not launch|UnfulfillableCapacity|InsufficientFreeAddresses/i,
    reason: "CapacityUnavailable",
    todo: "name more types in spec.nodes.instanceTypes, or set spec.nodes.capacityType to ON_DEMAND",
  },
  // EKS User Guide, "Understand each phase of node updates"; aws-ebs-csi-driver#758 and calico#4850 for pods that return.
  {
    pattern: /PodEvictionFailure/,
    reason: "PodsNotEvicted",
    todo: "pods of the spoke did not leave a node within 15 minutes. Either PodDisruptionBudgets hold them (kubectl get poddisruptionbudgets -A there shows which allow no disruption: give the application another replica or the budget room, and a pod no second budget), or they tolerate every taint and come back, or they take longer to end. Nodes that were replaced before stay replaced; it is tried again by itself",
  },
  {
    pattern: /instance ?type|amiType|AMI type/i,
    reason: "InvalidNodes",
    todo: "correct spec.nodes.instanceTypes and spec.nodes.amiType: the types must exist in the region and have the AMI's architecture",
  },
  {
    pattern: /UnsupportedAvailabilityZone|availability ?zone/i,
    reason: "InvalidZone",
    todo: "EKS or EC2 does not serve that zone: add the Spoke again with other spec.network.availabilityZones",
  },
  {
    pattern: /unsupported Kubernetes|Kubernetes version|addon ?version/i,
    reason: "InvalidVersion",
    todo: "choose a version that EKS offers: spec.kubernetesVersion, spec.eksAddonVersions, or the table in the Composition",
  },
  {
    pattern: /principalArn|invalid principal|principal .* (is not valid|does not exist)/i,
    reason: "InvalidPrincipal",
    todo: "correct spec.admins: each must be the ARN of an existing IAM role or user",
  },
  {
    pattern: /DependencyViolation|has dependent object|is in use|mapped public address/i,
    reason: "InUse",
    todo: "something that the fleet did not make still uses it (a load balancer, a network interface): remove that; it goes on by itself",
  },
  {
    pattern: /ThrottlingException|Throttling|Rate exceeded|RequestLimitExceeded|TooManyRequests/i,
    reason: "Throttled",
    todo: "AWS asks to wait; it goes on by itself",
  },
  {
    pattern: /ProviderConfig|cannot get credentials|no valid credential|failed to retrieve credentials|AssumeRole/i,
    reason: "NoCredentials",
    todo: "check spec.account.providerConfigRef and the role that it names",
  },
  // The chain's health checks name the object on the spoke that failed; its own words are there.
  {
    pattern: /(ExternalSecret|SecretStore)\/\S+ status: 'Failed'/,
    reason: "SealingKeyUnreadable",
    todo: "compare the files in spoke-bootstrap/sealing-keys/<environment>, or of a Spoke with sealing: cluster in spokes/<fleet>/<name>/sealing-keys, with the keys in Secrets Manager (stack output activeSealingKeys), add a missing key to sealingKeys of the hub's stack and run pulumi up; kubectl describe the object on the spoke says more",
  },
  {
    pattern: /kustomization path not found/i,
    reason: "MissingInGit",
    todo: "commit the folder: spokes/<fleet>/<name>/secrets is made from templates/spoke, spokes/<fleet>/<name>/sealing-keys (sealing: cluster) by fleet sealing-keys, an environment has its folder in spoke-bootstrap/sealing-keys",
  },
  {
    pattern:
      /failed to checkout|authentication required|handshake failed|unable to clone|Source artifact not found|artifact|GitRepository\/\S+ status: '(Failed|InProgress)'/i,
    reason: "GitUnreachable",
    todo: "look at the GitRepository: its URL, its credential, the host's known_hosts",
  },
  {
    pattern: /variable .* not set|substitut/i,
    reason: "UndefinedVariable",
    todo: "a manifest in spoke-bootstrap uses a variable that the cluster secret does not have: see docs/reference/contract.md",
  },
  {
    pattern: /no key could decrypt|unable to unseal|sealed/i,
    reason: "WrongSealingKey",
    todo: "seal the secret again with the certificate of the spoke's sealing scope, its environment or cluster-<spoke> (kubeseal --cert)",
  },
  {
    pattern:
      /connection refused|i\/o timeout|Client\.Timeout exceeded|no route to host|context deadline exceeded|Unauthorized/i,
    reason: "SpokeUnreachable",
    todo: "the hub does not reach the spoke's API server: check spec.endpoint and the access entries; it goes on by itself",
  },
];

const longest = 400;

/** A controller's message as a stable sentence: without what differs at every attempt, so the condition does not change for nothing. */
export function tidy(message: string): string {
  const text = message
    .replaceAll(/,?\s*(api error )?request ?id:? [0-9a-zA-Z-]+,?/gi, ",")
    .replaceAll(/Encoded authorization failure message: \S+/g, "")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z?\b/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/( ?,)+ ?/g, ", ")
    .trim();
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

const fallback = { reason: "Failed", todo: "" };

/** What is wrong with `object`, and a way out. */
export function trouble(object: KubeObject): Trouble | undefined {
  const said = failure(object);
  if (said === undefined) return undefined;
  const { reason, todo } = advices.find(({ pattern }) => pattern.test(said)) ?? fallback;
  return { reason, todo, message: `${object.kind} ${object.metadata.name}: ${tidy(said)}` };
}

/**
 * Whether a step of the chain that `message` named is just being tried again, with the commit that failed: until Flux says how that
 * went, nothing has changed.
 */
export function isStillTrouble(step: KubeObject, message: string): boolean {
  const last = at(step.status, "history", 0);
  return (
    condition(step, "Ready")?.status === "Unknown" &&
    at(last, "lastReconciledStatus") !== "ReconciliationSucceeded" &&
    at(last, "metadata", "revision") === at(step.status, "lastAttemptedRevision") &&
    message.includes(`${step.kind} ${step.metadata.name}:`)
  );
}

const most = 3;

/** All troubles as one reason, the first, and one sentence: the first few messages, then what to do. */
export function summary(
  troubles: readonly Trouble[],
): { readonly reason: string; readonly message: string } | undefined {
  const [first] = troubles;
  if (first === undefined) return undefined;
  const shown = troubles.slice(0, most);
  const rest = troubles.length - shown.length;
  const messages = [...shown.map(({ message }) => message), ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
  const todos = [...new Set(shown.map(({ todo }) => todo).filter(Boolean))].join("; ");
  return { reason: first.reason, message: todos === "" ? messages : `${messages} (${todos})` };
}

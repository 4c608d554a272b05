import { at, condition, type KubeObject } from "./kube.ts";
import { failureMessage } from "./observed.ts";
import { transitFailures } from "./transit-gateway.ts";

/** Why an object that a spoke is made of does not become ready. */
export interface Failure {
  /** One CamelCase word, as the reason of a Kubernetes condition. */
  readonly reason: string;
  /** The object, and the message that AWS or Flux reports for it. */
  readonly message: string;
  /** What a person can do about it; empty when the message is not a known one. */
  readonly remedy: string;
}

interface KnownFailure extends Omit<Failure, "message"> {
  /** Matches the message of AWS or Flux. */
  readonly pattern: RegExp;
}

/** Matches a message about what AWS failed to create: Crossplane does not try again. */
export const creationFailed = /AWS reports the status (CREATE_FAILED|FAILED)/;

/** How to find out why instances don't become nodes (AWS re:Post, "How can I resolve managed node group creation failures"). */
const findNodeCause =
  "EKS launched the instances, but they didn't become Ready nodes of the cluster. The cause is in their console output (aws ec2 get-console-output " +
  "--latest --instance-id <instance>) or in a run of the Systems Manager runbook AWSSupport-TroubleshootEKSWorkerNode; often the nodes can't reach " +
  "the API server or AWS's endpoints, or their role lacks a policy";

/** The first match counts. */
const knownFailures: readonly KnownFailure[] = [
  // crossplane-runtime, pkg/reconciler/managed.
  {
    pattern: /cannot determine creation result/i,
    reason: "CreationInterrupted",
    remedy:
      "Crossplane's provider ended while AWS made it: run fleet recover <name>, which looks in AWS for what was made and tells Crossplane",
  },
  ...transitFailures,
  // A second provider of the same issuer carries the fleet's tag already, which the rights to make one exclude: AWS may look at them first.
  {
    pattern: /not authorized to perform: iam:CreateOpenIDConnectProvider/,
    reason: "AccessDenied",
    remedy:
      "if its creation was interrupted, AWS has it: fleet recover <name> takes it over; else the role of Crossplane's AWS provider lacks the permission: compare lib/iam/crossplane.ts and the ProviderConfig, then run pulumi up",
  },
  // AWS STS API Reference, "AssumeRole", RegionDisabledException. Before what speaks of AssumeRole: the role is not the cause.
  {
    pattern: /RegionDisabledException|STS is not activated in (this|the requested) region/,
    reason: "RegionDisabled",
    remedy:
      "enable the spoke's region in the hub's account and in the spoke's (docs/guides/aws-account.md#accounts-and-regions); Crossplane retries by itself",
  },
  // Upstream's cache of Secrets never fills without the permission (controller-runtime 0.24.1, pkg/cache/internal/informers.go).
  {
    pattern: /waiting for \*v1\.Secret Informer to sync/,
    reason: "SecretsForbidden",
    remedy:
      "with kubeConfig: secret in the Composition, add the rule that platform/crossplane/packages/kubeconfig-permissions.yaml in gitops-system describes",
  },
  {
    pattern: /AccessDenied|UnauthorizedOperation|not authorized to perform|explicit deny/i,
    reason: "AccessDenied",
    remedy:
      "the role of Crossplane's AWS provider lacks the permission: compare lib/iam/crossplane.ts and the ProviderConfig, then run pulumi up",
  },
  {
    pattern:
      /AlreadyExists|AlreadyAssociated|Association already exists|InvalidPermission\.Duplicate|InvalidSubnet\.Conflict/,
    reason: "AlreadyExists",
    remedy:
      "if a creation was interrupted, fleet recover <name> takes over what it made; else something that the fleet did not make is in its place",
  },
  // A failed node group is checked no more (aws/containers-roadmap#764). EC2's codes: VcpuLimitExceeded; for Spot, aws/aws-parallelcluster#1115.
  {
    pattern: /CREATE_FAILED.*(VcpuLimitExceeded|Max ?Spot ?Instance ?Count ?Exceeded)/is,
    reason: "QuotaExceeded",
    remedy:
      "raise the quota of vCPUs (fleet doctor prints the request), then delete the managed resource on the hub (kubectl -n spokes delete nodegroups.eks.aws.m.upbound.io <name>): Crossplane deletes the node group and creates it again",
  },
  {
    pattern:
      /LimitExceeded|MaxSpotInstanceCountExceeded|QuotaExceeded|TooManyAddresses|limit exceeded|maximum number of/i,
    reason: "QuotaExceeded",
    remedy: "raise the quota in Service Quotas, or remove what is not used; Crossplane retries by itself",
  },
  {
    pattern: /InsufficientInstanceCapacity|could not launch|UnfulfillableCapacity|InsufficientFreeAddresses/i,
    reason: "CapacityUnavailable",
    remedy:
      "name more types in spec.nodes.instanceTypes (or instanceTypes of the group in spec.nodeGroups), or set capacityType beside it to ON_DEMAND",
  },
  // EKS User Guide, "Nodes fail to join cluster"; a failed group is checked no more, even if its nodes join later (aws/containers-roadmap#764).
  {
    pattern: /CREATE_FAILED.*NodeCreationFailure/s,
    reason: "NodesNotJoined",
    remedy: `${findNodeCause}. Correct it, then delete the managed resource on the hub (kubectl -n spokes delete nodegroups.eks.aws.m.upbound.io <name>): Crossplane deletes the node group and creates it again. EKS doesn't check a failed one again, even if its nodes join later`,
  },
  {
    pattern: /NodeCreationFailure/,
    reason: "NodesNotJoined",
    remedy: `${findNodeCause}. Nodes that ran before are kept. Crossplane retries the update`,
  },
  // What observed.ts says of a status; EKS has the reason, and the provider does not tell it.
  {
    pattern: creationFailed,
    reason: "CreationFailed",
    remedy:
      "AWS failed to make it, and Crossplane does not try again. aws eks describe-nodegroup or describe-cluster says why, under health. Another spec.nodes, or another group of that name in spec.nodeGroups, makes another node group; for the same one again, delete what failed (aws eks delete-nodegroup or delete-cluster): Crossplane makes it anew at its next look",
  },
  // What observed.ts says of a NAT gateway.
  {
    pattern: /AWS reports no address of it/,
    reason: "CreationFailed",
    remedy:
      "if it stays so for minutes, AWS failed to make it, and aws ec2 describe-nat-gateways says why, under FailureMessage. After an interrupted creation another one has its address: fleet recover <name> names both",
  },
  {
    pattern: /AWS reports the status (DEGRADED|DELETE_FAILED)/,
    reason: "Degraded",
    remedy: "aws eks describe-nodegroup or describe-cluster says under health what AWS can't do, and what it needs",
  },
  // EKS User Guide, "Understand each phase of node updates"; aws-ebs-csi-driver#758 and calico#4850 for pods that come back.
  {
    pattern: /PodEvictionFailure/,
    reason: "PodsNotEvicted",
    remedy:
      "some pods of the spoke did not leave their node within 15 minutes. Either PodDisruptionBudgets keep them (kubectl get poddisruptionbudgets -A on the spoke shows which allow no disruption: add a replica or relax the budget, and let no second budget select a pod), or they tolerate every taint and come back, or they take longer to end. Nodes that were replaced before stay replaced; Crossplane tries the update again by itself",
  },
  {
    pattern: /instance ?type|amiType|AMI type/i,
    reason: "InvalidNodes",
    remedy:
      "correct spec.nodes.instanceTypes and spec.nodes.amiType, or instanceTypes of the group in spec.nodeGroups: the types must exist in the region and have the AMI's architecture",
  },
  {
    pattern: /UnsupportedAvailabilityZone|availability ?zone/i,
    reason: "InvalidZone",
    remedy:
      "EKS or EC2 does not offer this zone: remove the Spoke and add it again with other spec.network.availabilityZones",
  },
  {
    pattern: /unsupported Kubernetes|Kubernetes version|addon ?version/i,
    reason: "InvalidVersion",
    remedy:
      "choose a version that EKS offers: spec.kubernetesVersion, spec.eksAddonVersions, or the table in the Composition",
  },
  {
    pattern: /principalArn|invalid principal|principal .* (is not valid|does not exist)/i,
    reason: "InvalidPrincipal",
    remedy:
      "correct spec.admins and spec.teams: each member must be the ARN of an existing IAM role, an administrator may be a user too",
  },
  // The add-on rds_instances: RDS says which database, on the spoke.
  {
    pattern: /InvalidDBSubnetGroupStateFault|Kustomization rds-subnets still exists|SubnetGroup databases still exists/,
    reason: "DatabasesLeft",
    remedy:
      'databases that applications left in AWS are still in the spoke\'s subnets: delete them there, or move them to another group of subnets (docs/guides/applications.md#onboard-an-application, "Databases that stay"); the rest then goes by itself',
  },
  {
    pattern: /DependencyViolation|has dependent object|is in use|mapped public address/i,
    reason: "InUse",
    remedy:
      "something that the fleet did not create still uses it (a load balancer, a network interface, a database, GuardDuty's endpoint): fleet sweep <name> shows what, and removes what EKS, its controllers and GuardDuty left behind; Crossplane's next attempt succeeds then",
  },
  {
    pattern: /ThrottlingException|Throttling|Rate exceeded|RequestLimitExceeded|TooManyRequests/i,
    reason: "Throttled",
    remedy: "nothing to do: AWS limits the rate of calls, and Crossplane retries",
  },
  {
    pattern: /ProviderConfig|cannot get credentials|no valid credential|failed to retrieve credentials|AssumeRole/i,
    reason: "NoCredentials",
    remedy: "check spec.account.providerConfigRef and the role that it names",
  },
  // Flux's health checks only name the object that failed; its own conditions, on the spoke, say why.
  {
    pattern: /(ExternalSecret|SecretStore)\/\S+ status: 'Failed'/,
    reason: "SealingKeyUnreadable",
    remedy:
      "compare the files in spoke-bootstrap/sealing-keys/<environment> (for a Spoke with sealing: cluster, in spokes/<fleet>/<name>/sealing-keys) with the keys in Secrets Manager (stack output activeSealingKeys), add a missing key to sealingKeys of the hub's stack and run pulumi up; kubectl describe on the spoke shows why the object failed",
  },
  {
    pattern: /kustomization path not found/i,
    reason: "MissingInGit",
    remedy:
      "commit the folder: spokes/<fleet>/<name>/secrets is copied from templates/spoke, fleet sealing-keys writes spokes/<fleet>/<name>/sealing-keys (sealing: cluster), and each environment has a folder in spoke-bootstrap/sealing-keys",
  },
  // source-controller v1.9.5, internal/controller/gitrepository_controller.go, verifySignature.
  {
    pattern: /signature verification of (commit|tag) .* failed|public keys secret error/i,
    reason: "CommitNotVerified",
    remedy:
      "it is applied when the newest commit is signed by one of those whose public keys gitVerification of the hub's stack names (an application's repository: those that its GitRepository names); what was applied before stays. Push a signed commit on top, or have the missing key added",
  },
  {
    pattern:
      /failed to checkout|authentication required|handshake failed|unable to clone|Source artifact not found|artifact|GitRepository\/\S+ status: '(Failed|InProgress)'/i,
    reason: "GitUnreachable",
    remedy:
      "check the GitRepository: its URL, its credential, the host's known_hosts and, with gitVerification, who signed the newest commit",
  },
  // After GitUnreachable: where a source fails as well, fix that first.
  {
    pattern: /Receiver\/flux-system\/git-receiver status: '(Failed|InProgress)'/,
    reason: "ReceiverNotReady",
    remedy:
      "a Spoke with gitReceiver needs the SealedSecret git-receiver among its secrets: run fleet reseal <name> --deploy-keys keep and push what it writes, or remove spec.gitReceiver; kubectl -n flux-system describe receiver git-receiver on the spoke shows why it is not ready",
  },
  {
    pattern: /variable .* not set|substitut/i,
    reason: "UndefinedVariable",
    remedy:
      "a manifest in spoke-bootstrap uses a variable that the cluster secret does not have: see docs/reference/contract.md",
  },
  {
    pattern: /no key could decrypt|unable to unseal|sealed/i,
    reason: "WrongSealingKey",
    remedy:
      "seal the secret again with the certificate of the spoke's sealing scope, which is its environment or cluster-<spoke> (kubeseal --cert)",
  },
  {
    pattern:
      /connection refused|i\/o timeout|Client\.Timeout exceeded|no route to host|context deadline exceeded|Unauthorized/i,
    reason: "SpokeUnreachable",
    remedy:
      "the hub does not reach the spoke's API server: check spec.endpoint and the access entries; Flux retries by itself",
  },
];

/** What it means that AWS has not what Crossplane may only observe: its Spoke knows who makes it. */
export type Absence = Omit<Failure, "message">;

/** crossplane-runtime, pkg/reconciler/managed, of what it may only observe. */
const absent = /external resource does not exist/i;

/** Whether AWS has not what `object` may only observe. */
export const isAbsent = (object: KubeObject): boolean => absent.test(failureMessage(object) ?? "");

/** An error in a log is often a few hundred characters long, with its cause at the end. */
const MAX_CHARACTERS = 1000;

/** A controller's message without what differs between attempts, so that a retry does not change the condition. */
export function tidy(message: string): string {
  const text = message
    .replaceAll(/,?\s*(api error )?request ?id:? [0-9a-zA-Z-]+,?/gi, ",")
    .replaceAll(/Encoded authorization failure message: \S+/g, "")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z?\b/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/( ?,)+ ?/g, ", ")
    .trim();
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}

const unknownFailure = { reason: "Failed", remedy: "" };

/**
 * Why `object` fails; undefined when its controller reports no failure.
 * @param absence what it means if AWS has not what may only be observed; without it nothing is known of that
 */
export function failureOf(object: KubeObject, absence?: Absence): Failure | undefined {
  const said = failureMessage(object);
  if (said === undefined) return undefined;
  const known = isAbsent(object) ? absence : knownFailures.find(({ pattern }) => pattern.test(said));
  const { reason, remedy } = known ?? unknownFailure;
  return { reason, remedy, message: `${object.kind} ${object.metadata.name}: ${tidy(said)}` };
}

/** Whether Flux is retrying a step of the chain, named in `message`, with the commit that failed: until it is done, the failure stands. */
export function isRetrying(step: KubeObject, message: string): boolean {
  const last = at(step.status, "history", 0);
  return (
    condition(step, "Ready")?.status === "Unknown" &&
    at(last, "lastReconciledStatus") !== "ReconciliationSucceeded" &&
    at(last, "metadata", "revision") === at(step.status, "lastAttemptedRevision") &&
    message.includes(`${step.kind} ${step.metadata.name}:`)
  );
}

const MAX_SHOWN = 3;

/** The reason of the first failure, and one sentence with the first few messages and their remedies. */
export function summary(
  failures: readonly Failure[],
): { readonly reason: string; readonly message: string } | undefined {
  const [first] = failures;
  if (first === undefined) return undefined;
  const shown = failures.slice(0, MAX_SHOWN);
  const rest = failures.length - shown.length;
  const messages = [...shown.map(({ message }) => message), ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
  const remedies = [...new Set(shown.map(({ remedy }) => remedy).filter(Boolean))].join("; ");
  return { reason: first.reason, message: remedies === "" ? messages : `${messages} (${remedies})` };
}

import type { BridgeKey } from "../../../lib/bridge-keys.ts";
import type { Spoke } from "../api.ts";
import { condition, type KubeObject, textAt } from "../kube.ts";
import { isDeleting } from "../parts/guard.ts";

/** What a ClusterProfile says of a cluster, whichever kind of cluster it is. */
export interface InventoryCluster {
  readonly name: string;
  readonly environment: string;
  readonly tenant: string;
  readonly role: "hub" | "spoke";
  readonly ring?: string | undefined;
  readonly kubernetesVersion: string | undefined;
  readonly region: string;
  /** Facts under the names that they have in the bridge; those that are not known yet are undefined. */
  readonly facts: Readonly<Partial<Record<BridgeKey, string | undefined>>>;
  readonly access: InventoryAccess | undefined;
  /** The control plane works. */
  readonly healthy: Finding;
  /** The cluster is under the fleet's management. */
  readonly joined: Finding;
}

/** How a client reaches the cluster; whoever it is makes a token of their own. */
interface InventoryAccess {
  readonly server: string;
  /** PEM in base64. */
  readonly certificateAuthority: string;
  /** EKS name. */
  readonly clusterName: string;
  readonly region: string;
}

/** A condition without its time. */
export interface Finding {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** What the Spoke says in one of its conditions, with another status. */
function saying(spoke: Spoke, type: string, status: Finding["status"]): Finding {
  const found = condition(spoke, type);
  const { reason = "NotReported", message = `the Spoke has no condition ${type} yet` } = found ?? {};
  return { status, reason, message };
}

/** A Spoke that can't bring one object of its control plane up to date has one that works; whether it does is not known then. */
function healthOf(spoke: Spoke): Finding {
  const type = "ControlPlaneReady";
  if (condition(spoke, type)?.status === "True") return saying(spoke, type, "True");
  return saying(spoke, type, spoke.status?.cluster?.endpoint === undefined ? "False" : "Unknown");
}

/** Whether the profile has said so of this Spoke, not of one before it that had the same name. */
function hasJoined({ metadata }: Spoke, profile: KubeObject | undefined): boolean {
  const said = condition(profile, "Joined");
  const since = Date.parse(textAt(said, "lastTransitionTime") ?? "");
  return said?.status === "True" && since >= Date.parse(metadata.creationTimestamp ?? "");
}

/**
 * A cluster that has once got its bootstrap chain follows Git, also while a later commit fails. When it changes to another ring, its Spoke
 * forgets the revision that it had; the profile does not.
 */
function membershipOf(spoke: Spoke, profile: KubeObject | undefined): Finding {
  if (isDeleting(spoke))
    return { status: "False", reason: "Removal", message: "the cluster is being removed from the fleet" };
  const isBootstrapped = condition(spoke, "Bootstrapped")?.status === "True";
  const isJoined = isBootstrapped || spoke.status?.rollout?.revision !== undefined || hasJoined(spoke, profile);
  return saying(spoke, "Bootstrapped", isJoined ? "True" : "False");
}

/** A spoke as its Spoke describes it. @param fleet name of the fleet @param profile the ClusterProfile that there is of it */
export function clusterOfSpoke(spoke: Spoke, fleet: string, profile: KubeObject | undefined): InventoryCluster {
  const { spec, status = {} } = spoke;
  const { name } = spoke.metadata;
  const { arn, endpoint, certificateAuthority, name: clusterName, oidcIssuer, oidcProviderArn } = status.cluster ?? {};
  const [, partition, , , account] = arn?.split(":") ?? [];
  const isReachable = endpoint !== undefined && certificateAuthority !== undefined && clusterName !== undefined;
  return {
    name,
    role: "spoke",
    environment: spec.environment,
    tenant: spec.tenant,
    ring: spec.ring,
    region: spec.region,
    kubernetesVersion: status.kubernetesVersion,
    facts: {
      fleet,
      aws_account_id: account,
      aws_region: spec.region,
      aws_partition: partition,
      aws_vpc_id: status.network?.vpcId,
      aws_vpc_cidr: status.network?.cidr,
      aws_cluster_name: clusterName,
      cluster_arn: arn,
      oidc_provider: oidcIssuer?.replace(/^https:\/\//, ""),
      oidc_provider_arn: oidcProviderArn,
    },
    access: isReachable ? { server: endpoint, certificateAuthority, clusterName, region: spec.region } : undefined,
    healthy: healthOf(spoke),
    joined: membershipOf(spoke, profile),
  };
}

/** What the hub's bridge says of the hub, by key. */
export const hubKeys = [
  "fleet",
  "cluster_name",
  "environment",
  "tenant",
  "kubernetes_version",
  "aws_account_id",
  "aws_region",
  "aws_partition",
  "aws_vpc_id",
  "aws_vpc_cidr",
  "aws_cluster_name",
  "cluster_arn",
  "oidc_provider",
  "oidc_provider_arn",
] as const satisfies readonly BridgeKey[];

export type HubFacts = Readonly<Record<(typeof hubKeys)[number], string>>;

/** The hub's facts out of an environment. @throws RangeError that names what is missing */
export function readHubFacts(environment: Readonly<Record<string, string | undefined>>): HubFacts {
  const missing = hubKeys.filter((key) => !environment[key]);
  if (missing.length > 0)
    throw new RangeError(
      `the environment lacks ${missing.join(", ")}: each is a key of the bridge, which platform/hub/cluster-inventory/release passes on`,
    );
  return Object.fromEntries(hubKeys.map((key) => [key, environment[key]])) as HubFacts;
}

/** The address of the hub's API server for pods on the hub; its endpoint outside is no fact of the bridge. */
const inside = "https://kubernetes.default.svc";

/** The hub, whose API server has just answered. @param certificateAuthority PEM in base64 */
export function clusterOfHub(hub: HubFacts, certificateAuthority: string): InventoryCluster {
  const { cluster_name: name, kubernetes_version: kubernetesVersion, environment, tenant, ...facts } = hub;
  const { aws_region: region, aws_cluster_name: clusterName } = hub;
  return {
    name,
    role: "hub",
    environment,
    tenant,
    kubernetesVersion,
    region,
    facts,
    access: { server: inside, certificateAuthority, clusterName, region },
    healthy: { status: "True", reason: "Available", message: "the hub's API server answers" },
    joined: { status: "True", reason: "Hub", message: "the hub manages the fleet" },
  };
}

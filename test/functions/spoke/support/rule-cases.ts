import { platformNamespaces } from "../../../../lib/names.ts";
import { besideReserved, beyondLimit, refused, withinLimit } from "../../../support/public-networks.ts";
/**
 * What the API server must take and refuse of a Spoke, as data: for a test against a real API server, and for one that `fleet check`
 * evaluates the rules as it does. Each case changes the valid Spoke {@link validSpoke}; `before` is what is stored first when the case is an update.
 */
export interface RuleCase {
  readonly name: string;
  /** Merged into the valid Spoke (null removes). */
  readonly change: Patch;
  /** For updates: merged into the valid Spoke before. */
  readonly before?: Patch;
  /** Status at the time of the update. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Part of the API server's message; absent when the Spoke is taken. */
  readonly refused?: string;
  /** Path of the value that the schema refuses; absent when a rule does, or nothing. */
  readonly at?: string;
}

export interface Patch {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const validSpoke = {
  apiVersion: "fleet.internal/v1alpha1",
  kind: "Spoke",
  metadata: { name: "blue", namespace: "spokes", labels: { "fleet.internal/fleet": "fleet" } },
  spec: { region: "us-east-1", kubernetesVersion: "1.35", environment: "dev" },
} as const;

type Spec = Readonly<Record<string, unknown>>;

const accepts = (name: string, spec: Spec): RuleCase => ({ name, change: { spec } });

const rejects = (name: string, refused: string, spec: Spec, at?: string): RuleCase => ({
  ...{ name, change: { spec }, refused },
  ...(at !== undefined && { at }),
});

/** A value that the schema refuses, with a message that begins with its path. */
const malformed = (name: string, at: string, spec: Spec) => rejects(name, at.replaceAll(/\.(\d+)/g, "[$1]"), spec, at);

const named = (name: string, metadataName: string, refused?: string): RuleCase => ({
  ...{ name, change: { metadata: { name: metadataName } } },
  ...(refused !== undefined && { refused }),
});

const taken = undefined;

/** An update from one Spoke to another, with the status that the first has. */
const update = (
  name: string,
  refused: string | undefined,
  { from, to, status }: Record<"from" | "to", Spec> & { readonly status?: Spec },
): RuleCase => ({
  ...{ name, before: { spec: from }, change: { spec: to } },
  ...(refused !== undefined && { refused }),
  ...(status && { status }),
});

const member = (role: string, access: string) => ({ role: `arn:aws:iam::111111111111:role/${role}`, access });
const team = (change: object): Spec => ({
  teams: [{ name: "search", namespaces: ["search"], members: [member("search", "edit")], ...change }],
});

const onVersion = (kubernetesVersion: string) => ({ kubernetesVersion });

const placed = { cidr: "10.100.0.0/16", availabilityZones: ["us-east-1a", "us-east-1b"] };
const vpc = "vpc-0a1b2c3d4e5f60718";
const shared = {
  vpcId: vpc,
  privateSubnetIds: ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
  publicSubnetIds: ["subnet-2a1b2c3d4e5f60718"],
};

/** A group of nodes beside one that every Spoke needs. */
const groups = (change: object): Spec => ({ nodeGroups: [{ name: "nodes" }, { name: "gpu", ...change }] });

/**
 * Without these a cluster that has no internet access does not come up: nodes and the VPC CNI call EC2, images come from ECR, controllers
 * assume their roles at STS, External Secrets reads at Secrets Manager.
 */
export const isolatedServices = ["ec2", "ecr.api", "ecr.dkr", "secretsmanager", "sts"] as const;

/** A transit gateway, with other fields of the network. */
const transit = (destinationCidrs: readonly string[], network: object = {}, id = "tgw-0a1b2c3d4e5f60718"): Spec => ({
  network: { transitGateway: { id, destinationCidrs }, ...network },
});

const preferred = { key: "a", effect: "PreferNoSchedule" };
const key = (region: string, id = "1") =>
  `arn:aws:kms:${region}:111122223333:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;
const elsewhere = { network: { cidr: "10.100.0.0/16" }, existing: { madeBy: "ClusterAPI" } };

export const ruleCases: readonly RuleCase[] = [
  accepts("the least that a Spoke can be", {}),
  accepts("everything that a Spoke can be", {
    tenant: "payments",
    sealing: "cluster",
    account: { id: "111111111111", providerConfigRef: { name: "payments" } },
    network: {
      cidr: "10.100.0.0/16",
      zones: 3,
      availabilityZones: ["us-east-1b", "us-east-1c", "us-east-1d"],
      natGateways: "per-zone",
    },
    nodes: {
      instanceTypes: ["m7g.large", "m6g.large"],
      amiType: "AL2023_ARM_64_STANDARD",
      capacityType: "SPOT",
      diskSize: 100,
      min: 1,
      desired: 2,
      max: 3,
    },
    endpoint: { public: true, publicAccessCidrs: ["5.6.7.0/24"] },
    admins: ["arn:aws:iam::111111111111:role/platform-team"],
    teams: [
      { name: "payments", namespaces: ["payment-app", "payment-jobs"], members: [member("payments", "edit")] },
      { name: "search", namespaces: ["search"], members: [member("payments", "view"), member("search", "admin")] },
    ],
    addons: ["metrics_server"],
    eksAddonVersions: { coredns: "v1.13.2-eksbuild.21" },
    logRetentionDays: 365,
    kmsDeletionWindowDays: 7,
    deletionProtection: true,
  }),
  rejects("a field that does not exist", "unknown field", { nodePools: 3 }, "spec.nodePools"),
  rejects("no version", "spec.kubernetesVersion: Required", { kubernetesVersion: null }, "spec"),
  named("a name of 40 characters", "a".repeat(40)),
  named("a name of 41 characters", "a".repeat(41), "at most 40 lower-case"),
  named("a name that begins with a digit", "1blue", "beginning with a letter"),
  named("the hub's name", "hub", "not hub"),
  named("a name that reads like a cluster secret's", "cluster-blue", "not beginning with cluster-"),
  accepts("a ring, with the ring's Composition", {
    ring: "early",
    crossplane: { compositionRef: { name: "spoke-early" } },
  }),
  rejects("a ring, with another Composition", "set crossplane.compositionRef.name to spoke-early", {
    ring: "early",
    crossplane: { compositionRef: { name: "spoke" } },
  }),
  rejects("a ring without its Composition", "a Spoke in ring early takes the Composition of its ring", {
    ring: "early",
  }),
  rejects("the Composition of a ring without the ring", "is the Composition of a ring", {
    crossplane: { compositionRef: { name: "spoke-early" } },
  }),
  accepts("another Composition of the fleet's own", { crossplane: { compositionRef: { name: "sandboxes" } } }),
  malformed("a ring whose name can't be that of a branch and of objects", "spec.ring", {
    ring: "Early ring",
    crossplane: { compositionRef: { name: "spoke-Early ring" } },
  }),
  rejects("an environment that reads like a cluster's own sealing scope", "environment must not begin with cluster-", {
    environment: "cluster-blue",
  }),
  malformed("sealing keys of a tenant", "spec.sealing", { sealing: "tenant" }),
  named("a name with a dot", "blue.green", "lower-case letters, digits and"),
  malformed("a patch version", "spec.kubernetesVersion", onVersion("1.35.2")),
  accepts("a network of the largest size", { network: { cidr: "10.100.0.0/16" } }),
  accepts("a network of the smallest size", { network: { cidr: "192.168.7.0/24" } }),
  ...["172.16.0.0/16", "100.64.0.0/16"].map((cidr) =>
    accepts(`a network of ${cidr}, which is private too`, { network: { cidr } }),
  ),
  rejects("a network too large", "from /16 to /24", { network: { cidr: "10.0.0.0/15" } }),
  rejects("a network too small", "from /16 to /24", { network: { cidr: "10.0.0.0/25" } }),
  rejects("a network with bits behind the prefix", "no bits set after the prefix", {
    network: { cidr: "10.100.1.0/16" },
  }),
  rejects("no network at all", "must be an IPv4 network", { network: { cidr: "blue" } }),
  rejects("an IPv6 network", "must be an IPv4 network", { network: { cidr: "fd00::/16" } }),
  rejects("a public network", "must be private", { network: { cidr: "8.8.0.0/16" } }),
  malformed("one zone", "spec.network.zones", { network: { zones: 1 } }),
  rejects("fewer zone names than zones", "as many zones as network.zones says", {
    network: { zones: 3, availabilityZones: ["us-east-1a", "us-east-1b"] },
  }),
  rejects("a zone of another region", "all of region us-east-1", {
    network: { availabilityZones: ["us-east-1a", "us-west-2a"] },
  }),
  malformed("a local zone, in which EKS has no control plane", "spec.network.availabilityZones.1", {
    network: { availabilityZones: ["us-east-1a", "us-east-1-bos-1a"] },
  }),
  rejects("an unknown way out", "natGateways", { network: { natGateways: "two" } }, "spec.network.natGateways"),
  rejects("more nodes than the greatest number", "min <= desired <= max", { nodes: { desired: 5 } }),
  accepts("as many nodes as the greatest number", { nodes: { desired: 4 } }),
  rejects("fewer nodes than the smallest number", "min <= desired <= max", { nodes: { min: 3 } }),
  accepts(
    "everything that a group of nodes can be, beside one that is nothing but a name",
    groups({
      name: "gpu-2",
      instanceTypes: ["g5.xlarge", "g6.xlarge"],
      amiFamily: "Bottlerocket",
      capacityType: "SPOT",
      diskSize: 200,
      min: 1,
      desired: 2,
      max: 3,
      labels: { tier: "gpu", "example.com/Pool_1.a": "b" },
      taints: [
        { key: "nvidia.com/gpu", value: "true", effect: "NoSchedule" },
        { key: "nvidia.com/gpu", effect: "NoExecute" },
        { key: "spot", effect: "PreferNoSchedule" },
      ],
    }),
  ),
  malformed("no groups of nodes", "spec.nodeGroups", { nodeGroups: [] }),
  rejects("nodes beside groups of nodes", "nodes can't stand beside nodeGroups", {
    nodeGroups: [{ name: "nodes" }],
    nodes: { max: 6 },
  }),
  rejects("groups of nodes of a cluster that Cluster API makes", "nodeGroups can't go with existing.madeBy", {
    ...elsewhere,
    nodeGroups: [{ name: "nodes" }],
  }),
  accepts("EKS Auto Mode", { compute: "auto", network: { natGateways: "none" }, addons: ["metrics_server"] }),
  malformed("another kind of compute", "spec.compute", { compute: "fargate" }),
  update("EKS Auto Mode for a cluster with node groups", "compute can't be changed", {
    from: {},
    to: { compute: "auto" },
  }),
  update("node groups for a cluster with EKS Auto Mode", "compute can't be changed", {
    from: { compute: "auto" },
    to: { compute: "node-groups" },
  }),
  rejects("groups of nodes beside EKS Auto Mode", "compute auto can't go with nodes or nodeGroups", {
    compute: "auto",
    nodeGroups: [{ name: "nodes" }],
  }),
  rejects("nodes beside EKS Auto Mode", "compute auto can't go with nodes or nodeGroups", {
    compute: "auto",
    nodes: { max: 6 },
  }),
  rejects("versions of EKS add-ons beside EKS Auto Mode", "compute auto can't go with eksAddonVersions", {
    compute: "auto",
    eksAddonVersions: { coredns: "v1.12.4-eksbuild.1" },
  }),
  rejects("a load balancer controller beside EKS Auto Mode", "compute auto can't go with the add-ons", {
    compute: "auto",
    addons: ["aws_load_balancer_controller"],
  }),
  rejects(
    "EKS Auto Mode without internet access",
    "compute auto can't go with network.podCidr or natGateways isolated",
    { compute: "auto", network: { natGateways: "isolated", endpoints: ["ec2", "ecr.api", "ecr.dkr", "sts"] } },
  ),
  rejects("EKS Auto Mode of a cluster that Cluster API makes", "compute auto can't go with existing.madeBy", {
    ...elsewhere,
    compute: "auto",
  }),
  update("groups of nodes in place of the nodes that a Spoke had", taken, {
    from: { nodes: { min: 3, desired: 3, max: 9 } },
    to: { nodes: null, nodeGroups: [{ name: "nodes", min: 3, desired: 3, max: 9 }] },
  }),
  rejects("groups of nodes with taints alone", "nodeGroups needs a group without taints", {
    nodeGroups: [
      { name: "a", taints: [{ key: "a", effect: "NoExecute" }] },
      { name: "b", taints: [preferred, { key: "b", effect: "NoSchedule" }] },
    ],
  }),
  accepts("groups of nodes of which one only prefers other pods", { nodeGroups: [{ name: "a", taints: [preferred] }] }),
  rejects(
    "a group with more nodes than its greatest number",
    "min <= desired <= max in each group (defaults: 2, 2 and 4); the group gpu has not",
    groups({ desired: 5 }),
  ),
  malformed("a group without nodes", "spec.nodeGroups.1.min", groups({ min: 0 })),
  rejects(
    "a group of Graviton and Intel types",
    "must not mix Arm (Graviton, Grace) and x86_64 in one group, whose nodes share an AMI: make a group of each; got m7g.large, m7i.large in gpu",
    groups({ instanceTypes: ["m7g.large", "m7i.large"] }),
  ),
  rejects(
    "a group of types with and without GPUs",
    "must not mix types with and without NVIDIA GPUs in one group",
    groups({ instanceTypes: ["g5.xlarge", "g4ad.xlarge"] }),
  ),
  malformed(
    "a group with an unknown operating system",
    "spec.nodeGroups.1.amiFamily",
    groups({ amiFamily: "Windows2022" }),
  ),
  ...["GPU", "1gpu", "gpu-", "a".repeat(21)].map((group) =>
    malformed(`a group called ${group}`, "spec.nodeGroups.1.name", groups({ name: group })),
  ),
  ...[
    ...["kubernetes.io/role", "node-role.kubernetes.io/worker", "k8s.io/a"],
    ...["eks.amazonaws.com/nodegroup", "fleet.internal/node-group"],
  ].flatMap((key) => [
    rejects(
      `a group with the label ${key}`,
      "labels of nodeGroups must not be in the domains kubernetes.io, k8s.io and eks.amazonaws.com",
      groups({ labels: { [key]: "a" } }),
    ),
    rejects(
      `a group with a taint ${key}`,
      "taints of nodeGroups must not be in the domains kubernetes.io",
      groups({ taints: [{ key, effect: "NoSchedule" }] }),
    ),
  ]),
  ...["-a", "a/b/c", "a b", "a".repeat(64)].map((key) =>
    rejects(
      `a group with the label ${key}`,
      "labels of nodeGroups must have keys of at most 63 characters",
      groups({ labels: { [key]: "a" } }),
    ),
  ),
  accepts(
    "a group with a label whose domain only ends like a reserved one",
    groups({ labels: { "mykubernetes.io/a": "b", "kubernetes.io.example.com/a": "b" } }),
  ),
  ...["b c", ""].map((value) =>
    malformed(
      `a group with a label whose value is "${value}"`,
      "spec.nodeGroups.1.labels.a",
      groups({ labels: { a: value } }),
    ),
  ),
  malformed(
    "a group with a taint in the words of EKS",
    "spec.nodeGroups.1.taints.0.effect",
    groups({ taints: [{ key: "a", effect: "NO_SCHEDULE" }] }),
  ),
  rejects(
    "a group with a taint without an effect",
    "spec.nodeGroups[1].taints[0].effect: Required",
    groups({ taints: [{ key: "a" }] }),
    "spec.nodeGroups.1.taints.0",
  ),
  ...["blue", "5.6.7.8", "2001:db8::/32", "5.6.7.8/24"].map((network) =>
    rejects(`a public endpoint for ${network}`, "endpoint.publicAccessCidrs must", {
      endpoint: { publicAccessCidrs: [network] },
    }),
  ),
  rejects("a public endpoint for everybody", "must not be 0.0.0.0/0", {
    endpoint: { publicAccessCidrs: ["0.0.0.0/0"] },
  }),
  ...refused.map((network) =>
    rejects(
      `a public endpoint for ${network}, which is reserved`,
      `must not name reserved addresses (private, documentation, …), which EKS refuses on a public endpoint; name your networks as the internet sees them; got ${network}`,
      { endpoint: { publicAccessCidrs: [network] } },
    ),
  ),
  accepts("networks that are left of a public endpoint which is off: EKS is not told of them", {
    endpoint: { public: false, publicAccessCidrs: ["203.0.113.0/24", "10.0.0.0/8", "8.0.0.0/7"] },
  }),
  accepts("a public endpoint beside reserved addresses", { endpoint: { publicAccessCidrs: besideReserved } }),
  accepts("a connected network", { endpoint: { privateAccessCidrs: ["10.20.0.0/16", "172.16.0.0/12"] } }),
  ...["blue", "10.20.0.1/16", "2001:db8::/32", "0.0.0.0/0", "8.0.0.0/7"].map((network) =>
    rejects(
      `a private endpoint for ${network}`,
      "endpoint.privateAccessCidrs must be IPv4 networks a.b.c.d/n, /8 or smaller",
      { endpoint: { privateAccessCidrs: [network] } },
    ),
  ),
  ...withinLimit.map(({ title, cidrs }) =>
    accepts(`a public endpoint for ${title}`, { endpoint: { publicAccessCidrs: cidrs } }),
  ),
  ...beyondLimit.map(({ title, cidrs }) =>
    rejects(`a public endpoint for ${title}`, "must not admit more than 16777216 public addresses together (a /8)", {
      endpoint: { publicAccessCidrs: cidrs },
    }),
  ),
  malformed("an administrator who is a session", "spec.admins.0", {
    admins: ["arn:aws:sts::111111111111:assumed-role/a/b"],
  }),
  ...[...platformNamespaces, "kube-system"].map((namespace) =>
    rejects(
      `a team with the namespace ${namespace}`,
      "teams can have no namespace of the platform",
      team({ namespaces: ["search", namespace] }),
    ),
  ),
  malformed(
    "a team with all namespaces that a pattern names",
    "spec.teams.0.namespaces.0",
    team({ namespaces: ["search-*"] }),
  ),
  malformed("a team without namespaces", "spec.teams.0.namespaces", team({ namespaces: [] })),
  malformed(
    "a team with the right to everything",
    "spec.teams.0.members.0.access",
    team({ members: [member("search", "cluster-admin")] }),
  ),
  malformed(
    "a team with a member who is a session",
    "spec.teams.0.members.0.role",
    team({ members: [{ role: "arn:aws:sts::111111111111:assumed-role/a/b", access: "view" }] }),
  ),
  rejects("the platform as a team", "teams must not name platform", team({ name: "platform" })),
  rejects("two teams in one namespace", "teams must not share a namespace", {
    teams: [
      { name: "payments", namespaces: ["shop"], members: [member("payments", "edit")] },
      { name: "search", namespaces: ["search", "shop"], members: [member("search", "view")] },
    ],
  }),
  rejects("a team's member who administers the cluster", "teams must not name a role that is in admins too", {
    ...team({}),
    admins: [member("search", "edit").role],
  }),
  accepts("tags of a company, one of which excludes the cluster from GuardDuty", {
    tags: { "cost-center": "4711", GuardDutyManaged: "false", "Cost Center": "a:b/c=d e" },
  }),
  rejects(
    "a tag with a key of the fleet in another case",
    "tags must not have keys of the fleet, of AWS or of a controller",
    { tags: { Environment: "prod" } },
  ),
  rejects(
    "a tag with a key that the EBS CSI driver would split",
    "tags must have keys that every AWS service and controller accepts",
    { tags: { "a=b": "c" } },
  ),
  malformed("a tag with a value that YAML would take for a map", "spec.tags.owner", {
    tags: { owner: "team: platform" },
  }),
  malformed("an add-on with a hyphen", "spec.addons.0", { addons: ["metrics-server"] }),
  rejects(
    "an unknown EKS add-on",
    "unknown field",
    { eksAddonVersions: { cilium: "v1.0.0-eksbuild.1" } },
    "spec.eksAddonVersions.cilium",
  ),
  rejects("a retention that CloudWatch lacks", "logRetentionDays", { logRetentionDays: 2 }, "spec.logRetentionDays"),
  malformed("a log that EKS does not write", "spec.logTypes.1", { logTypes: ["audit", "kubelet"] }),
  malformed("an account ID of 11 digits", "spec.account.id", {
    account: { id: "11111111111", providerConfigRef: { name: "a" } },
  }),

  update("one minor up", taken, { from: {}, to: onVersion("1.36"), status: onVersion("1.35") }),
  update("two minors up at once", "one minor at a time and never down: the control plane runs 1.35, got 1.37", {
    from: {},
    to: onVersion("1.37"),
    status: onVersion("1.35"),
  }),
  update("the second of two quick raises, while the first is under way", "the control plane runs 1.35, got 1.37", {
    from: onVersion("1.36"),
    to: onVersion("1.37"),
    status: onVersion("1.35"),
  }),
  update("down by one minor", "never down", {
    from: onVersion("1.36"),
    to: onVersion("1.35"),
    status: onVersion("1.36"),
  }),
  update("a raise taken back before it began", taken, {
    from: onVersion("1.36"),
    to: onVersion("1.35"),
    status: onVersion("1.35"),
  }),
  update("another change while EKS runs a newer version than asked for", taken, {
    from: {},
    to: { tenant: "payments" },
    status: onVersion("1.36"),
  }),
  update("a wrong version corrected before there is a cluster", taken, {
    from: onVersion("1.99"),
    to: onVersion("1.35"),
  }),
  update("another region", "region can't be changed", { from: {}, to: { region: "eu-west-1" } }),
  update("another environment", "environment can't be changed", { from: {}, to: { environment: "prod" } }),
  update("sealing keys of its own, later", taken, { from: {}, to: { sealing: "cluster" } }),
  update("from sealing keys of its own to its environment's", "sealing can't go back from cluster to environment", {
    from: { sealing: "cluster" },
    to: { sealing: "environment" },
  }),
  update("an account where there was none", "account can't be changed", {
    from: {},
    to: { account: { id: "111111111111", providerConfigRef: { name: "a" } } },
  }),
  update("another account", "account can't be changed", {
    from: { account: { id: "111111111111", providerConfigRef: { name: "a" } } },
    to: { account: { id: "222222222222", providerConfigRef: { name: "a" } } },
  }),
  update("another change of a Spoke with an account", taken, {
    from: { account: { id: "111111111111", providerConfigRef: { name: "a" } } },
    to: { account: { id: "111111111111", providerConfigRef: { name: "a" } }, tenant: "payments" },
  }),
  update("a wrong version corrected before it is known which one runs", taken, {
    from: onVersion("1.99"),
    to: onVersion("1.35"),
    status: {},
  }),
  update("another network", "network can't be changed", {
    from: { network: { cidr: "10.100.0.0/16" } },
    to: { network: { cidr: "10.101.0.0/16" } },
  }),
  update("a network where there was one of the pool", "network can't be changed", {
    from: {},
    to: { network: { cidr: "10.101.0.0/16" } },
  }),
  update("more zones", "network can't be changed", { from: {}, to: { network: { zones: 3 } } }),
  accepts("a flow log", { network: { flowLogs: "REJECT" } }),
  malformed("a flow log of other traffic than there is", "spec.network.flowLogs", { network: { flowLogs: "NONE" } }),
  update("a flow log later", taken, { from: {}, to: { network: { flowLogs: "ALL" } } }),
  update("no flow log any more", taken, { from: { network: { flowLogs: "ALL" } }, to: {} }),
  update(
    "a flow log with another network",
    "network can't be changed while the cluster lives in it, but for flowLogs, endpoints and transitGateway",
    { from: { network: { cidr: "10.100.0.0/16" } }, to: { network: { flowLogs: "ALL" } } },
  ),
  rejects("a flow log of a VPC that is there", "the owner of network.existing decides on flow logs of it", {
    network: { existing: shared, flowLogs: "ALL" },
  }),
  accepts("a block for pods", { network: { podCidr: "100.64.0.0/16" } }),
  accepts("a block for pods beside a network of the Spoke's own", {
    network: { cidr: "100.65.0.0/20", podCidr: "100.65.16.0/20" },
  }),
  ...["10.1.0.0/16", "100.64.0.0/15", "100.64.0.0/21", "100.64.1.0/16", "198.19.0.0/16", "fd00::/16", "pods"].map(
    (podCidr) =>
      rejects(
        `a block for pods that is ${podCidr}`,
        "network.podCidr must be an IPv4 network from /16 to /20 inside 100.64.0.0/10",
        { network: { podCidr } },
      ),
  ),
  rejects(
    "a block for pods in the network of the Spoke",
    "network.podCidr 100.64.16.0/20 and network.cidr 100.64.0.0/16 overlap",
    { network: { cidr: "100.64.0.0/16", podCidr: "100.64.16.0/20" } },
  ),
  rejects("a block for pods around the network of the Spoke", "overlap: choose blocks that share no address", {
    network: { cidr: "100.64.16.0/20", podCidr: "100.64.0.0/16" },
  }),
  rejects("a block for pods in a VPC that is there", "network.podCidr is for a VPC of the Spoke's own", {
    network: { existing: shared, podCidr: "100.64.0.0/16" },
  }),
  update("a block for pods later", "network can't be changed", {
    from: {},
    to: { network: { podCidr: "100.64.0.0/16" } },
  }),
  ...["10.0.0.0/12", "172.20.0.0/16", "192.168.5.0/24"].map((serviceIpv4Cidr) =>
    accepts(`a block for Services that is ${serviceIpv4Cidr}`, {
      network: { cidr: "10.64.0.0/18", podCidr: "100.64.0.0/16", serviceIpv4Cidr },
    }),
  ),
  ...["10.0.0.0/11", "10.0.0.0/25", "172.20.0.1/16", "172.32.0.0/16", "100.64.0.0/16", "fd00::/16", "services"].map(
    (serviceIpv4Cidr) =>
      rejects(
        `a block for Services that is ${serviceIpv4Cidr}`,
        "network.serviceIpv4Cidr must be an IPv4 network from /12 to /24 inside",
        { network: { serviceIpv4Cidr } },
      ),
  ),
  rejects(
    "a block for Services in the network of the Spoke",
    "network.serviceIpv4Cidr 10.64.32.0/20 and network.cidr 10.64.0.0/18 overlap",
    { network: { cidr: "10.64.0.0/18", serviceIpv4Cidr: "10.64.32.0/20" } },
  ),
  rejects("a block for Services around the network of the Spoke", "overlap: choose blocks that share no address", {
    network: { cidr: "10.64.0.0/18", serviceIpv4Cidr: "10.64.0.0/12" },
  }),
  accepts("a block for Services in a VPC that is there", {
    network: { existing: shared, serviceIpv4Cidr: "172.20.0.0/16" },
  }),
  update("a block for Services later", "network can't be changed", {
    from: {},
    to: { network: { serviceIpv4Cidr: "172.20.0.0/16" } },
  }),
  update("another block for Services", "network can't be changed", {
    from: { network: { serviceIpv4Cidr: "172.20.0.0/16" } },
    to: { network: { serviceIpv4Cidr: "172.21.0.0/16" } },
  }),
  rejects(
    "a block for Services of a cluster that Cluster API makes",
    "existing.madeBy can't go with network.endpoints, podCidr, serviceIpv4Cidr",
    { existing: { madeBy: "ClusterAPI" }, network: { cidr: "10.100.0.0/16", serviceIpv4Cidr: "172.20.0.0/16" } },
  ),
  accepts("a key for volumes", { volumeKey: key("us-east-1") }),
  update("another key for volumes", taken, {
    from: { volumeKey: key("us-east-1", "2") },
    to: { volumeKey: key("us-east-1") },
  }),
  rejects("a key for volumes of another region", "volumeKey must be a key of region us-east-1", {
    volumeKey: key("eu-west-1"),
  }),
  malformed("an alias in the place of a key for volumes", "spec.volumeKey", {
    volumeKey: "arn:aws:kms:us-east-1:111122223333:alias/ebs",
  }),
  rejects("a key for volumes of nodes that Cluster API makes", "volumeKey can't go with existing.madeBy", {
    ...elsewhere,
    volumeKey: key("us-east-1"),
  }),
  accepts("a key for logs", { logKey: key("us-east-1") }),
  update("a key for logs later", taken, { from: {}, to: { logKey: key("us-east-1") } }),
  rejects("a key for logs of another region", "logKey must be a key of region us-east-1", { logKey: key("eu-west-1") }),
  malformed("an alias as a key for logs", "spec.logKey", { logKey: "arn:aws:kms:us-east-1:111122223333:alias/logs" }),
  rejects("a key for logs of a cluster that Cluster API makes", "logKey can't go with existing.madeBy", {
    ...elsewhere,
    logKey: key("us-east-1"),
  }),
  accepts("shells on nodes", { sessionManager: true }),
  update("shells on nodes later", taken, { from: {}, to: { sessionManager: true } }),
  rejects("shells on nodes of EKS Auto Mode", "sessionManager can't go with compute auto", {
    compute: "auto",
    sessionManager: true,
  }),
  rejects("shells on nodes that Cluster API makes", "sessionManager can't go with existing.madeBy", {
    existing: { madeBy: "ClusterAPI" },
    network: { cidr: "10.100.0.0/16" },
    sessionManager: true,
  }),
  ...[[], ["ssm"], ["ssmmessages"]].map((some) =>
    rejects(
      `shells on nodes without internet access, with the endpoints ${some.join()}`,
      "sessionManager with network.natGateways isolated needs ssm and ssmmessages",
      { sessionManager: true, network: { natGateways: "isolated", endpoints: [...isolatedServices, ...some] } },
    ),
  ),
  accepts("shells on nodes without internet access, with endpoints of Systems Manager", {
    sessionManager: true,
    network: { natGateways: "isolated", endpoints: [...isolatedServices, "ssm", "ssmmessages"] },
  }),
  accepts("endpoints", { network: { endpoints: ["ecr.api", "dynamodb"] } }),
  update("endpoints later", taken, { from: {}, to: { network: { endpoints: ["sts"] } } }),
  update("other endpoints", taken, {
    from: { network: { endpoints: ["sts"] } },
    to: { network: { endpoints: ["ec2"] } },
  }),
  update("no endpoints any more", taken, { from: { network: { endpoints: ["sts"] } }, to: {} }),
  rejects(
    "an endpoint for S3, which is there anyway",
    "spec.network.endpoints",
    { network: { endpoints: ["s3"] } },
    "spec.network.endpoints.0",
  ),
  rejects("endpoints in a VPC that is there", "the owner of network.existing makes the endpoints in it", {
    network: { existing: shared, endpoints: ["sts"] },
  }),
  accepts("no internet access, with what a cluster needs then", {
    network: { natGateways: "isolated", endpoints: [...isolatedServices, "logs"] },
  }),
  ...isolatedServices.map((missing) =>
    rejects(
      `no internet access and no endpoint for ${missing}`,
      "network.natGateways isolated needs ec2, ecr.api, ecr.dkr, secretsmanager and sts in network.endpoints",
      {
        network: { natGateways: "isolated", endpoints: isolatedServices.filter((service) => service !== missing) },
      },
    ),
  ),
  rejects("no internet access and no endpoints", "network.natGateways isolated needs", {
    network: { natGateways: "isolated" },
  }),
  update("no internet access any more", "network can't be changed", {
    from: { network: { endpoints: [...isolatedServices] } },
    to: { network: { natGateways: "isolated", endpoints: [...isolatedServices] } },
  }),
  rejects("endpoints of a cluster that Cluster API makes", "existing.madeBy can't go with network.endpoints", {
    existing: { madeBy: "ClusterAPI" },
    network: { cidr: "10.100.0.0/16", endpoints: ["sts"] },
  }),
  accepts("a transit gateway", transit(["10.0.0.0/8", "192.168.7.0/24"])),
  accepts("a transit gateway next to a network that is part of a destination", transit(["10.0.0.0/8"], placed)),
  accepts(
    "a transit gateway as the way out of a VPC without NAT gateways",
    transit(["0.0.0.0/0"], { natGateways: "isolated" }),
  ),
  rejects(
    "a transit gateway of a VPC without NAT gateways that isn't its way out",
    "network.natGateways isolated needs ec2, ecr.api, ecr.dkr, secretsmanager and sts in network.endpoints",
    transit(["10.0.0.0/8"], { natGateways: "isolated" }),
  ),
  accepts("shells on nodes whose way out is a transit gateway", {
    sessionManager: true,
    ...transit(["0.0.0.0/0"], { natGateways: "isolated" }),
  }),
  update("a transit gateway later", taken, { from: {}, to: transit(["10.0.0.0/8"]) }),
  update("other destinations", taken, { from: transit(["10.0.0.0/8"]), to: transit(["172.16.0.0/12"]) }),
  update("no transit gateway any more", taken, { from: transit(["10.0.0.0/8"]), to: {} }),
  update("another transit gateway", "network.transitGateway.id can't be changed", {
    from: transit(["10.0.0.0/8"]),
    to: transit(["10.0.0.0/8"], {}, "tgw-1a1b2c3d4e5f60718"),
  }),
  malformed(
    "an attachment as a transit gateway",
    "spec.network.transitGateway.id",
    transit(["10.0.0.0/8"], {}, "tgw-attach-0a1b2c3d4e5f60718"),
  ),
  malformed("a transit gateway without destinations", "spec.network.transitGateway.destinationCidrs", transit([])),
  ...["10.0.0.1/8", "fd00::/16", "10.0.0.0", "office"].map((cidr) =>
    rejects(
      `a destination that is ${cidr}`,
      "network.transitGateway.destinationCidrs must be IPv4 networks",
      transit([cidr]),
    ),
  ),
  ...["10.100.0.0/16", "10.100.7.0/24"].map((cidr) =>
    rejects(
      `a destination ${cidr} in the network of the Spoke`,
      "network.transitGateway.destinationCidrs must not be part of network.cidr 10.100.0.0/16",
      transit(["192.168.0.0/16", cidr], placed),
    ),
  ),
  rejects(
    "a destination in the block of the pods",
    "network.transitGateway.destinationCidrs must not be part of network.podCidr 100.64.0.0/16",
    transit(["100.64.7.0/24"], { podCidr: "100.64.0.0/16" }),
  ),
  rejects(
    "a destination in the block of Services",
    "network.transitGateway.destinationCidrs must not be part of network.serviceIpv4Cidr 172.20.0.0/16",
    transit(["172.20.7.0/24"], { serviceIpv4Cidr: "172.20.0.0/16" }),
  ),
  ...["single", "per-zone"].map((natGateways) =>
    rejects(
      `a transit gateway as the default route next to natGateways ${natGateways}`,
      "network.transitGateway.destinationCidrs can have 0.0.0.0/0 with natGateways isolated only",
      transit(["0.0.0.0/0"], { natGateways }),
    ),
  ),
  rejects(
    "a transit gateway of nodes with public addresses",
    "network.transitGateway can't go with natGateways none",
    transit(["10.0.0.0/8"], { natGateways: "none" }),
  ),
  rejects(
    "a transit gateway of a VPC that is there",
    "network.transitGateway is for a VPC of the Spoke's own",
    transit(["10.0.0.0/8"], { existing: shared }),
  ),
  rejects(
    "a transit gateway of a cluster that Cluster API makes",
    "existing.madeBy can't go with network.endpoints, podCidr, serviceIpv4Cidr, transitGateway",
    { existing: { madeBy: "ClusterAPI" }, ...transit(["192.168.0.0/16"], { cidr: "10.100.0.0/16" }) },
  ),
  accepts("a VPC that is there", { network: { existing: shared } }),
  accepts("a VPC that is there, with what fleet adopt found of the rest", {
    network: { existing: shared },
    existing: { "launch-template": "lt-0a1b2c3d4e5f60718" },
  }),
  ...[
    { cidr: "10.100.0.0/16" },
    { zones: 3 },
    { natGateways: "none" },
    { availabilityZones: ["us-east-1a", "us-east-1b"] },
  ].map(
    (other): RuleCase =>
      rejects(
        `a VPC that is there, with ${Object.keys(other)[0]} of another`,
        "leave cidr, zones, availabilityZones and natGateways out",
        { network: { existing: shared, ...other } },
      ),
  ),
  malformed("a VPC that is there, with one subnet", "spec.network.existing.privateSubnetIds", {
    network: { existing: { ...shared, privateSubnetIds: ["subnet-0a1b2c3d4e5f60718"] } },
  }),
  rejects(
    "a VPC that is there, with a subnet that is private and public",
    "a subnet in one of privateSubnetIds and publicSubnetIds only",
    { network: { existing: { ...shared, publicSubnetIds: shared.privateSubnetIds } } },
  ),
  rejects("a VPC that is there, for a cluster of Cluster API", "existing.madeBy needs network.cidr", {
    network: { existing: shared },
    existing: { madeBy: "ClusterAPI" },
  }),
  update("a VPC that is there, for a Spoke that has one of its own", "network can't be changed", {
    from: {},
    to: { network: { existing: shared } },
  }),
  update("another subnet of a VPC that is there", "network can't be changed", {
    from: { network: { existing: shared } },
    to: { network: { existing: { ...shared, publicSubnetIds: ["subnet-3a1b2c3d4e5f60718"] } } },
  }),
  update("other nodes", taken, { from: {}, to: { nodes: { instanceTypes: ["m7i.large"], max: 6 } } }),
  update("protection turned on", taken, { from: {}, to: { deletionProtection: true } }),
  update("a Spoke that is to be let go", taken, { from: {}, to: { deletionPolicy: "Orphan" } }),
  malformed("another deletion policy", "spec.deletionPolicy", { deletionPolicy: "Retain" }),
  accepts("what exists, with its network and zones", {
    network: placed,
    existing: { vpc, "api-from": { "10.0.0.0/16": "sgr-0a1b2c3d4e5f60718" }, "nat-0": "nat-12345678" },
  }),
  accepts("a cluster that Cluster API makes", { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } }),
  rejects("a cluster that Cluster API makes, in a network that nobody names", "existing.madeBy needs network.cidr", {
    existing: { madeBy: "ClusterAPI" },
  }),
  rejects("a cluster that Cluster API makes, in another account", "existing.madeBy can't go with account", {
    network: { cidr: placed.cidr },
    existing: { madeBy: "ClusterAPI" },
    account: { id: "111111111111", providerConfigRef: { name: "payments" } },
  }),
  rejects(
    "a cluster that Cluster API makes, to be let go from the beginning",
    "existing.madeBy can't go with deletionPolicy Orphan: Cluster API would remove the cluster after the Spoke",
    { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" }, deletionPolicy: "Orphan" },
  ),
  update(
    "a cluster that Cluster API makes, to be let go later",
    "existing.madeBy can't go with deletionPolicy Orphan",
    {
      from: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } },
      to: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" }, deletionPolicy: "Orphan" },
    },
  ),
  malformed("a cluster of a maker that the hub does not know", "spec.existing.madeBy", {
    network: { cidr: placed.cidr },
    existing: { madeBy: "eksctl" },
  }),
  update("a cluster that passes from Cluster API to Crossplane", "existing can't be changed", {
    from: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } },
    to: { network: { cidr: placed.cidr }, existing: null },
  }),
  rejects("what exists, without its network", "existing needs network.cidr and network.availabilityZones", {
    existing: { vpc },
  }),
  rejects("what exists, without its zones", "existing needs network.cidr and network.availabilityZones", {
    network: { cidr: placed.cidr },
    existing: { vpc },
  }),
  malformed("an ID of another kind", "spec.existing.vpc", {
    network: placed,
    existing: { vpc: "subnet-0a1b2c3d4e5f60718" },
  }),
  rejects(
    "something that a spoke is not made of",
    "unknown field",
    { network: placed, existing: { "vpn-gateway": "vgw-0a1b2c3d4e5f60718" } },
    "spec.existing.vpn-gateway",
  ),
  update(
    "what exists, of a spoke that the hub has made",
    "wait until the hub has none of that name, then push its folder together with what fleet adopt writes",
    { from: { network: placed }, to: { network: placed, existing: { vpc } } },
  ),
  update("what exists taken out", "existing can't be changed", {
    from: { network: placed, existing: { vpc } },
    to: { network: placed, existing: null },
  }),
  update("another change of a Spoke over what exists", taken, {
    from: { network: placed, existing: { vpc } },
    to: { network: placed, existing: { vpc }, tenant: "payments" },
  }),
];

/** The valid Spoke with `patch` merged in. */
export function spokeWith(patch: Patch): Record<string, unknown> {
  return merged(validSpoke, patch as Record<string, unknown>) as Record<string, unknown>;
}

function merged(base: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(base as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

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

const member = (role: string, access: string) => ({ role: `arn:aws:iam::111111111111:role/${role}`, access });
const team = (change: object) => ({
  spec: { teams: [{ name: "search", namespaces: ["search"], members: [member("search", "edit")], ...change }] },
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
const groups = (change: object) => ({ spec: { nodeGroups: [{ name: "nodes" }, { name: "gpu", ...change }] } });
/**
 * Without these a cluster that has no internet access does not come up: nodes and the VPC CNI call EC2, images come from ECR, controllers
 * assume their roles at STS, External Secrets reads at Secrets Manager.
 */
export const isolatedServices = ["ec2", "ecr.api", "ecr.dkr", "secretsmanager", "sts"] as const;

/** A transit gateway, with other fields of the network. */
const transit = (destinationCidrs: readonly string[], network: object = {}, id = "tgw-0a1b2c3d4e5f60718") => ({
  spec: { network: { transitGateway: { id, destinationCidrs }, ...network } },
});

const preferred = { key: "a", effect: "PreferNoSchedule" };
const key = (region: string, id = "1") =>
  `arn:aws:kms:${region}:111122223333:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;
const elsewhere = { network: { cidr: "10.100.0.0/16" }, existing: { madeBy: "ClusterAPI" } };

export const ruleCases: readonly RuleCase[] = [
  { name: "the least that a Spoke can be", change: {} },
  {
    name: "everything that a Spoke can be",
    change: {
      spec: {
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
      },
    },
  },
  {
    name: "a field that does not exist",
    change: { spec: { nodePools: 3 } },
    refused: "unknown field",
    at: "spec.nodePools",
  },
  {
    name: "no version",
    change: { spec: { kubernetesVersion: null } },
    refused: "spec.kubernetesVersion: Required",
    at: "spec",
  },
  { name: "a name of 40 characters", change: { metadata: { name: "a".repeat(40) } } },
  { name: "a name of 41 characters", change: { metadata: { name: "a".repeat(41) } }, refused: "at most 40 lower-case" },
  {
    name: "a name that begins with a digit",
    change: { metadata: { name: "1blue" } },
    refused: "beginning with a letter",
  },
  { name: "the hub's name", change: { metadata: { name: "hub" } }, refused: "not hub" },
  {
    name: "a name that reads like a cluster secret's",
    change: { metadata: { name: "cluster-blue" } },
    refused: "not beginning with cluster-",
  },
  {
    name: "a ring, with the ring's Composition",
    change: { spec: { ring: "early", crossplane: { compositionRef: { name: "spoke-early" } } } },
  },
  {
    name: "a ring, with another Composition",
    change: { spec: { ring: "early", crossplane: { compositionRef: { name: "spoke" } } } },
    refused: "set crossplane.compositionRef.name to spoke-early",
  },
  {
    name: "a ring without its Composition",
    change: { spec: { ring: "early" } },
    refused: "a Spoke in ring early takes the Composition of its ring",
  },
  {
    name: "the Composition of a ring without the ring",
    change: { spec: { crossplane: { compositionRef: { name: "spoke-early" } } } },
    refused: "is the Composition of a ring",
  },
  {
    name: "another Composition of the fleet's own",
    change: { spec: { crossplane: { compositionRef: { name: "sandboxes" } } } },
  },
  {
    name: "a ring whose name can't be that of a branch and of objects",
    change: { spec: { ring: "Early ring", crossplane: { compositionRef: { name: "spoke-Early ring" } } } },
    refused: "spec.ring",
    at: "spec.ring",
  },
  {
    name: "an environment that reads like a cluster's own sealing scope",
    change: { spec: { environment: "cluster-blue" } },
    refused: "environment must not begin with cluster-",
  },
  {
    name: "sealing keys of a tenant",
    change: { spec: { sealing: "tenant" } },
    refused: "spec.sealing",
    at: "spec.sealing",
  },
  {
    name: "a name with a dot",
    change: { metadata: { name: "blue.green" } },
    refused: "lower-case letters, digits and",
  },
  {
    name: "a patch version",
    change: { spec: onVersion("1.35.2") },
    refused: "spec.kubernetesVersion",
    at: "spec.kubernetesVersion",
  },
  { name: "a network of the largest size", change: { spec: { network: { cidr: "10.100.0.0/16" } } } },
  { name: "a network of the smallest size", change: { spec: { network: { cidr: "192.168.7.0/24" } } } },
  ...["172.16.0.0/16", "100.64.0.0/16"].map((cidr) => ({
    name: `a network of ${cidr}, which is private too`,
    change: { spec: { network: { cidr } } },
  })),
  { name: "a network too large", change: { spec: { network: { cidr: "10.0.0.0/15" } } }, refused: "from /16 to /24" },
  { name: "a network too small", change: { spec: { network: { cidr: "10.0.0.0/25" } } }, refused: "from /16 to /24" },
  {
    name: "a network with bits behind the prefix",
    change: { spec: { network: { cidr: "10.100.1.0/16" } } },
    refused: "no bits set after the prefix",
  },
  { name: "no network at all", change: { spec: { network: { cidr: "blue" } } }, refused: "must be an IPv4 network" },
  { name: "an IPv6 network", change: { spec: { network: { cidr: "fd00::/16" } } }, refused: "must be an IPv4 network" },
  { name: "a public network", change: { spec: { network: { cidr: "8.8.0.0/16" } } }, refused: "must be private" },
  {
    name: "one zone",
    change: { spec: { network: { zones: 1 } } },
    refused: "spec.network.zones",
    at: "spec.network.zones",
  },
  {
    name: "fewer zone names than zones",
    change: { spec: { network: { zones: 3, availabilityZones: ["us-east-1a", "us-east-1b"] } } },
    refused: "as many zones as network.zones says",
  },
  {
    name: "a zone of another region",
    change: { spec: { network: { availabilityZones: ["us-east-1a", "us-west-2a"] } } },
    refused: "all of region us-east-1",
  },
  {
    name: "a local zone, in which EKS has no control plane",
    change: { spec: { network: { availabilityZones: ["us-east-1a", "us-east-1-bos-1a"] } } },
    refused: "spec.network.availabilityZones[1]",
    at: "spec.network.availabilityZones.1",
  },
  {
    name: "an unknown way out",
    change: { spec: { network: { natGateways: "two" } } },
    refused: "natGateways",
    at: "spec.network.natGateways",
  },
  {
    name: "more nodes than the greatest number",
    change: { spec: { nodes: { desired: 5 } } },
    refused: "min <= desired <= max",
  },
  { name: "as many nodes as the greatest number", change: { spec: { nodes: { desired: 4 } } } },
  {
    name: "fewer nodes than the smallest number",
    change: { spec: { nodes: { min: 3 } } },
    refused: "min <= desired <= max",
  },
  {
    name: "everything that a group of nodes can be, beside one that is nothing but a name",
    change: groups({
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
  },
  {
    name: "no groups of nodes",
    change: { spec: { nodeGroups: [] } },
    refused: "spec.nodeGroups",
    at: "spec.nodeGroups",
  },
  {
    name: "nodes beside groups of nodes",
    change: { spec: { nodeGroups: [{ name: "nodes" }], nodes: { max: 6 } } },
    refused: "nodes can't stand beside nodeGroups",
  },
  {
    name: "groups of nodes of a cluster that Cluster API makes",
    change: { spec: { ...elsewhere, nodeGroups: [{ name: "nodes" }] } },
    refused: "nodeGroups can't go with existing.madeBy",
  },
  {
    name: "EKS Auto Mode",
    change: { spec: { compute: "auto", network: { natGateways: "none" }, addons: ["metrics_server"] } },
  },
  {
    name: "another kind of compute",
    change: { spec: { compute: "fargate" } },
    refused: "spec.compute",
    at: "spec.compute",
  },
  {
    name: "EKS Auto Mode for a cluster with node groups",
    before: { spec: {} },
    change: { spec: { compute: "auto" } },
    refused: "compute can't be changed",
  },
  {
    name: "node groups for a cluster with EKS Auto Mode",
    before: { spec: { compute: "auto" } },
    change: { spec: { compute: "node-groups" } },
    refused: "compute can't be changed",
  },
  {
    name: "groups of nodes beside EKS Auto Mode",
    change: { spec: { compute: "auto", nodeGroups: [{ name: "nodes" }] } },
    refused: "compute auto can't go with nodes or nodeGroups",
  },
  {
    name: "nodes beside EKS Auto Mode",
    change: { spec: { compute: "auto", nodes: { max: 6 } } },
    refused: "compute auto can't go with nodes or nodeGroups",
  },
  {
    name: "versions of EKS add-ons beside EKS Auto Mode",
    change: { spec: { compute: "auto", eksAddonVersions: { coredns: "v1.12.4-eksbuild.1" } } },
    refused: "compute auto can't go with eksAddonVersions",
  },
  {
    name: "a load balancer controller beside EKS Auto Mode",
    change: { spec: { compute: "auto", addons: ["aws_load_balancer_controller"] } },
    refused: "compute auto can't go with the add-ons",
  },
  {
    name: "EKS Auto Mode without internet access",
    change: {
      spec: { compute: "auto", network: { natGateways: "isolated", endpoints: ["ec2", "ecr.api", "ecr.dkr", "sts"] } },
    },
    refused: "compute auto can't go with network.podCidr or natGateways isolated",
  },
  {
    name: "EKS Auto Mode of a cluster that Cluster API makes",
    change: { spec: { ...elsewhere, compute: "auto" } },
    refused: "compute auto can't go with existing.madeBy",
  },
  {
    name: "groups of nodes in place of the nodes that a Spoke had",
    before: { spec: { nodes: { min: 3, desired: 3, max: 9 } } },
    change: { spec: { nodes: null, nodeGroups: [{ name: "nodes", min: 3, desired: 3, max: 9 }] } },
  },
  {
    name: "groups of nodes with taints alone",
    change: {
      spec: {
        nodeGroups: [
          { name: "a", taints: [{ key: "a", effect: "NoExecute" }] },
          { name: "b", taints: [preferred, { key: "b", effect: "NoSchedule" }] },
        ],
      },
    },
    refused: "nodeGroups needs a group without taints",
  },
  {
    name: "groups of nodes of which one only prefers other pods",
    change: { spec: { nodeGroups: [{ name: "a", taints: [preferred] }] } },
  },
  {
    name: "a group with more nodes than its greatest number",
    change: groups({ desired: 5 }),
    refused: "min <= desired <= max in each group (defaults: 2, 2 and 4); the group gpu has not",
  },
  {
    name: "a group without nodes",
    change: groups({ min: 0 }),
    refused: "spec.nodeGroups[1].min",
    at: "spec.nodeGroups.1.min",
  },
  {
    name: "a group of Graviton and Intel types",
    change: groups({ instanceTypes: ["m7g.large", "m7i.large"] }),
    refused:
      "must not mix Arm (Graviton, Grace) and x86_64 in one group, whose nodes share an AMI: make a group of each; got m7g.large, m7i.large in gpu",
  },
  {
    name: "a group of types with and without GPUs",
    change: groups({ instanceTypes: ["g5.xlarge", "g4ad.xlarge"] }),
    refused: "must not mix types with and without NVIDIA GPUs in one group",
  },
  {
    name: "a group with an unknown operating system",
    change: groups({ amiFamily: "Windows2022" }),
    refused: "spec.nodeGroups[1].amiFamily",
    at: "spec.nodeGroups.1.amiFamily",
  },
  ...["GPU", "1gpu", "gpu-", "a".repeat(21)].map((group) => ({
    name: `a group called ${group}`,
    change: groups({ name: group }),
    refused: "spec.nodeGroups[1].name",
    at: "spec.nodeGroups.1.name",
  })),
  ...[
    "kubernetes.io/role",
    "node-role.kubernetes.io/worker",
    "k8s.io/a",
    "eks.amazonaws.com/nodegroup",
    "fleet.internal/node-group",
  ].flatMap((key) => [
    {
      name: `a group with the label ${key}`,
      change: groups({ labels: { [key]: "a" } }),
      refused: "labels of nodeGroups must not be in the domains kubernetes.io, k8s.io and eks.amazonaws.com",
    },
    {
      name: `a group with a taint ${key}`,
      change: groups({ taints: [{ key, effect: "NoSchedule" }] }),
      refused: "taints of nodeGroups must not be in the domains kubernetes.io",
    },
  ]),
  ...["-a", "a/b/c", "a b", "a".repeat(64)].map((key) => ({
    name: `a group with the label ${key}`,
    change: groups({ labels: { [key]: "a" } }),
    refused: "labels of nodeGroups must have keys of at most 63 characters",
  })),
  {
    name: "a group with a label whose domain only ends like a reserved one",
    change: groups({ labels: { "mykubernetes.io/a": "b", "kubernetes.io.example.com/a": "b" } }),
  },
  ...["b c", ""].map((value) => ({
    name: `a group with a label whose value is "${value}"`,
    change: groups({ labels: { a: value } }),
    refused: "spec.nodeGroups[1].labels.a",
    at: "spec.nodeGroups.1.labels.a",
  })),
  {
    name: "a group with a taint in the words of EKS",
    change: groups({ taints: [{ key: "a", effect: "NO_SCHEDULE" }] }),
    refused: "spec.nodeGroups[1].taints[0].effect",
    at: "spec.nodeGroups.1.taints.0.effect",
  },
  {
    name: "a group with a taint without an effect",
    change: groups({ taints: [{ key: "a" }] }),
    refused: "spec.nodeGroups[1].taints[0].effect: Required",
    at: "spec.nodeGroups.1.taints.0",
  },
  ...["blue", "5.6.7.8", "2001:db8::/32", "5.6.7.8/24"].map((network) => ({
    name: `a public endpoint for ${network}`,
    change: { spec: { endpoint: { publicAccessCidrs: [network] } } },
    refused: "endpoint.publicAccessCidrs must",
  })),
  {
    name: "a public endpoint for everybody",
    change: { spec: { endpoint: { publicAccessCidrs: ["0.0.0.0/0"] } } },
    refused: "must not be 0.0.0.0/0",
  },
  ...refused.map((network) => ({
    name: `a public endpoint for ${network}, which is reserved`,
    change: { spec: { endpoint: { publicAccessCidrs: [network] } } },
    refused: `must not name reserved addresses (private, documentation, …), which EKS refuses on a public endpoint; name your networks as the internet sees them; got ${network}`,
  })),
  {
    name: "networks that are left of a public endpoint which is off: EKS is not told of them",
    change: { spec: { endpoint: { public: false, publicAccessCidrs: ["203.0.113.0/24", "10.0.0.0/8", "8.0.0.0/7"] } } },
  },
  {
    name: "a public endpoint beside reserved addresses",
    change: { spec: { endpoint: { publicAccessCidrs: besideReserved } } },
  },
  {
    name: "a connected network",
    change: { spec: { endpoint: { privateAccessCidrs: ["10.20.0.0/16", "172.16.0.0/12"] } } },
  },
  ...["blue", "10.20.0.1/16", "2001:db8::/32", "0.0.0.0/0", "8.0.0.0/7"].map((network) => ({
    name: `a private endpoint for ${network}`,
    change: { spec: { endpoint: { privateAccessCidrs: [network] } } },
    refused: "endpoint.privateAccessCidrs must be IPv4 networks a.b.c.d/n, /8 or smaller",
  })),
  ...withinLimit.map(({ title, cidrs }) => ({
    name: `a public endpoint for ${title}`,
    change: { spec: { endpoint: { publicAccessCidrs: cidrs } } },
  })),
  ...beyondLimit.map(({ title, cidrs }) => ({
    name: `a public endpoint for ${title}`,
    change: { spec: { endpoint: { publicAccessCidrs: cidrs } } },
    refused: "must not admit more than 16777216 public addresses together (a /8)",
  })),
  {
    name: "an administrator who is a session",
    change: { spec: { admins: ["arn:aws:sts::111111111111:assumed-role/a/b"] } },
    refused: "spec.admins[0]",
    at: "spec.admins.0",
  },
  ...[...platformNamespaces, "kube-system"].map((namespace) => ({
    name: `a team with the namespace ${namespace}`,
    change: team({ namespaces: ["search", namespace] }),
    refused: "teams can have no namespace of the platform",
  })),
  {
    name: "a team with all namespaces that a pattern names",
    change: team({ namespaces: ["search-*"] }),
    refused: "spec.teams[0].namespaces[0]",
    at: "spec.teams.0.namespaces.0",
  },
  {
    name: "a team without namespaces",
    change: team({ namespaces: [] }),
    refused: "spec.teams[0].namespaces",
    at: "spec.teams.0.namespaces",
  },
  {
    name: "a team with the right to everything",
    change: team({ members: [member("search", "cluster-admin")] }),
    refused: "spec.teams[0].members[0].access",
    at: "spec.teams.0.members.0.access",
  },
  {
    name: "a team with a member who is a session",
    change: team({ members: [{ role: "arn:aws:sts::111111111111:assumed-role/a/b", access: "view" }] }),
    refused: "spec.teams[0].members[0].role",
    at: "spec.teams.0.members.0.role",
  },
  { name: "the platform as a team", change: team({ name: "platform" }), refused: "teams must not name platform" },
  {
    name: "two teams in one namespace",
    change: {
      spec: {
        teams: [
          { name: "payments", namespaces: ["shop"], members: [member("payments", "edit")] },
          { name: "search", namespaces: ["search", "shop"], members: [member("search", "view")] },
        ],
      },
    },
    refused: "teams must not share a namespace",
  },
  {
    name: "a team's member who administers the cluster",
    change: { spec: { ...team({}).spec, admins: [member("search", "edit").role] } },
    refused: "teams must not name a role that is in admins too",
  },
  {
    name: "tags of a company, one of which excludes the cluster from GuardDuty",
    change: { spec: { tags: { "cost-center": "4711", GuardDutyManaged: "false", "Cost Center": "a:b/c=d e" } } },
  },
  {
    name: "a tag with a key of the fleet in another case",
    change: { spec: { tags: { Environment: "prod" } } },
    refused: "tags must not have keys of the fleet, of AWS or of a controller",
  },
  {
    name: "a tag with a key that the EBS CSI driver would split",
    change: { spec: { tags: { "a=b": "c" } } },
    refused: "tags must have keys that every AWS service and controller accepts",
  },
  {
    name: "a tag with a value that YAML would take for a map",
    change: { spec: { tags: { owner: "team: platform" } } },
    refused: "spec.tags.owner",
    at: "spec.tags.owner",
  },
  {
    name: "an add-on with a hyphen",
    change: { spec: { addons: ["metrics-server"] } },
    refused: "spec.addons[0]",
    at: "spec.addons.0",
  },
  {
    name: "an unknown EKS add-on",
    change: { spec: { eksAddonVersions: { cilium: "v1.0.0-eksbuild.1" } } },
    refused: "unknown field",
    at: "spec.eksAddonVersions.cilium",
  },
  {
    name: "a retention that CloudWatch lacks",
    change: { spec: { logRetentionDays: 2 } },
    refused: "logRetentionDays",
    at: "spec.logRetentionDays",
  },
  {
    name: "a log that EKS does not write",
    change: { spec: { logTypes: ["audit", "kubelet"] } },
    refused: "spec.logTypes[1]",
    at: "spec.logTypes.1",
  },
  {
    name: "an account ID of 11 digits",
    change: { spec: { account: { id: "11111111111", providerConfigRef: { name: "a" } } } },
    refused: "spec.account.id",
    at: "spec.account.id",
  },

  { name: "one minor up", before: {}, status: onVersion("1.35"), change: { spec: onVersion("1.36") } },
  {
    name: "two minors up at once",
    before: {},
    status: onVersion("1.35"),
    change: { spec: onVersion("1.37") },
    refused: "one minor at a time and never down: the control plane runs 1.35, got 1.37",
  },
  {
    name: "the second of two quick raises, while the first is under way",
    before: { spec: onVersion("1.36") },
    status: onVersion("1.35"),
    change: { spec: onVersion("1.37") },
    refused: "the control plane runs 1.35, got 1.37",
  },
  {
    name: "down by one minor",
    before: { spec: onVersion("1.36") },
    status: onVersion("1.36"),
    change: { spec: onVersion("1.35") },
    refused: "never down",
  },
  {
    name: "a raise taken back before it began",
    before: { spec: onVersion("1.36") },
    status: onVersion("1.35"),
    change: { spec: onVersion("1.35") },
  },
  {
    name: "another change while EKS runs a newer version than asked for",
    before: {},
    status: onVersion("1.36"),
    change: { spec: { tenant: "payments" } },
  },
  {
    name: "a wrong version corrected before there is a cluster",
    before: { spec: onVersion("1.99") },
    change: { spec: onVersion("1.35") },
  },
  { name: "another region", before: {}, change: { spec: { region: "eu-west-1" } }, refused: "region can't be changed" },
  {
    name: "another environment",
    before: {},
    change: { spec: { environment: "prod" } },
    refused: "environment can't be changed",
  },
  { name: "sealing keys of its own, later", before: {}, change: { spec: { sealing: "cluster" } } },
  {
    name: "from sealing keys of its own to its environment's",
    before: { spec: { sealing: "cluster" } },
    change: { spec: { sealing: "environment" } },
    refused: "sealing can't go back from cluster to environment",
  },
  {
    name: "an account where there was none",
    before: {},
    change: { spec: { account: { id: "111111111111", providerConfigRef: { name: "a" } } } },
    refused: "account can't be changed",
  },
  {
    name: "another account",
    before: { spec: { account: { id: "111111111111", providerConfigRef: { name: "a" } } } },
    change: { spec: { account: { id: "222222222222", providerConfigRef: { name: "a" } } } },
    refused: "account can't be changed",
  },
  {
    name: "another change of a Spoke with an account",
    before: { spec: { account: { id: "111111111111", providerConfigRef: { name: "a" } } } },
    change: { spec: { account: { id: "111111111111", providerConfigRef: { name: "a" } }, tenant: "payments" } },
  },
  {
    name: "a wrong version corrected before it is known which one runs",
    before: { spec: onVersion("1.99") },
    status: {},
    change: { spec: onVersion("1.35") },
  },
  {
    name: "another network",
    before: { spec: { network: { cidr: "10.100.0.0/16" } } },
    change: { spec: { network: { cidr: "10.101.0.0/16" } } },
    refused: "network can't be changed",
  },
  {
    name: "a network where there was one of the pool",
    before: {},
    change: { spec: { network: { cidr: "10.101.0.0/16" } } },
    refused: "network can't be changed",
  },
  { name: "more zones", before: {}, change: { spec: { network: { zones: 3 } } }, refused: "network can't be changed" },
  { name: "a flow log", change: { spec: { network: { flowLogs: "REJECT" } } } },
  {
    name: "a flow log of other traffic than there is",
    change: { spec: { network: { flowLogs: "NONE" } } },
    refused: "spec.network.flowLogs",
    at: "spec.network.flowLogs",
  },
  { name: "a flow log later", before: {}, change: { spec: { network: { flowLogs: "ALL" } } } },
  { name: "no flow log any more", before: { spec: { network: { flowLogs: "ALL" } } }, change: {} },
  {
    name: "a flow log with another network",
    before: { spec: { network: { cidr: "10.100.0.0/16" } } },
    change: { spec: { network: { flowLogs: "ALL" } } },
    refused: "network can't be changed while the cluster lives in it, but for flowLogs, endpoints and transitGateway",
  },
  {
    name: "a flow log of a VPC that is there",
    change: { spec: { network: { existing: shared, flowLogs: "ALL" } } },
    refused: "the owner of network.existing decides on flow logs of it",
  },
  { name: "a block for pods", change: { spec: { network: { podCidr: "100.64.0.0/16" } } } },
  {
    name: "a block for pods beside a network of the Spoke's own",
    change: { spec: { network: { cidr: "100.65.0.0/20", podCidr: "100.65.16.0/20" } } },
  },
  ...["10.1.0.0/16", "100.64.0.0/15", "100.64.0.0/21", "100.64.1.0/16", "198.19.0.0/16", "fd00::/16", "pods"].map(
    (podCidr) => ({
      name: `a block for pods that is ${podCidr}`,
      change: { spec: { network: { podCidr } } },
      refused: "network.podCidr must be an IPv4 network from /16 to /20 inside 100.64.0.0/10",
    }),
  ),
  {
    name: "a block for pods in the network of the Spoke",
    change: { spec: { network: { cidr: "100.64.0.0/16", podCidr: "100.64.16.0/20" } } },
    refused: "network.podCidr 100.64.16.0/20 and network.cidr 100.64.0.0/16 overlap",
  },
  {
    name: "a block for pods around the network of the Spoke",
    change: { spec: { network: { cidr: "100.64.16.0/20", podCidr: "100.64.0.0/16" } } },
    refused: "overlap: choose blocks that share no address",
  },
  {
    name: "a block for pods in a VPC that is there",
    change: { spec: { network: { existing: shared, podCidr: "100.64.0.0/16" } } },
    refused: "network.podCidr is for a VPC of the Spoke's own",
  },
  {
    name: "a block for pods later",
    before: {},
    change: { spec: { network: { podCidr: "100.64.0.0/16" } } },
    refused: "network can't be changed",
  },
  ...["10.0.0.0/12", "172.20.0.0/16", "192.168.5.0/24"].map((serviceIpv4Cidr) => ({
    name: `a block for Services that is ${serviceIpv4Cidr}`,
    change: { spec: { network: { cidr: "10.64.0.0/18", podCidr: "100.64.0.0/16", serviceIpv4Cidr } } },
  })),
  ...["10.0.0.0/11", "10.0.0.0/25", "172.20.0.1/16", "172.32.0.0/16", "100.64.0.0/16", "fd00::/16", "services"].map(
    (serviceIpv4Cidr) => ({
      name: `a block for Services that is ${serviceIpv4Cidr}`,
      change: { spec: { network: { serviceIpv4Cidr } } },
      refused: "network.serviceIpv4Cidr must be an IPv4 network from /12 to /24 inside",
    }),
  ),
  {
    name: "a block for Services in the network of the Spoke",
    change: { spec: { network: { cidr: "10.64.0.0/18", serviceIpv4Cidr: "10.64.32.0/20" } } },
    refused: "network.serviceIpv4Cidr 10.64.32.0/20 and network.cidr 10.64.0.0/18 overlap",
  },
  {
    name: "a block for Services around the network of the Spoke",
    change: { spec: { network: { cidr: "10.64.0.0/18", serviceIpv4Cidr: "10.64.0.0/12" } } },
    refused: "overlap: choose blocks that share no address",
  },
  {
    name: "a block for Services in a VPC that is there",
    change: { spec: { network: { existing: shared, serviceIpv4Cidr: "172.20.0.0/16" } } },
  },
  {
    name: "a block for Services later",
    before: {},
    change: { spec: { network: { serviceIpv4Cidr: "172.20.0.0/16" } } },
    refused: "network can't be changed",
  },
  {
    name: "another block for Services",
    before: { spec: { network: { serviceIpv4Cidr: "172.20.0.0/16" } } },
    change: { spec: { network: { serviceIpv4Cidr: "172.21.0.0/16" } } },
    refused: "network can't be changed",
  },
  {
    name: "a block for Services of a cluster that Cluster API makes",
    change: {
      spec: {
        existing: { madeBy: "ClusterAPI" },
        network: { cidr: "10.100.0.0/16", serviceIpv4Cidr: "172.20.0.0/16" },
      },
    },
    refused: "existing.madeBy can't go with network.endpoints, podCidr, serviceIpv4Cidr",
  },
  { name: "a key for volumes", change: { spec: { volumeKey: key("us-east-1") } } },
  {
    name: "another key for volumes",
    before: { spec: { volumeKey: key("us-east-1", "2") } },
    change: { spec: { volumeKey: key("us-east-1") } },
  },
  {
    name: "a key for volumes of another region",
    change: { spec: { volumeKey: key("eu-west-1") } },
    refused: "volumeKey must be a key of region us-east-1",
  },
  {
    name: "an alias in the place of a key for volumes",
    change: { spec: { volumeKey: "arn:aws:kms:us-east-1:111122223333:alias/ebs" } },
    refused: "spec.volumeKey",
    at: "spec.volumeKey",
  },
  {
    name: "a key for volumes of nodes that Cluster API makes",
    change: { spec: { ...elsewhere, volumeKey: key("us-east-1") } },
    refused: "volumeKey can't go with existing.madeBy",
  },
  { name: "a key for logs", change: { spec: { logKey: key("us-east-1") } } },
  { name: "a key for logs later", before: {}, change: { spec: { logKey: key("us-east-1") } } },
  {
    name: "a key for logs of another region",
    change: { spec: { logKey: key("eu-west-1") } },
    refused: "logKey must be a key of region us-east-1",
  },
  {
    name: "an alias as a key for logs",
    change: { spec: { logKey: "arn:aws:kms:us-east-1:111122223333:alias/logs" } },
    refused: "spec.logKey",
    at: "spec.logKey",
  },
  {
    name: "a key for logs of a cluster that Cluster API makes",
    change: { spec: { ...elsewhere, logKey: key("us-east-1") } },
    refused: "logKey can't go with existing.madeBy",
  },
  { name: "shells on nodes", change: { spec: { sessionManager: true } } },
  { name: "shells on nodes later", before: {}, change: { spec: { sessionManager: true } } },
  {
    name: "shells on nodes of EKS Auto Mode",
    change: { spec: { compute: "auto", sessionManager: true } },
    refused: "sessionManager can't go with compute auto",
  },
  {
    name: "shells on nodes that Cluster API makes",
    change: { spec: { existing: { madeBy: "ClusterAPI" }, network: { cidr: "10.100.0.0/16" }, sessionManager: true } },
    refused: "sessionManager can't go with existing.madeBy",
  },
  ...[[], ["ssm"], ["ssmmessages"]].map((some) => ({
    name: `shells on nodes without internet access, with the endpoints ${some.join()}`,
    change: {
      spec: { sessionManager: true, network: { natGateways: "isolated", endpoints: [...isolatedServices, ...some] } },
    },
    refused: "sessionManager with network.natGateways isolated needs ssm and ssmmessages",
  })),
  {
    name: "shells on nodes without internet access, with endpoints of Systems Manager",
    change: {
      spec: {
        sessionManager: true,
        network: { natGateways: "isolated", endpoints: [...isolatedServices, "ssm", "ssmmessages"] },
      },
    },
  },
  { name: "endpoints", change: { spec: { network: { endpoints: ["ecr.api", "dynamodb"] } } } },
  { name: "endpoints later", before: {}, change: { spec: { network: { endpoints: ["sts"] } } } },
  {
    name: "other endpoints",
    before: { spec: { network: { endpoints: ["sts"] } } },
    change: { spec: { network: { endpoints: ["ec2"] } } },
  },
  { name: "no endpoints any more", before: { spec: { network: { endpoints: ["sts"] } } }, change: {} },
  {
    name: "an endpoint for S3, which is there anyway",
    change: { spec: { network: { endpoints: ["s3"] } } },
    refused: "spec.network.endpoints",
    at: "spec.network.endpoints.0",
  },
  {
    name: "endpoints in a VPC that is there",
    change: { spec: { network: { existing: shared, endpoints: ["sts"] } } },
    refused: "the owner of network.existing makes the endpoints in it",
  },
  {
    name: "no internet access, with what a cluster needs then",
    change: { spec: { network: { natGateways: "isolated", endpoints: [...isolatedServices, "logs"] } } },
  },
  ...isolatedServices.map((missing) => ({
    name: `no internet access and no endpoint for ${missing}`,
    change: {
      spec: {
        network: { natGateways: "isolated", endpoints: isolatedServices.filter((service) => service !== missing) },
      },
    },
    refused: "network.natGateways isolated needs ec2, ecr.api, ecr.dkr, secretsmanager and sts in network.endpoints",
  })),
  {
    name: "no internet access and no endpoints",
    change: { spec: { network: { natGateways: "isolated" } } },
    refused: "network.natGateways isolated needs",
  },
  {
    name: "no internet access any more",
    before: { spec: { network: { endpoints: [...isolatedServices] } } },
    change: { spec: { network: { natGateways: "isolated", endpoints: [...isolatedServices] } } },
    refused: "network can't be changed",
  },
  {
    name: "endpoints of a cluster that Cluster API makes",
    change: { spec: { existing: { madeBy: "ClusterAPI" }, network: { cidr: "10.100.0.0/16", endpoints: ["sts"] } } },
    refused: "existing.madeBy can't go with network.endpoints",
  },
  { name: "a transit gateway", change: transit(["10.0.0.0/8", "192.168.7.0/24"]) },
  {
    name: "a transit gateway next to a network that is part of a destination",
    change: transit(["10.0.0.0/8"], placed),
  },
  {
    name: "a transit gateway as the way out of a VPC without NAT gateways",
    change: transit(["0.0.0.0/0"], { natGateways: "isolated" }),
  },
  {
    name: "a transit gateway of a VPC without NAT gateways that isn't its way out",
    change: transit(["10.0.0.0/8"], { natGateways: "isolated" }),
    refused: "network.natGateways isolated needs ec2, ecr.api, ecr.dkr, secretsmanager and sts in network.endpoints",
  },
  {
    name: "shells on nodes whose way out is a transit gateway",
    change: { spec: { sessionManager: true, ...transit(["0.0.0.0/0"], { natGateways: "isolated" }).spec } },
  },
  { name: "a transit gateway later", before: {}, change: transit(["10.0.0.0/8"]) },
  { name: "other destinations", before: transit(["10.0.0.0/8"]), change: transit(["172.16.0.0/12"]) },
  { name: "no transit gateway any more", before: transit(["10.0.0.0/8"]), change: {} },
  {
    name: "another transit gateway",
    before: transit(["10.0.0.0/8"]),
    change: transit(["10.0.0.0/8"], {}, "tgw-1a1b2c3d4e5f60718"),
    refused: "network.transitGateway.id can't be changed",
  },
  {
    name: "an attachment as a transit gateway",
    change: transit(["10.0.0.0/8"], {}, "tgw-attach-0a1b2c3d4e5f60718"),
    refused: "spec.network.transitGateway.id",
    at: "spec.network.transitGateway.id",
  },
  {
    name: "a transit gateway without destinations",
    change: transit([]),
    refused: "spec.network.transitGateway.destinationCidrs",
    at: "spec.network.transitGateway.destinationCidrs",
  },
  ...["10.0.0.1/8", "fd00::/16", "10.0.0.0", "office"].map((cidr) => ({
    name: `a destination that is ${cidr}`,
    change: transit([cidr]),
    refused: "network.transitGateway.destinationCidrs must be IPv4 networks",
  })),
  ...["10.100.0.0/16", "10.100.7.0/24"].map((cidr) => ({
    name: `a destination ${cidr} in the network of the Spoke`,
    change: transit(["192.168.0.0/16", cidr], placed),
    refused: "network.transitGateway.destinationCidrs must not be part of network.cidr 10.100.0.0/16",
  })),
  {
    name: "a destination in the block of the pods",
    change: transit(["100.64.7.0/24"], { podCidr: "100.64.0.0/16" }),
    refused: "network.transitGateway.destinationCidrs must not be part of network.podCidr 100.64.0.0/16",
  },
  {
    name: "a destination in the block of Services",
    change: transit(["172.20.7.0/24"], { serviceIpv4Cidr: "172.20.0.0/16" }),
    refused: "network.transitGateway.destinationCidrs must not be part of network.serviceIpv4Cidr 172.20.0.0/16",
  },
  ...["single", "per-zone"].map((natGateways) => ({
    name: `a transit gateway as the default route next to natGateways ${natGateways}`,
    change: transit(["0.0.0.0/0"], { natGateways }),
    refused: "network.transitGateway.destinationCidrs can have 0.0.0.0/0 with natGateways isolated only",
  })),
  {
    name: "a transit gateway of nodes with public addresses",
    change: transit(["10.0.0.0/8"], { natGateways: "none" }),
    refused: "network.transitGateway can't go with natGateways none",
  },
  {
    name: "a transit gateway of a VPC that is there",
    change: transit(["10.0.0.0/8"], { existing: shared }),
    refused: "network.transitGateway is for a VPC of the Spoke's own",
  },
  {
    name: "a transit gateway of a cluster that Cluster API makes",
    change: {
      spec: { existing: { madeBy: "ClusterAPI" }, ...transit(["192.168.0.0/16"], { cidr: "10.100.0.0/16" }).spec },
    },
    refused: "existing.madeBy can't go with network.endpoints, podCidr, serviceIpv4Cidr, transitGateway",
  },
  { name: "a VPC that is there", change: { spec: { network: { existing: shared } } } },
  {
    name: "a VPC that is there, with what fleet adopt found of the rest",
    change: { spec: { network: { existing: shared }, existing: { "launch-template": "lt-0a1b2c3d4e5f60718" } } },
  },
  ...[
    { cidr: "10.100.0.0/16" },
    { zones: 3 },
    { natGateways: "none" },
    { availabilityZones: ["us-east-1a", "us-east-1b"] },
  ].map(
    (other): RuleCase => ({
      name: `a VPC that is there, with ${Object.keys(other)[0]} of another`,
      change: { spec: { network: { existing: shared, ...other } } },
      refused: "leave cidr, zones, availabilityZones and natGateways out",
    }),
  ),
  {
    name: "a VPC that is there, with one subnet",
    change: { spec: { network: { existing: { ...shared, privateSubnetIds: ["subnet-0a1b2c3d4e5f60718"] } } } },
    refused: "spec.network.existing.privateSubnetIds",
    at: "spec.network.existing.privateSubnetIds",
  },
  {
    name: "a VPC that is there, with a subnet that is private and public",
    change: { spec: { network: { existing: { ...shared, publicSubnetIds: shared.privateSubnetIds } } } },
    refused: "a subnet in one of privateSubnetIds and publicSubnetIds only",
  },
  {
    name: "a VPC that is there, for a cluster of Cluster API",
    change: { spec: { network: { existing: shared }, existing: { madeBy: "ClusterAPI" } } },
    refused: "existing.madeBy needs network.cidr",
  },
  {
    name: "a VPC that is there, for a Spoke that has one of its own",
    before: {},
    change: { spec: { network: { existing: shared } } },
    refused: "network can't be changed",
  },
  {
    name: "another subnet of a VPC that is there",
    before: { spec: { network: { existing: shared } } },
    change: { spec: { network: { existing: { ...shared, publicSubnetIds: ["subnet-3a1b2c3d4e5f60718"] } } } },
    refused: "network can't be changed",
  },
  { name: "other nodes", before: {}, change: { spec: { nodes: { instanceTypes: ["m7i.large"], max: 6 } } } },
  { name: "protection turned on", before: {}, change: { spec: { deletionProtection: true } } },
  { name: "a Spoke that is to be let go", before: {}, change: { spec: { deletionPolicy: "Orphan" } } },
  {
    name: "another deletion policy",
    change: { spec: { deletionPolicy: "Retain" } },
    refused: "spec.deletionPolicy",
    at: "spec.deletionPolicy",
  },
  {
    name: "what exists, with its network and zones",
    change: {
      spec: {
        network: placed,
        existing: { vpc, "api-from": { "10.0.0.0/16": "sgr-0a1b2c3d4e5f60718" }, "nat-0": "nat-12345678" },
      },
    },
  },
  {
    name: "a cluster that Cluster API makes",
    change: { spec: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } } },
  },
  {
    name: "a cluster that Cluster API makes, in a network that nobody names",
    change: { spec: { existing: { madeBy: "ClusterAPI" } } },
    refused: "existing.madeBy needs network.cidr",
  },
  {
    name: "a cluster that Cluster API makes, in another account",
    change: {
      spec: {
        network: { cidr: placed.cidr },
        existing: { madeBy: "ClusterAPI" },
        account: { id: "111111111111", providerConfigRef: { name: "payments" } },
      },
    },
    refused: "existing.madeBy can't go with account",
  },
  {
    name: "a cluster that Cluster API makes, to be let go from the beginning",
    change: {
      spec: {
        network: { cidr: placed.cidr },
        existing: { madeBy: "ClusterAPI" },
        deletionPolicy: "Orphan",
      },
    },
    refused:
      "existing.madeBy can't go with deletionPolicy Orphan: Cluster API would remove the cluster after the Spoke",
  },
  {
    name: "a cluster that Cluster API makes, to be let go later",
    before: { spec: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } } },
    change: {
      spec: {
        network: { cidr: placed.cidr },
        existing: { madeBy: "ClusterAPI" },
        deletionPolicy: "Orphan",
      },
    },
    refused: "existing.madeBy can't go with deletionPolicy Orphan",
  },
  {
    name: "a cluster of a maker that the hub does not know",
    change: { spec: { network: { cidr: placed.cidr }, existing: { madeBy: "eksctl" } } },
    refused: "spec.existing.madeBy",
    at: "spec.existing.madeBy",
  },
  {
    name: "a cluster that passes from Cluster API to Crossplane",
    before: { spec: { network: { cidr: placed.cidr }, existing: { madeBy: "ClusterAPI" } } },
    change: { spec: { network: { cidr: placed.cidr }, existing: null } },
    refused: "existing can't be changed",
  },
  {
    name: "what exists, without its network",
    change: { spec: { existing: { vpc } } },
    refused: "existing needs network.cidr and network.availabilityZones",
  },
  {
    name: "what exists, without its zones",
    change: { spec: { network: { cidr: placed.cidr }, existing: { vpc } } },
    refused: "existing needs network.cidr and network.availabilityZones",
  },
  {
    name: "an ID of another kind",
    change: { spec: { network: placed, existing: { vpc: "subnet-0a1b2c3d4e5f60718" } } },
    refused: "spec.existing.vpc",
    at: "spec.existing.vpc",
  },
  {
    name: "something that a spoke is not made of",
    change: { spec: { network: placed, existing: { "vpn-gateway": "vgw-0a1b2c3d4e5f60718" } } },
    refused: "unknown field",
    at: "spec.existing.vpn-gateway",
  },
  {
    name: "what exists, of a spoke that the hub has made",
    before: { spec: { network: placed } },
    change: { spec: { network: placed, existing: { vpc } } },
    refused: "wait until the hub has none of that name, then push its folder together with what fleet adopt writes",
  },
  {
    name: "what exists taken out",
    before: { spec: { network: placed, existing: { vpc } } },
    change: { spec: { network: placed, existing: null } },
    refused: "existing can't be changed",
  },
  {
    name: "another change of a Spoke over what exists",
    before: { spec: { network: placed, existing: { vpc } } },
    change: { spec: { network: placed, existing: { vpc }, tenant: "payments" } },
  },
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

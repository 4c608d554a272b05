import { afterAll, beforeEach } from "vitest";
import type { LaunchedInstance } from "../../../../gateway/aws/instances.ts";
import type { AwsLookups } from "../../../../gateway/aws/lookups.ts";
import type { PeeredRoute } from "../../../../gateway/aws/peering.ts";
import type { ScalingGroup } from "../../../../gateway/aws/scaling-groups.ts";
import type { EksContext } from "../../../../gateway/eks/operation.ts";
import { reconciler } from "../../../../gateway/eks/reconcile/cluster.ts";
import type { ReconcileContext } from "../../../../gateway/eks/reconcile/context.ts";
import { endpointKeeper } from "../../../../gateway/eks/reconcile/endpoints.ts";
import { eksApi } from "../../../../gateway/eks/router.ts";
import { selfManagedNodes } from "../../../../gateway/eks/self-managed-nodes.ts";
import { openStore, type Store } from "../../../../gateway/eks/store.ts";
import { WorkQueue } from "../../../../work-queue.ts";
import { scratch } from "../../../support/scratch.ts";
import { ACCOUNT, type Answer, type Asked, CALLER, callsOf, place } from "../calls.ts";
import { type FakeClusters, fakeClusters } from "./fake-clusters.ts";

const workers: WorkQueue[] = [];

/** Ends the background work of each {@link fakeEks}; for `afterAll` of each file that calls it. */
export const stopWorkers = () => Promise.all(workers.splice(0).map((worker) => worker.stop()));

export const roleArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:role/${name}`;

export interface FakeAws extends AwsLookups {
  readonly groups: Map<string, string>;
  /** Auto Scaling groups of node groups, by their name. */
  readonly scaling: Map<string, ScalingGroup>;
  /** Public addresses of NAT gateways, by VPC. */
  readonly nat: Map<string, string[]>;
  /** Blocks from which security groups admit port 443, by their id. */
  readonly admitted: Map<string, string[]>;
  /** Ways to other VPCs, by subnet. */
  readonly peered: Map<string, PeeredRoute[]>;
  /** Instances that somebody launched, by their id. */
  readonly instances: Map<string, FakeInstance>;
  /** Those that ended. */
  readonly ended: string[];
}

/** An instance, with its user data and the role of its profile. */
export interface FakeInstance extends Omit<LaunchedInstance, "id"> {
  readonly userData: string;
  /** What the gateway said of it. */
  addresses?: string;
}

/** An account with the roles and the network that the tests use. */
/** Why instances of the launch template `lt-key` don't start. */
export const volumeKeyProblem = "Client.InternalError: Client error on launch";

export function fakeAws(quotaValues: Readonly<Partial<Record<string, number>>> = {}): FakeAws {
  const trusts: Record<string, string> = {
    cluster: "eks.amazonaws.com",
    auto: 'eks.amazonaws.com ["sts:AssumeRole","sts:TagSession"]',
    bare: 'eks.amazonaws.com ["sts:AssumeRole","sts:TagSession"]',
    node: "ec2.amazonaws.com",
    pod: "pods.eks.amazonaws.com",
    viewer: "",
  };
  const groups = new Map<string, string>();
  const scaling = new Map<string, ScalingGroup>();
  const network: Record<string, { vpcId: string; zone: string }> = {
    "subnet-a": { vpcId: "vpc-1", zone: "us-east-1a" },
    "subnet-b": { vpcId: "vpc-1", zone: "us-east-1b" },
    "subnet-a2": { vpcId: "vpc-1", zone: "us-east-1a" },
    "subnet-other": { vpcId: "vpc-2", zone: "us-east-1b" },
    "subnet-other-a": { vpcId: "vpc-2", zone: "us-east-1a" },
  };
  const nat = new Map<string, string[]>();
  const admitted = new Map<string, string[]>();
  const peered = new Map<string, PeeredRoute[]>();
  const cidrs: Record<string, string[]> = { "vpc-1": ["10.0.0.0/16"], "vpc-2": ["10.1.0.0/16"] };
  const instances = new Map<string, FakeInstance>();
  const ended: string[] = [];
  return {
    groups,
    scaling,
    instances,
    ended,
    launchedInstances: async () => [...instances].map(([id, { userData: _, ...instance }]) => ({ id, ...instance })),
    userData: async (id) => instances.get(id)?.userData ?? "",
    roleOfProfile: async (name) => (name === "empty" ? undefined : roleArn(name)),
    volumeKeyProblem: async ({ id }) => (id === "lt-key" ? volumeKeyProblem : undefined),
    instanceSize: async () => ({ cpus: 2, memoryMib: 8192 }),
    keepInstance: async (id, address, pods) => {
      const instance = instances.get(id);
      if (instance !== undefined) instance.addresses = `${address} ${pods}`;
    },
    endInstance: async (id) => {
      instances.delete(id);
      ended.push(id);
    },
    keepScalingGroup: async (group) => void scaling.set(group.name, group),
    removeScalingGroup: async (name) => void scaling.delete(name),
    nat,
    admitted,
    peered,
    network: async (vpcId) => ({ cidrs: cidrs[vpcId] ?? [], peeredRoutes: (subnetId) => peered.get(subnetId) ?? [] }),
    natAddresses: async (vpcId) => nat.get(vpcId) ?? [],
    admittedCidrs: async (ids, port) => (port === 443 ? ids.flatMap((id) => admitted.get(id) ?? []) : []),
    role: async (name) =>
      trusts[name] === undefined ? undefined : { id: `AROA-${name}`, arn: roleArn(name), trustPolicy: trusts[name] },
    attachedPolicies: async (name) => (name === "auto" ? ["AmazonEKSComputePolicy", "AmazonEKSNetworkingPolicy"] : []),
    userArn: async (name) => (name === "deployer" ? CALLER : undefined),
    oidcProvider: async () => undefined,
    subnets: async (ids) => ids.flatMap((id) => (network[id] === undefined ? [] : [{ id, ...network[id] }])),
    securityGroups: async (ids) => ids.filter((id) => id === "sg-1"),
    keyEnabled: async (arn) => arn.endsWith("/good"),
    quota: async ({ code }) => quotaValues[code] ?? 100,
    ensureClusterSecurityGroup: async (cluster) => {
      groups.set(cluster, `sg-${cluster}`);
      return `sg-${cluster}`;
    },
    deleteClusterSecurityGroup: async (cluster) => {
      groups.delete(cluster);
    },
  };
}

/** The EKS API over fakes. */
export interface FakeEks {
  readonly store: Store;
  readonly clusters: FakeClusters;
  readonly aws: ReturnType<typeof fakeAws>;
  readonly folder: string;
  /** What ministack was asked to authorize, newest last. */
  readonly asked: Asked[];
  readonly errors: string[];
  /** Seconds since 1970; moves when a test moves it. */
  clock: number;
  call(method: string, path: string, body?: object, caller?: string): Promise<Answer>;
  /** The body of the answer to a GET. */
  get(path: string): Promise<Answer["body"]>;
  /** Calls, and lets background work come to rest. */
  finish: FakeEks["call"];
  /** Lets background work come to rest. */
  settle(): Promise<void>;
  /** Looks at the account's instances, as the gateway does when one starts or ends; says when it looks again. */
  lookAtInstances(): Promise<number | "wait">;
  /** Fields that a fault adds to the configuration of kubelets. */
  kubeletConfig: Readonly<Record<string, unknown>>;
  /** Whether nodes count against the quotas of vCPUs, by a fault. */
  nodesTakeVcpus: boolean;
  /** What was logged of instances and of nodes. */
  readonly logged: string[];
  /** Has a change of the network seen, as the gateway does after calls of EC2. */
  keepEndpoints(): Promise<void>;
  worker: WorkQueue;
}

/** The API of a test file, made before each test by {@link useEks}. */
export let eks: FakeEks;

/** Makes the API before each test of a file, and prepares it. */
export function useEks(prepare?: (eks: FakeEks) => Promise<unknown>): void {
  beforeEach(async () => {
    eks = await fakeEks();
    await prepare?.(eks);
  });
  afterAll(stopWorkers);
}

export async function fakeEks(over: Partial<Pick<FakeEks, "clusters" | "aws" | "folder">> = {}): Promise<FakeEks> {
  const folder = over.folder ?? scratch("fleet-eks-");
  const clusters = over.clusters ?? fakeClusters();
  const aws = over.aws ?? fakeAws();
  const store = await openStore(folder);
  const errors: string[] = [];
  const logged: string[] = [];
  const shared: EksContext = {
    ...place,
    store,
    clusters,
    aws,
    awsOf: () => aws,
    now: () => eks.clock,
    // As the gateway: after the caller has answered.
    wake: (name) => void setImmediate(() => eks.worker.add(name)),
  };
  const keepEndpoints = endpointKeeper(shared);
  const context: ReconcileContext = {
    ...shared,
    keepEndpoints,
    kubeletConfig: async () => eks.kubeletConfig,
    nodesTakeVcpus: async () => eks.nodesTakeVcpus,
    log: (line) => void logged.push(line),
    gatewayAddress: "100.64.255.1",
    caCertificate: "CA",
    webhookUrl: (cluster) => `https://127.100.0.1:9444/mutate/${cluster}`,
  };
  const reconcile = reconciler(context);
  const { asked, call } = callsOf((request, by) => eksApi(request, context, by));
  const eks: FakeEks = {
    store,
    clusters,
    aws,
    folder,
    asked,
    errors,
    keepEndpoints,
    lookAtInstances: selfManagedNodes(context, (line) => void logged.push(line)),
    logged,
    clock: 1_000_000,
    kubeletConfig: {},
    nodesTakeVcpus: false,
    worker: new WorkQueue({
      // The background looks again sooner than the gateway's.
      work: async (cluster) => {
        const next = await reconcile(cluster);
        return typeof next === "number" ? next / 5 : next;
      },
      onError: (cluster, error) => errors.push(`${cluster}: ${(error as Error).message}`),
      pause: { first: 5, longest: 20 },
    }),
    settle: async () => {
      await new Promise((done) => setImmediate(done));
      await eks.worker.idle();
    },
    call: (method, path, body, caller = CALLER) => call(method, path, body, { caller }),
    get: async (path) => (await eks.call("GET", path)).body,
    finish: async (...request) => {
      const answer = await eks.call(...request);
      await eks.settle();
      return answer;
    },
  };
  workers.push(eks.worker);
  return eks;
}

/** The body of a CreateCluster call that is right in every respect. */
export const clusterBody = (name: string, over: object = {}): object => ({
  name,
  version: "1.34",
  roleArn: roleArn("cluster"),
  resourcesVpcConfig: { subnetIds: ["subnet-a", "subnet-b"] },
  accessConfig: { authenticationMode: "API" },
  ...over,
});

/** Lets the background look again, after some time on EKS's clock. */
export async function later(seconds = 0, api = eks): Promise<void> {
  api.clock += seconds;
  api.worker.add("hub");
  await api.settle();
}

/** The node group at a path, and the update of one. */
export const groupAt = async (path: string, api = eks) => (await api.get(path)).nodegroup;
export const updateOf = async (id: string, api = eks) =>
  (await api.get(`/clusters/hub/updates/${id}?nodegroupName=main`)).update;

/** Asks for the node group `second`, of one node where `over` says nothing else; creates it. */
export const requestSecond = (over: object = {}, api = eks) =>
  api.call("POST", "/clusters/hub/node-groups", {
    ...{ nodegroupName: "second", nodeRole: roleArn("node"), subnets: ["subnet-a"] },
    scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 1 },
    ...over,
  });
export async function createSecond(over: object = {}, api = eks): Promise<void> {
  await requestSecond(over, api);
  await api.settle();
}

/** An active cluster. */
export const withCluster = (api: FakeEks, name = "hub") => api.finish("POST", "/clusters", clusterBody(name));

/** An active cluster with a node group `main` of one node. */
export async function withNodes(api: FakeEks, name = "hub"): Promise<void> {
  await withCluster(api, name);
  await api.finish("POST", `/clusters/${name}/node-groups`, {
    nodegroupName: "main",
    nodeRole: roleArn("node"),
    subnets: ["subnet-a", "subnet-b"],
    scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 3 },
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateAddonCommand,
  CreateNodegroupCommand,
  UpdateAddonCommand,
  waitUntilAddonActive,
  waitUntilNodegroupActive,
} from "@aws-sdk/client-eks";
import { CreateRoleCommand } from "@aws-sdk/client-iam";
import { KubeConfig, NetworkingV1Api, type V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminKubeconfig } from "../../local/clusters/index.ts";
import { supervisorOf } from "../../local/supervisor/client.ts";
import { adminApi, arnOf, type GatewayCloud, startGatewayCloud, trustOf } from "./support/gateway.ts";
import { type Network, networkAt, nodeOf, nodePath, podNetwork } from "./support/pod-network.ts";

const wait = { maxWaitTime: 240, minDelay: 1, maxDelay: 1 };
const poll = { timeout: 60_000, interval: 500 };
const READINESS = 8181;
const vpcCni = { clusterName: "one", addonName: "vpc-cni" };
const enforce = (on: "true" | "false") => ({ ...vpcCni, configurationValues: `{"enableNetworkPolicy": "${on}"}` });

let cloud: GatewayCloud;
let policies: NetworkingV1Api;
let dns: string;
let pod: Network;

async function running(pods: () => Promise<V1Pod[]>): Promise<V1Pod> {
  const isReady = ({ status }: V1Pod) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  for (let tries = 0; tries < 120; tries++) {
    const found = (await pods()).find(isReady);
    if (found !== undefined) return found;
    await sleep(500);
  }
  throw new Error(`no pod is Ready: ${JSON.stringify((await pods()).map(({ status }) => status))}`);
}

const active = (addon: { clusterName: string; addonName: string }) =>
  waitUntilAddonActive({ client: cloud.deployer.eks, ...wait }, addon);

beforeAll(async () => {
  cloud = await startGatewayCloud();
  await cloud.cluster("one");
  const { eks, iam } = cloud.deployer;
  await iam.send(
    new CreateRoleCommand({ RoleName: "node", AssumeRolePolicyDocument: trustOf({ Service: "ec2.amazonaws.com" }) }),
  );
  const group = { clusterName: "one", nodegroupName: "main" };
  const size = { minSize: 1, desiredSize: 1, maxSize: 1 };
  await eks.send(
    new CreateNodegroupCommand({
      ...group,
      nodeRole: arnOf("role/node"),
      subnets: await cloud.subnets(),
      scalingConfig: size,
    }),
  );
  await waitUntilNodegroupActive({ client: eks, ...wait }, group);
  const coredns = { clusterName: "one", addonName: "coredns" };
  await eks.send(new CreateAddonCommand(coredns));
  await active(coredns);
  const api = adminApi(cloud.instance, "one");
  const namespace = "default";
  await api.createNamespacedPod({
    namespace,
    body: {
      metadata: { name: "app" },
      spec: { containers: [{ name: "app", image: "registry.k8s.io/pause:3.10" }] },
    },
  });
  const server = await running(async () => {
    const inDns = { namespace: "kube-system", labelSelector: "k8s-app=kube-dns" };
    return (await api.listNamespacedPod(inDns)).items;
  });
  dns = server.status?.podIP ?? "";
  const app = await running(async () => (await api.listNamespacedPod({ namespace })).items);
  pod = await podNetwork(cloud.instance, "one", app);
  const config = new KubeConfig();
  config.loadFromFile(adminKubeconfig(cloud.instance, "one"));
  policies = config.makeApiClient(NetworkingV1Api);
  const egress = [{ ports: [{ port: 53, protocol: "TCP" }] }];
  await policies.createNamespacedNetworkPolicy({
    namespace,
    body: { metadata: { name: "only-dns" }, spec: { podSelector: {}, policyTypes: ["Egress"], egress } },
  });
});
afterAll(() => cloud.remove());

const reached = async () => {
  const node = await nodeOf(cloud.instance, "one", 0);
  return {
    dns: await pod.connect(dns, 53),
    readiness: await pod.connect(dns, READINESS),
    kubelet: await pod.connect(node.address, 10250),
    gateway: await pod.connect(cloud.instance.gatewayAddress, 443),
  };
};
const all = { dns: "open", readiness: "open", kubelet: "open", gateway: "open" };
const onlyDns = { dns: "open", readiness: "ECONNREFUSED", kubelet: "ECONNREFUSED", gateway: "ECONNREFUSED" };

test("a NetworkPolicy holds nothing back on a cluster whose VPC CNI is not told to enforce it, as on EKS", async () => {
  expect(await reached()).toEqual(all);
  await cloud.deployer.eks.send(new CreateAddonCommand(vpcCni));
  await active(vpcCni);
  expect(await reached()).toEqual(all);
});

test("from the moment in which the add-on is ACTIVE with enableNetworkPolicy, only what policies allow goes through", async () => {
  await cloud.deployer.eks.send(new UpdateAddonCommand(enforce("true")));
  await active(vpcCni);
  expect(await reached()).toEqual(onlyDns);
});

test("the node itself still reaches its pods, as kubelet's probes do", async () => {
  const node = networkAt(cloud.instance, nodePath(await nodeOf(cloud.instance, "one", 0)));
  expect(await node.connect(dns, READINESS)).toBe("open");
});

test("what enforces policies is started again when it is killed; they hold meanwhile, and it follows their changes after", async () => {
  const enforcer = async () =>
    (await supervisorOf(cloud.instance).list()).find(({ id }) => id === "one.0.network-policy");
  const killed = await enforcer();
  if (killed?.pid === undefined) throw new Error("no process enforces policies");
  process.kill(killed.pid, "SIGKILL");
  expect(await reached()).toEqual(onlyDns);
  await expect.poll(enforcer, poll).toMatchObject({ state: "ready", restarts: 1 });
  expect((await enforcer())?.pid).not.toBe(killed.pid);
  await policies.deleteNamespacedNetworkPolicy({ name: "only-dns", namespace: "default" });
  await expect.poll(reached, poll).toEqual(all);
});

test("everything goes through again once the add-on is told not to enforce them", async () => {
  await policies.createNamespacedNetworkPolicy({
    namespace: "default",
    body: { metadata: { name: "nothing" }, spec: { podSelector: {}, policyTypes: ["Egress"] } },
  });
  const none = { dns: "ECONNREFUSED", readiness: "ECONNREFUSED", kubelet: "ECONNREFUSED", gateway: "ECONNREFUSED" };
  await expect.poll(reached, poll).toEqual(none);
  await cloud.deployer.eks.send(new UpdateAddonCommand(enforce("false")));
  await active(vpcCni);
  expect(await reached()).toEqual(all);
});

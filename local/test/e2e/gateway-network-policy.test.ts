import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { supervisorOf } from "../../supervisor/client.ts";
import { CLUSTER, type Place, type PolicyCluster, startPolicyCluster } from "../support/policy-cluster.ts";

const poll = { timeout: 60_000, interval: 500 };
const REFUSED = "ECONNREFUSED";
/** CoreDNS: its readiness probe's port. */
const READINESS = 8181;
const KUBELET = 10250;

let cluster: PolicyCluster;
let plain: Place;

beforeAll(async () => {
  cluster = await startPolicyCluster();
  await cluster.kube.apply([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "plain", namespace: "default" },
      spec: { containers: [{ name: "plain", image: "registry.k8s.io/pause:3.10" }] },
    } as KubernetesObject,
    policy("only-dns", "default", [{ ports: [{ port: 53, protocol: "TCP" }] }]),
  ]);
  plain = await cluster.pod("default", "plain");
});
afterAll(() => cluster?.cloud.remove());

const policy = (name: string, namespace: string, egress: readonly object[]) =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec: { podSelector: {}, policyTypes: ["Egress"], egress },
  }) as KubernetesObject;

describe("the VPC CNI add-on", () => {
  const reached = async () => ({
    dns: await plain.network.connect(cluster.dns.address, 53),
    readiness: await plain.network.connect(cluster.dns.address, READINESS),
    kubelet: await plain.network.connect(cluster.node.address, KUBELET),
    gateway: await plain.network.connect(cluster.cloud.instance.gatewayAddress, 443),
  });
  const all = { dns: "open", readiness: "open", kubelet: "open", gateway: "open" };
  const onlyDns = { dns: "open", readiness: REFUSED, kubelet: REFUSED, gateway: REFUSED };

  test("enforces no NetworkPolicy where it is not told to, as on EKS", async () => {
    expect(await reached()).toEqual(all);
    await cluster.vpcCni({});
    expect(await reached()).toEqual(all);
  });

  test("lets only through what policies allow, from the moment in which it is ACTIVE with enableNetworkPolicy", async () => {
    await cluster.vpcCni({ enableNetworkPolicy: "true" });
    expect(await reached()).toEqual(onlyDns);
    // As kubelet's probes need it.
    expect(await cluster.node.network.connect(cluster.dns.address, READINESS)).toBe("open");
  });

  test("is killed in vain: policies hold meanwhile, and their changes are followed after", async () => {
    const enforcer = async () =>
      (await supervisorOf(cluster.cloud.instance).list()).find(({ id }) => id === `${CLUSTER}.0.network-policy`);
    const killed = await enforcer();
    if (killed?.pid === undefined) throw new Error("no process enforces policies");
    process.kill(killed.pid, "SIGKILL");
    expect(await reached()).toEqual(onlyDns);
    await expect.poll(enforcer, poll).toMatchObject({ state: "ready", restarts: 1 });
    await cluster.kube.apply([policy("only-dns", "default", [])]);
    await expect.poll(reached, poll).toEqual({ ...onlyDns, dns: REFUSED });
    await cluster.kube.remove([policy("only-dns", "default", [])]);
    await expect.poll(reached, poll).toEqual(all);
  });

  test("lets everything through again once it is told so", async () => {
    await cluster.kube.apply([policy("nothing", "default", [])]);
    await expect.poll(reached, poll).toEqual({ ...onlyDns, dns: REFUSED });
    await cluster.vpcCni({ enableNetworkPolicy: "false" });
    expect(await reached()).toEqual(all);
    await cluster.vpcCni({ enableNetworkPolicy: "true" });
    expect(await reached()).toEqual({ ...onlyDns, dns: REFUSED });
  });
});

import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ask } from "../../local/cli/ask.ts";
import { adminKubeconfig } from "../../local/clusters/index.ts";
import { findCluster } from "../../local/clusters/options.ts";
import { run } from "../../local/instance/command.ts";
import { supervisorOf } from "../../local/supervisor/client.ts";
import { ensureToolchain } from "../../local/toolchain/index.ts";
import { nodePath } from "./support/pod-network.ts";
import { CLUSTER, type Place, type PolicyCluster, startPolicyCluster } from "./support/policy-cluster.ts";

const poll = { timeout: 60_000, interval: 500 };
const REFUSED = "ECONNREFUSED";
/** CoreDNS: its readiness probe's port. */
const READINESS = 8181;
const KUBELET = 10250;
/** The application: its own port and that of its metrics. */
const HTTP = 9898;
const METRICS = 9797;
const METADATA = "169.254.169.254";
const repos = join(import.meta.dirname, "..", "..", "repos");

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

/** An application's namespace with its policies, from the governance team's template, and a pod like the demo's. */
async function application(name: string): Promise<KubernetesObject[]> {
  const read = (...path: string[]) => readFile(join(repos, ...path), "utf8");
  const files = ["namespace.yaml", "network.yaml"];
  const texts = await Promise.all(files.map((file) => read("gitops-workloads", "templates", "app", file)));
  const yaml = texts.join("---\n").replaceAll("__app__", name).replaceAll("__tenant__", `team-${name}`);
  const deployment = parseAllDocuments(await read("payment-app-manifests", "base", "deployment.yaml"))[0]?.toJS();
  const { securityContext, containers, volumes } = deployment.spec.template.spec;
  const [{ env: _, ...container }] = containers;
  const service = { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: "http" }] };
  const metadata = { name, namespace: name, labels: { app: name } };
  const kinds = ["Namespace", "NetworkPolicy"];
  const template = parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject);
  return [
    ...template.filter(({ kind }) => kinds.includes(kind ?? "")),
    { apiVersion: "v1", kind: "Service", metadata, spec: service } as KubernetesObject,
    { apiVersion: "v1", kind: "Pod", metadata, spec: { securityContext, containers: [container], volumes } },
  ] as KubernetesObject[];
}

describe("a pod of an application, under the policies that every application gets", () => {
  let app: Place;
  let neighbour: Place;
  let metadata: ChildProcess | undefined;

  beforeAll(async () => {
    await cluster.vpcCni({ enableNetworkPolicy: "true" });
    for (const name of ["orders", "neighbour"]) {
      const [namespace, ...objects] = await application(name);
      await cluster.kube.apply([namespace as KubernetesObject]);
      await waitForAccount(name);
      await cluster.kube.apply(objects);
    }
    app = await cluster.pod("orders", "orders");
    neighbour = await cluster.pod("neighbour", "neighbour");
    // Something that answers at the metadata service's address on the node, as on an EC2 instance.
    const onNode = [`--net=${nodePath(cluster.node)}`, "--"];
    await run(["nsenter", ...onNode, "ip", "address", "replace", `${METADATA}/32`, "dev", "lo"]);
    const server = `require("node:http").createServer((_, response) => response.end()).listen(80, "${METADATA}")`;
    metadata = spawn("nsenter", [...onNode, process.execPath, "-e", server], { stdio: "inherit" });
  });
  afterAll(() => void metadata?.kill());

  const waitForAccount = async (namespace: string) => {
    for (let tries = 0; tries < 240; tries++) {
      if ((await cluster.kube.find("v1", "ServiceAccount", "default", namespace)) !== undefined) return;
      await new Promise((done) => setTimeout(done, 250));
    }
    throw new Error(`namespace ${namespace} has no service account`);
  };

  test("finds AWS by name, and speaks with it over TLS", async () => {
    const name = "sts.us-east-1.amazonaws.com";
    const { instance } = cluster.cloud;
    const { dnsAddress } = await findCluster(instance, CLUSTER);
    expect(await app.network.resolve(dnsAddress, name)).toBe(instance.gatewayAddress);
    expect(await app.network.get(name, instance.gatewayAddress)).toMatch(/^[1-5]\d\d$/);
  });

  test.for<[what: string, address: () => string, port: number]>([
    ["the metadata service of its node", () => METADATA, 80],
    ["the kubelet of its node", () => cluster.node.address, KUBELET],
    ["kube-proxy of its node", () => cluster.node.address, 10256],
    ["the gateway's AWS API without TLS", () => cluster.cloud.instance.gatewayAddress, 4566],
    ["another port of the DNS server", () => cluster.dns.address, READINESS],
    ["another tenant's pod", () => neighbour.address, HTTP],
  ])("does not reach %s, which a pod of the platform does", async ([, address, port]) => {
    await expect.poll(() => cluster.dns.network.connect(address(), port), poll).toBe("open");
    expect(await app.network.connect(address(), port)).toBe(REFUSED);
  });

  test("is reached on its own port by the platform, and on no other", async () => {
    expect(await cluster.dns.network.connect(app.address, HTTP)).toBe("open");
    expect(await cluster.dns.network.connect(app.address, METRICS)).toBe(REFUSED);
    expect(await cluster.node.network.connect(app.address, METRICS)).toBe("open");
  });

  test("is not reached by another tenant, also when that may connect to everything", async () => {
    expect(await neighbour.network.connect(app.address, HTTP)).toBe(REFUSED);
    await cluster.kube.apply([policy("open", "neighbour", [{}])]);
    await expect.poll(() => neighbour.network.connect(cluster.node.address, KUBELET), poll).toBe("open");
    expect(await neighbour.network.connect(app.address, HTTP)).toBe(REFUSED);
  });

  test("answers a person through kubectl port-forward, not through the API server's proxy", async () => {
    const { bin } = await ensureToolchain();
    const kubectl = [bin("kubectl"), "--kubeconfig", adminKubeconfig(cluster.cloud.instance, CLUSTER)] as const;
    const question = { namespace: "orders", service: "orders", port: "http", path: "/api/info" };
    expect(JSON.parse(await ask([...kubectl], question))).toHaveProperty("hostname", "orders");
    const proxy = "/api/v1/namespaces/orders/services/orders:http/proxy/api/info";
    await expect(run([...kubectl, "get", "--raw", proxy])).rejects.toThrow(/connection refused|ServiceUnavailable/);
  });
});

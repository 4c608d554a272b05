import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "@eks-gitops-fleet/local/instance";
import type { Place } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { nodeNetworkPath, type PolicyNode, startPolicyNode } from "./support/policy-node.ts";

const poll = { timeout: 60_000, interval: 500 };
const REFUSED = "ECONNREFUSED";
const METADATA = "169.254.169.254";
const KUBELET = 10250;
/** The application's own port and that of its metrics, as in the demo's. */
const HTTP = 9898;
const METRICS = 9797;
const HTTPS = 443;
/** A database of RDS, in the VPC. */
const POSTGRES = 5432;
/** CoreDNS: questions and its readiness. */
const DNS = 53;
const READINESS = 8181;
const template = join(import.meta.dirname, "..", "..", "repos", "gitops-workloads", "templates", "app");

let machine: PolicyNode;
/** Of the platform, and no NetworkPolicy selects it: the twin of every refusal. */
let dns: Place;
let app: Place;
let neighbour: Place;
const listeners: ChildProcess[] = [];

/** The namespace and the NetworkPolicies that every application gets. @param peers where load balancers are */
async function application(name: string, peers: readonly string[]): Promise<{ namespace: object; policies: object[] }> {
  const read = async (file: string) => {
    const text = await readFile(join(template, file), "utf8");
    const own = text
      .replaceAll("__app__", name)
      .replaceAll("__tenant__", `team-${name}`)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
      .replaceAll("${aws_vpc_cidr}", `${machine.host}/32`)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
      .replaceAll("${load_balancer_peers}", JSON.stringify(peers.map((cidr) => ({ ipBlock: { cidr } }))));
    return parseAllDocuments(own).map((document) => document.toJS() as { kind: string });
  };
  const namespace = (await read("namespace.yaml")).find(({ kind }) => kind === "Namespace");
  return { namespace: namespace ?? {}, policies: await read("network.yaml") };
}

beforeAll(async () => {
  machine = await startPolicyNode();
  dns = await machine.pod("kube-system", "coredns", { "k8s-app": "kube-dns" }, { dns: DNS, ready: READINESS });
  const ports = { http: HTTP, metrics: METRICS, https: HTTPS };
  const places: Place[] = [];
  // As the bridge says it on a cluster with load balancers, and on one without.
  const balancers = { orders: `${machine.host}/32`, neighbour: "255.255.255.255/32" };
  for (const [name, peers] of Object.entries(balancers)) {
    const { namespace, policies } = await application(name, [peers]);
    await machine.apply(namespace);
    places.push(await machine.pod(name, name, { app: name }, ports));
    await machine.apply(...policies);
  }
  [app, neighbour] = places as [Place, Place];
  await run(["nsenter", `--net=${nodeNetworkPath()}`, "--", "ip", "address", "add", `${METADATA}/32`, "dev", "lo"]);
  listeners.push(await machine.node.network.listen("0.0.0.0", KUBELET, 80, HTTPS, POSTGRES));
  listeners.push(await machine.outside.listen(machine.host, HTTPS, POSTGRES, 4566));
});
afterAll(async () => {
  for (const listener of listeners) listener.kill();
  await machine?.remove();
});

test("a pod of an application reaches DNS, by TCP and UDP, AWS's APIs on port 443, and databases in the VPC on theirs", async () => {
  await expect.poll(() => app.network.connect(dns.address, READINESS), poll).toBe(REFUSED);
  expect(await app.network.connect(dns.address, DNS)).toBe("open");
  expect(await app.network.datagram(dns.address, DNS)).toBe("answered");
  expect(await app.network.connect(machine.host, HTTPS)).toBe("open");
  expect(await app.network.connect(machine.host, POSTGRES)).toBe("open");
});

test.for<[what: string, address: () => string, port: number]>([
  ["the metadata service of its node", () => METADATA, 80],
  ["the metadata service on the port of AWS's APIs", () => METADATA, HTTPS],
  ["the kubelet of its node", () => machine.node.address, KUBELET],
  ["another port outside of the cluster", () => machine.host, 4566],
  ["a database's port outside of the VPC", () => METADATA, POSTGRES],
  ["another port of the DNS server", () => dns.address, READINESS],
  ["another tenant's pod", () => neighbour.address, HTTP],
  ["another tenant's pod on the port of AWS's APIs", () => neighbour.address, HTTPS],
])("it does not reach %s", async ([, address, port]) => {
  await expect.poll(() => app.network.connect(address(), port), poll).toBe(REFUSED);
  // The twin: something listens there, and only the policies stop it.
  const from = address() === neighbour.address && port === HTTPS ? machine.node : dns;
  expect(await from.network.connect(address(), port)).toBe("open");
});

test("it is reached on its own port by the platform, and on no other", async () => {
  await expect.poll(() => dns.network.connect(app.address, METRICS), poll).toBe(REFUSED);
  expect(await dns.network.connect(app.address, HTTP)).toBe("open");
  expect(await machine.node.network.connect(app.address, METRICS)).toBe("open");
});

test("it is reached on its own port by load balancers, and on no other; without load balancers by nobody from outside", async () => {
  await expect.poll(() => machine.outside.connect(app.address, METRICS), poll).toBe(REFUSED);
  expect(await machine.outside.connect(app.address, HTTP)).toBe("open");
  expect(await machine.outside.connect(neighbour.address, HTTP)).toBe(REFUSED);
});

test("it is not reached by another tenant, also when that may connect to everything", async () => {
  const spec = { podSelector: {}, policyTypes: ["Egress"], egress: [{}] };
  const metadata = { name: "open", namespace: "neighbour" };
  await machine.apply({ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec });
  await expect.poll(() => neighbour.network.connect(dns.address, READINESS), poll).toBe("open");
  for (const port of [HTTP, METRICS, HTTPS]) expect(await neighbour.network.connect(app.address, port)).toBe(REFUSED);
});

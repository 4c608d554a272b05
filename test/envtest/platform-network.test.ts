import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { run } from "@eks-gitops-fleet/local/instance";
import type { Place } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { podSecurityLabels } from "../../lib/labels.ts";
import { build } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { nodeNetworkPath, type PolicyNode, startPolicyNode } from "./support/policy-node.ts";

/** The NetworkPolicies of the platform's namespaces, enforced as on a node of the embedded cloud. */

const poll = { timeout: 60_000, interval: 500 };
const REFUSED = "ECONNREFUSED";
const METADATA = "169.254.169.254";
const POD_IDENTITY = "169.254.170.23";
const [DNS, READINESS, HTTPS, SSH, HTTP, METRICS, WEBHOOK, RECEIVER] = [53, 8181, 443, 22, 8080, 8081, 9443, 9292];
const policies = (namespace: string) =>
  build(join(system, "platform", "policies", "namespaces", namespace)).filter(({ kind }) => kind === "NetworkPolicy");

let machine: PolicyNode;
/** CoreDNS, which no policy selects: what it reaches, only policies can close. */
let dns: Place;
const places: Record<string, Place> = {};
const listeners: ChildProcess[] = [];
const place = (name: string): Place => {
  const found = places[name];
  if (found === undefined) throw new Error(`no pod ${name}`);
  return found;
};

beforeAll(async () => {
  machine = await startPolicyNode();
  dns = await machine.pod("kube-system", "coredns", { "k8s-app": "kube-dns" }, { dns: DNS, ready: READINESS });
  const pods: [namespace: string, name: string, labels: Record<string, string>, ports: Record<string, number>][] = [
    ["external-secrets", "external-secrets", {}, { metrics: HTTP }],
    [
      "sealed-secrets",
      "sealed-secrets",
      { "app.kubernetes.io/name": "sealed-secrets" },
      { http: HTTP, metrics: METRICS },
    ],
    ["flux-system", "source-controller", { app: "source-controller" }, { http: HTTP }],
    ["flux-system", "notification-controller", { app: "notification-controller" }, { http: HTTP, hook: RECEIVER }],
    ["crossplane-system", "crossplane", {}, { webhooks: WEBHOOK, metrics: HTTP }],
    ["prometheus", "prometheus", { "app.kubernetes.io/name": "prometheus" }, { http: HTTP }],
  ];
  for (const name of new Set(pods.map(([namespace]) => namespace)))
    await machine.apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: podSecurityLabels("baseline") },
    });
  for (const [namespace, name, labels, ports] of pods) places[name] = await machine.pod(namespace, name, labels, ports);
  for (const namespace of new Set(pods.map(([namespace]) => namespace))) await machine.apply(...policies(namespace));
  for (const address of [METADATA, POD_IDENTITY])
    await run(["nsenter", `--net=${nodeNetworkPath()}`, "--", "ip", "address", "add", `${address}/32`, "dev", "lo"]);
  listeners.push(await machine.node.network.listen("0.0.0.0", 80, HTTPS, SSH));
  listeners.push(await machine.outside.listen(machine.host, HTTPS, SSH));
});
afterAll(async () => {
  for (const listener of listeners) listener.kill();
  await machine?.remove();
});

const outside = () => machine.host;
const dnsAddress = () => dns.address;
const of = (name: string) => () => place(name).address;

type Target = [what: string, address: () => string, port: number];
/** Each of these is open to CoreDNS: only a policy stops a connection. */
const never: Target[] = [
  ["the metadata of its node", () => METADATA, 80],
  ["the metadata of its node by TLS", () => METADATA, HTTPS],
];

describe.each<[name: string, reaches: Target[], doesNotReach: Target[]]>([
  [
    "external-secrets",
    [
      ["DNS", dnsAddress, DNS],
      ["AWS's APIs", outside, HTTPS],
      ["the agent of EKS Pod Identity", () => POD_IDENTITY, 80],
    ],
    [
      ...never,
      ["SSH", outside, SSH],
      ["another port of the DNS server", dnsAddress, READINESS],
      ["the HTTP port of sealed-secrets", of("sealed-secrets"), HTTP],
      ["a webhook", of("crossplane"), WEBHOOK],
    ],
  ],
  [
    "source-controller",
    [
      ["DNS", dnsAddress, DNS],
      ["a Git host by SSH", outside, SSH],
      ["a pod of its namespace", of("notification-controller"), HTTP],
    ],
    [...never, ["a metrics port of Crossplane", of("crossplane"), HTTP]],
  ],
  [
    "prometheus",
    [
      ["the metrics of external-secrets", of("external-secrets"), HTTP],
      ["the metrics of Crossplane", of("crossplane"), HTTP],
    ],
    never,
  ],
])("a pod of %s", (name, reaches, doesNotReach) => {
  test.each(doesNotReach)("does not reach %s", async (_, address, port) => {
    await expect.poll(() => place(name).network.connect(address(), port), poll).toBe(REFUSED);
  });

  test.each(reaches)("reaches %s", async (_, address, port) => {
    await expect.poll(() => place(name).network.connect(address(), port), poll).toBe("open");
  });
});

test("CoreDNS, which no policy selects, reaches the node's link-local addresses and ports outside", async () => {
  for (const [address, port] of [
    [METADATA, 80],
    [METADATA, HTTPS],
    [outside(), SSH],
  ] as const)
    expect(await dns.network.connect(address, port)).toBe("open");
});

test.each<Target>([
  ["the port of kubeseal", of("sealed-secrets"), HTTP],
  ["webhooks of Crossplane and its providers", of("crossplane"), WEBHOOK],
])("the API server, whose address no policy knows, reaches %s", async (_, address, port) => {
  await expect.poll(() => machine.outside.connect(address(), port), poll).toBe("open");
});

test.each<Target>([
  ["the metrics of Sealed Secrets", of("sealed-secrets"), METRICS],
  ["the metrics of External Secrets", of("external-secrets"), HTTP],
  ["the metrics of Crossplane", of("crossplane"), HTTP],
  ["artifacts of source-controller", of("source-controller"), HTTP],
  ["events of notification-controller", of("notification-controller"), HTTP],
  ["Prometheus", of("prometheus"), HTTP],
])("neither a pod of another namespace nor the network reaches %s", async (_, address, port) => {
  await expect.poll(() => dns.network.connect(address(), port), poll).toBe(REFUSED);
  await expect.poll(() => machine.outside.connect(address(), port), poll).toBe(REFUSED);
  // Something listens there: the node reaches it, as kubelet's probes must.
  expect(await machine.node.network.connect(address(), port)).toBe("open");
});

test("a pod of another namespace reaches the port of Receivers, and the network does not", async () => {
  await expect.poll(() => dns.network.connect(of("notification-controller")(), RECEIVER), poll).toBe("open");
  await expect.poll(() => machine.outside.connect(of("notification-controller")(), RECEIVER), poll).toBe(REFUSED);
});

import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findCluster } from "../../local/clusters/options.ts";
import { GIT_SSH_PORT } from "../../local/git/index.ts";
import { run } from "../../local/instance/command.ts";
import { REGISTRY_PORT } from "../../local/registry/names.ts";
import { APP, sharedApp } from "./support/apps.ts";
import { eventually, instance, root } from "./support/fleet.ts";
import { type Network, networkAt, nodeOf, nodePath, podNetwork } from "./support/pod-network.ts";
import { clusterOf, getOnSpoke, onSpoke, sharedSpoke } from "./support/spokes.ts";

const SPOKE = "blue";
/** Another tenant's namespace, from the template of every application. */
const NEIGHBOUR = "neighbour";
const METADATA = "169.254.169.254";
const HTTP = 9898;
const METRICS = 9797;
const REFUSED = "ECONNREFUSED";

interface Place {
  readonly address: string;
  readonly network: Network;
}

let app: Place;
let neighbour: Place;
/** A pod of the platform, which no NetworkPolicy selects: the twin of every refusal. */
let platform: Place;
let node: Place;
let dnsAddress: string;
let metadata: ChildProcess;
let removeMetadata: () => Promise<unknown>;

const isReady = ({ metadata, status }: V1Pod) =>
  metadata?.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");

async function podOf(namespace: string, selector: string): Promise<Place> {
  const pod = await eventually(120, async () => {
    const { items } = await getOnSpoke(SPOKE, ["pods", "--namespace", namespace, "--selector", selector]);
    const found = (items as V1Pod[]).find(isReady);
    expect(found, `a Ready pod ${selector} in ${namespace}`).toBeDefined();
    return found as V1Pod;
  });
  return { address: pod.status?.podIP ?? "", network: await podNetwork(instance, clusterOf(SPOKE), pod) };
}

/** A namespace as the governance team's template makes it, with one pod that listens like the application. */
async function addNeighbour(): Promise<void> {
  const folder = join(root, "repos", "gitops-workloads", "templates", "app");
  const texts = await Promise.all(
    ["namespace.yaml", "network.yaml"].map((file) => readFile(join(folder, file), "utf8")),
  );
  const input = texts.join("---\n").replaceAll("__app__", NEIGHBOUR).replaceAll("__tenant__", "neighbours");
  await onSpoke(SPOKE, ["apply", "--filename", "-"], { input });
  const [{ spec }] = (await getOnSpoke(SPOKE, ["deployments", "--namespace", APP])).items;
  const { securityContext, containers, volumes } = spec.template.spec;
  const [{ env: _, ...container }] = containers;
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NEIGHBOUR, namespace: NEIGHBOUR, labels: { app: NEIGHBOUR } },
    spec: { securityContext, containers: [container], volumes },
  };
  await eventually(60, () => onSpoke(SPOKE, ["apply", "--filename", "-"], { input: JSON.stringify(pod) }));
}

/** Something that answers at the metadata service's address, on the node, as on an EC2 instance. */
async function serveMetadata(path: string): Promise<void> {
  const onNode = ["nsenter", `--net=${path}`, "--"] as const;
  const address = (action: string) => run([...onNode, "ip", "address", action, `${METADATA}/32`, "dev", "lo"]);
  await address("replace");
  const server = `require("node:http").createServer((_, r) => r.end("i-0")).listen(80, "${METADATA}")`;
  metadata = spawn("nsenter", [...onNode.slice(1), process.execPath, "-e", server], { stdio: "inherit" });
  removeMetadata = () => address("del");
}

beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  await addNeighbour();
  const cluster = clusterOf(SPOKE);
  ({ dnsAddress } = await findCluster(instance, cluster));
  app = await podOf(APP, `app.kubernetes.io/name=${APP}`);
  neighbour = await podOf(NEIGHBOUR, `app=${NEIGHBOUR}`);
  platform = await podOf("kube-system", "k8s-app=kube-dns");
  const { hostIP } = (await getOnSpoke(SPOKE, ["pods", "--namespace", APP])).items[0].status;
  const nodes = await Promise.all([0, 1, 2, 3].map((number) => nodeOf(instance, cluster, number)));
  const host = nodes.find(({ address }) => address === hostIP);
  if (host === undefined) throw new Error(`no node has the address ${hostIP}`);
  node = { address: host.address, network: networkAt(instance, nodePath(host)) };
  await serveMetadata(nodePath(host));
});
afterAll(async () => {
  metadata?.kill();
  await removeMetadata?.();
  await onSpoke(SPOKE, ["delete", "namespace", NEIGHBOUR, "--ignore-not-found"]);
});

describe("a pod of an application", () => {
  test("finds AWS by name, and speaks with it over TLS", async () => {
    const name = "sts.us-east-1.amazonaws.com";
    expect(await app.network.resolve(dnsAddress, name)).toBe(instance.gatewayAddress);
    expect(await app.network.get(name, instance.gatewayAddress)).toMatch(/^[234]\d\d$/);
  });

  test("asks the cluster's DNS, and nothing else of it", async () => {
    expect(await app.network.connect(platform.address, 53)).toBe("open");
    expect(await app.network.connect(platform.address, 8181)).toBe(REFUSED);
    expect(await node.network.connect(platform.address, 8181)).toBe("open");
  });

  test.for<[what: string, address: () => string, port: number]>([
    ["the metadata service of its node", () => METADATA, 80],
    ["the kubelet of its node", () => node.address, 10250],
    ["kube-proxy of its node", () => node.address, 10256],
    ["the AWS API for tools of the machine, without TLS", () => instance.gatewayAddress, 4566],
    ["the Git server", () => instance.gatewayAddress, GIT_SSH_PORT],
    ["the package registry", () => instance.gatewayAddress, REGISTRY_PORT],
    ["another tenant's pod", () => neighbour.address, HTTP],
  ])("does not reach %s, which a pod without NetworkPolicies does", async ([, address, port]) => {
    expect(await app.network.connect(address(), port)).toBe(REFUSED);
    await eventually(20, async () => expect(await platform.network.connect(address(), port)).toBe("open"));
  });

  test("is reached on its own port by the platform, on no other, and by no other tenant", async () => {
    expect(await platform.network.connect(app.address, HTTP)).toBe("open");
    expect(await platform.network.connect(app.address, METRICS)).toBe(REFUSED);
    expect(await node.network.connect(app.address, METRICS)).toBe("open");
    expect(await neighbour.network.connect(app.address, HTTP)).toBe(REFUSED);
  });
});

test("an application that may connect to everything is still kept out of another tenant's pods", async () => {
  const open = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "open", namespace: NEIGHBOUR },
    spec: { podSelector: {}, policyTypes: ["Egress"], egress: [{}] },
  };
  await onSpoke(SPOKE, ["apply", "--filename", "-"], { input: JSON.stringify(open) });
  await eventually(30, async () => expect(await neighbour.network.connect(node.address, 10250)).toBe("open"));
  expect(await neighbour.network.connect(app.address, HTTP)).toBe(REFUSED);
  expect(await platform.network.connect(app.address, HTTP)).toBe("open");
});

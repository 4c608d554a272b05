import "reflect-metadata";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, KubeConfig, KubernetesObjectApi, type V1Pod, VersionApi } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminKubeconfig, removeAll, startControlPlane, startNode, stopNode } from "../../clusters/index.ts";
import { ensureInstanceCa } from "../../gateway/ca.ts";
import { clusterAt, type Instance, nodeAt } from "../../instance/addresses.ts";
import { run } from "../../instance/command.ts";
import { openInstance, releaseInstance } from "../../instance/instance.ts";
import { leftovers } from "../../instance/leftovers.ts";
import { mountsUnder } from "../../instance/mounts.ts";
import { processesOf } from "../../instance/processes.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { writeImageArchive } from "../../toolchain/image-archive.ts";
import { ensureToolchain, imageReferences } from "../../toolchain/index.ts";
import { corednsObjects } from "../support/coredns.ts";

// kubectl is a static HTTP client that uses DNS and the system's root certificates: all that a probe needs.
const PROBE_IMAGE = "fleet.internal/probe:1";
const NODE = "ip-10-0-1-5.ec2.internal";
/** As long as EKS allows, in another account than the hub's. */
const LONGEST = `${"n".repeat(100)}.123456789012`;
const CLUSTERS = [
  { name: "hub", number: 0, kubernetesVersion: "1.34" },
  { name: LONGEST, number: 1, kubernetesVersion: "1.33" },
] as const;
/** Of an instance in a directory that programs may misread: spaces, quotes, other letters than ASCII, more than 200 characters. */
const DEEP = ["ä it's", "数 据", "d".repeat(200)];

describe("clusters of an instance in a deep directory", () => {
  let instance: Instance;
  let base: string;
  const servers: Server[] = [];

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), "fleet-clusters-"));
    instance = await openInstance(join(base, ...DEEP));
    const ca = await ensureInstanceCa(instance);
    const pair = await ca.issue("gateway.fleet.internal");
    servers.push(createHttpServer(answer).listen(18080, instance.gatewayAddress));
    servers.push(createHttpsServer(pair, answer).listen(18443, instance.gatewayAddress));
    const archive = join(instance.dir, "probe.tar");
    const { bin } = await ensureToolchain();
    await writeImageArchive(
      {
        reference: PROBE_IMAGE,
        entrypoint: ["/kubectl"],
        user: "65532",
        files: { "/kubectl": { source: bin("kubectl") } },
      },
      archive,
    );
    for (const cluster of CLUSTERS) {
      await startControlPlane(instance, controlPlane(cluster));
      await startNode(instance, cluster.name, nodeOptions);
      const socket = join(nodeAt(instance, addressesOf(cluster), 0).run, "containerd.sock");
      await run([bin("ctr"), "--address", socket, "--namespace", "k8s.io", "images", "import", archive]);
      const objects = KubernetesObjectApi.makeApiClient(kubeconfig(cluster.name));
      const { dnsAddress } = addressesOf(cluster);
      for (const object of corednsObjects(imageReferences.coredns, dnsAddress, {
        "gateway.fleet.internal": instance.gatewayAddress,
      }))
        await objects.create(object);
    }
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    await removeAll(instance);
    await supervisorOf(instance).shutdown();
    await releaseInstance(instance);
    expect(await leftovers(instance)).toEqual([]);
    await rm(base, { recursive: true });
  });

  const nodeOptions = {
    number: 0,
    nodeName: NODE,
    labels: { "eks.amazonaws.com/nodegroup": "default" },
    instanceType: "m6i.large",
    zone: "us-east-1a",
    instanceId: "i-0123456789abcdef0",
  };

  type Cluster = { readonly name: string; readonly number: number; readonly kubernetesVersion: string };
  const addressesOf = ({ name, number }: Cluster) => clusterAt(instance, name, number);
  const issuerOf = ({ number }: Cluster) =>
    `https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDE${number}`;
  const controlPlane = (cluster: Cluster) => ({
    ...cluster,
    issuer: issuerOf(cluster),
    tokenWebhookUrl: `http://${instance.loopbackAddress}:9443/authenticate/${cluster.name}`,
  });

  function kubeconfig(name: string): KubeConfig {
    const config = new KubeConfig();
    config.loadFromFile(adminKubeconfig(instance, name));
    return config;
  }

  const core = (name: string) => kubeconfig(name).makeApiClient(CoreV1Api);

  async function until<T>(what: string, attempt: () => Promise<T | undefined | false>): Promise<T> {
    let fault: unknown;
    for (let tries = 0; tries < 600; tries++) {
      try {
        const result = await attempt();
        if (result !== undefined && result !== false) return result;
      } catch (error) {
        fault = error;
      }
      await sleep(200);
    }
    throw new Error(`did not come true: ${what}`, { cause: fault });
  }

  let probes = 0;

  /** Runs kubectl as a pod; gives how it ended and what it printed. */
  async function probe(cluster: string, ...args: string[]): Promise<{ ok: boolean; output: string }> {
    const name = `probe-${++probes}`;
    const api = core(cluster);
    const namespace = "default";
    const container = { name: "probe", image: PROBE_IMAGE, args: ["--request-timeout=5s", ...args] };
    await until("a service account to run as", () => api.readNamespacedServiceAccount({ name: "default", namespace }));
    await api.createNamespacedPod({
      namespace,
      body: { metadata: { name }, spec: { restartPolicy: "Never", containers: [container] } },
    });
    const ended = await until(`${name} ends`, async (): Promise<V1Pod | undefined> => {
      const pod = await api.readNamespacedPod({ name, namespace });
      return ["Succeeded", "Failed"].includes(pod.status?.phase ?? "") ? pod : undefined;
    });
    const output = await api.readNamespacedPodLog({ name, namespace });
    return { ok: ended.status?.phase === "Succeeded", output };
  }

  async function dnsReady(cluster: string): Promise<V1Pod> {
    return await until(`CoreDNS of ${cluster} is ready`, async () => {
      const { items } = await core(cluster).listNamespacedPod({
        namespace: "kube-system",
        labelSelector: "k8s-app=kube-dns",
      });
      return items.find((pod) =>
        pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
      );
    });
  }

  test.each(CLUSTERS)(
    "$name has a Ready node that looks like one of EKS, at the version asked for",
    async (cluster) => {
      const node = await core(cluster.name).readNode({ name: NODE });
      expect(node.spec?.providerID).toBe("aws:///us-east-1a/i-0123456789abcdef0");
      expect(node.metadata?.labels).toMatchObject({
        "eks.amazonaws.com/nodegroup": "default",
        "node.kubernetes.io/instance-type": "m6i.large",
        "topology.kubernetes.io/zone": "us-east-1a",
        "topology.kubernetes.io/region": "us-east-1",
      });
      const version = await kubeconfig(cluster.name).makeApiClient(VersionApi).getCode();
      expect(`${version.emulationMajor}.${version.emulationMinor}`).toBe(cluster.kubernetesVersion);
    },
  );

  test.each(CLUSTERS)(
    "a pod of $name finds Services and the gateway by DNS, and trusts the instance's CA",
    async ({ name }) => {
      await dnsReady(name);
      const gateway = await probe(name, "--server=http://gateway.fleet.internal:18080", "get", "--raw=/hello");
      expect(gateway).toEqual({ ok: true, output: expect.stringContaining("hello from the gateway") });
      const tls = await probe(
        name,
        "--server=https://gateway.fleet.internal:18443",
        "--token=x",
        "get",
        "--raw=/hello",
      );
      expect(tls).toEqual({ ok: true, output: expect.stringContaining("hello from the gateway") });
      const ca = "--certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
      const service = ["get", "--raw=/readyz", "--token=x", "--server=https://kubernetes.default.svc.cluster.local"];
      const verified = await probe(name, ...service, ca);
      expect(verified.output, "past TLS, refused for its token").toContain("Unauthorized");
      const untrusted = await probe(name, ...service);
      expect(untrusted).toEqual({ ok: false, output: expect.stringContaining("unknown authority") });
    },
  );

  test("a pod reaches nothing outside its instance", async () => {
    const [route] = JSON.parse(await run(["ip", "-json", "route", "get", "192.0.2.200"])) as { prefsrc: string }[];
    const machine = `http://${route?.prefsrc}:18080`;
    servers.push(createHttpServer(answer).listen(18080, route?.prefsrc));
    await until("this machine itself reaches it", async () => (await fetch(machine)).ok);
    const loopback = `https://${instance.loopbackAddress}:2379`;
    for (const server of [machine, "http://192.0.2.200", "http://127.0.0.1:2379", loopback]) {
      const { ok, output } = await probe("hub", `--server=${server}`, "get", "--raw=/");
      expect({ server, ok }, output).toEqual({ server, ok: false });
    }
    const rules = await run(["nft", "list", "table", "inet", instance.kernel.nftTable]);
    const refused = [...rules.matchAll(/iifname .* counter packets (\d+)/g)].map((match) => Number(match[1]));
    expect(
      refused.every((packets) => packets > 0),
      rules,
    ).toBe(true);
  });

  test("the host reaches Services, so the API server can call webhooks in pods", async () => {
    for (const cluster of CLUSTERS) {
      await dnsReady(cluster.name);
      const health = await until("health over the Service", async () => {
        const response = await fetch(`http://${addressesOf(cluster).dnsAddress}:8080/health`);
        return response.ok && (await response.text());
      });
      expect(health).toBe("OK");
    }
  });

  test("service account tokens name the cluster's own issuer and are not made for AWS unless asked", async () => {
    const [hub, spoke] = await Promise.all(
      CLUSTERS.map(async ({ name }) => {
        const { status } = await core(name).createNamespacedServiceAccountToken({
          name: "default",
          namespace: "default",
          body: { spec: { audiences: [] } },
        });
        return JSON.parse(Buffer.from(status?.token?.split(".")[1] ?? "", "base64url").toString()) as {
          iss: string;
          aud: string[];
        };
      }),
    );
    expect(hub?.iss).toBe(issuerOf(CLUSTERS[0]));
    expect(spoke?.iss).toBe(issuerOf(CLUSTERS[1]));
    expect(hub?.aud).toEqual([issuerOf(CLUSTERS[0]), "https://kubernetes.default.svc"]);
  });

  test("every killed process comes back, pods live on meanwhile", async () => {
    const before = await dnsReady("hub");
    const killed = await supervisorOf(instance).list();
    expect(killed.map(({ state }) => state)).toEqual(killed.map(() => "ready"));
    expect(killed.length).toBe(13);
    for (const { pid } of killed) process.kill(pid as number, "SIGKILL");
    await until("all are ready again", async () => {
      const now = await supervisorOf(instance).list();
      return now.every(({ id, state, pid }) => state === "ready" && pid !== killed.find((old) => old.id === id)?.pid);
    });
    const events = await readFile(instance.paths.events, "utf8");
    for (const { id } of killed) expect(events).toContain(`${id} ended (signal SIGKILL): starting it again`);
    const after = await dnsReady("hub");
    expect(after.status?.containerStatuses?.[0]?.containerID).toBe(before.status?.containerStatuses?.[0]?.containerID);
    const gateway = await probe("hub", "--server=http://gateway.fleet.internal:18080", "get", "--raw=/hello");
    expect(gateway.ok, gateway.output).toBe(true);
  });

  test("an upgrade restarts the control plane under the next version and keeps objects and pods", async () => {
    const hub = CLUSTERS[0];
    const api = core("hub");
    await api.createNamespacedConfigMap({
      namespace: "default",
      body: { metadata: { name: "kept" }, data: { a: "1" } },
    });
    const before = await dnsReady("hub");
    await startControlPlane(instance, controlPlane({ ...hub, kubernetesVersion: "1.35" }));
    const version = await kubeconfig("hub").makeApiClient(VersionApi).getCode();
    expect(version.emulationMinor).toBe("35");
    expect((await api.readNamespacedConfigMap({ name: "kept", namespace: "default" })).data).toEqual({ a: "1" });
    const after = await dnsReady("hub");
    expect(after.metadata?.uid).toBe(before.metadata?.uid);
  });

  test("volumes of pods are in memory, mounted once", async () => {
    const node = nodeAt(instance, addressesOf(CLUSTERS[0]), 0);
    await startNode(instance, "hub", nodeOptions);
    const pods = join(node.run, "kubelet", "pods");
    expect((await mountsUnder(node.run)).filter((point) => point === pods)).toEqual([pods]);
    expect(await readFile("/proc/self/mountinfo", "utf8")).toMatch(new RegExp(` ${pods} .* tmpfs tmpfs `));
  });

  test("a second start changes nothing", async () => {
    const pids = async () => (await supervisorOf(instance).list()).map(({ id, pid }) => `${id} ${pid}`);
    const before = await pids();
    await startControlPlane(instance, controlPlane({ ...CLUSTERS[0], kubernetesVersion: "1.35" }));
    await startNode(instance, "hub", nodeOptions);
    expect(await pids()).toEqual(before);
  });

  test("a second node carries pods that reach those of the first, and goes without a trace", async () => {
    const second = {
      ...nodeOptions,
      number: 1,
      nodeName: "ip-10-0-2-5.ec2.internal",
      zone: "us-east-1b",
      instanceId: "i-0123456789abcdef1",
    };
    await startNode(instance, LONGEST, second);
    const { node: dnsNode } = { node: (await dnsReady(LONGEST)).spec?.nodeName };
    expect(dnsNode).toBe(NODE);
    const { bin } = await ensureToolchain();
    const node = nodeAt(instance, addressesOf(CLUSTERS[1]), 1);
    const socket = join(node.run, "containerd.sock");
    await run([
      bin("ctr"),
      "--address",
      socket,
      "--namespace",
      "k8s.io",
      "images",
      "import",
      join(instance.dir, "probe.tar"),
    ]);
    await core(LONGEST).patchNode({ name: NODE, body: [{ op: "add", path: "/spec/unschedulable", value: true }] });
    const gateway = await probe(LONGEST, "--server=http://gateway.fleet.internal:18080", "get", "--raw=/hello");
    expect(gateway.ok, gateway.output).toBe(true);
    const ran = await core(LONGEST).readNamespacedPod({ name: `probe-${probes}`, namespace: "default" });
    expect(ran.spec?.nodeName).toBe(second.nodeName);
    await stopNode(instance, LONGEST, 1);
    await stopNode(instance, LONGEST, 1);
    const nodes = await core(LONGEST).listNode();
    expect(nodes.items.map(({ metadata }) => metadata?.name)).toEqual([NODE]);
    const names = (await leftovers(instance)).map(({ name }) => name);
    expect(
      names.filter((name) => name.includes(`${LONGEST}-1`) || name.startsWith(node.link) || name.includes(node.run)),
    ).toEqual([]);
  });

  test("removal works although everything was killed before, and leaves nothing", async () => {
    for (const { pid } of processesOf(instance)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe("ESRCH");
      }
    }
    await removeAll(instance);
    await removeAll(instance);
    await supervisorOf(instance).shutdown();
    const own = ["address", "cgroup", "nft table"];
    expect((await leftovers(instance)).filter(({ kind }) => !own.includes(kind))).toEqual([]);
  });
});

function answer(_request: unknown, response: { end(body: string): void }): void {
  response.end("hello from the gateway");
}

import { describe, expect, test } from "vitest";
import { eks, groupAt, later, updateOf, useEks, withNodes } from "./fakes.ts";

useEks(withNodes);

const GROUP = "/clusters/hub/node-groups/main";
const group = () => groupAt(GROUP);
/** Name of the node that comes next. */
const NEXT = "ip-100-64-0-6.ec2.internal";
const instances = () => [...eks.clusters.nodes.values()].map(({ instanceId }) => instanceId);
const nodes = () => [...eks.clusters.nodes.values()].map(({ nodeName }) => nodeName);
const node = (name: string | undefined) => eks.clusters.objects.get(`hub/Node//${name}`) as never;
const pods = () =>
  [...eks.clusters.objects.values()].filter(({ kind }) => kind === "Pod").map(({ metadata }) => metadata?.name);
const scale = (desiredSize: number) => eks.call("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize } });

/** Puts a pod on a node, as the scheduler does. */
function run(name: string, nodeName: string | undefined, over: { metadata?: object; budgeted?: boolean } = {}): void {
  const metadata = { name, namespace: "shop", ...over.metadata };
  eks.clusters.objects.set(`hub/Pod/shop/${name}`, { kind: "Pod", metadata, spec: { nodeName } } as never);
  if (over.budgeted) eks.clusters.budgeted.add(name);
}

/** The first node, with a pod that a budget holds there. */
function held(): string {
  const [first = ""] = nodes();
  run("shop-1", first, { budgeted: true });
  return first;
}

/** Lets the pods go, and the update with them. */
async function succeeds(update: () => Promise<{ status: string }>): Promise<void> {
  eks.clusters.budgeted.clear();
  await later();
  await expect.poll(async () => (await update()).status).toBe("Successful");
}

/** A version update that runs, with what it was asked for. */
async function begin(body: object): Promise<() => Promise<{ status: string; errors: unknown[] }>> {
  await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
  const { update } = (await eks.call("POST", `${GROUP}/update-version`, body)).body;
  await eks.settle();
  return () => updateOf(update.id);
}

describe("deleting a node group", () => {
  test("evicts the pods and waits until they are gone, with its nodes closed to new ones", async () => {
    const first = held();
    await eks.finish("DELETE", GROUP);
    expect(node(first)).toMatchObject({ spec: { unschedulable: true } });
    expect(eks.clusters.evicted).toContain("shop-1");
    expect(nodes()).toEqual([first]);
    expect((await group()).status).toBe("DELETING");
    eks.clusters.budgeted.clear();
    await later();
    await later();
    expect(nodes()).toEqual([]);
    expect((await eks.call("GET", GROUP)).error).toBe("ResourceNotFoundException");
  });

  test("goes on after five minutes although a budget holds pods", async () => {
    held();
    await eks.finish("DELETE", GROUP);
    await later(299);
    expect((await group()).status).toBe("DELETING");
    await later(1);
    expect([nodes(), pods()]).toEqual([[], []]);
    expect((await eks.call("GET", GROUP)).error).toBe("ResourceNotFoundException");
  });

  test("leaves alone what goes with a node: pods of DaemonSets and of the kubelet's files; a pod that is going is waited for", async () => {
    const [first] = nodes();
    run("agent", first, { metadata: { ownerReferences: [{ kind: "DaemonSet", controller: true }] } });
    run("static", first, { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } });
    run("going", first, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    run("elsewhere", "another-node");
    await eks.finish("DELETE", GROUP);
    expect(eks.clusters.evicted).toEqual([]);
    expect(nodes()).toEqual([first]);
    eks.clusters.objects.delete("hub/Pod/shop/going");
    await later();
    expect([nodes(), pods()]).toEqual([[], ["elsewhere"]]);
  });
});

describe("fewer nodes", () => {
  test("are drained first, while the group is ACTIVE already, and terminated after 15 minutes whatever a budget says", async () => {
    await scale(2);
    await eks.settle();
    const [first, second] = nodes();
    run("shop-1", first);
    run("shop-2", second, { budgeted: true });
    await scale(1);
    await eks.settle();
    expect((await group()).status).toBe("ACTIVE");
    expect(node(second)).toMatchObject({ spec: { unschedulable: true } });
    await later(899);
    expect(nodes()).toEqual([first, second]);
    expect(eks.clusters.evicted).not.toContain("shop-1");
    await later(1);
    expect([nodes(), pods()]).toEqual([[first], ["shop-1"]]);
  });
});

describe("a version update", () => {
  test("has another node first, closes the outdated one, and terminates it when its pods are gone", async () => {
    const first = held();
    const update = await begin({ version: "1.35" });
    const [, second] = nodes();
    expect(nodes()).toEqual([first, second]);
    expect(node(first)).toMatchObject({
      metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } },
      spec: { unschedulable: true },
    });
    expect((await update()).status).toBe("InProgress");
    await succeeds(update);
    expect(nodes()).toEqual([second]);
    expect(await group()).toMatchObject({ status: "ACTIVE", version: "1.35" });
  });

  test("fails after 15 minutes with PodEvictionFailure, and leaves the group and its nodes as they were", async () => {
    const first = held();
    const update = await begin({ version: "1.35" });
    await later(899);
    expect((await update()).status).toBe("InProgress");
    await later(1);
    expect(await update()).toMatchObject({
      status: "Failed",
      errors: [
        {
          errorCode: "PodEvictionFailure",
          errorMessage: "Reached max retries while trying to evict pods from nodes in node group main",
          resourceIds: [first],
        },
      ],
    });
    expect(await group()).toMatchObject({ status: "ACTIVE", version: "1.34", releaseVersion: "1.34.4-20261101" });
    await expect.poll(nodes).toEqual([first]);
    await later();
    expect(node(first)).not.toHaveProperty("spec");
    expect(pods()).toEqual(["shop-1"]);
  });

  test("with force deletes after 15 minutes what a budget holds", async () => {
    const first = held();
    const update = await begin({ version: "1.35", force: true });
    await later(899);
    expect(nodes()).toContain(first);
    await later(1);
    await expect.poll(async () => (await update()).status).toBe("Successful");
    expect(nodes()).not.toContain(first);
    expect(pods()).toEqual([]);
  });

  test("of as many nodes as a cluster can have drains without another one first", async () => {
    await eks.finish("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 4, maxSize: 4 } });
    const before = instances();
    held();
    const update = await begin({ version: "1.35" });
    await later();
    expect(instances()).toEqual(before);
    expect(eks.clusters.evicted).toContain("shop-1");
    expect((await update()).status).toBe("InProgress");
    await succeeds(update);
    expect(instances()).toHaveLength(4);
    expect(instances().filter((id) => before.includes(id))).toEqual([]);
  });

  test("goes on when a new node is away for a while long after it began", async () => {
    held();
    const update = await begin({ version: "1.35" });
    const [, second = ""] = nodes();
    await later(301);
    for (const _ of ["once", "again"]) {
      eks.clusters.notReady.add(second);
      await later();
      await later(250);
      expect((await update()).status).toBe("InProgress");
      eks.clusters.notReady.clear();
      await later();
    }
    await succeeds(update);
  });

  test("fails after five minutes without its new node, and leaves the group as it was, without that node", async () => {
    const [first] = nodes();
    eks.clusters.notReady.add(NEXT);
    const update = await begin({ version: "1.35" });
    await later(299);
    expect((await update()).status).toBe("InProgress");
    await later(1);
    expect(await update()).toMatchObject({ status: "Failed", errors: [{ errorCode: "NodeCreationFailure" }] });
    expect(await group()).toMatchObject({ version: "1.34", releaseVersion: "1.34.4-20261101" });
    await expect.poll(nodes).toEqual([first]);
    await expect.poll(async () => (await group()).status).toBe("ACTIVE");
    expect((await group()).health).toEqual({ issues: [] });
    eks.clusters.notReady.clear();
    await later();
    expect(nodes()).toEqual([first]);
    expect((await update()).status).toBe("Failed");
  });

  test("that begins while a degraded group recovers replaces its nodes all the same", async () => {
    const [first = ""] = nodes();
    await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
    eks.clusters.notReady.add(first);
    await eks.call("POST", `${GROUP}/update-config`, { labels: { addOrUpdateLabels: { team: "a" } } });
    await later();
    await later(300);
    expect((await group()).status).toBe("DEGRADED");
    const before = instances();
    eks.clusters.notReady.clear();
    // While the nodes are looked at, which found them Ready.
    const cluster = eks.clusters.of("hub");
    let id: string | undefined;
    const kube = async () => {
      const api = await cluster.kube();
      const apply: typeof api.apply = async (all) => {
        await api.apply(all);
        if (id !== undefined || all[0]?.kind !== "Node") return;
        id = (await eks.call("POST", `${GROUP}/update-version`, { version: "1.35" })).body.update.id;
      };
      return { ...api, apply };
    };
    eks.clusters.of = () => ({ ...cluster, kube });
    await later();
    const update = () => updateOf(id ?? "");
    await expect.poll(async () => (await update()).status).toBe("Successful");
    expect(instances().filter((each) => before.includes(each))).toEqual([]);
  });
});

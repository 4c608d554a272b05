import { beforeEach, describe, expect, test } from "vitest";
import { EMPTY_SECONDS } from "../../../../gateway/eks/reconcile/auto-nodes.ts";
import { clusterBody, eks, later, roleArn, useEks } from "./fakes.ts";

useEks();

const on = { enabled: true };
const auto = (over: object = {}) => ({
  roleArn: roleArn("auto"),
  bootstrapSelfManagedAddons: false,
  computeConfig: { ...on, nodePools: ["general-purpose", "system"], nodeRoleArn: roleArn("node") },
  storageConfig: { blockStorage: on },
  kubernetesNetworkConfig: { elasticLoadBalancing: on },
  ...over,
});
const create = (over: object = {}) => eks.call("POST", "/clusters", clusterBody("hub", auto(over)));
const update = (body: object) => eks.call("POST", "/clusters/hub/update-config", body);
const cluster = async () => (await eks.get("/clusters/hub")).cluster;

const together = /all either fully enabled or fully disabled/;

describe("a cluster with EKS Auto Mode", () => {
  test("tells of it, and lets the nodes' role in without being asked to", async () => {
    await create();
    await eks.settle();
    expect(await cluster()).toMatchObject({
      status: "ACTIVE",
      computeConfig: { enabled: true, nodePools: ["general-purpose", "system"], nodeRoleArn: roleArn("node") },
      storageConfig: { blockStorage: { enabled: true } },
      kubernetesNetworkConfig: { elasticLoadBalancing: { enabled: true } },
    });
    const entry = await eks.call("GET", `/clusters/hub/access-entries/${encodeURIComponent(roleArn("node"))}`);
    expect(entry.body.accessEntry).toMatchObject({ type: "EC2", kubernetesGroups: [] });
  });

  test.each([
    ["without storage", { storageConfig: undefined }, together],
    ["without load balancing", { kubernetesNetworkConfig: undefined }, together],
    ["without compute", { computeConfig: undefined }, together],
    ["with compute off", { computeConfig: { enabled: false } }, together],
    [
      "with pools and no role for their nodes",
      { computeConfig: { ...on, nodePools: ["system"] } },
      /nodeRoleArn is null or empty, nodePool list cannot be populated/,
    ],
    [
      "with a role and no pools",
      { computeConfig: { ...on, nodeRoleArn: roleArn("node") } },
      /nodeRoleArn is not null or empty, nodePool value\(s\) must be provided/,
    ],
    ["with a pool that EKS does not have", { computeConfig: { ...on, nodePools: ["gpu"] } }, /nodePools/],
    [
      "with a role that EC2 can't assume",
      { computeConfig: { ...on, nodePools: ["system"], nodeRoleArn: roleArn("pod") } },
      /trusted entity/,
    ],
    ["whose role does not let EKS tag sessions", { roleArn: roleArn("cluster") }, /sts:TagSession/],
    ["with the add-ons of EKS", { bootstrapSelfManagedAddons: true }, /bootstrapSelfManagedAddons/],
  ])("is refused %s", async (_, over, message) => {
    const answer = await create(over);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
  });
});

describe("a cluster that is there", () => {
  beforeEach(async () => {
    await create({ computeConfig: undefined, storageConfig: undefined, kubernetesNetworkConfig: undefined });
    await eks.settle();
  });
  const { computeConfig, storageConfig, kubernetesNetworkConfig } = auto();
  const all = { computeConfig, storageConfig, kubernetesNetworkConfig };
  const off = { enabled: false };

  test("gets it and loses it by one update of all three", async () => {
    expect((await update({ computeConfig })).body.message).toMatch(together);
    expect((await update(all)).body.update).toMatchObject({ type: "AutoModeUpdate" });
    await eks.settle();
    expect((await cluster()).computeConfig.enabled).toBe(true);
    expect((await update({ computeConfig: off })).body.message).toMatch(together);
    await update({
      computeConfig: off,
      storageConfig: { blockStorage: off },
      kubernetesNetworkConfig: { elasticLoadBalancing: off },
    });
    await eks.settle();
    expect(await cluster()).toMatchObject({
      status: "ACTIVE",
      computeConfig: off,
      kubernetesNetworkConfig: { elasticLoadBalancing: off },
    });
  });

  test("changes its pools alone, never the role of their nodes, and nothing else with them", async () => {
    await update(all);
    await eks.settle();
    await update({ computeConfig: { nodeRoleArn: roleArn("node"), nodePools: ["system"] } });
    await eks.settle();
    expect((await cluster()).computeConfig).toMatchObject({ enabled: true, nodePools: ["system"] });
    const other = await update({ computeConfig: { nodeRoleArn: roleArn("viewer"), nodePools: ["system"] } });
    expect(other.body.message).toMatch(/can't be changed/);
    const two = await update({ ...all, deletionProtection: true });
    expect(two.body.message).toMatch(/one type of update/);
  });
});

describe("its nodes", () => {
  const pod = (name: string, spec: object = {}) => ({
    kind: "Pod",
    metadata: { name, uid: name, namespace: "default", creationTimestamp: new Date() },
    spec,
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  });
  const put = (name: string, spec?: object) =>
    eks.clusters.objects.set(`hub/Pod/default/${name}`, pod(name, spec) as never);
  const nodes = () => [...eks.clusters.nodes.values()];
  /** One more look at the cluster, some seconds later. */
  const look = (seconds = 1) => later(seconds);
  /** What the scheduler does. */
  const place = (name: string) => {
    const { nodeName } = nodes()[0] ?? {};
    eks.clusters.objects.set(`hub/Pod/default/${name}`, {
      ...pod(name),
      spec: { nodeName },
      status: { phase: "Running" },
    } as never);
  };

  test("are none without pods; one comes for a pod, and goes when no pod is left that keeps it", async () => {
    await create();
    await eks.settle();
    expect(nodes()).toEqual([]);
    put("app");
    await look();
    await look();
    expect(nodes()).toMatchObject([
      {
        zone: "us-east-1a",
        labels: { "eks.amazonaws.com/compute-type": "auto", "karpenter.sh/nodepool": "general-purpose" },
        taints: [],
      },
    ]);
    expect(eks.clusters.agents).toEqual(new Set(["hub/0"]));
    place("app");
    await look(EMPTY_SECONDS * 2);
    expect(nodes()).toHaveLength(1);
    eks.clusters.objects.delete("hub/Pod/default/app");
    await look();
    await look(EMPTY_SECONDS - 2);
    expect(nodes()).toHaveLength(1);
    await look(3);
    expect(nodes()).toEqual([]);
  });

  test("go one after the other when the control plane has another version, as budgets let their pods go", async () => {
    await create();
    await eks.settle();
    put("app");
    await look();
    await look();
    place("app");
    eks.clusters.budgeted.add("app");
    await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
    await look();
    expect(nodes()).toHaveLength(1);
    expect(eks.clusters.evicted).toContain("app");
    eks.clusters.budgeted.delete("app");
    await look();
    await look();
    expect(nodes()).toEqual([]);
  });

  test("don't come for a role without what starting them takes", async () => {
    await create({ roleArn: roleArn("bare") });
    await eks.settle();
    put("app");
    await look();
    await look();
    expect(nodes()).toEqual([]);
  });

  test("go with Auto Mode", async () => {
    await create();
    await eks.settle();
    put("app");
    await look();
    await look();
    expect(nodes()).toHaveLength(1);
    const off = { enabled: false };
    await update({
      computeConfig: off,
      storageConfig: { blockStorage: off },
      kubernetesNetworkConfig: { elasticLoadBalancing: off },
    });
    await eks.settle();
    expect(nodes()).toEqual([]);
  });
});

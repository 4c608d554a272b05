import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { nodeGroup, spoke } from "./support/fixtures.ts";
import { batch, batchKey, change, creating, gpu, gpuKey, keyOf, withGroups } from "./support/node-groups.ts";
import { failing, running } from "./support/world.ts";

describe("a node group that leaves the list", () => {
  it("goes when all others are ready, and its launch template only when its nodes are gone", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    world.report(batchKey, creating);
    change(world, { name: "nodes" }, batch);
    world.settle();
    expect(world.live.get(gpuKey)?.deleting).toBe(false);
    expect(world.answer?.status.nodeGroups?.at(-1)).toMatchObject({ name: "gpu", state: "Leaving" });
    world.reports.clear();
    world.stuck.add(gpuKey);
    for (let step = 0; step < 10; step += 1) world.step();
    expect(world.live.get(gpuKey)?.deleting).toBe(true);
    expect(world.live.get("launch-template-gpu")?.deleting).toBe(false);
    expect(world.answer?.ttl).toBe(15);
    world.stuck.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([gpuKey, "launch-template-gpu"]);
    expect(world.answer?.ttl).toBe(300);
  });

  it("stays while the nodes of no other take its pods, because AWS has not yet taken their taints from them", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    world.report(gpuKey, (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), taint: [{ key: "nvidia.com/gpu", effect: "NO_SCHEDULE" }] },
    }));
    world.settle();
    change(world, { ...gpu, taints: [] });
    world.settle();
    expect(world.forProvider(gpuKey)["taint"]).toEqual([]);
    expect(world.live.get(nodeGroup)?.deleting).toBe(false);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([nodeGroup, "launch-template"]);
  });

  it("is the one of nodes, too, once another group takes its place", () => {
    const world = running(spoke());
    change(world, { name: "main" });
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([nodeGroup, "launch-template"]);
  });

  it("and that AWS never made is not waited for", () => {
    const world = running(withGroups({ name: "nodes" }, { ...gpu, instanceTypes: ["g6.gigantic"] }));
    const wrong = keyOf("gpu", ["g6.gigantic"], "AL2023_x86_64_NVIDIA");
    world.report(wrong, failing("InvalidParameterException: instance types do not exist")).report(batchKey, creating);
    world.settle();
    change(world, { name: "nodes" }, batch);
    world.settle();
    expect(world.live.has(wrong)).toBe(false);
  });

  it("does not hinder a removal of the Spoke, which takes it and its launch template in order", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    world.stuck.add(gpuKey);
    change(world, { name: "nodes" });
    for (let step = 0; step < 5; step += 1) world.step();
    world.delete();
    for (let step = 0; step < 25; step += 1) world.step();
    expect(["cluster", "role-node", "launch-template-gpu"].filter((key) => world.live.has(key))).toHaveLength(3);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
    const order = (key: string) => world.removed.indexOf(key);
    expect(order("launch-template-gpu")).toBeGreaterThan(order(gpuKey));
    expect(order("cluster")).toBeGreaterThan(order(gpuKey));
  });

  it("leaves the rest as it was: a second look changes nothing", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    change(world, { name: "nodes" });
    world.settle();
    const before = JSON.stringify([...world.live].map(([key, { object }]) => [key, at(object.spec)]));
    world.settle();
    expect(JSON.stringify([...world.live].map(([key, { object }]) => [key, at(object.spec)]))).toBe(before);
  });
});

describe("the last node group that is open to all pods", () => {
  const taints = [{ key: "dedicated", value: "old", effect: "NoExecute" }] as const;
  const soft = [{ key: "spot", effect: "PreferNoSchedule" }] as const;

  it("gets taints that close it only when another open one is ready, and other taints at once", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    world.report(batchKey, creating);
    change(world, { name: "nodes", taints: [...taints, ...soft] }, gpu, batch);
    world.settle();
    expect(world.forProvider(nodeGroup)["taint"]).toEqual([{ key: "spot", effect: "PREFER_NO_SCHEDULE" }]);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider(nodeGroup)["taint"]).toEqual([
      { key: "dedicated", value: "old", effect: "NO_EXECUTE" },
      { key: "spot", effect: "PREFER_NO_SCHEDULE" },
    ]);
    // What fails later opens nothing again.
    world.report(batchKey, creating).settle();
    expect(world.forProvider(nodeGroup)["taint"]).toHaveLength(2);
  });

  it("stays when its successor of the same name is ready, but has taints, and the open one is not there yet", () => {
    const world = running(withGroups({ name: "nodes" }));
    const closed = nodeGroup.replace(/[^-]+$/, keyOf("nodes", ["m6i.xlarge"], "AL2023_x86_64_STANDARD").slice(-8));
    world.report(batchKey, creating);
    change(world, { name: "nodes", instanceTypes: ["m6i.xlarge"], taints }, batch);
    world.settle();
    expect(world.forProvider(closed)["taint"]).toHaveLength(1);
    expect(world.live.get(nodeGroup)?.deleting).toBe(false);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([nodeGroup]);
  });

  it("is the one of nodes whatever taints somebody gave it: add-ons go on with their versions", () => {
    const world = running(spoke());
    world.report(nodeGroup, (status) => ({
      ...status,
      atProvider: {
        ...(status["atProvider"] as object),
        taint: [{ key: "CriticalAddonsOnly", effect: "NO_SCHEDULE" }],
      },
    }));
    world.change({ kubernetesVersion: "1.36" }).settle();
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "True" });
  });
});

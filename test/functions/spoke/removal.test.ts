import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { labelKeys } from "../../../lib/labels.ts";
import { example, exampleNames, nodeGroup, spoke } from "./support/fixtures.ts";
import { creating } from "./support/node-groups.ts";
import { failing, hubAdmin, running, World } from "./support/world.ts";

describe("a removal", () => {
  it.each(exampleNames)("takes everything down in order and lets the Spoke go as the last: %s", (name) => {
    const world = running({ ...example(name), spec: { ...example(name).spec, deletionProtection: false } });
    const before = [...world.live.keys()];
    world.delete().settle();
    expect(world.gone).toBe(true);
    expect(world.live.size).toBe(0);
    expect(world.removed.toSorted()).toEqual([...before, ...hubAdmin].sort());
    expect(world.removed[0]).toBe("bootstrap");
    expect(world.removed.at(-1)).toBe("deletion-guard");
  });

  it.each([1, 2, 4, 7, 11])("also takes down a spoke that was not finished, %i steps after its beginning", (steps) => {
    const world = new World(spoke());
    for (let step = 0; step < steps; step += 1) world.step();
    world.delete().settle();
    expect(world.gone).toBe(true);
    expect([...world.live]).toEqual([]);
  });

  it("waits for the chain as long as it takes, keeps what it needs, and names the way out when it is stuck", () => {
    const world = running(spoke());
    world.stuck.add("bootstrap");
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    for (const key of [
      "kubeconfig",
      "cluster-secret",
      nodeGroup,
      "cluster",
      "route-private-0",
      "access-policy-helm-controller",
    ]) {
      expect(world.live.get(key)?.deleting, key).toBe(false);
    }
    expect(world.answer?.status).toMatchObject({ phase: "Deleting" });
    expect(world.condition("Deleting")?.message).toContain("removing bootstrap;");
    const way = "-l fleet.internal/cluster=blue,fleet.internal/target=spoke";
    expect(world.condition("Deleting")?.message).not.toContain(way);
    world.now += 15 * 60_000;
    world.step();
    expect(world.condition("Deleting")?.message).not.toContain(way);
    world.now += 1;
    world.step();
    expect(world.condition("Deleting")?.message).toContain(way);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
  });

  it("waits for every object of the chain, also when Flux has let go of the bootstrap after its timeout", () => {
    const world = running(spoke());
    const labels = { [labelKeys.cluster]: "blue" };
    const step = { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" };
    const release = { apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease" };
    world.chain = [
      { ...step, metadata: { name: "blue-flux", labels } },
      { ...release, metadata: { name: "blue-flux", labels } },
      { ...release, metadata: { name: "green-flux", labels: { [labelKeys.cluster]: "green" } } },
    ];
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    expect(world.removed).toEqual(["bootstrap"]);
    expect(world.condition("Deleting")?.message).toContain("removing HelmRelease blue-flux, Kustomization blue-flux;");
    world.chain = world.chain.slice(1);
    for (let step = 0; step < 20; step += 1) world.step();
    expect(world.removed).toEqual(["bootstrap"]);
    world.chain = world.chain.slice(1);
    world.settle();
    expect(world.gone).toBe(true);
  });

  it("is not stuck while one step of the chain goes after the other, however long all of them take", () => {
    const world = running(spoke());
    const step = (name: string, deletionTimestamp?: string): KubeObject => ({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name, labels: { [labelKeys.cluster]: "blue" }, ...(deletionTimestamp ? { deletionTimestamp } : {}) },
    });
    world.chain = [step("blue-tools", new Date(world.now).toISOString()), step("blue-flux")];
    world.delete();
    world.now += 16 * 60_000;
    world.chain = [step("blue-flux", new Date(world.now).toISOString())];
    for (let count = 0; count < 5; count += 1) world.step();
    expect(world.condition("Deleting")?.message).toMatch(/^removing Kustomization blue-flux; \d+ resources are left$/);
  });

  it.each([
    ["tools", true],
    ["sealed-secrets", false],
  ])("names volumes as what may hold the step %s once it is stuck: %s", (step, expected) => {
    const world = running(spoke());
    const deletionTimestamp = new Date(world.now).toISOString();
    const labels = { [labelKeys.cluster]: "blue", "fleet.internal/step": step };
    const waiting = { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" };
    world.chain = [
      { ...waiting, metadata: { name: `blue-${step}`, labels, deletionTimestamp } },
      // Its turn has not come.
      ...(step === "tools"
        ? []
        : [{ ...waiting, metadata: { name: "blue-tools", labels: { ...labels, "fleet.internal/step": "tools" } } }]),
    ];
    world.delete();
    for (let count = 0; count < 5; count += 1) world.step();
    const message = () => world.condition("Deleting")?.message ?? "";
    expect(message()).not.toContain("kubectl get pv");
    world.now += 15 * 60_000 + 1;
    world.step();
    expect(message().includes("kubectl get pv on the spoke shows such ones as Released")).toBe(expected);
    expect(message().includes(`"persistentVolumeReclaimPolicy":"Retain"`)).toBe(expected);
    expect(message()).toContain("If its API server is gone for good");
  });

  it("names the way out at once when Flux says that the spoke does not answer", () => {
    const world = running(spoke());
    world.chain = [
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: "blue-flux", labels: { [labelKeys.cluster]: "blue" } },
        status: {
          conditions: [{ type: "Ready", status: "False", reason: "Failed", message: "dial tcp: i/o timeout" }],
        },
      },
    ];
    world.delete();
    for (let step = 0; step < 5; step += 1) world.step();
    expect(world.condition("Deleting")?.reason).toBe("SpokeUnreachable");
    expect(world.condition("Deleting")?.message).toContain("If its API server is gone for good");
  });

  it("wants nothing more that is being deleted, also when CoreDNS and the VPC CNI take long after the nodes", () => {
    const world = running(spoke());
    for (const key of ["addon-coredns", "addon-vpc-cni", "launch-template"]) world.stuck.add(key);
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    expect(world.live.has(nodeGroup)).toBe(false);
    expect(world.live.get("addon-vpc-cni")?.deleting).toBe(true);
    const message = "removing addon-coredns, addon-vpc-cni, launch-template;";
    expect(world.condition("Deleting")?.message).toContain(message);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
  });

  it.each([
    ["CoreDNS", "addon-coredns"],
    ["the EBS CSI driver", "addon-aws-ebs-csi-driver"],
  ])(
    "leaves %s that is still being created the nodes on which its pods run, and takes it away before them",
    (_, key) => {
      const world = new World(spoke());
      world.report(key, creating).settle();
      world.stuck.add(key);
      world.delete();
      for (let step = 0; step < 20; step += 1) world.step();
      expect(world.live.get(nodeGroup)?.deleting).toBe(false);
      expect(world.live.get("addon-vpc-cni")?.deleting).toBe(false);
      expect(world.condition("Deleting")?.message).toContain(`removing ${key};`);
      // Its pods run: the provider has made it, and removes it now.
      world.stuck.clear();
      world.settle();
      const order = world.removed.filter((each) => [nodeGroup, key, "addon-vpc-cni"].includes(each));
      expect(order).toEqual([key, nodeGroup, "addon-vpc-cni"]);
      expect(world.gone).toBe(true);
    },
  );

  it("says what hinders it", () => {
    const world = running(spoke());
    world.stuck.add("vpc");
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    const live = world.live.get("vpc");
    if (!live) throw new Error("the VPC is gone");
    live.object = {
      ...live.object,
      status: failing("deleting: DependencyViolation: The vpc has dependencies, RequestID: 1-2")({}),
    };
    world.step();
    expect(world.condition("Deleting")).toMatchObject({ status: "True", reason: "InUse" });
    expect(world.condition("Deleting")?.message).toContain("VPC blue-vpc: deleting: DependencyViolation");
    expect(world.condition("Deleting")?.message).not.toContain("1-2");
  });

  it("does not ask for the folder back whose removal from Git it follows", () => {
    const world = running(spoke());
    const message = "kustomization path not found: stat /tmp/x/spokes/fleet/blue/secrets: no such file or directory";
    world.chain = [
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: "blue-secrets", labels: { [labelKeys.cluster]: "blue" } },
        status: { conditions: [{ type: "Ready", status: "False", reason: "ArtifactFailed", message }] },
      },
    ];
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    expect(world.condition("Deleting")).toMatchObject({ status: "True", reason: "InProgress" });
    expect(world.condition("Deleting")?.message).toContain("removing Kustomization blue-secrets;");
    expect(world.condition("Deleting")?.message).not.toContain("commit the folder");
  });

  it("makes nothing new but the hub's admin rights, and asks again soon", () => {
    const world = running(spoke());
    world.delete();
    const existing = new Set([...world.live.keys(), ...hubAdmin]);
    while (!world.gone) {
      const { wanted, ttl } = world.step();
      expect([...wanted.keys()].filter((key) => !existing.has(key))).toEqual([]);
      expect(ttl).toBeLessThan(10);
    }
  });

  it("does not happen to a protected Spoke, whatever was asked for before; the cluster is protected too", () => {
    const world = running(spoke({ deletionProtection: true }));
    expect(world.forProvider("cluster")["deletionProtection"]).toBe(true);
    world.delete().settle();
    expect(world.removed).toEqual([]);
    expect(world.answer?.ready).toBe(true);
    expect(world.condition("Deleting")).toMatchObject({ status: "False", reason: "Protected" });
    world.spoke = { ...world.spoke, metadata: { ...world.spoke.metadata, annotations: {} } };
    world.settle();
    expect(world.condition("Deleting")).toMatchObject({ status: "False", reason: "NotAskedFor" });
  });

  it("takes the protection off the cluster before the cluster goes", () => {
    const world = running(spoke({ deletionProtection: true }));
    world.change({ deletionProtection: false }).delete();
    world.stuck.add(nodeGroup);
    for (let step = 0; step < 8; step += 1) world.step();
    expect(world.forProvider("cluster")["deletionProtection"]).toBe(false);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
  });
});

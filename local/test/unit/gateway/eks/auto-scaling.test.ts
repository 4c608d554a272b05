import { describe, expect, test } from "vitest";
import { offersOf, ownLabels } from "../../../../gateway/eks/auto-offers.ts";
import {
  emptyNodes,
  fits,
  isUnschedulable,
  keepsNode,
  nodeToStart,
  type Offer,
  type Pod,
} from "../../../../gateway/eks/auto-scaling.ts";
import { quantity } from "../../../../gateway/eks/quantity.ts";

const GIB = 2 ** 30;
const pools = ["general-purpose", "system"] as const;
const offers = offersOf(pools, ["us-east-1a", "us-east-1b"], { cpu: 8, memory: 32 * GIB });
const none = new Set<string>();

/** A pod for which the scheduler finds no node. */
function pending(name: string, spec: Pod["spec"] = {}, over: Pod = {}): Pod {
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }];
  return {
    metadata: { name, uid: name, creationTimestamp: new Date(`2026-01-01T00:00:0${name.length}Z`), ...over.metadata },
    spec,
    status: { phase: "Pending", conditions, ...over.status },
  };
}
const requesting = (cpu: string, memory = "1Gi"): NonNullable<Pod["spec"]> => ({
  containers: [{ resources: { requests: { cpu, memory } } }],
});
const started = (...pods: readonly Pod[]): Offer | undefined => nodeToStart(pods, offers, none)?.offer;

describe("a quantity", () => {
  test.each([
    ["2", 2],
    ["250m", 0.25],
    ["1.5Gi", 1.5 * GIB],
    ["128M", 128e6],
    [undefined, 0],
  ])("%s is %d", (text, number) => expect(quantity(text)).toBe(number));
});

describe("a node is started", () => {
  test("for a pod that fits nowhere: the smallest of general-purpose", () => {
    expect(started(pending("a"))).toMatchObject({
      pool: "general-purpose",
      instanceType: "c6a.large",
      taints: [],
      labels: {
        "eks.amazonaws.com/compute-type": "auto",
        "karpenter.sh/nodepool": "general-purpose",
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": "c6a.large",
      },
    });
  });

  test("of a type that holds what the pod requests", () => {
    expect(started(pending("a", requesting("3")))?.instanceType).toBe("c6a.xlarge");
    expect(started(pending("a", requesting("1", "12Gi")))?.instanceType).toBe("r6a.large");
  });

  test("for no pod that asks for more than the machine has", () => {
    expect(started(pending("a", requesting("9")))).toBeUndefined();
    expect(started(pending("a", requesting("1", "40Gi")))).toBeUndefined();
  });

  test("of system for a pod that selects that pool and tolerates its taint, and for no other", () => {
    const nodeSelector = { "karpenter.sh/nodepool": "system" };
    expect(started(pending("a", { nodeSelector }))).toBeUndefined();
    const tolerations = [{ key: "CriticalAddonsOnly", operator: "Exists" }];
    expect(started(pending("a", { nodeSelector, tolerations }))).toMatchObject({
      pool: "system",
      taints: [{ key: "CriticalAddonsOnly", value: "", effect: "NoSchedule" }],
    });
    expect(started(pending("a", { tolerations }))?.pool).toBe("general-purpose");
  });

  test("in the zone that the pod asks for, and nowhere for a label that no node has", () => {
    const zone = (value: string) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [value] }] },
          ],
        },
      },
    });
    expect(started(pending("a", { affinity: zone("us-east-1b") }))?.labels["topology.kubernetes.io/zone"]).toBe(
      "us-east-1b",
    );
    expect(started(pending("a", { affinity: zone("us-east-1f") }))).toBeUndefined();
    expect(started(pending("a", { nodeSelector: { disk: "ssd" } }))).toBeUndefined();
  });

  test("once for all pods that go there, the oldest first", () => {
    const pods = [pending("ccc", requesting("1.5")), pending("a", requesting("1")), pending("bb", requesting("0.9"))];
    const found = nodeToStart(pods, offers, none);
    expect(found?.pods.map(({ metadata }) => metadata?.name)).toEqual(["a", "bb"]);
  });

  test("not again for a pod that the last one did not help", () => {
    expect(nodeToStart([pending("a")], offers, new Set(["a"]))).toBeUndefined();
    expect(nodeToStart([pending("a"), pending("bb")], offers, new Set(["a"]))?.pods).toHaveLength(1);
  });

  test("not for pods of a DaemonSet, gated ones, those that go, and those that have a node", () => {
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }];
    expect(isUnschedulable(pending("a"))).toBe(true);
    expect(isUnschedulable(pending("a", {}, { metadata: { ownerReferences } }))).toBe(false);
    expect(isUnschedulable(pending("a", { schedulingGates: [{}] }))).toBe(false);
    expect(isUnschedulable(pending("a", {}, { metadata: { deletionTimestamp: new Date() } }))).toBe(false);
    expect(isUnschedulable(pending("a", { nodeName: "n" }))).toBe(false);
    expect(isUnschedulable(pending("a", {}, { status: { conditions: [] } }))).toBe(false);
  });
});

describe("a toleration", () => {
  const taint = { key: "team", value: "data", effect: "NoSchedule" } as const;
  const offer: Offer = { pool: "p", instanceType: "t", labels: {}, taints: [taint], cpu: 1, memory: GIB };
  test.each([
    [{ key: "team", operator: "Equal", value: "data" }, true],
    [{ key: "team", value: "web" }, false],
    [{ key: "team", operator: "Exists", effect: "NoExecute" }, false],
    [{ operator: "Exists" }, true],
  ])("%j lets a pod in: %s", (toleration, expected) => {
    expect(fits(pending("a", { tolerations: [toleration] }), offer)).toBe(expected);
  });
});

describe("a node is empty", () => {
  const on = (name: string, over: Pod = {}): Pod => ({
    metadata: { name, ...over.metadata },
    spec: { nodeName: "n" },
    status: over.status ?? {},
  });
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }];

  test("without pods but those of DaemonSets, of its own files, and that have ended", () => {
    const pods = [
      on("daemon", { metadata: { ownerReferences } }),
      on("static", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } }),
      on("job", { status: { phase: "Succeeded" } }),
    ];
    expect(pods.map(keepsNode)).toEqual([false, false, false]);
    expect(emptyNodes(pods, ["n", "m"])).toEqual(["n", "m"]);
    expect(emptyNodes([...pods, on("app")], ["n", "m"])).toEqual(["m"]);
  });
});

test("a kubelet registers with the labels of EKS and Karpenter, and sets the others itself", () => {
  const keys = Object.keys(ownLabels(offers[0] as Offer));
  expect(keys).toContain("eks.amazonaws.com/instance-category");
  expect(keys.filter((key) => !/^(eks\.amazonaws\.com|karpenter\.sh)\//.test(key))).toEqual([]);
});

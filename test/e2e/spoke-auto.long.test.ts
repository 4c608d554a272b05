import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, getOnSpoke, managedOf, onSpoke, removeSpoke, spoke, system, untilReady } from "./support/spokes.ts";

const name = "willow"; // environment dev
const namespace = "compute";

let repository: Checkout;

/** The nodes of EKS Auto Mode: the spoke has no others. */
const nodes = async (): Promise<Editable[]> => (await getOnSpoke(name, ["nodes"])).items;
const namesOf = (objects: readonly Editable[]): string[] => objects.map(({ metadata }) => metadata.name).sort();

const pod = (of: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: of, namespace, labels: { apart: "yes" } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "app", image: "registry.k8s.io/pause:3.10" }],
    ...spec,
  },
});

/** Two such pods share no node. */
const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { apart: "yes" } } },
      ],
    },
  },
};
const inSystem = { nodeSelector: { "karpenter.sh/nodepool": "system" } };

const run = (...pods: readonly object[]) =>
  onSpoke(name, ["apply", "--filename", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: pods }),
  });
const untilRuns = (of: string) =>
  onSpoke(name, ["wait", `pod/${of}`, "--namespace", namespace, "--for=condition=Ready", "--timeout=240s"]);
const nodeOf = async (of: string): Promise<string> =>
  (await getOnSpoke(name, ["pod", of, "--namespace", namespace])).spec.nodeName;
const end = (...pods: readonly string[]) => onSpoke(name, ["delete", "pod", ...pods, "--namespace", namespace]);

beforeAll(async () => {
  repository = await system();
  await addSpoke(repository, name, "dev", ({ spec: { nodes: _, ...spec }, ...object }) => ({
    ...object,
    spec: { ...spec, compute: "auto" },
  }));
  await repository.push(`Add spoke ${name} with EKS Auto Mode`);
  await untilReady(name, 900);
  await onSpoke(name, ["create", "namespace", namespace]);
});
afterAll(async () => {
  await removeSpoke(repository, name);
});

describe("a spoke with EKS Auto Mode", () => {
  test("is ready without a node group or an EKS add-on: its own first pods had a node started for them", async () => {
    const kinds = (await managedOf(name)).map(({ kind }) => kind);
    expect(kinds).not.toContain("NodeGroup");
    expect(kinds).not.toContain("LaunchTemplate");
    expect(kinds).not.toContain("Addon");
    const conditions: Editable[] = (await spoke(name)).status.conditions;
    expect(conditions.find(({ type }) => type === "NodesReady")?.message).toContain("EKS Auto Mode starts them");
    const all = await nodes();
    expect(all.length).toBeGreaterThan(0);
    for (const { metadata, spec } of all) {
      expect(metadata.labels).toMatchObject({
        "eks.amazonaws.com/compute-type": "auto",
        "karpenter.sh/nodepool": "general-purpose",
      });
      expect(spec.taints ?? []).toEqual([]);
    }
  });

  test("has the StorageClass of its provisioner, and NetworkPolicies turned on", async () => {
    expect((await getOnSpoke(name, ["storageclass", "gp3-encrypted"])).provisioner).toBe("ebs.csi.eks.amazonaws.com");
    const { data } = await getOnSpoke(name, ["configmap", "amazon-vpc-cni", "--namespace", "kube-system"]);
    expect(data["enable-network-policy-controller"]).toBe("true");
  });

  test("gets another node for a pod that fits on none, and gives it back when the pod is gone", async () => {
    const before = namesOf(await nodes());
    // One more than there are nodes.
    const pods = Array.from({ length: before.length + 1 }, (_, index) => `apart-${index}`);
    await run(...pods.map((of) => pod(of, apart)));
    for (const of of pods) await untilRuns(of);
    expect(new Set(await Promise.all(pods.map(nodeOf))).size).toBe(pods.length);
    const added = namesOf(await nodes()).filter((node) => !before.includes(node));
    expect(added.length).toBeGreaterThan(0);
    await end(...pods);
    await eventually(240, async () => {
      const left = namesOf(await nodes());
      expect(added.filter((node) => left.includes(node))).toEqual([]);
    });
  });

  test("starts a node of the pool system for a pod that tolerates its taint, and none for one that does not", async () => {
    const tolerations = [{ key: "CriticalAddonsOnly", operator: "Exists" }];
    await run(pod("refused", inSystem), pod("critical", { ...inSystem, tolerations }));
    await untilRuns("critical");
    const { metadata, spec } = await getOnSpoke(name, ["node", await nodeOf("critical")]);
    expect(metadata.labels["karpenter.sh/nodepool"]).toBe("system");
    expect(spec.taints).toContainEqual({ key: "CriticalAddonsOnly", effect: "NoSchedule" });
    expect(await nodeOf("refused")).toBeUndefined();
    await end("refused", "critical");
    await eventually(240, async () => expect(namesOf(await nodes())).not.toContain(metadata.name));
  });
});

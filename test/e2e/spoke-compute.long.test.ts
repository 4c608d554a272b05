import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeGroupLabel } from "../../lib/labels.ts";
import { eventually } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, getOnSpoke, managedOf, onSpoke, removeSpoke, spoke, system, untilReady } from "./support/spokes.ts";

const name = "olive"; // environment dev
const namespace = "compute";
const one = { min: 1, desired: 1, max: 2 };
const nodes = { name: "nodes", ...one };
const batch = {
  name: "batch",
  ...one,
  amiFamily: "Bottlerocket",
  instanceTypes: ["m6i.xlarge"],
  labels: { "example.com/tier": "batch" },
  taints: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }],
};

let repository: Checkout;

/** Gives the Spoke these node groups, in place of what it had. */
async function group(nodeGroups: readonly object[], message: string): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, ({ spec: { nodes: _, ...spec }, ...object }) => ({
    ...object,
    spec: { ...spec, nodeGroups },
  }));
  await repository.push(message);
}

/** Node groups as the Spoke tells them. */
const groups = async (): Promise<string[]> =>
  ((await spoke(name)).status.nodeGroups ?? []).map(({ name: of, state }: Editable) => `${of} ${state}`);

/** The nodes of a group. */
const nodesOf = async (of: string): Promise<Editable[]> =>
  (await getOnSpoke(name, ["nodes", "--selector", `${nodeGroupLabel}=${of}`])).items;

const allNodes = async (): Promise<string[]> =>
  (await getOnSpoke(name, ["nodes"])).items.map(({ metadata }: Editable) => metadata.name);

const pod = (of: string, spec: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: of, namespace },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "app", image: "registry.k8s.io/pause:3.10" }],
    ...spec,
  },
});
const inBatch = { nodeSelector: { [nodeGroupLabel]: "batch" } };
const tolerations = [{ key: "dedicated", operator: "Equal", value: "batch", effect: "NoSchedule" }];

beforeAll(async () => {
  repository = await system();
  await addSpoke(repository, name, "dev");
  await repository.push(`Add spoke ${name}`);
  await untilReady(name, 900);
  await onSpoke(name, ["create", "namespace", namespace]);
});
afterAll(async () => {
  await removeSpoke(repository, name);
});

describe("several node groups of a spoke", () => {
  test("take over from the one that it had, whose node stays, and start nodes with their labels and taints", async () => {
    const before = await allNodes();
    expect(before).toHaveLength(1);
    await group([nodes, batch], `Give ${name} a group for batch jobs`);
    await eventually(600, async () => expect(await groups()).toEqual(["nodes Ready", "batch Ready"]));
    await untilReady(name);
    // The label of the group comes to the node that was there, too.
    await eventually(60, async () =>
      expect((await nodesOf("nodes")).map(({ metadata }) => metadata.name)).toEqual(before),
    );
    const [node] = await nodesOf("batch");
    expect(node.metadata.labels).toMatchObject(batch.labels);
    expect(node.metadata.labels["node.kubernetes.io/instance-type"]).toBe("m6i.xlarge");
    expect(node.spec.taints).toEqual(batch.taints);
  });

  test("take the pods that are meant for them: one that tolerates the taint, and no other", async () => {
    const items = [pod("tolerating", { ...inBatch, tolerations }), pod("refused", inBatch), pod("anywhere", {})];
    await onSpoke(name, ["apply", "--filename", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
    for (const [running, of] of [
      ["tolerating", "batch"],
      ["anywhere", "nodes"],
    ] as const) {
      const ready = ["--for=condition=Ready", "--timeout=120s"];
      await onSpoke(name, ["wait", `pod/${running}`, "--namespace", namespace, ...ready]);
      const { spec } = await getOnSpoke(name, ["pod", running, "--namespace", namespace]);
      expect((await nodesOf(of)).map(({ metadata }) => metadata.name)).toContain(spec.nodeName);
    }
    const { spec, status } = await getOnSpoke(name, ["pod", "refused", "--namespace", namespace]);
    expect(spec.nodeName).toBeUndefined();
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ reason: "Unschedulable", message: expect.stringContaining("untolerated taint") }),
    );
  });

  test("go when they leave the list, with their nodes and then their launch template, and the rest stays", async () => {
    const staying = (await nodesOf("nodes")).map(({ metadata }) => metadata.name);
    await group([nodes], `Take the group for batch jobs from ${name}`);
    await eventually(600, async () => expect(await allNodes()).toEqual(staying));
    await eventually(180, async () => {
      const kinds = (await managedOf(name)).flatMap(({ kind, metadata }) =>
        ["NodeGroup", "LaunchTemplate"].includes(kind) ? [`${kind} ${metadata.name}`] : [],
      );
      expect(kinds.sort()).toEqual([
        `LaunchTemplate ${name}-launch-template`,
        expect.stringMatching(new RegExp(`^NodeGroup ${name}-node-group-[0-9a-f]{8}$`)),
      ]);
    });
    await untilReady(name);
    expect(await groups()).toEqual(["nodes Ready"]);
  });
});

import { DescribeInstancesCommand, DescribeLaunchTemplatesCommand, type Instance } from "@aws-sdk/client-ec2";
import { GetRoleCommand, ListInstanceProfilesCommand } from "@aws-sdk/client-iam";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withResources, withSpec } from "../support/checkout.ts";
import { outcome } from "../support/process.ts";
import { account, eventually, instance } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, getOnSpoke, onSpoke, removeSpoke, system, tryOnSpoke, untilReady } from "./support/spokes.ts";

const name = "amber"; // environment dev
const cluster = `fleet-spoke-${name}`;
const namespace = "burst";
const addons = ["karpenter", "karpenter_nodes"] as const;
const steps = ["karpenter", "karpenter-nodes"] as const;
const nodePool = "karpenter.sh/nodepool";

let repository: Checkout;
const { ec2 } = account;

/** A value for this cluster alone: a node that is empty goes soon. */
const values = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "karpenter-nodes-values-cluster",
    namespace: "flux-system",
    labels: { "reconcile.fluxcd.io/watch": "Enabled" },
  },
  data: { karpenter_nodes_consolidate_after: "10s" },
};

/** A NodePool of the spoke's own, whose nodes take no pod that does not tolerate them. */
const taints = [{ key: "dedicated", value: "batch", effect: "NoSchedule" }];
const batch = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "batch" },
  spec: {
    limits: { cpu: "4" },
    template: {
      metadata: { labels: { "example.com/tier": "batch" } },
      spec: {
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
        expireAfter: "720h",
        taints,
        requirements: [
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
          { key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["m6i"] },
        ],
      },
    },
    disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "10s" },
  },
};

const pod = (of: string, spec: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: of, namespace },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: "app", image: "registry.k8s.io/pause:3.10", resources: { requests: { cpu: "1", memory: "5Gi" } } },
    ],
    ...spec,
  },
});
const inPool = (pool: string) => ({ nodeSelector: { [nodePool]: pool } });
const apply = (...items: object[]) =>
  onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });

const nodesOf = async (pool: string): Promise<Editable[]> =>
  (await getOnSpoke(name, ["nodes", "--selector", `${nodePool}=${pool}`])).items;
const nodeClaims = async (): Promise<Editable[]> => (await getOnSpoke(name, ["nodeclaims.karpenter.sh"])).items;
const isReady = ({ status }: Editable): boolean =>
  (status?.conditions ?? []).some(({ type, status: is }: Editable) => type === "Ready" && is === "True");

/** The cluster's instances that Karpenter started and that have not ended. */
async function instances(): Promise<Instance[]> {
  const Filters = [
    { Name: "tag:eks:eks-cluster-name", Values: [cluster] },
    { Name: "instance-state-name", Values: ["pending", "running", "shutting-down"] },
  ];
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ Filters }));
  return Reservations.flatMap(({ Instances = [] }) => Instances);
}
const templates = async () => {
  const Filters = [{ Name: "tag:eks:eks-cluster-name", Values: [cluster] }];
  return (await ec2.send(new DescribeLaunchTemplatesCommand({ Filters }))).LaunchTemplates ?? [];
};
const profiles = async () =>
  (await account.iam.send(new ListInstanceProfilesCommand({ PathPrefix: "/karpenter/" }))).InstanceProfiles ?? [];

async function enable(wanted: readonly string[], message: string): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ addons: wanted }));
  await repository.push(message);
}
const kustomization = (step: string) =>
  tryOnSpoke(name, ["get", "kustomization", step, "--namespace", "flux-system", "--output", "json"]);

beforeAll(async () => {
  await prepareAddons(instance, ["karpenter"]);
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ addons: [...addons] }));
  const secrets = `spokes/fleet/${name}/secrets`;
  await repository.write(`${secrets}/karpenter-values.yaml`, values);
  await repository.edit(`${secrets}/kustomization.yaml`, withResources("karpenter-values.yaml"));
  await repository.push(`Add spoke ${name} with Karpenter`);
  await untilReady(name, 900);
  await onSpoke(name, ["create", "namespace", namespace]);
});
afterAll(async () => {
  await removeSpoke(repository, name);
  expect(await instances()).toEqual([]);
  expect(await templates()).toEqual([]);
  expect(await profiles()).toEqual([]);
});

describe("Karpenter as an add-on", () => {
  test("runs, and finds the AMI, the subnets, the security group, the role and the right to start instances", async () => {
    await eventually(300, async () => {
      for (const step of steps) {
        const { code, stdout, stderr } = await kustomization(step);
        expect(code, stderr).toBe(0);
        expect(isReady(JSON.parse(stdout)), `${step}: ${stdout}`).toBe(true);
      }
    });
    const { status } = await getOnSpoke(name, ["ec2nodeclass", "default"]);
    expect(isReady({ status }), JSON.stringify(status)).toBe(true);
    expect(status.securityGroups).toHaveLength(1);
    const [profile] = await profiles();
    expect(profile?.Path).toContain(`/karpenter/us-east-1/${cluster}/`);
    expect(profile?.Roles?.map(({ RoleName }) => RoleName)).toEqual([`${cluster}-node`]);
    // Nothing is pending: no node.
    expect(await nodeClaims()).toEqual([]);
  });

  test("gives a pending pod a node, of the cheapest type that it fits on", async () => {
    await apply(pod("first", inPool("default")));
    await onSpoke(name, ["wait", "pod/first", "--namespace", namespace, "--for=condition=Ready", "--timeout=280s"]);
    const [node] = await nodesOf("default");
    const [started] = await instances();
    expect(node.spec.providerID).toBe(`aws:///${started?.Placement?.AvailabilityZone}/${started?.InstanceId}`);
    // 5 GiB fit on no c5.large; these two cost the same.
    expect(["m5.large", "m6i.large"]).toContain(started?.InstanceType);
    expect(node.metadata.labels).toMatchObject({
      "node.kubernetes.io/instance-type": started?.InstanceType,
      "karpenter.sh/capacity-type": "on-demand",
      "karpenter.k8s.aws/instance-category": "m",
    });
    expect(node.status.allocatable).toMatchObject({ pods: "29" });
    const { spec } = await getOnSpoke(name, ["pod", "first", "--namespace", namespace]);
    expect(spec.nodeName).toBe(node.metadata.name);
    const tags = Object.fromEntries((started?.Tags ?? []).map(({ Key = "", Value }) => [Key, Value]));
    expect(tags).toMatchObject({ "eks-cluster-name": cluster, [nodePool]: "default", environment: "dev" });
  });

  test("keeps pods off a NodePool's nodes that do not tolerate its taint, and makes no node for them", async () => {
    await apply(batch);
    const tolerations = [{ key: "dedicated", operator: "Equal", value: "batch", effect: "NoSchedule" }];
    await apply(pod("refused", inPool("batch")), pod("tolerating", { ...inPool("batch"), tolerations }));
    await onSpoke(name, [
      "wait",
      "pod/tolerating",
      "--namespace",
      namespace,
      "--for=condition=Ready",
      "--timeout=280s",
    ]);
    const [node, ...others] = await nodesOf("batch");
    expect(others).toEqual([]);
    expect(node.metadata.labels).toMatchObject({
      "example.com/tier": "batch",
      "node.kubernetes.io/instance-type": "m6i.large",
    });
    expect(node.spec.taints).toEqual(taints);
    const { spec, status } = await getOnSpoke(name, ["pod", "refused", "--namespace", namespace]);
    expect(spec.nodeName).toBeUndefined();
    expect(status.conditions).toContainEqual(expect.objectContaining({ reason: "Unschedulable" }));
    expect(await nodeClaims()).toHaveLength(2);
  });

  test("takes the nodes away when their pods are gone, with their instances", async () => {
    await onSpoke(name, ["delete", "pods", "--all", "--namespace", namespace]);
    await eventually(280, async () => {
      expect(await nodeClaims()).toEqual([]);
      for (const pool of ["default", "batch"]) expect(await nodesOf(pool), pool).toEqual([]);
      expect(await instances()).toEqual([]);
    });
    await onSpoke(name, ["delete", "nodepool", "batch"]);
  });

  test("goes in two commits, and leaves nothing in AWS", async () => {
    await enable(["karpenter"], `Turn karpenter_nodes off on ${name}`);
    await eventually(280, async () => expect((await kustomization("karpenter-nodes")).stderr).toContain("NotFound"));
    // With the EC2NodeClass go the profile and the templates.
    await eventually(120, async () => {
      expect(await profiles()).toEqual([]);
      expect(await templates()).toEqual([]);
    });
    await enable([], `Turn karpenter off on ${name}`);
    await eventually(280, async () => {
      expect((await kustomization("karpenter")).stderr).toContain("NotFound");
      expect((await tryOnSpoke(name, ["get", "namespace", "karpenter"])).stderr).toContain("NotFound");
      const role = new GetRoleCommand({ RoleName: `${cluster}-addon-karpenter` });
      expect(await outcome(account.iam.send(role))).toMatch(/^NoSuchEntity/);
    });
    await untilReady(name);
  });
});

import { describe, expect, test } from "vitest";
import { eks, type FakeInstance, roleArn, useEks, withNodes } from "./fakes.ts";

let userData: string;
useEks(async (eks) => {
  await withNodes(eks);
  const { endpoint, certificateAuthority } = (await eks.get("/clusters/hub")).cluster;
  userData = nodeConfig(endpoint, certificateAuthority.data);
});

const nodeConfig = (apiServerEndpoint: string, certificateAuthority: string, name = "hub") =>
  JSON.stringify({
    apiVersion: "node.eks.aws/v1alpha1",
    kind: "NodeConfig",
    spec: {
      cluster: { name, apiServerEndpoint, certificateAuthority, cidr: "100.64.1.0/24" },
      kubelet: {
        config: { maxPods: 29, registerWithTaints: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }] },
        flags: ["--node-labels=tier=batch"],
      },
    },
  });
/** An instance with the role of the cluster's node group, which EKS has let in. */
function launch(id: string, over: Partial<FakeInstance> = {}): void {
  const place = { zone: "us-east-1b", subnet: "subnet-b" };
  eks.aws.instances.set(id, {
    runs: true,
    type: "m5.large",
    spot: false,
    ...place,
    profile: "node",
    userData,
    ...over,
  });
}
const look = async () => {
  const again = await eks.lookAtInstances();
  await eks.settle();
  return again;
};
const node = (number = 1) => eks.clusters.nodes.get(`hub/${number}`);

describe("an instance with a NodeConfig", () => {
  test("becomes a node of the cluster, beside those of its node groups, and its instance gets the node's address", async () => {
    launch("i-1");
    expect(await look()).toBe("wait");
    expect(node()).toMatchObject({
      number: 1,
      nodeName: "ip-100-64-0-6.ec2.internal",
      instanceId: "i-1",
      instanceType: "m5.large",
      zone: "us-east-1b",
      labels: { tier: "batch" },
      taints: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }],
      kubelet: { maxPods: 29, kubeReserved: { cpu: "70m", memory: "574Mi" } },
    });
    expect(eks.aws.instances.get("i-1")?.addresses).toBe("100.64.0.6 100.64.5.0/24");
    await look();
    expect([...eks.clusters.nodes.keys()]).toEqual(["hub/0", "hub/1"]);
  });

  test("has the cluster's network policies and agent as the other nodes", async () => {
    launch("i-1");
    await look();
    await eks.finish("POST", "/clusters/hub/addons", { addonName: "eks-pod-identity-agent" });
    await expect.poll(() => [...eks.clusters.agents].sort()).toEqual(["hub/0", "hub/1"]);
  });

  test("joins no cluster before that has an entry for its role, and is looked at again", async () => {
    launch("i-1", { profile: "viewer" });
    expect(await look()).toBe(5000);
    expect(node()).toBeUndefined();
    expect(await look()).toBe(5000);
    expect(eks.logged).toEqual([
      `instance i-1 is no node: cluster hub has no access entry of type EC2_LINUX for its role ${roleArn("viewer")}`,
    ]);
    await eks.call("POST", "/clusters/hub/access-entries", { principalArn: roleArn("viewer"), type: "EC2_LINUX" });
    await look();
    expect(node()).toBeDefined();
  });

  test.each([
    ["without a profile", { profile: undefined }, "it has no role"],
    ["without a role in its profile", { profile: "empty" }, "it has no role"],
    ["of a cluster that is not there", { userData: nodeConfig("https://a", "UEVN", "other") }, "no cluster other"],
    ["with another API server", { userData: nodeConfig("https://a", "UEVN") }, "not at https://a"],
    ["with another authority", { userData: nodeConfig("https://100.64.254.1", "T1RIRVI=") }, "certificate authority"],
  ])("is no node %s", async (_, over, message) => {
    launch("i-1", over);
    expect(await look()).toBe(5000);
    expect(eks.logged).toEqual([expect.stringContaining(message)]);
    expect(node()).toBeUndefined();
  });

  test("that nodeadm would refuse is said once, and never looked at again", async () => {
    launch("i-1", { userData: userData.replace("--node-labels", "--volume-plugin-dir") });
    expect(await look()).toBe("wait");
    expect(eks.logged).toEqual([expect.stringContaining("--volume-plugin-dir")]);
  });

  test("waits while the cluster has all the nodes that it can have", async () => {
    for (const id of ["i-1", "i-2", "i-3", "i-4"]) launch(id);
    expect(await look()).toBe(5000);
    expect(eks.clusters.nodes.size).toBe(4);
    eks.aws.instances.delete("i-2");
    await look();
    await look();
    expect(node(2)?.instanceId).toBe("i-4");
  });
});

describe("an instance that shuts down", () => {
  test("has ended when its node is gone", async () => {
    launch("i-1");
    await look();
    launch("i-1", { runs: false });
    await look();
    expect(node()).toBeUndefined();
    expect(eks.aws.ended).toEqual(["i-1"]);
    expect(eks.store.get("hub").selfManagedNodes).toEqual([]);
  });

  test("ends at once where it was no node", async () => {
    launch("i-1", { userData: "", runs: false });
    await look();
    expect(eks.aws.ended).toEqual(["i-1"]);
  });
});

test("an instance without a NodeConfig is left alone", async () => {
  launch("i-1", { userData: "#!/bin/sh" });
  expect(await look()).toBe("wait");
  expect(eks.logged).toEqual([]);
  expect(eks.clusters.nodes.size).toBe(1);
});

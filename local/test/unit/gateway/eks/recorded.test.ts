import { afterAll, describe, expect, test } from "vitest";
import { clustersBut } from "../../../../gateway/eks/recorded-clusters.ts";
import { fakeClusters } from "./fake-clusters.ts";
import { clusterBody, fakeEks, roleArn, stopWorkers } from "./fakes.ts";

afterAll(stopWorkers);

async function recording(pattern: string | undefined) {
  const clusters = fakeClusters();
  const eks = await fakeEks({ clusters: Object.assign(clusters, clustersBut({ ...clusters }, pattern, "PEM")) });
  const make = async (name: string) => {
    await eks.finish("POST", "/clusters", clusterBody(name));
    await eks.call("POST", `/clusters/${name}/addons`, { addonName: "coredns" });
    await eks.finish("POST", `/clusters/${name}/node-groups`, {
      nodegroupName: "main",
      nodeRole: roleArn("node"),
      subnets: ["subnet-a"],
    });
    return (await eks.get(`/clusters/${name}`)).cluster;
  };
  return { eks, clusters, make };
}

describe("clusters that are recorded only", () => {
  test("are ACTIVE with their nodes and add-ons, and nothing runs for them", async () => {
    const { eks, clusters, make } = await recording("^fleet-spoke-");
    expect(await make("fleet-spoke-a")).toMatchObject({ status: "ACTIVE", endpoint: "https://192.0.2.1" });
    const path = "/clusters/fleet-spoke-a";
    expect((await eks.get(`${path}/node-groups/main`)).nodegroup.status).toBe("ACTIVE");
    expect((await eks.get(`${path}/addons/coredns`)).addon.status).toBe("ACTIVE");
    expect([clusters.started, [...clusters.nodes], eks.errors]).toEqual([[], [], []]);
  });

  test("take no number from clusters that run, and others run as ever", async () => {
    const { clusters, make } = await recording("^fleet-spoke-");
    await make("fleet-spoke-a");
    await make("hub");
    expect(clusters.started.map(({ name, number }) => [name, number])).toEqual([["hub", 0]]);
  });

  test("go with all that is recorded", async () => {
    const { eks, make } = await recording("^fleet-spoke-");
    await make("fleet-spoke-a");
    await eks.finish("DELETE", "/clusters/fleet-spoke-a/node-groups/main");
    await eks.finish("DELETE", "/clusters/fleet-spoke-a");
    expect((await eks.call("GET", "/clusters/fleet-spoke-a")).error).toBe("ResourceNotFoundException");
  });

  test("are only those that are asked for: without a pattern every cluster runs", async () => {
    const { clusters, make } = await recording(undefined);
    await make("fleet-spoke-a");
    expect(clusters.started).toHaveLength(1);
  });
});

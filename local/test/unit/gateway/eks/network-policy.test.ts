import { describe, expect, test } from "vitest";
import { eks, fakeEks, useEks, withNodes } from "./fakes.ts";

useEks(withNodes);

const ADDON = "/clusters/hub/addons/vpc-cni";
const on = '{"enableNetworkPolicy":"true"}';
const create = (configurationValues?: string) =>
  eks.call("POST", "/clusters/hub/addons", {
    addonName: "vpc-cni",
    ...(configurationValues === undefined ? {} : { configurationValues }),
  });
const enforcing = async () => {
  await eks.settle();
  return [...eks.clusters.enforcing];
};
const rights = () => eks.clusters.objects.get("hub/ClusterRole//eks:network-policy");

describe("the nodes of a cluster enforce NetworkPolicies", () => {
  test("when the add-on vpc-cni is told to, and not without it or with its defaults", async () => {
    expect(await enforcing()).toEqual([]);
    await create();
    expect(await enforcing()).toEqual([]);
    expect(rights()).toBeUndefined();
    await eks.call("POST", `${ADDON}/update`, { configurationValues: on });
    expect(await enforcing()).toEqual(["hub/0"]);
    expect(rights()).toMatchObject({ rules: expect.arrayContaining([expect.objectContaining({ verbs: ["get"] })]) });
    await eks.call("POST", `${ADDON}/update`, { configurationValues: "enableNetworkPolicy: 'false'" });
    expect(await enforcing()).toEqual([]);
    expect(rights()).toBeUndefined();
  });

  test("before the add-on is ACTIVE", async () => {
    const release = eks.clusters.hold();
    await create(on);
    await new Promise((done) => setTimeout(done, 20));
    const status = async () => (await eks.get(ADDON)).addon.status;
    expect([await status(), ...eks.clusters.enforcing]).toEqual(["CREATING"]);
    release();
    expect([...(await enforcing()), await status()]).toEqual(["hub/0", "ACTIVE"]);
  });

  test("also those that join later, and those that replace others", async () => {
    await create(on);
    await eks.call("POST", "/clusters/hub/node-groups/main/update-config", { scalingConfig: { desiredSize: 2 } });
    expect(await enforcing()).toEqual(["hub/0", "hub/1"]);
    await eks.call("POST", "/clusters/hub/node-groups/main/update-config", { scalingConfig: { desiredSize: 1 } });
    expect(await enforcing()).toEqual(["hub/0"]);
    await eks.call("POST", "/clusters/hub/node-groups/main/update-config", { scalingConfig: { desiredSize: 2 } });
    expect(await enforcing()).toEqual(["hub/0", "hub/1"]);
  });

  test("also when the gateway was away while nodes were started", async () => {
    await create(on);
    await enforcing();
    eks.clusters.enforcing.clear();
    const again = await fakeEks({ clusters: eks.clusters, folder: eks.folder });
    again.worker.add("hub");
    await again.settle();
    expect([...eks.clusters.enforcing]).toEqual(["hub/0"]);
  });

  test("no longer once the add-on is deleted, unless its software is preserved", async () => {
    await create(on);
    await eks.call("DELETE", `${ADDON}?preserve=true`);
    expect(await enforcing()).toEqual(["hub/0"]);
    await create(on);
    await eks.settle();
    await eks.call("DELETE", ADDON);
    expect(await enforcing()).toEqual([]);
  });
});

test.each(["true", "1", '"yes"'])(
  "enableNetworkPolicy is a string, as EKS's schema has it: %s is refused",
  async (value) => {
    const { error, body } = await create(`{"enableNetworkPolicy": ${value}}`);
    expect([error, body.message]).toEqual([
      "InvalidParameterException",
      expect.stringContaining('allowed are the strings "true" and "false"'),
    ]);
  },
);

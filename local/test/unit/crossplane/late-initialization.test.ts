import { beforeEach, describe, expect, it } from "vitest";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import { lateInitialized, lateInitializers } from "../../../crossplane/provider-aws/late-initialization.ts";
import { FakeCluster, FakeService, pass, settle, things } from "./fakes.ts";

const providerConfigRef = { kind: "ClusterProviderConfig", name: "default" };
const late = (kindName: string, observed: object, spec: object = {}) => {
  const kind = allKinds.find(({ group, kind: name }) => `${group}/${name}` === kindName);
  if (kind === undefined) throw new Error(`unknown kind ${kindName}`);
  return lateInitialized(kind, { forProvider: {}, providerConfigRef, ...spec }, observed as never);
};

describe("the fields to add to forProvider", () => {
  it("are the unset ones, without zero values", () => {
    const observed = { cidrBlock: "10.0.0.0/24", vpcId: "vpc-1", mapPublicIpOnLaunch: false, availabilityZone: "" };
    expect(late("ec2/Subnet", observed, { forProvider: { vpcId: "vpc-2" } })).toEqual({ cidrBlock: "10.0.0.0/24" });
  });

  it("leave an empty text, false and an empty list that forProvider has", () => {
    const forProvider = { networkInterface: "", domain: "vpc" };
    expect(late("ec2/EIP", { networkInterface: "eni-1", domain: "vpc" }, { forProvider })).toBeUndefined();
    expect(
      late("eks/NodeGroup", { taint: [{ key: "a", effect: "NO_SCHEDULE" }] }, { forProvider: { taint: [] } }),
    ).toBeUndefined();
  });

  it("add no member to a block that forProvider has", () => {
    const observed = { updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 10 } };
    expect(late("eks/NodeGroup", observed, { forProvider: { updateConfig: {} } })).toBeUndefined();
    expect(late("eks/NodeGroup", { updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 0 } })).toEqual({
      updateConfig: { maxUnavailable: 1 },
    });
  });

  it("have a block of zero values only together with another field, and then empty", () => {
    const pointInTimeRecovery = { enabled: false };
    expect(late("dynamodb/Table", { pointInTimeRecovery })).toBeUndefined();
    expect(late("dynamodb/Table", { pointInTimeRecovery, hashKey: "id" })).toEqual({
      pointInTimeRecovery: {},
      hashKey: "id",
    });
  });

  it("copy maps as they are, and lists of blocks without zero members", () => {
    const observed = { labels: { "": "" }, taint: [{ key: "a", value: "", effect: "NO_SCHEDULE" }] };
    expect(late("eks/NodeGroup", observed)).toEqual({
      labels: { "": "" },
      taint: [{ key: "a", effect: "NO_SCHEDULE" }],
    });
  });

  it("lack those that upstream ignores", () => {
    expect(late("eks/NodeGroup", { version: "1.36", releaseVersion: "1.36.0-20260801" })).toBeUndefined();
    expect(late("ec2/VPC", { cidrBlock: "10.0.0.0/16" })).toBeUndefined();
  });

  it("lack those that upstream ignores if initProvider has them", () => {
    const observed = { scalingConfig: { desiredSize: 2, minSize: 1, maxSize: 3 } };
    expect(late("eks/NodeGroup", observed)).toEqual(observed);
    expect(late("eks/NodeGroup", observed, { initProvider: { scalingConfig: { desiredSize: 2 } } })).toBeUndefined();
  });
});

it("the table of ignored fields names only kinds that are served", () => {
  const served = allKinds.map(({ group, kind }) => `${group}/${kind}`);
  expect(Object.keys(lateInitializers).filter((kind) => !served.includes(kind))).toEqual([]);
});

describe("a pass over an existing resource", () => {
  let cluster: FakeCluster;
  let service: FakeService;
  beforeEach(() => {
    cluster = new FakeCluster();
    service = new FakeService();
  });
  const forProvider = (kind: ReturnType<typeof things>) => cluster.get(kind, "one")?.spec.forProvider;

  it("writes what AWS has, and enforces it from then on", async () => {
    const kind = things(service.handler("assigned"));
    cluster.add(kind, "one", { initProvider: { size: 2 } });
    await settle(cluster, kind, "one");
    expect(forProvider(kind)).toMatchObject({ size: 2, color: "grey" });
    Object.assign(service.things.get("thing-1") as object, { size: 7, color: "green" });
    await settle(cluster, kind, "one");
    expect(service.things.get("thing-1")).toMatchObject({ size: 2, color: "grey" });
  });

  it("restores a value that was removed from forProvider, after one update without it", async () => {
    const kind = things(service.handler("assigned"));
    cluster.add(kind, "one", { forProvider: { owner: "a", options: { a: "x" } } });
    await settle(cluster, kind, "one");
    cluster.change(kind, "one", { spec: { forProvider: { options: null } } });
    expect(await pass(cluster, kind, "one")).toBe("again");
    expect(service.calls).toContain("update thing-1");
    expect(forProvider(kind)).toMatchObject({ options: { a: "x" } });
    await settle(cluster, kind, "one");
    expect(service.things.get("thing-1")?.["options"]).toEqual({ a: "x" });
  });

  it("writes nothing without LateInitialize, also no ID that follows from the fields", async () => {
    const kind = things(
      service.handler("name", {
        idOf: () => "fixed",
        create: async (_aws, inputs) => {
          service.things.set("fixed", { ...inputs, name: "fixed" });
          return "fixed";
        },
      }),
    );
    cluster.add(kind, "one", { managementPolicies: ["Observe", "Create", "Update", "Delete"] });
    expect(await settle(cluster, kind, "one")).toBe("poll");
    expect(forProvider(kind)).not.toHaveProperty("color");
    expect(cluster.get(kind, "one")?.metadata.annotations).not.toHaveProperty("crossplane.io/external-name");
  });
});

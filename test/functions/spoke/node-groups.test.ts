import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { creationFailureAnnotation, lookAgainAnnotation } from "../../../lib/labels.ts";
import { nodeDigest } from "../../../lib/node-groups.ts";
import { nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { failing, running, type World } from "./support/world.ts";

describe("the number of nodes", () => {
  const scaling = (world: World) => at(world.object(nodeGroup).spec, "forProvider", "scalingConfig");
  /** What an autoscaler does: the group has another size, of which nobody told Crossplane. */
  const scaled = (world: World, desiredSize: number) => {
    const { object } = world.live.get(nodeGroup) as { object: { status: { atProvider: object } } };
    Object.assign(object.status.atProvider, { scalingConfig: { minSize: 2, desiredSize, maxSize: 4 } });
  };

  it("begins with what the Spoke asks for, and is an autoscaler's from then on", () => {
    const world = running(spoke({ nodes: { min: 2, desired: 3, max: 4 } }));
    const group = world.object(nodeGroup).spec;
    expect(at(group, "initProvider")).toEqual({ scalingConfig: { desiredSize: 3 } });
    expect(scaling(world)).toEqual({ minSize: 2, maxSize: 4 });
    scaled(world, 4);
    expect(world.settle().ready).toBe(true);
    expect(scaling(world)).toEqual({ minSize: 2, maxSize: 4 });
  });

  it.each([
    ["raises it to a higher min", { min: 4, desired: 4, max: 6 }, 2, { minSize: 4, desiredSize: 4, maxSize: 6 }],
    ["lowers it to a lower max", { min: 1, desired: 1, max: 3 }, 4, { minSize: 1, desiredSize: 3, maxSize: 3 }],
  ])("%s, as EKS takes no limits that don't hold it, and then lets it go again", (_what, nodes, before, asked) => {
    const world = running(spoke({ nodes: { min: 2, desired: 2, max: 4 } }));
    scaled(world, before);
    world.change({ nodes: { ...world.spoke.spec.nodes, ...nodes } }).step();
    expect(scaling(world)).toEqual(asked);
    const { desiredSize: _, ...limits } = asked;
    expect(world.settle().ready).toBe(true);
    expect(scaling(world)).toEqual(limits);
  });
});

describe("another kind of nodes", () => {
  const before = { instanceTypes: ["m6i.large"], amiType: "AL2023_x86_64_STANDARD", capacityType: "ON_DEMAND" };
  const graviton = { instanceTypes: ["m7g.large"], amiType: "AL2023_ARM_64_STANDARD", capacityType: "ON_DEMAND" };
  const keyOf = (fields: typeof before) => `node-group-${nodeDigest(fields)}`;
  const nodeGroupsOf = (world: World) => [...world.live.keys()].filter((key) => key.startsWith("node-group"));
  const take = (world: World, change: object) => world.change({ nodes: { ...world.spoke.spec.nodes, ...change } });
  const hold = (world: World, key: string) =>
    world.report(key, (status) => ({
      ...status,
      conditions: [{ type: "Ready", status: "False", reason: "Creating" }],
    }));

  it("makes a group beside the one that serves, which goes only when the new one is ready", () => {
    const world = running(spoke());
    const kept = world.object(keyOf(before)).spec;
    hold(world, keyOf(graviton));
    take(world, graviton);
    world.settle();
    expect(nodeGroupsOf(world).sort()).toEqual([keyOf(before), keyOf(graviton)].sort());
    expect(world.object(keyOf(before)).spec).toEqual(kept);
    expect(world.object(keyOf(graviton)).metadata.annotations).toMatchObject({
      "crossplane.io/external-name": `fleet-spoke-blue-nodes-${nodeDigest(graviton)}`,
    });
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "InProgress" });
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(graviton)]);
    expect(world.removed).toEqual([keyOf(before)]);
  });

  it.each([
    ["instance types", { instanceTypes: ["m6i.xlarge"] }],
    ["their order of preference", { instanceTypes: ["m6a.large", "m6i.large"] }],
    ["the capacity type", { capacityType: "SPOT" }],
  ])("is another group for %s", (_what, change) => {
    const world = running(spoke());
    take(world, change);
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf({ ...before, ...change })]);
  });

  it("is not needed for a larger disk or other limits: the launch template and the group change in place", () => {
    const world = running(spoke());
    take(world, { diskSize: 100, max: 6 });
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(before)]);
    expect(world.forProvider(keyOf(before))["launchTemplate"]).toEqual({ id: "lt-1", version: "2" });
    expect(world.removed).toEqual([]);
  });

  it("begins with as many nodes as an autoscaler has made of the former", () => {
    const world = running(spoke());
    const { object } = world.live.get(keyOf(before)) as { object: { status: { atProvider: object } } };
    Object.assign(object.status.atProvider, { scalingConfig: { desiredSize: 4 } });
    hold(world, keyOf(graviton));
    take(world, graviton);
    world.settle();
    expect(at(world.object(keyOf(graviton)).spec, "initProvider", "scalingConfig")).toEqual({ desiredSize: 4 });
  });

  /** What Crossplane's provider reports of a group that AWS has with this status: Ready in any case. */
  const inAwsAs = (world: World, key: string, status: string) =>
    world.report(key, (reported) => ({ ...reported, atProvider: { ...(reported["atProvider"] as object), status } }));

  it("that AWS failed to make leaves the former, though Crossplane calls it Ready, and goes as soon as it is corrected", () => {
    const world = running(spoke());
    const wrong = keyOf({ ...before, instanceTypes: ["m6i.xlarge"] });
    inAwsAs(world, wrong, "CREATE_FAILED");
    take(world, { instanceTypes: ["m6i.xlarge"] });
    expect(world.settle().ready).toBe(false);
    expect(nodeGroupsOf(world).sort()).toEqual([keyOf(before), wrong].sort());
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "CreationFailed" });
    take(world, graviton);
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(graviton)]);
  });

  describe("whose instances don't join the cluster", () => {
    const key = keyOf(graviton);
    const issue = "i-0a1, i-0b2: NodeCreationFailure: Instances failed to join the kubernetes cluster";
    const wait = `waiting for EKS Node Group (fleet-spoke-blue:nodes) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: ${issue}`;
    const error = `async create failed: failed to create the resource: [{0 ${wait}  []}]`;
    const noted = (world: World) => world.object(key).metadata.annotations?.[creationFailureAnnotation];

    /** The provider reports the error of the creation until its next look, and then the status alone. */
    const failOnce = () => {
      const world = running(spoke());
      world.report(key, (status) => ({
        ...status,
        atProvider: {},
        conditions: [
          { type: "Synced", status: "False", reason: "ReconcileError", message: `create failed: ${error}` },
          { type: "LastAsyncOperation", status: "False", reason: "AsyncCreateFailure", message: error },
          { type: "Ready", status: "False", reason: "Creating" },
        ],
      }));
      take(world, graviton);
      world.settle();
      expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "NodesNotJoined" });
      world.reports.clear();
      inAwsAs(world, key, "CREATE_FAILED");
      world.settle();
      return world;
    };

    it("is reported with EKS's health issue, its instances and what to do, even after the provider has lost the error", () => {
      const world = failOnce();
      const { reason, message } = world.condition("NodesReady") ?? {};
      expect(reason).toBe("NodesNotJoined");
      expect(message).toContain(`AWS reports the status CREATE_FAILED: ${issue} (`);
      expect(message).toContain("get-console-output");
      expect(message).toContain("kubectl -n spokes delete nodegroups.eks.aws.m.upbound.io <name>");
      expect(world.spoke.status).toMatchObject({ phase: "Failing", message });
      expect(noted(world)).toBe(issue);
      expect(nodeGroupsOf(world).sort()).toEqual([keyOf(before), key].sort());
    });

    it("is no failure while the provider creates it again, and is forgotten once it works", () => {
      const world = failOnce();
      world.report(key, (status) => ({
        ...status,
        atProvider: { ...(status["atProvider"] as object), status: "CREATE_FAILED" },
        conditions: [{ type: "Ready", status: "False", reason: "Creating" }],
      }));
      world.settle();
      expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "InProgress" });
      world.reports.clear();
      expect(world.settle().ready).toBe(true);
      expect(nodeGroupsOf(world)).toEqual([key]);
      expect(noted(world)).toBeUndefined();
    });

    it("is reported without the health issue where the function has missed the error, with the command that shows it", () => {
      const world = running(spoke());
      inAwsAs(world, key, "CREATE_FAILED");
      take(world, graviton);
      world.settle();
      expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "CreationFailed" });
      expect(world.condition("NodesReady")?.message).toContain("aws eks describe-nodegroup");
    });
  });

  it("is looked at again while AWS is still making it, in case a provider was killed that waited for it", () => {
    const world = running(spoke());
    const key = keyOf(graviton);
    const asked = () => world.object(key).metadata.annotations?.[lookAgainAnnotation];
    inAwsAs(world, key, "CREATING");
    take(world, graviton);
    world.settle();
    expect(asked()).toBe(new Date(Math.floor(world.now / 30_000) * 30_000).toISOString());
    expect(nodeGroupsOf(world).sort()).toEqual([keyOf(before), key].sort());
    world.reports.clear();
    world.settle();
    expect(asked()).toBeUndefined();
  });

  it("that is degraded serves, is told, and is looked at every five minutes until somebody has mended it", () => {
    const world = running(spoke());
    const key = keyOf(before);
    const asked = () => world.object(key).metadata.annotations?.[lookAgainAnnotation];
    inAwsAs(world, key, "DEGRADED");
    world.settle();
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "Degraded" });
    const first = asked();
    world.now += 299_000;
    world.settle();
    world.now += 1_000;
    world.settle();
    expect(asked()).not.toBe(first);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(asked()).toBeUndefined();
    expect(world.removed).toEqual([]);
  });

  it("that AWS refuses leaves the former, and what was refused goes as soon as it is corrected", () => {
    const world = running(spoke());
    const wrong = keyOf({ ...before, instanceTypes: ["m9.large"] });
    world.report(wrong, failing("InvalidParameterException: Instance type m9.large is not supported"));
    take(world, { instanceTypes: ["m9.large"] });
    world.settle();
    expect(world.condition("NodesReady")).toMatchObject({ reason: "InvalidNodes" });
    hold(world, keyOf(graviton));
    take(world, graviton);
    world.settle();
    expect(nodeGroupsOf(world).sort()).toEqual([keyOf(before), keyOf(graviton)].sort());
    take(world, before);
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(before)]);
  });

  it("under way, or not yet drained, does not hinder a removal, and goes before the cluster", () => {
    const world = running(spoke());
    hold(world, keyOf(graviton));
    take(world, graviton);
    world.settle();
    world.stuck.add(keyOf(before));
    world.reports.clear();
    for (let step = 0; step < 5; step += 1) world.step();
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    expect(world.live.has("cluster")).toBe(true);
    expect(world.live.has("role-node")).toBe(true);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
  });
});

describe("a release of the nodes' AMI", () => {
  const [older, newer] = ["1.35.2-20261002", "1.35.3-20261101"];
  const withRelease = (release: string, version = "1.35") => {
    const { kubernetesVersions } = settings();
    const nodes = { AL2023_x86_64_STANDARD: release };
    const changed = { ...kubernetesVersions, [version]: { ...kubernetesVersions[version], nodes } };
    return settings({ kubernetesVersions: changed });
  };
  const release = (world: World) => world.forProvider(nodeGroup)["releaseVersion"];

  it("is EKS's own choice until the Composition names one, and then rolls the group that there is", () => {
    const world = running(spoke());
    expect(world.forProvider(nodeGroup)).not.toHaveProperty("releaseVersion");
    world.settings = withRelease(older);
    expect(world.settle()).toMatchObject({ ready: true, status: { nodesReleaseVersion: older } });
    world.report(nodeGroup, () => structuredClone(world.object(nodeGroup).status) as never);
    world.settings = withRelease(newer);
    world.settle();
    expect(release(world)).toBe(newer);
    expect(world.condition("VersionCurrent")).toMatchObject({
      status: "False",
      reason: "UpgradingNodes",
      message: `the nodes run the AMI release ${older} and are being replaced by ${newer}`,
    });
    world.reports.clear();
    expect(world.settle()).toMatchObject({ ready: true, status: { nodesReleaseVersion: newer } });
    expect(world.removed).toEqual([]);
  });

  it("is not rolled back, which EKS refuses: the nodes keep the newer one", () => {
    const world = running(spoke(), { settings: withRelease(newer) });
    world.settings = withRelease(older);
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider(nodeGroup)).not.toHaveProperty("releaseVersion");
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "Current" });
  });

  it("of another AMI type or Kubernetes version is none of its business", () => {
    const world = running(spoke(), { settings: withRelease("1.36.2-20261101", "1.36") });
    expect(world.forProvider(nodeGroup)).not.toHaveProperty("releaseVersion");
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.36", releaseVersion: "1.36.2-20261101" });
  });
});

import { describe, expect, it } from "vitest";
import { at, type KubeObject } from "../../../functions/spoke/kube.ts";
import { labelKeys } from "../../../lib/labels.ts";
import { nodeDigest } from "../../../lib/node-groups.ts";
import { example, exampleNames, hub, nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { failing, World } from "./support/world.ts";

/** A spoke that runs. */
function running(...args: ConstructorParameters<typeof World>): World {
  const world = new World(...args);
  expect(world.settle().ready, JSON.stringify(world.answer?.conditions)).toBe(true);
  // The hub's admin policies went when the chain was ready.
  world.removed.length = 0;
  return world;
}

const hubAdmin = ["access-policy-kustomize-controller", "access-policy-helm-controller"];

describe("a new Spoke", () => {
  it.each(exampleNames)(
    "comes up by itself, in the order that AWS demands, and removes nothing on its way but the hub's admin rights: %s",
    (name) => {
      const world = new World(example(name));
      const seen = new Set<string>();
      for (let step = 0; step < 40; step += 1) {
        const { wanted } = world.step();
        expect([...seen].filter((key) => !wanted.has(key) && !hubAdmin.includes(key))).toEqual([]);
        for (const key of wanted.keys()) seen.add(key);
      }
      expect(world.spoke.status).toMatchObject({ phase: "Ready", message: "the spoke runs" });
      expect(world.answer?.conditions.filter(({ status }) => status !== "True")).toEqual([]);
      expect(world.removed).toEqual(hubAdmin);
    },
  );

  it("is guarded before anything is made that must be removed in order", () => {
    const world = new World(spoke());
    expect([...world.step().wanted.keys()]).toEqual(["deletion-guard"]);
    expect(world.answer?.ready).toBe(false);
    expect([...world.step().wanted.keys()].length).toBeGreaterThan(1);
  });

  it("asks the same of AWS again when nothing changed", () => {
    const world = running(spoke());
    expect(world.ask()).toEqual(world.ask());
    expect(world.step().wanted).toEqual(world.step().wanted);
  });

  it("says what it does at every step", () => {
    const world = new World(spoke());
    const phases: string[] = [];
    for (let step = 0; step < 25; step += 1) phases.push(String(world.step().status.phase));
    const order = ["Network", "ControlPlane", "Nodes", "Identities", "Bootstrap", "Ready"];
    const positions = phases.map((phase) => order.indexOf(phase));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(phases.at(-1)).toBe("Ready");
  });

  it("names no condition as Crossplane names its own, which it would drop without a word", () => {
    const world = new World(spoke());
    const types = new Set<string>();
    for (let step = 0; step < 25; step += 1) for (const { type } of world.step().conditions) types.add(type);
    world.delete();
    for (const { type } of world.step().conditions) types.add(type);
    expect([...types]).toEqual(expect.arrayContaining(["SpecAccepted", "VersionCurrent", "Deleting"]));
    // IsSystemConditionType in crossplane/apis v2.3.4, core/v2/condition.go and apiextensions/v1/conditions.go.
    for (const reserved of ["Ready", "Synced", "Healthy", "UpToDate", "Responsive"])
      expect(types).not.toContain(reserved);
  });

  it("says what it waits for in words, not in the names of variables", () => {
    const world = new World(spoke());
    for (let step = 0; step < 25; step += 1) {
      for (const { message } of world.step().conditions) expect(message).not.toMatch(/waiting for .*[a-z][A-Z]/);
    }
  });

  it("keeps what it has while its prerequisites can't be read", () => {
    const world = running(spoke());
    const before = world.ask().wanted;
    for (const key of ["vpc", "cluster", "oidc-provider", "role-node", "launch-template"]) {
      world.reports.set(key, () => ({ conditions: [{ type: "Ready", status: "Unknown", reason: "" }] }));
    }
    world.step();
    const { wanted, status } = world.step();
    expect([...wanted.keys()]).toEqual([...before.keys()]);
    for (const key of ["subnet-private-0", "cluster-secret", "kubeconfig", nodeGroup, "role-external-secrets"]) {
      expect(wanted.get(key)?.manifest.spec, key).toEqual(before.get(key)?.manifest.spec);
      expect(wanted.get(key)?.manifest.data, key).toEqual(before.get(key)?.manifest.data);
      expect(wanted.get(key)?.manifest.metadata.labels, key).toEqual(before.get(key)?.manifest.metadata.labels);
    }
    expect(status.network?.vpcId).toBe("vpc-vpc");
    expect(status.kubernetesVersion).toBe("1.34");
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  it("makes a resource again that somebody deleted, with the same name", () => {
    const world = running(spoke());
    const { name } = world.object("route-private-1").metadata;
    world.live.delete("route-private-1");
    expect(world.settle().ready).toBe(true);
    expect(world.object("route-private-1").metadata.name).toBe(name);
  });
});

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
    world.change({ nodes: { ...world.spoke.spec.nodes, ...nodes } });
    world.step();
    expect(scaling(world)).toEqual(asked);
    const { desiredSize: _, ...limits } = asked;
    expect(world.settle().ready).toBe(true);
    expect(scaling(world)).toEqual(limits);
  });
});

describe("a new spoke", () => {
  it("says at every step what is made, a few by name, and what waits for what", () => {
    const world = new World(spoke());
    const types = ["NetworkReady", "ControlPlaneReady", "NodesReady", "AddonsReady", "Bootstrapped"];
    const steps = Array.from({ length: 6 }, () => {
      world.step();
      return types.map((type) => world.condition(type)?.message?.replace(/^[^:]+: /, ""));
    });
    const said = Object.fromEntries(types.map((type, index) => [type, steps.map((messages) => messages[index])]));
    const begins = "not begun";
    expect(said).toEqual({
      NetworkReady: [
        begins,
        "making network-10-98-0-0-18",
        "making vpc",
        "making internet-gateway, subnet-public-0, subnet-private-0, route-table-private-0, 6 more",
        "making association-private-0, association-private-1, association-public-0, association-public-1, 4 more",
        "making nat-0",
      ],
      ControlPlaneReady: [
        begins,
        "making role-cluster, key, logs",
        "making attachment-cluster-amazoneksclusterpolicy, key-alias",
        "waiting for the network",
        "making cluster",
        "ready",
      ],
      NodesReady: [
        begins,
        "making role-node, launch-template",
        expect.stringMatching(/^making (attachment-node-[a-z0-9-]+(, )?){3}$/),
        "waiting for the control plane, the network, the EKS add-ons",
        "waiting for the control plane, the network, the EKS add-ons",
        "waiting for the network, the EKS add-ons",
      ],
      AddonsReady: [
        begins,
        ...Array(4).fill("waiting for the control plane, the nodes, IAM roles and access"),
        "making addon-vpc-cni, addon-kube-proxy",
      ],
      Bootstrapped: [
        begins,
        "waiting for the control plane, the network, IAM roles and access, the nodes",
        "waiting for the control plane, the network, IAM roles and access, the nodes",
        "waiting for the control plane, IAM roles and access, the nodes",
        "waiting for the control plane, IAM roles and access, the nodes",
        "making kubeconfig",
      ],
    });
  });
});

describe("another kind of nodes", () => {
  const before = { instanceTypes: ["m6i.large"], amiType: "AL2023_x86_64_STANDARD", capacityType: "ON_DEMAND" };
  const graviton = { instanceTypes: ["m7g.large"], amiType: "AL2023_ARM_64_STANDARD", capacityType: "ON_DEMAND" };
  const keyOf = (fields: typeof before) => `node-group-${nodeDigest(fields)}`;
  const nodeGroupsOf = (world: World) => [...world.live.keys()].filter((key) => key.startsWith("node-group"));
  const take = (world: World, change: object) => world.change({ nodes: { ...world.spoke.spec.nodes, ...change } });
  const hold = (world: World, key: string) =>
    world.reports.set(key, (status) => ({
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

  it("that AWS refuses leaves the former, and what was refused goes as soon as it is corrected", () => {
    const world = running(spoke());
    const wrong = keyOf({ ...before, instanceTypes: ["m9.large"] });
    world.reports.set(wrong, failing("InvalidParameterException: Instance type m9.large is not supported"));
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

  /** A spoke whose node group has the key and the name of before there were digests. */
  const old = () => {
    const world = running(spoke());
    const group = world.live.get(keyOf(before)) as { object: KubeObject; referred: boolean; deleting: boolean };
    const { metadata } = group.object;
    const annotations = {
      ...metadata.annotations,
      "crossplane.io/external-name": "fleet-spoke-blue-nodes",
      "crossplane.io/composition-resource-name": "node-group",
    };
    world.live.delete(keyOf(before));
    world.live.set("node-group", {
      ...group,
      object: { ...group.object, metadata: { ...metadata, name: "blue-node-group", annotations } },
    });
    return world;
  };

  it("does not come by an upgrade of the function: a group without a digest in its name stays", () => {
    const world = old();
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual(["node-group"]);
    expect(world.object("node-group").metadata).toMatchObject({
      name: "blue-node-group",
      annotations: { "crossplane.io/external-name": "fleet-spoke-blue-nodes" },
    });
    expect(world.removed).toEqual([]);
    take(world, graviton);
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(graviton)]);
    expect(world.removed).toEqual(["node-group"]);
  });

  it("is made where the provider had refused a change of the group without a digest", () => {
    const world = old();
    const { object } = world.live.get("node-group") as { object: { spec: { forProvider: object } } };
    Object.assign(object.spec.forProvider, graviton);
    world.reports.set("node-group", ({ atProvider, ...status }) => ({
      ...status,
      atProvider: { ...(atProvider as object), ...before },
    }));
    world.change({ nodes: { ...world.spoke.spec.nodes, ...graviton } });
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupsOf(world)).toEqual([keyOf(graviton)]);
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
  const [older, newer] = ["1.34.2-20261002", "1.34.3-20261101"];
  const withRelease = (release: string, version = "1.34") => {
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
    world.reports.set(nodeGroup, () => structuredClone(world.object(nodeGroup).status) as never);
    world.settings = withRelease(newer);
    world.settle();
    expect(release(world)).toBe(newer);
    expect(world.condition("VersionCurrent")).toMatchObject({
      status: "False",
      reason: "UpgradingNodes",
      message: `the nodes run the release ${older} and go to ${newer}`,
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
    const world = running(spoke(), { settings: withRelease("1.35.2-20261101", "1.35") });
    expect(world.forProvider(nodeGroup)).not.toHaveProperty("releaseVersion");
    world.change({ kubernetesVersion: "1.35" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.35", releaseVersion: "1.35.2-20261101" });
  });
});

describe("an upgrade", () => {
  it("raises the control plane, then the add-ons, then the nodes", () => {
    const world = running(spoke());
    const tell = (key: string) => world.reports.set(key, () => structuredClone(world.object(key).status) as never);
    for (const key of ["cluster", "addon-coredns", nodeGroup]) tell(key);
    world.change({ kubernetesVersion: "1.35" });
    world.settle();
    expect(world.forProvider("cluster")).toMatchObject({ version: "1.35" });
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.34" });
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.34.6-eksbuild.21" });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "UpgradingControlPlane" });
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Upgrading", kubernetesVersion: "1.34" } });

    world.reports.delete("cluster");
    world.settle();
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.35.3-eksbuild.21" });
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.34" });
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "UpgradingAddons" });

    world.reports.delete("addon-coredns");
    world.settle();
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.35" });
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "UpgradingNodes" });

    world.reports.delete(nodeGroup);
    expect(world.settle()).toMatchObject({ ready: true, status: { nodesKubernetesVersion: "1.35" } });
    expect(world.removed).toEqual([]);
  });

  it("goes one minor at a time even when the Spoke was raised by two before its cluster was there", () => {
    const supported = { "1.33": {}, "1.34": {}, "1.35": {} };
    const world = running(spoke({ kubernetesVersion: "1.33" }), {
      settings: settings({ kubernetesVersions: supported }),
    });
    world.change({ kubernetesVersion: "1.35" });
    world.step();
    expect(world.forProvider("cluster")["version"]).toBe("1.34");
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("cluster")["version"]).toBe("1.35");
  });

  it("never lowers a control plane that AWS raised: add-ons and nodes follow it, and it says what to do", () => {
    const world = running(spoke());
    world.reports.set("cluster", (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), version: "1.35" },
    }));
    world.settle();
    expect(world.forProvider("cluster")["version"]).toBe("1.35");
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.35.3-eksbuild.21" });
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.35");
    expect(world.answer?.status).toMatchObject({ kubernetesVersion: "1.35", nodesKubernetesVersion: "1.35" });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "AheadOfSpec" });
    expect(world.condition("VersionCurrent")?.message).toContain("set spec.kubernetesVersion to 1.35");

    world.change({ kubernetesVersion: "1.35" });
    expect(world.settle().ready).toBe(true);
    expect(world.condition("VersionCurrent")?.status).toBe("True");
  });

  it("stays where it is when the next version is not supported", () => {
    const world = running(spoke({ kubernetesVersion: "1.36" }));
    world.change({ kubernetesVersion: "1.37" });
    world.settle();
    expect(world.forProvider("cluster")["version"]).toBe("1.36");
    expect(world.condition("SpecAccepted")).toMatchObject({
      status: "False",
      reason: "UnsupportedVersion",
      message: "spec.kubernetesVersion 1.37 is not supported: choose one of 1.34, 1.35, 1.36",
    });
  });

  it("leaves an add-on at the version that the Spoke names, and an add-on without any version alone", () => {
    const world = running(spoke({ eksAddonVersions: { coredns: "v1.12.9-eksbuild.9" } }));
    world.change({ kubernetesVersion: "1.35" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("addon-coredns")["addonVersion"]).toBe("v1.12.9-eksbuild.9");
    expect(world.forProvider("addon-aws-ebs-csi-driver")).not.toHaveProperty("addonVersion");
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.35");
  });
});

describe("a removal", () => {
  it.each(exampleNames)("takes everything down in order and lets the Spoke go as the last: %s", (name) => {
    const world = running({ ...example(name), spec: { ...example(name).spec, deletionProtection: false } });
    const before = [...world.live.keys()];
    world.delete();
    world.settle();
    expect(world.gone).toBe(true);
    expect(world.live.size).toBe(0);
    expect(world.removed.toSorted()).toEqual([...before, ...hubAdmin].sort());
    expect(world.removed[0]).toBe("bootstrap");
    expect(world.removed.at(-1)).toBe("deletion-guard");
  });

  it.each([1, 2, 4, 7, 11])("also takes down a spoke that was not finished, %i steps after its beginning", (steps) => {
    const world = new World(spoke());
    for (let step = 0; step < steps; step += 1) world.step();
    world.delete();
    world.settle();
    expect(world.gone).toBe(true);
    expect([...world.live]).toEqual([]);
  });

  it("waits for the chain as long as it takes, keeps what it needs, and names the way out", () => {
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
    expect(world.condition("Deleting")?.message).toContain(
      "-l fleet.internal/cluster=blue,fleet.internal/target=spoke",
    );
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
    world.delete();
    world.settle();
    expect(world.removed).toEqual([]);
    expect(world.answer?.ready).toBe(true);
    expect(world.condition("Deleting")).toMatchObject({ status: "False", reason: "Protected" });
    world.spoke = { ...world.spoke, metadata: { ...world.spoke.metadata, annotations: {} } };
    world.settle();
    expect(world.condition("Deleting")).toMatchObject({ status: "False", reason: "NotAskedFor" });
  });

  it("takes the protection off the cluster before the cluster goes", () => {
    const world = running(spoke({ deletionProtection: true }));
    world.change({ deletionProtection: false });
    world.delete();
    world.stuck.add(nodeGroup);
    for (let step = 0; step < 8; step += 1) world.step();
    expect(world.forProvider("cluster")["deletionProtection"]).toBe(false);
    world.stuck.clear();
    world.settle();
    expect(world.gone).toBe(true);
  });
});

describe("trouble", () => {
  it.each([
    [
      "cluster",
      "AccessDeniedException: User is not authorized to perform: eks:CreateCluster",
      "ControlPlaneReady",
      "AccessDenied",
    ],
    [
      "vpc",
      "creating EC2 VPC: VpcLimitExceeded: The maximum number of VPCs has been reached.",
      "NetworkReady",
      "QuotaExceeded",
    ],
    [nodeGroup, "InvalidParameterException: Instance type m9.large is not supported", "NodesReady", "InvalidNodes"],
    [nodeGroup, "InsufficientInstanceCapacity: no capacity in us-east-1a", "NodesReady", "CapacityUnavailable"],
    [
      nodeGroup,
      "VersionUpdate 1 ended as Failed: PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group a",
      "NodesReady",
      "PodsNotEvicted",
    ],
    ["subnet-public-0", "UnsupportedAvailabilityZoneException: us-east-1e", "NetworkReady", "InvalidZone"],
    ["addon-coredns", "something unheard of", "AddonsReady", "Failed"],
    ["vpc", "cannot get credentials: AssumeRole failed", "NetworkReady", "NoCredentials"],
    [
      "access-entry-helm-controller",
      "The specified principalArn is invalid: invalid principal",
      "IdentitiesReady",
      "InvalidPrincipal",
    ],
  ])("of %s (%s) becomes a condition with a reason, and ends when it is mended", (key, message, type, reason) => {
    const world = new World(spoke());
    world.reports.set(key, failing(message));
    world.settle();
    expect(world.condition(type)).toMatchObject({ status: "False", reason });
    expect(world.condition(type)?.message).toContain(message.split(":")[0]);
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Failing" } });
    expect(world.spoke.status?.message).toBe(world.condition(type)?.message);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  it("to reach a private endpoint names the networks that have to be connected", () => {
    const message = "failed to create client: Get https://10.64.0.9/api: dial tcp 10.64.0.9:443: i/o timeout";
    const closed = { public: false, publicAccessCidrs: [], privateAccessCidrs: [] };
    const world = new World(spoke({ endpoint: closed }));
    world.reports.set("bootstrap", failing(message));
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "NetworksNotConnected" });
    for (const part of [
      hub.aws.vpcId,
      hub.aws.vpcCidr,
      world.spoke.status?.network?.vpcId,
      world.spoke.status?.network?.cidr,
      "i/o timeout",
    ])
      expect(world.condition("Bootstrapped")?.message).toContain(part);
    const open = new World(spoke());
    open.reports.set("bootstrap", failing(message));
    open.settle();
    expect(open.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "SpokeUnreachable" });
  });

  it("with an update does not take the spoke down, and is told", () => {
    const world = running(spoke());
    world.change({ nodes: { ...world.spoke.spec.nodes, max: 450 } });
    world.reports.set(nodeGroup, failing("InvalidParameterException: instance type m9.large", true));
    world.settle();
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "InvalidNodes" });
    expect(world.removed).toEqual([]);
  });

  it("in an asynchronous operation is told too", () => {
    const world = new World(spoke());
    world.reports.set("cluster", () => ({
      conditions: [
        { type: "Synced", status: "True" },
        {
          type: "LastAsyncOperation",
          status: "False",
          reason: "AsyncCreateFailure",
          message: "unsupported Kubernetes version 1.34",
        },
      ],
    }));
    world.settle();
    expect(world.condition("ControlPlaneReady")).toMatchObject({ status: "False", reason: "InvalidVersion" });
  });

  it("of the chain is told in the words of the object that fails, not of those that wait for it", () => {
    const world = new World(spoke());
    world.reports.set("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "Running health checks" }],
    }));
    const step = (name: string, reason: string, message: string) => ({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name },
      status: { conditions: [{ type: "Ready", status: "False", reason, message }] },
    });
    world.chain = [
      step("blue-bootstrap", "Progressing", "Running health checks"),
      step("blue-secrets", "ReconciliationFailed", "SealedSecret: no key could decrypt secret (flux-system)"),
      step("blue-flux", "DependencyNotReady", "dependency 'spokes/blue-secrets' is not ready"),
    ];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    expect(world.condition("Bootstrapped")?.message).toContain("Kustomization blue-secrets: SealedSecret: no key");
    expect(world.condition("Bootstrapped")?.message).not.toContain("blue-flux");
  });

  it("of the chain stands while Flux tries the same commit again, and goes with the next one", () => {
    const world = new World(spoke());
    world.reports.set("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "Unknown", reason: "Progressing", message: "Running health checks" }],
    }));
    const step = (ready: object, attempted: string) => ({
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: "blue-secrets" },
      status: {
        conditions: [{ type: "Ready", ...ready }],
        lastAttemptedRevision: attempted,
        history: [{ lastReconciledStatus: "HealthCheckFailed", metadata: { revision: "main@sha1:a" } }],
      },
    });
    const again = { status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" };
    const message = "SealedSecret: no key could decrypt secret (flux-system)";
    world.chain = [step({ status: "False", reason: "HealthCheckFailed", message }, "main@sha1:a")];
    world.settle();
    world.chain = [step(again, "main@sha1:a")];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    world.chain = [step(again, "main@sha1:b")];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
  });

  it("is not seen in a commit that comes while Flux still works on the last one", () => {
    const world = new World(spoke());
    const message = "New reconciliation triggered by GitRepository/flux-system/gitops-system";
    world.reports.set("bootstrap", () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "False", reason: "HealthCheckCanceled", message }],
    }));
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
  });

  it("is none while Flux applies the next commit to a chain that worked: the Spoke stays Ready until a step fails", () => {
    const world = new World(spoke());
    const progressing = { status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" };
    const canceled = { status: "False", reason: "HealthCheckCanceled", message: "New reconciliation triggered" };
    const during = (lastReconciledStatus: string, ready: object) => () => ({
      observedGeneration: 1,
      conditions: [{ type: "Ready", ...ready }],
      history: [{ lastReconciledStatus, metadata: { revision: "main@sha1:a" } }],
    });
    for (const ready of [progressing, canceled]) {
      world.reports.set("bootstrap", during("HealthCheckFailed", ready));
      world.settle();
      expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "InProgress" });
      world.reports.set("bootstrap", during("ReconciliationSucceeded", ready));
      world.settle();
      expect(world.answer).toMatchObject({ ready: true, ttl: 15 });
    }
    const message = "SealedSecret: no key could decrypt secret (flux-system)";
    world.chain = [
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: "blue-secrets" },
        status: { conditions: [{ type: "Ready", status: "False", reason: "HealthCheckFailed", message }] },
      },
    ];
    world.settle();
    expect(world.condition("Bootstrapped")).toMatchObject({ status: "False", reason: "WrongSealingKey" });
    expect(world.answer?.ready).toBe(false);
  });

  it("of many resources is told in a few words that stay the same at every attempt", () => {
    const world = new World(spoke());
    const keys = ["vpc", "key", "logs", "role-cluster", "role-node", "launch-template"];
    let attempt = 0;
    for (const key of keys) {
      world.reports.set(key, () => {
        attempt += 1;
        return failing(
          `operation error, https response error StatusCode: 400, RequestID: 0000-${attempt}, api error Throttling: Rate exceeded`,
        )({});
      });
    }
    world.settle();
    const { message } = world.condition("ControlPlaneReady") ?? {};
    expect(message).toContain("api error Throttling: Rate exceeded");
    expect(message).not.toContain("0000-");
    expect(message?.length).toBeLessThan(1000);
  });
});

describe("a Spoke that can't be had", () => {
  it.each([
    [{ kubernetesVersion: "1.99" }, "UnsupportedVersion", "choose one of 1.34, 1.35, 1.36"],
    [{ region: "eu-west-1" }, "RegionNotAllowed", "hub's region us-east-1"],
    [{ network: { cidr: "10.0.0.0/16" } }, "NetworkOverlap", "overlaps 10.0.0.0/16 of the hub"],
    [
      { region: "eu-west-1", account: { id: "111111111111", providerConfigRef: { name: "analytics" } } },
      "ZonesUnknown",
      "spec.network.zones asks for 2 zones of eu-west-1, and the hub knows the zones of its own region us-east-1 only",
    ],
  ])("with %o is refused with a reason, and costs nothing", (change, reason, message) => {
    const world = new World(spoke(change));
    world.settle();
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason });
    expect(world.condition("SpecAccepted")?.message).toContain(message);
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Refused" } });
    world.delete();
    world.settle();
    expect(world.gone).toBe(true);
  });

  it("is one with more zones than the region has for EKS", () => {
    const small = { ...hub, hubAvailabilityZones: ["us-east-1a", "us-east-1c"] };
    const world = new World(spoke({ network: { zones: 3, natGateways: "single" } }), { hub: small });
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "ZonesUnknown" });
    expect(world.condition("SpecAccepted")?.message).toContain(
      "the hub knows 2 zones of us-east-1 for EKS (us-east-1a, us-east-1c)",
    );
  });

  it("recovers when it is corrected", () => {
    const world = new World(spoke({ kubernetesVersion: "1.99" }));
    world.settle();
    world.change({ kubernetesVersion: "1.35" });
    expect(world.settle().ready).toBe(true);
  });

  it("whose public endpoint would admit nobody gets none that admits everybody", () => {
    const island = { ...hub, hubEgressCidrs: [] };
    const world = new World(spoke(), { hub: island });
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "EndpointUnreachable" });
    world.change({ endpoint: { public: true, publicAccessCidrs: ["5.6.7.0/24"] } });
    expect(world.settle().ready).toBe(true);
    expect(at(world.forProvider("cluster"), "vpcConfig", "publicAccessCidrs")).toEqual(["5.6.7.0/24"]);
    const closed = new World(spoke({ endpoint: { public: false, publicAccessCidrs: [] } }), { hub: island });
    expect(closed.settle().ready).toBe(true);
    expect(at(closed.forProvider("cluster"), "vpcConfig")).toMatchObject({
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
    });
  });

  it("because the hub names no role for Flux says which is missing", () => {
    const { helm_controller: _, ...identities } = hub.identities;
    const world = new World(spoke(), { hub: { ...hub, identities } });
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "HubIdentityMissing" });
    expect(world.condition("SpecAccepted")?.message).toContain("helm_controller");
  });
});

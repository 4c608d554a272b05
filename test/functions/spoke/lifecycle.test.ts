import { describe, expect, it } from "vitest";
import { example, exampleNames, nodeGroup, spoke } from "./support/fixtures.ts";
import { hubAdmin, running, World } from "./support/world.ts";

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
      world.report(key, () => ({ conditions: [{ type: "Ready", status: "Unknown", reason: "" }] }));
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
    expect(status.kubernetesVersion).toBe("1.35");
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
        "making default-security-group, subnet-public-0, subnet-private-0, route-table-private-0, 7 more",
        "making association-private-0, association-private-1, association-public-0, association-public-1, 4 more",
        "making nat-0",
      ],
      // Nothing is made in AWS before the Spoke has its network.
      ControlPlaneReady: [
        begins,
        begins,
        "making role-cluster, key, logs",
        "making attachment-cluster-amazoneksclusterpolicy, key-alias",
        "making cluster",
        "ready",
      ],
      NodesReady: [
        begins,
        begins,
        "making role-node, launch-template",
        expect.stringMatching(/^making (attachment-node-[a-z0-9-]+(, )?){3}$/),
        "waiting for the control plane, the network, the EKS add-ons",
        "waiting for the network, the EKS add-ons",
      ],
      AddonsReady: [
        begins,
        begins,
        ...Array(3).fill("waiting for the control plane, the nodes, IAM roles and access"),
        "making addon-vpc-cni, addon-kube-proxy",
      ],
      Bootstrapped: [
        begins,
        begins,
        "waiting for the control plane, the network, IAM roles and access, the nodes",
        "waiting for the control plane, IAM roles and access, the nodes",
        "waiting for the control plane, IAM roles and access, the nodes",
        "making kubeconfig",
      ],
    });
  });
});

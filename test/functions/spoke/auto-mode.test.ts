import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import * as fixtures from "./support/fixtures.ts";
import { failing, running, World } from "./support/world.ts";

const auto = (change: object = {}) => fixtures.spoke({ compute: "auto", ...change });
const kinds = (world: World) => new Set([...world.live.values()].map(({ object }) => object.kind));
const patches = (world: World) => JSON.stringify(at(world.object("bootstrap").spec, "patches") ?? []);

describe("a spoke with EKS Auto Mode", () => {
  it("has it on in its control plane, with the role of its nodes, and neither node groups nor EKS add-ons", () => {
    const world = running(auto());
    expect(world.forProvider("cluster")).toMatchObject({
      bootstrapSelfManagedAddons: false,
      computeConfig: {
        enabled: true,
        nodePools: ["general-purpose", "system"],
        nodeRoleArn: "arn:aws:iam::000000000000:role/fleet-spoke-blue-node",
      },
      kubernetesNetworkConfig: { elasticLoadBalancing: { enabled: true } },
      storageConfig: { blockStorage: { enabled: true } },
    });
    for (const kind of ["NodeGroup", "LaunchTemplate", "Addon"]) expect(kinds(world), kind).not.toContain(kind);
  });

  it("has its control plane in the subnets of the nodes alone, where there are others", () => {
    const { vpcConfig } = running(auto()).forProvider("cluster") as { vpcConfig: { subnetIds: string[] } };
    expect(vpcConfig.subnetIds).toEqual(["subnet-subnet-private-0", "subnet-subnet-private-1"]);
    const groups = running(fixtures.spoke()).forProvider("cluster") as { vpcConfig: { subnetIds: string[] } };
    expect(groups.vpcConfig.subnetIds).toHaveLength(4);
  });

  it("asks for the control plane only when the role of the nodes works", () => {
    const world = new World(auto());
    world.report("attachment-node-amazoneksworkernodeminimalpolicy", failing("AccessDenied: not now")).settle();
    expect(world.live.has("cluster")).toBe(false);
    expect(world.condition("ControlPlaneReady")).toMatchObject({ status: "False", reason: "Waiting" });
    expect(world.condition("ControlPlaneReady")?.message).toContain("the nodes");
  });

  it("puts the control plane's role under a boundary of its own, and the nodes' under the fleet's", () => {
    const world = running(auto());
    const boundary = (role: string) => world.forProvider(role)["permissionsBoundary"];
    expect(boundary("role-cluster")).toBe("arn:aws:iam::000000000000:policy/fleet-auto-mode-boundary");
    expect(boundary("role-node")).toBe(boundary("role-crossplane"));
    const groups = running(fixtures.spoke());
    expect(groups.forProvider("role-cluster")["permissionsBoundary"]).toBe(boundary("role-node"));
  });

  it("is Ready without a node, and says who starts them and has the add-ons", () => {
    const world = running(auto());
    expect(world.answer?.ready).toBe(true);
    expect(world.condition("NodesReady")).toMatchObject({
      status: "True",
      message: expect.stringContaining("Auto Mode"),
    });
    expect(world.condition("AddonsReady")).toMatchObject({
      status: "True",
      message: expect.stringContaining("built in"),
    });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "True", reason: "Current" });
  });

  it("raises its version in the control plane alone", () => {
    const world = running(auto({ kubernetesVersion: "1.35" }));
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().status.kubernetesVersion).toBe("1.36");
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "True" });
  });

  it("tells Git of its volumes' provisioner, and turns NetworkPolicies on", () => {
    const told = (world: World) => fromBase64(world.object("cluster-secret").data ?? {})["volume_provisioner"];
    const [ofAuto, ofGroups] = [running(auto()), running(fixtures.spoke())];
    expect(told(ofAuto)).toBe("ebs.csi.eks.amazonaws.com");
    expect(told(ofGroups)).toBe("ebs.csi.aws.com");
    expect(patches(ofAuto)).toContain("auto-mode");
    expect(patches(ofGroups)).not.toContain("auto-mode");
  });

  it("gives pods their roles by EKS Pod Identity without an agent's add-on", () => {
    const settings = fixtures.settings({ workloadIdentity: "pod-identity" });
    const world = running(auto(), { settings });
    expect(world.live.has("pod-identity-provider-aws-iam")).toBe(true);
    expect(world.live.has("addon-eks-pod-identity-agent")).toBe(false);
  });

  it("goes with its applications first, and the role of its nodes after the cluster that ends them", () => {
    const world = running(auto());
    world.delete().settle();
    expect(world.gone).toBe(true);
    const ofNodes = "attachment-node-amazoneksworkernodeminimalpolicy";
    const order = ["bootstrap", "cluster", ofNodes, "role-node"];
    expect(world.removed.filter((key) => order.includes(key))).toEqual(order);
  });
});

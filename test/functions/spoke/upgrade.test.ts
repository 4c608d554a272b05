import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { running, type World } from "./support/world.ts";

/** Version of the control plane that Crossplane enforces, and the one that the function has recorded as running. */
const requested = (world: World) => ({
  enforced: at(world.object("cluster").spec, "forProvider", "version"),
  recorded: at(world.object("cluster").spec, "initProvider", "version"),
});

/** AWS reports another version than the one that the hub requested. */
const inAws = (world: World, version: string): void => {
  world.report("cluster", (status) => ({ ...status, atProvider: { ...(status["atProvider"] as object), version } }));
  world.settle();
};

describe("an upgrade", () => {
  it("raises the control plane, then the add-ons, then the nodes", () => {
    const world = running(spoke());
    const tell = (key: string) => world.reports.set(key, () => structuredClone(world.object(key).status) as never);
    for (const key of ["cluster", "addon-coredns", nodeGroup]) tell(key);
    world.change({ kubernetesVersion: "1.36" }).settle();
    expect(world.forProvider("cluster")).toMatchObject({ version: "1.36" });
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.35" });
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.35.3-eksbuild.21" });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "UpgradingControlPlane" });
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Upgrading", kubernetesVersion: "1.35" } });

    world.reports.delete("cluster");

    world.settle();
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.36.0-eksbuild.21" });
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.35" });
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "UpgradingAddons" });

    world.reports.delete("addon-coredns");

    world.settle();
    expect(world.forProvider(nodeGroup)).toMatchObject({ version: "1.36" });
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "UpgradingNodes" });

    world.reports.delete(nodeGroup);
    expect(world.settle()).toMatchObject({ ready: true, status: { nodesKubernetesVersion: "1.36" } });
    expect(world.removed).toEqual([]);
  });

  it("goes one minor at a time even when the Spoke was raised by two before its cluster was there", () => {
    const supported = { "1.34": {}, "1.35": {}, "1.36": {} };
    const world = running(spoke({ kubernetesVersion: "1.34" }), {
      settings: settings({ kubernetesVersions: supported }),
    });
    world.change({ kubernetesVersion: "1.36" }).step();
    expect(world.forProvider("cluster")["version"]).toBe("1.35");
    expect(world.settle()).toMatchObject({ ready: true, status: { kubernetesVersion: "1.36" } });
  });

  it("never lowers a control plane that AWS raised: add-ons and nodes follow it, and it says what to do", () => {
    const world = running(spoke());
    inAws(world, "1.36");
    expect(requested(world)).toEqual({ recorded: "1.36" });
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.36.0-eksbuild.21" });
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.36");
    expect(world.answer?.status).toMatchObject({ kubernetesVersion: "1.36", nodesKubernetesVersion: "1.36" });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "AheadOfSpec" });
    expect(world.condition("VersionCurrent")?.message).toContain("set spec.kubernetesVersion to 1.36");

    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.condition("VersionCurrent")?.status).toBe("True");
  });

  it("leaves a control plane without an enforced version, which the provider would restore in AWS", () => {
    const world = running(spoke());
    expect(requested(world)).toEqual({ recorded: "1.35" });
    expect(at(world.object("cluster").spec, "managementPolicies")).toEqual(["Observe", "Create", "Update", "Delete"]);
  });

  it("keeps a control plane that someone rolled back, reports it, and upgrades after two commits", () => {
    const world = running(spoke({ kubernetesVersion: "1.36" }));
    inAws(world, "1.35");
    inAws(world, "1.35");
    expect(requested(world)).toEqual({ recorded: "1.36" });
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.35.3-eksbuild.21" });
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.35");
    expect(world.answer).toMatchObject({ ready: false, status: { kubernetesVersion: "1.35" } });
    expect(world.condition("VersionCurrent")).toMatchObject({
      status: "False",
      reason: "RolledBack",
      message:
        "the control plane was rolled back in AWS from 1.36 to 1.35, spec.kubernetesVersion is 1.36: the hub doesn't upgrade it again " +
        "before a commit; set spec.kubernetesVersion to 1.35, and to 1.36 in a later commit to upgrade again",
    });

    world.change({ kubernetesVersion: "1.35" });
    expect(world.settle().ready).toBe(true);
    expect(requested(world)).toEqual({ recorded: "1.35" });

    world.change({ kubernetesVersion: "1.36" }).settle();
    expect(requested(world)).toEqual({ enforced: "1.36" });
    expect(world.condition("VersionCurrent")).toMatchObject({ reason: "UpgradingControlPlane" });
    world.reports.delete("cluster");
    expect(world.settle()).toMatchObject({ ready: true, status: { kubernetesVersion: "1.36" } });
  });

  it("ends the wait when someone upgrades the control plane again in AWS", () => {
    const world = running(spoke({ kubernetesVersion: "1.36" }));
    inAws(world, "1.35");
    expect(world.condition("VersionCurrent")?.reason).toBe("RolledBack");
    inAws(world, "1.36");
    expect(world.answer?.ready).toBe(true);
  });

  it("stays where it is when the next version is not supported", () => {
    const world = running(spoke({ kubernetesVersion: "1.37" }));
    world.change({ kubernetesVersion: "1.38" }).settle();
    expect(requested(world)).toEqual({ recorded: "1.37" });
    expect(world.condition("SpecAccepted")).toMatchObject({
      status: "False",
      reason: "UnsupportedVersion",
      message: "spec.kubernetesVersion 1.38 is not supported: choose one of 1.35, 1.36, 1.37",
    });
  });

  it("raises the EBS CSI driver with the other add-ons", () => {
    const csi = { "aws-ebs-csi-driver": "v1.99.0-eksbuild.1" };
    const { kubernetesVersions } = settings();
    const newer = settings({
      kubernetesVersions: { ...kubernetesVersions, "1.36": { ...kubernetesVersions["1.36"], ...csi } },
    });
    const world = running(spoke({ kubernetesVersion: "1.35" }), { settings: newer });
    expect(world.forProvider("addon-aws-ebs-csi-driver")["addonVersion"]).toBe(
      kubernetesVersions["1.35"]?.["aws-ebs-csi-driver"],
    );
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("addon-aws-ebs-csi-driver")["addonVersion"]).toBe("v1.99.0-eksbuild.1");
  });

  it("leaves an add-on at the version that the Spoke names, and an add-on without any version alone", () => {
    const versions = Object.entries(settings().kubernetesVersions).map(
      ([minor, { "aws-ebs-csi-driver": _, ...others }]) => [minor, others] as const,
    );
    const world = running(spoke({ eksAddonVersions: { coredns: "v1.12.9-eksbuild.9" } }), {
      settings: settings({ kubernetesVersions: Object.fromEntries(versions) }),
    });
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("addon-coredns")["addonVersion"]).toBe("v1.12.9-eksbuild.9");
    expect(world.forProvider("addon-aws-ebs-csi-driver")).not.toHaveProperty("addonVersion");
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.36");
  });
});

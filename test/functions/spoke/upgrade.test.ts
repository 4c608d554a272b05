import { describe, expect, it } from "vitest";
import { nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { running } from "./support/world.ts";

describe("an upgrade", () => {
  it("raises the control plane, then the add-ons, then the nodes", () => {
    const world = running(spoke());
    const tell = (key: string) => world.reports.set(key, () => structuredClone(world.object(key).status) as never);
    for (const key of ["cluster", "addon-coredns", nodeGroup]) tell(key);
    world.change({ kubernetesVersion: "1.36" });
    world.settle();
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
    world.change({ kubernetesVersion: "1.36" });
    world.step();
    expect(world.forProvider("cluster")["version"]).toBe("1.35");
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("cluster")["version"]).toBe("1.36");
  });

  it("never lowers a control plane that AWS raised: add-ons and nodes follow it, and it says what to do", () => {
    const world = running(spoke());
    world.reports.set("cluster", (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), version: "1.36" },
    }));
    world.settle();
    expect(world.forProvider("cluster")["version"]).toBe("1.36");
    expect(world.forProvider("addon-kube-proxy")).toMatchObject({ addonVersion: "v1.36.0-eksbuild.21" });
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.36");
    expect(world.answer?.status).toMatchObject({ kubernetesVersion: "1.36", nodesKubernetesVersion: "1.36" });
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "AheadOfSpec" });
    expect(world.condition("VersionCurrent")?.message).toContain("set spec.kubernetesVersion to 1.36");

    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.condition("VersionCurrent")?.status).toBe("True");
  });

  it("stays where it is when the next version is not supported", () => {
    const world = running(spoke({ kubernetesVersion: "1.37" }));
    world.change({ kubernetesVersion: "1.38" });
    world.settle();
    expect(world.forProvider("cluster")["version"]).toBe("1.37");
    expect(world.condition("SpecAccepted")).toMatchObject({
      status: "False",
      reason: "UnsupportedVersion",
      message: "spec.kubernetesVersion 1.38 is not supported: choose one of 1.35, 1.36, 1.37",
    });
  });

  it("leaves an add-on at the version that the Spoke names, and an add-on without any version alone", () => {
    const world = running(spoke({ eksAddonVersions: { coredns: "v1.12.9-eksbuild.9" } }));
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("addon-coredns")["addonVersion"]).toBe("v1.12.9-eksbuild.9");
    expect(world.forProvider("addon-aws-ebs-csi-driver")).not.toHaveProperty("addonVersion");
    expect(world.forProvider(nodeGroup)["version"]).toBe("1.36");
  });
});

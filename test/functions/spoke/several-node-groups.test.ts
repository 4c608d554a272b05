import { _InstanceType } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { amiTypeOf } from "../../../functions/spoke/asked-groups.ts";
import { arm, hasNvidia, nvidia } from "../../../lib/instance-types.ts";
import { nameLimits } from "../../../lib/names.ts";
import type { Schema } from "../../../lib/openapi.ts";
import { spokeNames } from "../../../lib/spoke.ts";
import { definition, spokeSchema } from "./support/definition.ts";
import { nodeGroup, settings, spoke } from "./support/fixtures.ts";
import { batch, batchKey, change, creating, gpu, gpuKey, keyOf, ofNodes, withGroups } from "./support/node-groups.ts";
import { failing, running, World } from "./support/world.ts";

describe("the AMI of a group", () => {
  it.each([
    ["AmazonLinux2023", "m6i.large", "AL2023_x86_64_STANDARD"],
    ["AmazonLinux2023", "m7g.large", "AL2023_ARM_64_STANDARD"],
    ["AmazonLinux2023", "g4dn.xlarge", "AL2023_x86_64_NVIDIA"],
    ["AmazonLinux2023", "g5g.xlarge", "AL2023_ARM_64_NVIDIA"],
    ["AmazonLinux2023", "p6e-gb200.36xlarge", "AL2023_ARM_64_NVIDIA"],
    ["AmazonLinux2023", "g4ad.xlarge", "AL2023_x86_64_STANDARD"],
    ["Bottlerocket", "m6i.large", "BOTTLEROCKET_x86_64"],
    ["Bottlerocket", "c7g.large", "BOTTLEROCKET_ARM_64"],
    ["Bottlerocket", "p5.48xlarge", "BOTTLEROCKET_x86_64_NVIDIA"],
    ["Bottlerocket", "g5g.xlarge", "BOTTLEROCKET_ARM_64_NVIDIA"],
  ] as const)("of %s for %s is %s", (amiFamily, type, expected) => {
    expect(amiTypeOf({ amiFamily, instanceTypes: [type] })).toBe(expected);
  });

  it("has NVIDIA drivers for every type of the families P and G that EC2 has, but for those that are too old and AMD's", () => {
    const families = new Set(Object.values(_InstanceType).map((type) => type.replace(/\..*/, "")));
    const accelerated = [...families].filter((family) => /^(p|gr?)\d/.test(family));
    expect(accelerated.length).toBeGreaterThan(10);
    expect(accelerated.filter((family) => !hasNvidia(`${family}.xlarge`)).sort()).toEqual([
      ...["g2", "g3", "g3s", "g4ad", "p2"],
    ]);
    expect([...families].filter((family) => hasNvidia(`${family}.xlarge`) && !accelerated.includes(family))).toEqual(
      [],
    );
  });

  it("is told by the same expressions as in the definition's rules", () => {
    const rules = JSON.stringify(definition);
    for (const expression of [arm, nvidia]) expect(rules).toContain(`matches('${expression.source}')`);
  });

  it("leaves the defaults of nodes as the definition's rule knows them, which nobody wrote", () => {
    const spec: Schema = spokeSchema.properties?.["spec"] ?? {};
    const { properties = {} } = spec;
    const [rule] = (spec["x-kubernetes-validations"] as { rule: string }[]).filter(({ rule }) =>
      rule.includes("self.nodes.amiType"),
    );
    const fields = Object.entries(properties["nodes"]?.properties ?? {});
    expect(fields).toHaveLength(7);
    for (const [field, { default: value }] of fields)
      expect(rule?.rule).toContain(`self.nodes.${field} == ${JSON.stringify(value).replaceAll('"', "'")}`);
  });
});

describe("node groups of a Spoke", () => {
  it("have a group of EKS and a launch template each, with labels and taints in the words of EKS", () => {
    const world = running(withGroups({ name: "nodes" }, { ...gpu, labels: { tier: "gpu" } }, batch));
    expect(ofNodes(world)).toEqual(
      [nodeGroup, gpuKey, batchKey, "launch-template", "launch-template-batch", "launch-template-gpu"].sort(),
    );
    expect(world.forProvider(gpuKey)).toMatchObject({
      amiType: "AL2023_x86_64_NVIDIA",
      instanceTypes: ["g6.xlarge"],
      labels: { tier: "gpu", "fleet.internal/node-group": "gpu" },
      taint: [{ key: "nvidia.com/gpu", value: "true", effect: "NO_SCHEDULE" }],
      launchTemplate: { id: "lt-launch-template-gpu", version: "1" },
    });
    expect(world.object(gpuKey).metadata.annotations).toMatchObject({
      "crossplane.io/external-name": `fleet-spoke-blue_gpu-${gpuKey.slice(-8)}`,
    });
    expect(world.forProvider("launch-template-gpu")).toMatchObject({
      name: "fleet-spoke-blue_gpu",
      tags: { Name: "fleet-spoke-blue-nodes-gpu" },
      blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: 50 } }],
    });
  });

  it("with Bottlerocket have their disk beside the one of the system, both encrypted", () => {
    const world = running(withGroups({ name: "nodes" }, { ...batch, diskSize: 80 }));
    const ebs = { volumeType: "gp3", encrypted: "true", deleteOnTermination: "true" };
    expect(world.forProvider("launch-template-batch")["blockDeviceMappings"]).toEqual([
      { deviceName: "/dev/xvda", ebs: { volumeSize: 4, ...ebs } },
      { deviceName: "/dev/xvdb", ebs: { volumeSize: 80, ...ebs } },
    ]);
  });

  it("take over from nodes without another group: the one called nodes is the same, and gets its label", () => {
    const world = running(spoke({ nodes: { min: 2, desired: 3, max: 9, instanceTypes: ["m6i.large"] } }));
    const { labels: _, taint: __, ...before } = world.forProvider(nodeGroup);
    const { nodes } = spoke().spec;
    world.change({ nodes, nodeGroups: withGroups({ name: "nodes", min: 2, desired: 3, max: 9 }, gpu).spec.nodeGroups });
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([]);
    const { labels, taint, ...after } = world.forProvider(nodeGroup);
    expect(after).toEqual(before);
    expect({ labels, taint }).toEqual({ labels: { "fleet.internal/node-group": "nodes" }, taint: [] });
    expect(world.live.has(gpuKey)).toBe(true);
  });

  it("are told in the status, with the oldest version as that of the nodes", () => {
    const world = running(withGroups({ name: "nodes" }, gpu));
    const old = (status: Record<string, unknown>) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), version: "1.34", releaseVersion: "1.34.1-20260901" },
    });
    world.report(gpuKey, old).settle();
    expect(world.answer?.status.nodesKubernetesVersion).toBe("1.34");
    expect(world.answer?.status).not.toHaveProperty("nodesReleaseVersion");
    expect(world.answer?.status.nodeGroups).toEqual([
      {
        name: "nodes",
        nodeGroupName: `fleet-spoke-blue-nodes-${nodeGroup.slice(-8)}`,
        state: "Ready",
        nodes: 2,
        kubernetesVersion: "1.35",
      },
      {
        name: "gpu",
        nodeGroupName: `fleet-spoke-blue_gpu-${gpuKey.slice(-8)}`,
        state: "Ready",
        nodes: 2,
        kubernetesVersion: "1.34",
        releaseVersion: "1.34.1-20260901",
      },
    ]);
    expect(world.condition("VersionCurrent")).toMatchObject({
      status: "False",
      reason: "UpgradingNodes",
      message: "the control plane runs 1.35; the nodes of gpu follow, they run 1.34",
    });
    world.report(gpuKey, failing("InvalidParameterException: no", true)).settle();
    expect(world.answer?.status.nodeGroups?.[1]).toMatchObject({ state: "Failing" });
  });

  it("change their labels and taints in place, down to none", () => {
    const world = running(withGroups({ name: "nodes" }, { ...gpu, labels: { tier: "gpu" } }));
    change(world, { name: "nodes" }, { ...gpu, labels: {}, taints: [] });
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([]);
    expect(world.forProvider(gpuKey)).toMatchObject({ labels: { "fleet.internal/node-group": "gpu" }, taint: [] });
  });

  it("are replaced one by one: another type of one group leaves the others alone", () => {
    const world = running(withGroups({ name: "nodes" }, gpu, batch));
    const other = keyOf("gpu", ["g5.xlarge"], "AL2023_x86_64_NVIDIA");
    world.report(other, creating);
    change(world, { name: "nodes" }, { ...gpu, instanceTypes: ["g5.xlarge"] }, batch);
    world.settle();
    expect(ofNodes(world)).toEqual(expect.arrayContaining([gpuKey, other]));
    expect(world.answer?.status.nodeGroups?.map(({ name, state }) => [name, state])).toEqual([
      ["nodes", "Ready"],
      ["gpu", "Creating"],
      ["batch", "Ready"],
      ["gpu", "Leaving"],
    ]);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.removed).toEqual([gpuKey]);
  });

  it("follow a new Kubernetes version together, each with the release of its AMI that the Composition names", () => {
    const { kubernetesVersions } = settings();
    const nodes = { AL2023_x86_64_NVIDIA: "1.36.3-20261101", BOTTLEROCKET_ARM_64: "1.54.0-5d9ac849" };
    const world = running(withGroups({ name: "nodes" }, gpu, batch), {
      settings: settings({
        kubernetesVersions: { ...kubernetesVersions, "1.36": { ...kubernetesVersions["1.36"], nodes } },
      }),
    });
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
    const asked = [nodeGroup, gpuKey, batchKey].map((key) => {
      const { version, releaseVersion } = world.forProvider(key);
      return [version, releaseVersion];
    });
    expect(asked).toEqual([
      ["1.36", undefined],
      ["1.36", "1.36.3-20261101"],
      ["1.36", "1.54.0-5d9ac849"],
    ]);
  });

  it("keep a release of Bottlerocket that is newer than the Composition's: 1.54.0 is not older than 1.9.0", () => {
    const { kubernetesVersions } = settings();
    const named = (release: string) =>
      settings({
        kubernetesVersions: {
          ...kubernetesVersions,
          "1.35": { ...kubernetesVersions["1.35"], nodes: { BOTTLEROCKET_ARM_64: release } },
        },
      });
    const world = running(withGroups({ name: "nodes" }, batch), { settings: named("1.54.0-5d9ac849") });
    expect(world.forProvider(batchKey)["releaseVersion"]).toBe("1.54.0-5d9ac849");
    world.settings = named("1.9.0-0d9ac849");
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider(batchKey)).not.toHaveProperty("releaseVersion");
  });

  it("bring CoreDNS and the bootstrap chain only when the nodes of one without taints are there", () => {
    const world = new World(withGroups(gpu, { name: "nodes" }));
    world.report(nodeGroup, creating).settle();
    expect(world.live.has(gpuKey)).toBe(true);
    expect(["addon-coredns", "addon-aws-ebs-csi-driver", "bootstrap"].filter((key) => world.live.has(key))).toEqual([]);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(world.live.has("bootstrap")).toBe(true);
  });

  it("have names within the limits of EKS and EC2, which no two spokes or groups share", () => {
    const names = ["a", "a-b", "a-nodes", "a".repeat(40), `${"a".repeat(39)}b`].flatMap((name) => {
      const { furtherGroup, furtherTemplate, nodeGroup: first } = spokeNames("fleet-of-the-whole-company-spoke-", name);
      const further = ["b", "b-nodes", "nodes-b", "c".repeat(20)];
      for (const group of further) {
        expect(`${furtherGroup(group)}-12345678`).toMatch(/^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$/);
        expect(furtherTemplate(group).length).toBeLessThanOrEqual(nameLimits.ec2LaunchTemplate);
      }
      return [first, ...further.map(furtherTemplate)];
    });
    expect(new Set(names).size).toBe(names.length);
  });
});

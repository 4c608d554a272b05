import { describe, expect, test } from "vitest";
import { seen } from "../../../bench/fleet/changes.ts";
import { countsBetween, firstChange, partOf } from "../../../bench/fleet/counts.ts";
import { controllerOf, groupOf } from "../../../bench/fleet/processes.ts";

const object = (kind: string, name: string, resourceVersion: number, revision: string, namespace = "flux-system") =>
  seen([kind, namespace, name, resourceVersion, revision, "", ""].join("|"));

describe("what a commit did", () => {
  const before = [
    object("Kustomization", "hub", 1, "main@sha1:a"),
    object("Kustomization", "platform-api", 2, "latest@sha256:p"),
    object("Kustomization", "spoke-one", 3, "latest@sha256:1"),
    object("Kustomization", "spoke-two", 4, "latest@sha256:2"),
    object("Kustomization", "one-base", 5, "latest@sha256:c", "spokes"),
    object("ExternalArtifact", "spoke-one", 6, "latest@sha256:1"),
    object("ExternalArtifact", "spoke-two", 7, "latest@sha256:2"),
    object("ArtifactGenerator", "each-spoke", 8, ""),
    object("Spoke", "one", 9, "", "spokes"),
  ];
  const after = [
    object("Kustomization", "hub", 11, "main@sha1:b"),
    object("Kustomization", "platform-api", 2, "latest@sha256:p"),
    object("Kustomization", "spoke-one", 13, "latest@sha256:1b"),
    // Looked at again, as it was.
    object("Kustomization", "spoke-two", 14, "latest@sha256:2"),
    object("Kustomization", "one-base", 5, "latest@sha256:c", "spokes"),
    object("ExternalArtifact", "spoke-one", 16, "latest@sha256:1b"),
    object("ExternalArtifact", "spoke-two", 17, "latest@sha256:2"),
    object("ArtifactGenerator", "each-spoke", 18, ""),
    object("Spoke", "one", 19, "", "spokes"),
  ];

  test("is counted by object: written to, and with another revision", () => {
    expect(countsBetween(before, after)).toEqual({
      kustomizations: {
        root: { all: 1, written: 1, changed: 1 },
        platform: { all: 1, written: 0, changed: 0 },
        spokes: { all: 2, written: 2, changed: 1 },
        chains: { all: 1, written: 0, changed: 0 },
      },
      artifacts: { all: 2, written: 2, changed: 1 },
      generators: { all: 1, written: 1, changed: 0 },
      spokes: { all: 1, written: 1, changed: 0 },
    });
  });

  test("counts an object that is new", () => {
    const { artifacts } = countsBetween(before, [
      ...before,
      object("ExternalArtifact", "spoke-three", 20, "latest@sha256:3"),
    ]);
    expect(artifacts).toEqual({ all: 3, written: 1, changed: 1 });
  });

  test("knows a spoke's Kustomization from its chain and from the platform", () => {
    expect(partOf({ namespace: "flux-system", name: "spoke-one" })).toBe("spokes");
    expect(partOf({ namespace: "flux-system", name: "spokes" })).toBe("platform");
    expect(partOf({ namespace: "spokes", name: "spoke-like-base" })).toBe("chains");
  });

  test("is found after the push only", () => {
    const changes = [5, 15, 25].map((at) => ({ ...object("Spoke", "one", at, "", "spokes"), at }));
    expect(firstChange(changes, 10, ({ name }) => name === "one")?.at).toBe(15);
    expect(firstChange(changes, 30, ({ name }) => name === "one")).toBeUndefined();
  });
});

describe("a process on the hub's node", () => {
  const uid = "0f3c2a51-8e5f-4c3b-9d26-3a1f0b6c7d8e";
  const names = new Map([[uid, "kustomize-controller-5d8f6c7b9d-x2x7k"]]);
  const cgroup = `5:cpu:/fleet-0/fleet-hub-0/kubepods/burstable/pod${uid}/1234\n`;

  test("is its pod's controller's", () => {
    expect(groupOf(cgroup, "kustomize-contr", names)).toBe("kustomize-controller");
    expect(groupOf("5:cpu:/fleet-0/fleet-hub-0/node\n", "kubelet", names)).toMatch(/^node: kubelet/);
    expect(groupOf(cgroup, "pause", names)).toMatch(/^node: .*pause/);
  });

  test.each([
    ["crossplane-7c9d4b5f6-abcde", "crossplane"],
    ["provider-aws-ec2-0123456789ab-7f8d9c6b5-q1w2e", "provider-aws-ec2"],
    ["function-spoke-a1b2c3d4e5f6-5d4c3b2a1-r4t5z", "function-spoke"],
  ])("%s belongs to %s", (pod, controller) => expect(controllerOf(pod)).toBe(controller));
});

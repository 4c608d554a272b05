import { describe, expect, it } from "vitest";
import { managedKinds } from "../../../functions/spoke/kinds.ts";
import { at } from "../../../functions/spoke/kube.ts";
import { example, settings, spoke } from "./support/fixtures.ts";
import { withGroups } from "./support/node-groups.ts";
import { running, type World } from "./support/world.ts";

/** Fields that the function doesn't always send, by kind: an empty list removes taints, and `spec.nodeGroups` always sends labels. */
const comeAndGo = ["NodeGroup.labels", "NodeGroup.taint", "NodeGroup.releaseVersion"];

/** The fields of forProvider of each resource that AWS's values are copied to. */
function lateInitialized(world: World): Map<string, { readonly kind: string; readonly fields: readonly string[] }> {
  return new Map(
    [...world.live].flatMap(([key, { object }]) => {
      const policies = at(object.spec, "managementPolicies");
      const isCopied = policies === undefined || (policies as string[]).includes("LateInitialize");
      if (!(object.kind in managedKinds) || !isCopied) return [];
      return [[key, { kind: object.kind, fields: Object.keys(world.forProvider(key)) }] as const];
    }),
  );
}

describe("late initialization", () => {
  it("can't restore the role of an add-on whose pods get it by EKS Pod Identity now", () => {
    const world = running(spoke());
    const addon = "addon-aws-ebs-csi-driver";
    expect(world.forProvider(addon)).toHaveProperty("serviceAccountRoleArn");
    expect(lateInitialized(world).has(addon)).toBe(false);
    const pods = running(spoke(), { settings: settings({ workloadIdentity: "pod-identity" }) });
    expect(pods.forProvider(addon)).not.toHaveProperty("serviceAccountRoleArn");
    expect(lateInitialized(pods).has(addon)).toBe(false);
  });

  it("leaves the network interface of an address and the VPC of a NAT gateway unset", () => {
    const world = running(spoke());
    expect(world.forProvider("address-0")).toMatchObject({ networkInterface: "" });
    expect(world.forProvider("nat-0")).toMatchObject({ vpcId: "" });
  });

  it("finds no other field that a change of a Spoke or of the Composition's input removes", () => {
    const worlds = [
      running(spoke()),
      running(withGroups({ name: "nodes" })),
      running(spoke(), { settings: settings({ workloadIdentity: "pod-identity" }) }),
      ...["minimal", "production", "sandbox", "flow-logs", "isolated", "auto"].map((name) => running(example(name))),
    ].map(lateInitialized);
    const found = worlds.flatMap((world) =>
      [...world].flatMap(([key, { kind, fields }]) =>
        fields.flatMap((field) => {
          const lack = worlds.filter((other) => other.has(key) && !other.get(key)?.fields.includes(field));
          return lack.length > 0 && !comeAndGo.includes(`${kind}.${field}`) ? [`${key}: ${kind}.${field}`] : [];
        }),
      ),
    );
    expect([...new Set(found)]).toEqual([]);
  });
});

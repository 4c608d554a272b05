import { describe, expect, test } from "vitest";
import { kinds, missingKinds, namesOf, partsOf } from "../support/inventory-lines.ts";
import { fleetScope, spokeScope } from "../support/inventory-scope.ts";
import { describeLeftovers } from "./leftovers.ts";

describe("what is left of a fleet", () => {
  test("is listed with a command for each kind, in the order in which it can be removed", () => {
    const found = ["role f-hub-node", "VPC vpc-1", "cluster f-hub", "VPC endpoint vpce-1", "subnet subnet-1"];
    const text = describeLeftovers(found, "f");
    expect(text).toContain("5 things of the fleet f are left");
    expect(text).toContain("npm run test:aws -- -t removal");
    const order = ["cluster f-hub", "VPC endpoint vpce-1", "subnet subnet-1", "VPC vpc-1", "role f-hub-node"];
    expect(
      text
        .split("\n")
        .filter((line) => /^ {2}\S/.test(line))
        .map((line) => line.trim()),
    ).toEqual(order);
  });

  test.for(kinds)("has a command that names the %s", (kind) => {
    expect(describeLeftovers([`${kind} the-one`], "f")).toMatch(/\n {4}aws \S+ .*the-one/);
  });
});

describe("an inventory", () => {
  test("tells a VPC endpoint from a VPC", () => {
    expect(partsOf("VPC endpoint vpce-1")).toEqual({ kind: "VPC endpoint", name: "vpce-1" });
    expect(namesOf(["VPC endpoint vpce-1", "VPC vpc-1"], "VPC")).toEqual(["vpc-1"]);
    expect(missingKinds(["VPC endpoint vpce-1"], ["VPC", "VPC endpoint"])).toEqual(["VPC"]);
  });

  test("has no line of a kind that nobody knows", () => {
    expect(() => partsOf("lambda f")).toThrow("not a line of an inventory: lambda f");
  });

  const tags = (entries: Record<string, string>) => new Map(Object.entries(entries));
  const fleet = fleetScope("f");
  const spoke = spokeScope("f", "blue");

  test("of a fleet goes by its tag, by what others tag for its clusters, and by its names", () => {
    for (const ours of [
      { "fleet.internal/fleet": "f" },
      { "aws:eks:cluster-name": "f-hub" },
      { "cluster.k8s.amazonaws.com/name": "f-spoke-blue" },
      { "kubernetes.io/cluster/f-spoke-blue": "owned" },
    ])
      expect(fleet.tags(tags(ours)), JSON.stringify(ours)).toBe(true);
    for (const others of [{}, { "fleet.internal/fleet": "g" }, { "kubernetes.io/cluster/g-hub": "owned" }])
      expect(fleet.tags(tags(others)), JSON.stringify(others)).toBe(false);
    for (const ours of ["f-hub", "f/git/gitops-system", "alias/f-secrets", "/aws/eks/f-hub/cluster"])
      expect(fleet.name(ours), ours).toBe(true);
    for (const others of ["f", "ff-hub", "my-f-hub", "alias/aws/f"]) expect(fleet.name(others), others).toBe(false);
  });

  test("of a spoke leaves out the hub, other spokes and spokes of the same name of other fleets", () => {
    expect(spoke.tags(tags({ "fleet.internal/cluster": "blue", "fleet.internal/fleet": "f" }))).toBe(true);
    expect(spoke.tags(tags({ "fleet.internal/cluster": "blue" }))).toBe(true);
    expect(spoke.tags(tags({ "fleet.internal/cluster": "blue", "fleet.internal/fleet": "g" }))).toBe(false);
    expect(spoke.tags(tags({ "aws:eks:cluster-name": "f-hub" }))).toBe(false);
    for (const ours of ["f-spoke-blue", "f-spoke-blue_payment-app", "Kubernetes secrets of f-spoke-blue"])
      expect(spoke.name(ours), ours).toBe(true);
    for (const others of ["f-spoke-blues", "f-hub", "g-spoke-blue"]) expect(spoke.name(others), others).toBe(false);
  });
});

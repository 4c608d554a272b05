import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../lib/base64.ts";
import * as fixtures from "./support/fixtures.ts";
import { running, World } from "./support/world.ts";

const registry = "111111111111.dkr.ecr.us-east-1.amazonaws.com/mirror";
const hub = { ...fixtures.hub, chartsRegistry: `oci://${registry}/charts`, packagesRegistry: registry };
const podIdentity = fixtures.settings({ workloadIdentity: "pod-identity" });
const bridge = (world: World) => fromBase64(world.live.get("cluster-secret")?.object.data ?? {});
const pullers = { "source-controller": "flux-system", "crossplane-packages": "crossplane-system" };
const policyOf = (world: World, role: string) => JSON.parse(String(world.forProvider(`policy-${role}`)["policy"]));

describe("a spoke of a fleet whose registry is Amazon ECR", () => {
  it("has a role for each controller that pulls, under the fleet's boundary, on the registry's repositories", () => {
    const world = running(fixtures.spoke(), { hub });
    for (const [role, namespace] of Object.entries(pullers)) {
      expect(world.forProvider(`role-${role}`)).toMatchObject({
        permissionsBoundary: fixtures.hub.permissionsBoundaryArn,
        assumeRolePolicy: expect.stringContaining(`system:serviceaccount:${namespace}:`),
        tags: { "fleet.internal/identity": role },
      });
    }
    const resources = (role: string) => policyOf(world, role).Statement.at(-1).Resource;
    const repository = "arn:aws:ecr:us-east-1:111111111111:repository/mirror";
    expect(resources("source-controller")).toEqual([`${repository}/charts/*`]);
    expect(resources("crossplane-packages")).toEqual([`${repository}/*`]);
  });

  it("hands their ARNs over, in the annotations of service accounts and pods", () => {
    const told = bridge(running(fixtures.spoke(), { hub }));
    const arn = (role: string) => `arn:aws:iam::000000000000:role/fleet-spoke-blue-${role}`;
    expect(told).toMatchObject({
      charts_provider: "aws",
      source_controller_annotations: JSON.stringify({ "eks.amazonaws.com/role-arn": arn("source-controller") }),
      crossplane_annotations: JSON.stringify({ "eks.amazonaws.com/role-arn": arn("crossplane-packages") }),
    });
  });

  it("waits for the roles before anything is installed that pulls with them", () => {
    for (const role of Object.keys(pullers)) {
      const world = new World(fixtures.spoke(), { hub });
      world.report(`policy-${role}`, () => ({})).settle();
      expect(world.live.has("bootstrap"), role).toBe(false);
      world.reports.delete(`policy-${role}`);
      expect(world.settle().ready, role).toBe(true);
    }
  });

  it("gives them to pods by EKS Pod Identity where the Composition chooses it", () => {
    const world = running(fixtures.spoke(), { hub, settings: podIdentity });
    for (const [role, namespace] of Object.entries(pullers))
      expect(world.forProvider(`pod-identity-${role}`)).toMatchObject({ namespace });
    expect(JSON.parse(bridge(world)["source_controller_annotations"] ?? "")).toHaveProperty(
      "fleet.internal/aws-identity",
      "PodIdentity",
    );
  });

  it("has a role for charts alone where only these are in ECR, and none in another fleet", () => {
    const roles = (world: World) => Object.keys(pullers).filter((role) => world.live.has(`role-${role}`));
    const charts = { ...hub, packagesRegistry: "" };
    expect(roles(running(fixtures.spoke(), { hub: charts }))).toEqual(["source-controller"]);
    const plain = running(fixtures.spoke());
    expect(roles(plain)).toEqual([]);
    expect(bridge(plain)).toMatchObject({ charts_provider: "generic", source_controller_annotations: "{}" });
  });
});

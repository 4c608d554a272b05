import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { example, hub, spoke } from "./support/fixtures.ts";
import { running, settled } from "./support/world.ts";

const tags = { "cost-center": "4711", GuardDutyManaged: "false" };
const ofHub = { ...hub, tags: { "cost-center": "1", owner: "platform" } };
const wanted = { "cost-center": "4711", GuardDutyManaged: "false", owner: "platform" };
const tagged = { ...wanted, "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "blue", environment: "dev" };

/** Kinds that have no tags in AWS (provider-upjet-aws, their CustomResourceDefinitions). */
const untagged = [
  ...["AccessPolicyAssociation", "Alias", "Route", "RouteTableAssociation", "RolePolicy", "RolePolicyAttachment"],
  ...["VPCIPv4CidrBlockAssociation", "ClusterAuth", "VPCEndpointRouteTableAssociation"],
];

describe("a company's tags on a spoke", () => {
  it("are on everything that can have tags, those of the Spoke over those of the stack, and never over the fleet's own", () => {
    const world = running(spoke({ tags }), { hub: ofHub });
    const managed = [...world.live.values()].flatMap(({ object }) =>
      object.apiVersion.includes("aws.m.upbound.io") && !untagged.includes(object.kind) ? [object] : [],
    );
    expect(managed.length).toBeGreaterThan(20);
    for (const { kind, metadata, spec } of managed)
      expect(at(spec, "forProvider", "tags"), `${kind} ${metadata.name}`).toMatchObject(tagged);
  });

  it("are on instances, network interfaces and volumes of the nodes, and on what the VPC CNI and the EBS CSI driver create", () => {
    const world = running(spoke({ tags }), { hub: ofHub });
    const template = world.forProvider("launch-template") as {
      tagSpecifications: { resourceType: string; tags: object }[];
    };
    expect(template.tagSpecifications.map(({ resourceType }) => resourceType)).toEqual([
      "instance",
      "network-interface",
      "volume",
    ]);
    for (const { tags: own } of template.tagSpecifications) expect(own).toMatchObject(tagged);
    const values = (addon: string) =>
      JSON.parse(String(at(world.forProvider(`addon-${addon}`), "configurationValues")));
    expect(JSON.parse(values("vpc-cni").env.ADDITIONAL_ENI_TAGS)).toMatchObject(tagged);
    expect(values("aws-ebs-csi-driver").controller.extraVolumeTags).toMatchObject(tagged);
  });

  it("may be set by a control plane with EKS Auto Mode on what it creates for its own cluster", () => {
    const world = running(spoke({ tags, compute: "auto" }));
    const policy = JSON.parse(String(at(world.forProvider("policy-cluster"), "policy")));
    expect(policy.Statement).toEqual([
      expect.objectContaining({
        Action: expect.arrayContaining([
          "ec2:RunInstances",
          "ec2:CreateVolume",
          "elasticloadbalancing:CreateLoadBalancer",
        ]),
        Condition: {
          StringEquals: { "aws:RequestTag/eks:eks-cluster-name": "$" + "{aws:PrincipalTag/eks-cluster-name}" },
        },
      }),
    ]);
    expect([...running(spoke({ compute: "auto" })).live.keys()]).not.toContain("policy-cluster");
  });

  it("reach Git by the bridge, as Crossplane's and ACK's kinds and a manifest with tags of its own have them", () => {
    const data = fromBase64(running(spoke({ tags }), { hub: ofHub }).object("cluster-secret").data ?? {});
    expect(JSON.parse(data["company_tags"] ?? "")).toEqual(wanted);
    expect(JSON.parse(data["aws_tags"] ?? "")).toEqual({ ...tagged, "eks-cluster-name": "fleet-spoke-blue" });
    expect(JSON.parse(data["aws_tag_list"] ?? "")).toContainEqual({ key: "cost-center", value: "4711" });
    expect(JSON.parse(`${data["company_tags_and"]}"own":"1"}`)).toEqual({ ...wanted, own: "1" });
    const without = fromBase64(running(spoke()).object("cluster-secret").data ?? {});
    expect(JSON.parse(`${without["company_tags_and"]}"own":"1"}`)).toEqual({ own: "1" });
  });

  it("are in one order, whatever order the API server hands them over in", () => {
    const values = (given: object) =>
      at(running(spoke({ tags: given })).forProvider("addon-vpc-cni"), "configurationValues");
    expect(values({ b: "2", a: "1" })).toBe(values({ a: "1", b: "2" }));
  });

  it.each([
    [{ Owner: "me" }, "has keys that differ in case only, which IAM treats as one: got Owner, owner"],
    [Object.fromEntries(Array.from({ length: 39 }, (_, index) => [`k${index}`, ""])), "has too many tags: got 41"],
  ])("are rejected where those of the stack leave no room for them: %o", (given, message) => {
    const world = settled(spoke({ tags: given }), { hub: ofHub });
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "TagsNotAllowed" });
    expect(world.condition("SpecAccepted")?.message).toContain(message);
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
  });

  it("change nothing of a spoke where nobody has any", () => {
    const values = at(running(example("minimal")).forProvider("addon-vpc-cni"), "configurationValues");
    expect(JSON.parse(JSON.parse(String(values)).env.ADDITIONAL_ENI_TAGS)).toEqual({
      "fleet.internal/fleet": "fleet",
      "fleet.internal/cluster": example("minimal").metadata.name,
      "eks-cluster-name": `fleet-spoke-${example("minimal").metadata.name}`,
      environment: "dev",
    });
  });
});

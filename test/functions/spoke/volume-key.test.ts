import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { keyArnPattern } from "../../../lib/iam/volume-key.ts";
import { spokeSchema } from "./support/definition.ts";
import * as fixtures from "./support/fixtures.ts";
import { spoke } from "./support/fixtures.ts";
import { running, settled, World } from "./support/world.ts";

const key = (id: string, region = "us-east-1") =>
  `arn:aws:kms:${region}:000000000000:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;
const account = fixtures.hub.aws.accountId;
const hubWith = (...volumeKeys: readonly string[]) => ({
  ...fixtures.hub,
  addonBoundaryArn: "arn:aws:iam::000000000000:policy/fleet-addon-boundary",
  spokePlaces: { ...fixtures.hub.spokePlaces, [account]: { regions: ["us-east-1"], volumeKeys } },
});
const hub = hubWith(key("1"), key("2"), key("3", "eu-west-1"));

const keysOfNodes = (world: World, template = "launch-template") => {
  const { blockDeviceMappings } = world.forProvider(template) as { blockDeviceMappings: { ebs: object }[] };
  return blockDeviceMappings.map(({ ebs }) => at(ebs, "kmsKeyId"));
};
const bridge = (world: World) => fromBase64(world.object("cluster-secret").data ?? {});
const keysOfRole = (world: World, policy: string): unknown[] =>
  JSON.parse(String(at(world.forProvider(policy), "policy"))).Statement.flatMap(
    ({ Action, Resource }: { Action: string[]; Resource: string[] }) =>
      Action.includes("kms:CreateGrant") ? Resource : [],
  );

describe("a company's key for volumes", () => {
  it("encrypts every volume of every node group", () => {
    expect(keysOfNodes(running(spoke({ volumeKey: key("2") }), { hub }))).toEqual([key("2")]);
    const nodeGroups = [{ name: "nodes" }, { name: "special", amiFamily: "Bottlerocket" }];
    const world = settled(spoke({ volumeKey: key("2"), nodeGroups }), { hub });
    expect(keysOfNodes(world)).toEqual([key("2")]);
    expect(keysOfNodes(world, "launch-template-special")).toEqual([key("2"), key("2")]);
  });

  it("reaches the StorageClass and Karpenter by the bridge", () => {
    const data = bridge(running(spoke({ volumeKey: key("2") }), { hub }));
    expect(data["volume_kms_key_arn"]).toBe(key("2"));
    expect(JSON.parse(`${data["node_volume_and"]}"volumeType":"gp3"}`)).toEqual({
      kmsKeyID: key("2"),
      volumeType: "gp3",
    });
  });

  it("may be used by the EBS CSI driver, with those of volumes from before, but not of other regions", () => {
    const world = running(spoke({ volumeKey: key("2") }), { hub });
    expect(keysOfRole(world, "policy-aws-ebs-csi-driver")).toEqual([key("1"), key("2")]);
    expect(keysOfRole(running(spoke(), { hub }), "policy-aws-ebs-csi-driver")).toEqual([key("1"), key("2")]);
  });

  it("delays the add-on until the role of the EBS CSI driver may use it", () => {
    const world = new World(spoke({ volumeKey: key("1") }), { hub });
    world.report("policy-aws-ebs-csi-driver", () => ({})).settle();
    expect([...world.live.keys()]).not.toContain("addon-aws-ebs-csi-driver");
    world.reports.delete("policy-aws-ebs-csi-driver");
    expect(world.settle().ready).toBe(true);
  });

  it("may be used by the add-ons that create volumes, and by no other", () => {
    const world = settled(spoke({ addons: ["karpenter", "velero", "external_dns"] }), { hub });
    expect(keysOfRole(world, "policy-addon-karpenter")).toEqual([key("1"), key("2")]);
    expect(keysOfRole(world, "policy-addon-velero")).toEqual([key("1"), key("2")]);
    expect(keysOfRole(world, "policy-addon-external-dns")).toEqual([]);
  });

  it("may be used by a control plane with EKS Auto Mode, beside a company's tags", () => {
    const world = settled(spoke({ compute: "auto", volumeKey: key("1"), tags: { owner: "me" } }), { hub });
    expect(keysOfRole(world, "policy-cluster")).toEqual([key("1"), key("2")]);
    expect(String(at(world.forProvider("policy-cluster"), "policy"))).toContain("CreateWithTags");
    expect(bridge(world)["volume_kms_key_arn"]).toBe(key("1"));
  });

  it.each([
    [fixtures.hub, `${key("1")} is none of the keys that the fleet's IAM policies allow in us-east-1: there are none`],
    [hubWith(key("2")), `us-east-1: ${key("2")}. Add it to volumeKeys of the hub's stack`],
  ])("is rejected where the stack doesn't name it", (of, message) => {
    const world = settled(spoke({ volumeKey: key("1") }), { hub: of });
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "VolumeKeyNotAllowed" });
    expect(world.condition("SpecAccepted")?.message).toContain(message);
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
  });

  it("is that of the account's entry in another account", () => {
    const other = "111111111111";
    const own = "arn:aws:kms:eu-west-1:111111111111:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const placed = {
      region: "eu-west-1",
      network: { zones: 2, natGateways: "single", availabilityZones: ["eu-west-1a", "eu-west-1b"] },
      account: { id: other, providerConfigRef: { kind: "ClusterProviderConfig", name: "other" } },
    };
    const place = { ...fixtures.hub.spokePlaces[other], regions: ["eu-west-1"], scopes: ["dev"] };
    const at = (volumeKeys: readonly string[]) => ({
      ...hub,
      spokePlaces: { ...hub.spokePlaces, [other]: { ...place, volumeKeys } },
    });
    expect(keysOfNodes(settled(spoke({ ...placed, volumeKey: own }), { hub: at([own]) }))).toEqual([own]);
    const world = settled(spoke({ ...placed, volumeKey: own }), { hub: at([]) });
    expect(world.condition("SpecAccepted")?.message).toContain("to volumeKeys of the stack in infra/account");
  });

  it("stays that of before while a new one is rejected", () => {
    const world = running(spoke({ volumeKey: key("1") }), { hub });
    world.change({ volumeKey: key("9") }).settle();
    expect(world.condition("SpecAccepted")?.reason).toBe("VolumeKeyNotAllowed");
    expect(keysOfNodes(world)).toEqual([key("1")]);
    expect(bridge(world)["volume_kms_key_arn"]).toBe(key("1"));
    world.change({ volumeKey: key("2") });
    expect(world.settle().ready).toBe(true);
    expect(keysOfNodes(world)).toEqual([key("2")]);
  });

  it("has one pattern in the definition and in the stack", () => {
    expect(at(spokeSchema, "properties", "spec", "properties", "volumeKey", "pattern")).toBe(keyArnPattern);
  });

  it("changes nothing where the stack names none", () => {
    const world = running(spoke());
    expect(keysOfNodes(world)).toEqual([undefined]);
    expect([...world.live.keys()]).not.toContain("policy-aws-ebs-csi-driver");
    expect(bridge(world)).toMatchObject({ volume_kms_key_arn: "", node_volume_and: "{" });
  });
});

import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

const inAnalytics = {
  region: "eu-west-1",
  network: { zones: 2, natGateways: "single", availabilityZones: ["eu-west-1a", "eu-west-1b"] },
  account: { id: "111111111111", providerConfigRef: { kind: "ClusterProviderConfig", name: "analytics" } },
};

describe("a Spoke that can't be had", () => {
  it.each([
    [{ kubernetesVersion: "1.99" }, "UnsupportedVersion", "choose one of 1.35, 1.36, 1.37"],
    [{ region: "eu-west-1" }, "RegionNotAllowed", "limited in this account: us-east-1. Add it to spokeRegions"],
    [
      { account: { id: "222222222222", providerConfigRef: { name: "analytics" } } },
      "AccountNotAllowed",
      "spec.account.id 222222222222 is none of the accounts that the stack names in accounts (111111111111)",
    ],
    [
      { region: "eu-west-2", account: { id: "111111111111", providerConfigRef: { name: "analytics" } } },
      "RegionNotAllowed",
      "limited in this account: eu-west-1. Add it to accounts, and regions of the stack in infra/account for 111111111111",
    ],
    [
      { ...inAnalytics, sealing: "cluster" },
      "ScopeNotAllowed",
      "the sealing keys of cluster-blue are not shared with account 111111111111: its scopes in accounts of the stack are dev, prod, cluster-analytics. Add cluster-blue",
    ],
    [
      { ...inAnalytics, environment: "local" },
      "ScopeNotAllowed",
      "the sealing keys of local are not shared with account 111111111111",
    ],
    [{ network: { cidr: "10.0.0.0/16" } }, "NetworkOverlap", "overlaps 10.0.0.0/16 of the hub"],
    [
      { region: "eu-west-1", account: { id: "111111111111", providerConfigRef: { name: "analytics" } } },
      "ZonesUnknown",
      "spec.network.zones asks for 2 zones of eu-west-1, and the hub knows the zones of its own region us-east-1 only",
    ],
  ])("with %o is refused with a reason, and costs nothing", (change, reason, message) => {
    const world = settled(spoke(change));
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason });
    expect(world.condition("SpecAccepted")?.message).toContain(message);
    expect(world.answer).toMatchObject({ ready: false, status: { phase: "Refused" } });
    world.delete().settle();
    expect(world.gone).toBe(true);
  });

  it("is none in another region that the stack names, with zones of its own", () => {
    const wide = { ...hub, spokePlaces: { [hub.aws.accountId]: { regions: ["us-east-1", "eu-west-1"] } } };
    const network = { zones: 2, natGateways: "single", availabilityZones: ["eu-west-1a", "eu-west-1b"] };
    const world = new World(spoke({ region: "eu-west-1", network }), { hub: wide });
    expect(world.settle().ready).toBe(true);
    expect(world.forProvider("cluster")).toMatchObject({ region: "eu-west-1" });
    const told = fromBase64(world.object("cluster-secret").data ?? {});
    expect(told).toMatchObject({ aws_region: "eu-west-1", secrets_region: "us-east-1" });
  });

  it("is one with more zones than the region has for EKS", () => {
    const small = { ...hub, hubAvailabilityZones: ["us-east-1a", "us-east-1c"] };
    const world = settled(spoke({ network: { zones: 3, natGateways: "single" } }), { hub: small });
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "ZonesUnknown" });
    expect(world.condition("SpecAccepted")?.message).toContain(
      "the hub found 2 zones of us-east-1 for EKS (us-east-1a, us-east-1c)",
    );
  });

  it("recovers when it is corrected", () => {
    const world = settled(spoke({ kubernetesVersion: "1.99" }));
    world.change({ kubernetesVersion: "1.36" });
    expect(world.settle().ready).toBe(true);
  });

  it("whose public endpoint would admit nobody gets none that admits everybody", () => {
    const island = { ...hub, hubEgressCidrs: [] };
    const world = settled(spoke(), { hub: island });
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "EndpointUnreachable" });
    world.change({ endpoint: { public: true, publicAccessCidrs: ["5.6.7.0/24"], privateAccessCidrs: [] } });
    expect(world.settle().ready).toBe(true);
    expect(at(world.forProvider("cluster"), "vpcConfig", "publicAccessCidrs")).toEqual(["5.6.7.0/24"]);
    const closed = new World(spoke({ endpoint: { public: false, publicAccessCidrs: [], privateAccessCidrs: [] } }), {
      hub: island,
    });
    expect(closed.settle().ready).toBe(true);
    expect(at(closed.forProvider("cluster"), "vpcConfig")).toMatchObject({
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
    });
  });

  it("because the hub names no role for Flux says which is missing", () => {
    const { helm_controller: _, ...identities } = hub.identities;
    const world = settled(spoke(), { hub: { ...hub, identities } });
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "HubIdentityMissing" });
    expect(world.condition("SpecAccepted")?.message).toContain("helm_controller");
  });
});

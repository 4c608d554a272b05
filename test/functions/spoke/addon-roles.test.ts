import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import * as fixtures from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

const addonBoundaryArn = "arn:aws:iam::000000000000:policy/fleet-addon-boundary";
const hub = { ...fixtures.hub, addonBoundaryArn };
const without = { ...fixtures.hub, addonBoundaryArn: "" };
const dns = {
  namespace: "external-dns",
  serviceAccount: "external-dns-sa",
  policy: [
    {
      Effect: "Allow",
      Action: "route53:ChangeResourceRecordSets",
      Resource: "arn:{aws_partition}:route53:::hostedzone/*",
      Condition: { StringEquals: { "aws:ResourceTag/cluster": ["{aws_cluster_name}", "$" + "{aws:username}"] } },
    },
  ],
};
const settings = (addons: object = { external_dns: dns }) => fixtures.settings({ addons });
const spoke = (addons: readonly string[]) => fixtures.spoke({ addons });
const bridge = (world: World) => fromBase64(world.live.get("cluster-secret")?.object.data ?? {});
const key = { role: "role-addon-external-dns", policy: "policy-addon-external-dns" };

describe("an add-on that acts in AWS", () => {
  it("gets a role of its own, under the boundary of add-ons and for its service account alone", () => {
    const world = new World(spoke(["external_dns", "metrics_server"]), { hub, settings: settings() });
    expect(world.settle().ready).toBe(true);
    const role = world.forProvider(key.role);
    expect(role).toMatchObject({
      permissionsBoundary: addonBoundaryArn,
      tags: { "eks-cluster-name": "fleet-spoke-blue", "fleet.internal/identity": "addon-external-dns" },
    });
    expect(String(at(role, "assumeRolePolicy"))).toContain("system:serviceaccount:external-dns:external-dns-sa");
    expect(JSON.parse(String(at(world.forProvider(key.policy), "policy")))).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Action: ["route53:ChangeResourceRecordSets"],
          Resource: ["arn:aws:route53:::hostedzone/*"],
          Condition: { StringEquals: { "aws:ResourceTag/cluster": ["fleet-spoke-blue", "$" + "{aws:username}"] } },
        },
      ],
    });
    expect([...world.live.keys()].filter((name) => name.includes("metrics"))).toEqual([]);
  });

  it("is told its role by the bridge once the role works, and Git is told of it no sooner", () => {
    const world = settled(spoke([]), { hub, settings: settings() });
    world
      .report(key.policy, () => ({}))
      .change({ addons: ["external_dns"] })
      .settle();
    expect(bridge(world)).toMatchObject({ addons: "[]", addon_identities: "{}" });
    world.reports.delete(key.policy);
    expect(world.settle().ready).toBe(true);
    const roleArn = "arn:aws:iam::000000000000:role/fleet-spoke-blue-addon-external-dns";
    expect(bridge(world)).toMatchObject({ addons: '["external_dns"]', external_dns_iam_role_arn: roleArn });
    expect(JSON.parse(bridge(world)["addon_identities"] ?? "")).toEqual({
      external_dns_iam_role_arn: roleArn,
      external_dns_namespace: "external-dns",
      external_dns_service_account: "external-dns-sa",
    });
  });

  it("loses its role when it is turned off, and every other role stays", () => {
    const world = settled(spoke(["external_dns"]), { hub, settings: settings() });
    const before = [...world.live.keys()];
    world.change({ addons: [] });
    expect(world.settle().ready).toBe(true);
    expect(before.filter((name) => !world.live.has(name)).sort()).toEqual(Object.values(key).sort());
    expect(bridge(world)).toMatchObject({ addons: "[]", addon_identities: "{}" });
  });

  it("is not mistaken for one by the name of what every object has", () => {
    const world = new World(spoke(["constructor"]), { hub, settings: settings() });
    expect(world.settle().ready).toBe(true);
    expect(bridge(world)).toMatchObject({ addons: '["constructor"]', addon_identities: "{}" });
  });

  it("is removed with its spoke", () => {
    const world = settled(spoke(["external_dns"]), { hub, settings: settings() });
    world.delete().settle();
    expect(world.gone).toBe(true);
    expect(world.removed.indexOf(key.role)).toBeGreaterThan(world.removed.indexOf("bootstrap"));
  });

  it("is refused with a reason while the stack permits add-ons nothing, and a spoke that runs keeps running", () => {
    const world = settled(spoke(["external_dns"]), { hub: without, settings: settings() });
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
    expect(world.condition("SpecAccepted")?.message).toMatch(/external_dns .*addonPermissions .*pulumi up/);
    const running = new World(spoke([]), { hub: without, settings: settings() });
    running.settle();
    const before = [[...running.live.keys()], bridge(running)];
    running.change({ addons: ["external_dns"] });
    running.settle();
    expect([[...running.live.keys()], bridge(running)]).toEqual(before);
    expect(running.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
  });

  it.each([
    ["the stack permits it no more", () => ({ hub: without, settings: settings() })],
    [
      "its policy in Git is broken",
      () => ({
        hub,
        settings: settings({ external_dns: { ...dns, policy: [{ ...dns.policy[0], Resource: "{nobody_knows}" }] } }),
      }),
    ],
  ])("keeps its role as it is, and its place in the bridge, when %s", (_what, changed) => {
    const world = settled(spoke(["external_dns"]), { hub, settings: settings() });
    const state = () => [world.forProvider(key.role), world.forProvider(key.policy), bridge(world)["addon_identities"]];
    const before = state();
    Object.assign(world, changed());
    world.settle();
    expect(world.condition("SpecAccepted")?.status).toBe("False");
    expect(state()).toEqual(before);
    expect(bridge(world)["addons"]).toBe('["external_dns"]');
  });

  it("that can't get its role holds up nothing else of the bridge, nor the spoke's bootstrap", () => {
    const world = new World(spoke(["external_dns", "metrics_server"]), { hub, settings: settings() });
    world.report(key.policy, () => ({})).settle();
    expect(bridge(world)).toMatchObject({ addons: '["metrics_server"]', addon_identities: "{}" });
    expect(world.live.has("bootstrap")).toBe(true);
  });

  describe("on a spoke in another account", () => {
    const elsewhere = {
      region: "eu-west-1",
      network: { zones: 2, natGateways: "single", availabilityZones: ["eu-west-1a", "eu-west-1b"] },
      account: { id: "111111111111", providerConfigRef: { kind: "ClusterProviderConfig", name: "analytics" } },
    };

    it.each([
      ["permits add-ons something", hub],
      ["permits add-ons nothing", without],
    ])("gets its role under the boundary of that account, where the hub's stack %s", (_what, given) => {
      const world = new World(fixtures.spoke({ addons: ["external_dns"], ...elsewhere }), {
        hub: given,
        settings: settings(),
      });
      expect(world.settle().ready).toBe(true);
      expect(world.forProvider(key.role)["permissionsBoundary"]).toBe(
        "arn:aws:iam::111111111111:policy/fleet-addon-boundary",
      );
    });

    it("is refused where it writes to the fleet's workspace for metrics, which is in the hub's account", () => {
      const policy = [{ Effect: "Allow", Action: "aps:RemoteWrite", Resource: "{metrics_workspace_arn}" }];
      const metricsWorkspaceArn = "arn:aws:aps:us-east-1:000000000000:workspace/ws-1";
      const world = new World(fixtures.spoke({ addons: ["external_dns"], ...elsewhere }), {
        hub: { ...hub, metricsWorkspaceArn },
        settings: settings({ external_dns: { ...dns, policy } }),
      });
      world.settle();
      expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
      expect(world.condition("SpecAccepted")?.message).toContain("workspace for metrics is in the hub's account");
    });
  });

  it("writes to the fleet's workspace for metrics, and is refused with a reason where there is none", () => {
    const arn = "arn:aws:aps:eu-west-1:111122223333:workspace/ws-1";
    const policy = [{ Effect: "Allow", Action: "aps:RemoteWrite", Resource: "{metrics_workspace_arn}" }];
    const ours = settings({ external_dns: { ...dns, policy } });
    const world = new World(spoke(["external_dns"]), { hub: { ...hub, metricsWorkspaceArn: arn }, settings: ours });
    expect(world.settle().ready).toBe(true);
    expect(JSON.parse(world.forProvider(key.policy)["policy"] as string).Statement[0].Resource).toEqual([arn]);
    expect(bridge(world)).toMatchObject({ metrics_workspace_arn: arn, metrics_region: "eu-west-1" });
    for (const alone of [hub, without]) {
      const refused = new World(spoke(["external_dns"]), {
        hub: { ...alone, metricsWorkspaceArn: "" },
        settings: ours,
      });
      refused.settle();
      const { reason, message } = refused.condition("SpecAccepted") ?? {};
      expect(reason).toBe("AddonsNotPermitted");
      expect(message).toContain("spec.addons external_dns: the fleet has no workspace for metrics");
      expect(message).not.toContain("addonPermissions");
    }
  });

  it("is refused when its policy names a fact that nobody knows beforehand", () => {
    const policy = [{ Effect: "Allow", Action: "ec2:DescribeVpcs", Resource: "arn:aws:ec2:::vpc/{aws_vpc_id}" }];
    const world = settled(spoke(["external_dns"]), { hub, settings: settings({ external_dns: { ...dns, policy } }) });
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonRoleInvalid" });
    expect(world.condition("SpecAccepted")?.message).toContain("names {aws_vpc_id}: allowed are cluster_name,");
  });
});

describe("the Composition's input", () => {
  it.each([
    [{ "external-dns": dns }, "addons"],
    [{ external_dns: { ...dns, policy: [] } }, "addons.external_dns.policy"],
    [{ external_dns: { ...dns, policy: [{ ...dns.policy[0], Effect: "Deny" }] } }, "Effect"],
    [{ external_dns: { ...dns, policy: [{ ...dns.policy[0], NotAction: "x" }] } }, "NotAction"],
    [{ external_dns: { policy: dns.policy, namespace: "x" } }, "serviceAccount"],
  ])("with add-ons %o is refused and says where", (addons, where) => expect(() => settings(addons)).toThrow(where));

  it("has no add-ons when the API server keeps null", () => {
    expect(fixtures.settings({ addons: null }).addons).toEqual({});
  });
});

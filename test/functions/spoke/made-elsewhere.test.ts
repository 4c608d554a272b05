import { describe, expect, test } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { spokeNames } from "../../../lib/spoke.ts";
import { hub, settings, spoke } from "./support/fixtures.ts";
import { schemaFolder, violations } from "./support/schemas.ts";
import { failing, running, settled, World } from "./support/world.ts";

const network = { cidr: "10.64.0.0/18" };
const existing = { madeBy: "ClusterAPI" };
const ofClusterApi = (change: Record<string, unknown> = {}) => spoke({ network, existing, ...change });
const names = spokeNames(hub.spokePrefix, "blue", true);

const policies = (world: World, key: string) => at(world.object(key).spec, "managementPolicies");
const kindsOf = (world: World) => new Set([...world.live.values()].map(({ object }) => object.kind));
const isOnlyLookedAt = (world: World, key: string) => JSON.stringify(policies(world, key)) === '["Observe"]';

/** What a cluster that Cluster API has not made yet looks like to Crossplane. */
const missing = failing("observe failed: external resource does not exist");

describe("a Spoke over a cluster that Cluster API makes", () => {
  test("is Ready with the same conditions and hands over the same facts as any other", () => {
    const world = running(ofClusterApi());
    const other = running(spoke({ network }));
    expect(world.answer?.conditions.map(({ type, status }) => [type, status])).toEqual(
      other.answer?.conditions.map(({ type, status }) => [type, status]),
    );
    const handedOver = (each: World) => fromBase64(each.object("cluster-secret").data ?? {});
    const { aws_vpc_id: vpc, ...facts } = handedOver(world);
    const { aws_vpc_id: _, ...others } = handedOver(other);
    const driver = names.identityRole("aws_ebs_csi_driver");
    expect(facts).toEqual({
      ...others,
      aws_ebs_csi_driver_iam_role_arn: `arn:aws:iam::${hub.aws.accountId}:role/${driver}`,
      node_role_name: names.nodeRole,
    });
    expect(names).toMatchObject({ clusterRole: `${names.cluster}.cluster`, nodeRole: `${names.cluster}.node` });
    expect(driver).toBe(`${names.cluster}.aws-ebs-csi-driver`);
    expect(vpc).toBe(world.spoke.status?.network?.vpcId);
    expect(world.object("bootstrap").spec).toEqual(other.object("bootstrap").spec);
  });

  test("admits no load balancers, because the hub does not know the public subnets that Cluster API makes", () => {
    const world = running(ofClusterApi({ addons: ["aws_load_balancer_controller"] }));
    expect(fromBase64(world.object("cluster-secret").data ?? {})["load_balancer_cidrs"]).toBe("");
  });

  test("looks at the cluster, its VPC, its nodes and its add-ons under the names of the chart, and makes none of them", () => {
    const world = running(ofClusterApi());
    const looked = [...world.live.keys()].filter((key) => isOnlyLookedAt(world, key));
    expect(looked.sort()).toEqual([
      ...["addon-aws-ebs-csi-driver", "addon-coredns", "addon-kube-proxy"],
      ...["addon-vpc-cni", "cluster", "node-group", "vpc"],
    ]);
    const external = (key: string) => world.object(key).metadata.annotations?.["crossplane.io/external-name"];
    expect(external("cluster")).toBe(names.cluster);
    expect(external("node-group")).toBe(names.nodeGroup);
    expect(external("vpc")).toBe(at(world.object("cluster").status, "atProvider", "vpcConfig", "vpcId"));
    for (const kind of ["Subnet", "NATGateway", "EIP", "RouteTable", "Key", "LaunchTemplate", "Group"])
      expect(kindsOf(world), kind).not.toContain(kind);
    expect([...world.live.keys()].filter((key) => /^role-(cluster|node)$/.test(key))).toEqual([]);
  });

  test("makes the identities and the access of the cluster itself", () => {
    const world = running(ofClusterApi());
    const made = [...world.live].filter(
      ([key, { object }]) => object.apiVersion.includes(".m.upbound.io") && !isOnlyLookedAt(world, key),
    );
    const kinds = new Set(made.map(([, { object }]) => object.kind));
    expect([...kinds].sort()).toEqual([
      ...["AccessEntry", "OpenIDConnectProvider", "Role", "RolePolicy", "RolePolicyAttachment"],
    ]);
    for (const [key] of made) expect(policies(world, key), key).toBeUndefined();
  });

  test.skipIf(schemaFolder === undefined)("asks only what the provider's schema knows (skipped without it)", () => {
    for (const [key, { object }] of running(ofClusterApi()).live) {
      const { status: _, ...manifest } = object;
      expect(violations(manifest), key).toEqual([]);
    }
  });

  test("waits for the cluster, says who makes it, and goes on by itself when it is there", () => {
    const world = new World(ofClusterApi());
    world.report("cluster", missing).settle();
    expect(world.condition("ControlPlaneReady")).toMatchObject({ status: "False", reason: "NotMadeYet" });
    expect(world.condition("ControlPlaneReady")?.message).toContain("kubectl -n cluster-api-clusters get");
    expect(world.spoke.status?.phase).toBe("ControlPlane");
    expect(world.live.has("access-entry-kustomize-controller")).toBe(false);
    world.reports.delete("cluster");
    expect(world.settle().ready).toBe(true);
  });

  test("waits for nodes that Cluster API makes after the control plane", () => {
    const world = new World(ofClusterApi());
    world.report("node-group", missing).settle();
    expect(world.spoke.status?.cluster?.endpoint).toBeDefined();
    expect(world.condition("NodesReady")).toMatchObject({ status: "False", reason: "NotMadeYet" });
    expect(world.spoke.status?.phase).toBe("Nodes");
  });

  test.each([
    ["keeps what it last said of the cluster", true],
    ["forgets it", false],
  ])("fails, and does not wait, when a cluster that ran is gone, whether Crossplane %s", (_name, keeps) => {
    const world = running(ofClusterApi());
    for (const key of ["cluster", "node-group"])
      world.report(key, failing("observe failed: external resource does not exist", keeps));
    world.settle();
    const said = world.condition("ControlPlaneReady");
    expect(said).toMatchObject({ status: "False", reason: "ClusterGone" });
    expect(said?.message).toContain("AWS has it no more: kubectl -n cluster-api-clusters get clusters");
    expect(world.condition("NodesReady")?.reason).toBe("ClusterGone");
    expect(world.spoke.status).toMatchObject({ phase: "Failing", message: said?.message });
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test("is the only Spoke for which Cluster API makes what is missing", () => {
    const world = running(spoke({ network }));
    world.report("cluster", missing).settle();
    expect(world.condition("ControlPlaneReady")).toMatchObject({ status: "False", reason: "Failed" });
    expect(world.condition("ControlPlaneReady")?.message).not.toContain("Cluster API");
    expect(world.spoke.status?.phase).toBe("Failing");
  });

  test("claims the network that the release names, and says so where the VPC has another", () => {
    const world = running(ofClusterApi());
    expect([...world.live.keys()].filter((key) => key.startsWith("network-"))).toHaveLength(1);
    world.report("vpc", (status) => ({
      ...status,
      atProvider: { ...(status["atProvider"] as object), cidrBlock: "10.99.0.0/16" },
    }));
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "NetworkDiffers" });
    expect(world.condition("SpecAccepted")?.message).toMatch(/10\.99\.0\.0\/16.*10\.64\.0\.0\/18/);
  });

  test("follows an upgrade that the chart makes, control plane first, and asks for none", () => {
    const world = running(ofClusterApi({ kubernetesVersion: "1.35" }));
    const upgrade = (key: string) =>
      world.report(key, (status) => ({
        ...status,
        atProvider: { ...(status["atProvider"] as object), version: "1.36" },
      }));
    upgrade("cluster");
    world.settle();
    expect(world.condition("VersionCurrent")).toMatchObject({ status: "False", reason: "UpgradingNodes" });
    expect(world.spoke.status?.kubernetesVersion).toBe("1.36");
    upgrade("node-group");
    expect(world.settle().ready).toBe(true);
    expect(fromBase64(world.object("cluster-secret").data ?? {})).toMatchObject({ kubernetes_version: "1.36" });
    expect(world.condition("VersionCurrent")?.status).toBe("True");
  });

  test("is not held to what the Composition or its own specification say of nodes, endpoint and versions", () => {
    const release = {
      "1.36": { nodes: { AL2023_x86_64_STANDARD: "1.36.2-20261101" }, "vpc-cni": "v9.9.9-eksbuild.1" },
    };
    const world = running(
      ofClusterApi({ kubernetesVersion: "1.36", nodes: { ...spoke().spec.nodes, instanceTypes: ["m7g.large"] } }),
      { settings: settings({ kubernetesVersions: release }), hub: { ...hub, hubEgressCidrs: [] } },
    );
    expect(world.answer?.ready).toBe(true);
  });

  test.each(["rds_instances", "karpenter", "karpenter_nodes"])(
    "is refused the add-on %s, which needs a network of the hub",
    (addon) => {
      const world = settled(ofClusterApi({ addons: [addon] }));
      expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "AddonsNotPermitted" });
      expect(world.condition("SpecAccepted")?.message).toContain(addon);
    },
  );

  test.each(["Delete", "Orphan"])(
    "leaves the cluster in AWS when it is removed with deletionPolicy %s",
    (deletionPolicy) => {
      const world = running(ofClusterApi());
      world.change({ deletionPolicy }).settle();
      const looked = [...world.live.keys()].filter((key) => isOnlyLookedAt(world, key));
      expect(looked).toContain("cluster");
      world.delete();
      for (let count = 0; count < 60 && !world.gone; count += 1) {
        world.step();
        for (const key of looked.filter((each) => world.live.has(each)))
          expect(isOnlyLookedAt(world, key), key).toBe(true);
      }
      expect(world.gone).toBe(true);
      // Its access and its roles go before anything is let out of sight.
      expect(world.removed.indexOf("bootstrap")).toBeLessThan(
        world.removed.indexOf("access-entry-kustomize-controller"),
      );
      expect(world.removed.indexOf("access-entry-kustomize-controller")).toBeLessThan(world.removed.indexOf("cluster"));
    },
  );
});

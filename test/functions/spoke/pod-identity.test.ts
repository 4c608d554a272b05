import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import * as fixtures from "./support/fixtures.ts";
import { isolatedServices } from "./support/rule-cases.ts";
import { running, World } from "./support/world.ts";

const addons = {
  external_dns: {
    namespace: "external-dns",
    serviceAccount: "external-dns-sa",
    policy: [{ Effect: "Allow", Action: "route53:ListHostedZones", Resource: "*" }],
  },
};
const irsa = fixtures.settings({ addons });
const podIdentity = fixtures.settings({ addons, workloadIdentity: "pod-identity" });
const blue = (change: object = {}) => fixtures.spoke({ addons: ["external_dns"], ...change });
const options = { settings: podIdentity };

const clusterArn = "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-blue";
const association = (role: string) => `pod-identity-${role}`;
const providers = ["dynamodb", "iam", "rds", "s3", "sqs"].map((service) => `provider-aws-${service}`);
const forPods = ["crossplane", "aws-ebs-csi-driver", "addon-external-dns"];
/** Of a role: by its name, or by the accounts of the providers. */
const associationsOf = (role: string) => (role === "crossplane" ? providers : [role]).map(association);
const associations = forPods.flatMap(associationsOf);
const trustOf = (world: World, role: string) =>
  JSON.parse(String(world.forProvider(`role-${role}`)["assumeRolePolicy"]));
const bridge = (world: World) => fromBase64(world.live.get("cluster-secret")?.object.data ?? {});
const told = (world: World) => [bridge(world)["aws_identity_source"], bridge(world)["pod_annotations"]];
const byPodIdentity = ["PodIdentity", '{"fleet.internal/aws-identity":"PodIdentity"}'];
const byIrsa = ["IRSA", "{}"];
const driver = (world: World) =>
  JSON.parse(String(world.forProvider("addon-aws-ebs-csi-driver")["configurationValues"])).controller;

describe("a spoke with EKS Pod Identity", () => {
  it("gives each role to the pods of its service accounts on this cluster, without an OIDC provider", () => {
    const world = running(blue(), options);
    const subjects: Record<string, [namespace: string, accounts: string | readonly string[]]> = {
      crossplane: ["crossplane-system", providers],
      "aws-ebs-csi-driver": ["kube-system", "ebs-csi-controller-sa"],
      "addon-external-dns": ["external-dns", "external-dns-sa"],
    };
    for (const [role, [namespace, accounts]] of Object.entries(subjects)) {
      expect(trustOf(world, role).Statement).toEqual([
        {
          Effect: "Allow",
          Principal: { Service: "pods.eks.amazonaws.com" },
          Action: ["sts:AssumeRole", "sts:TagSession"],
          Condition: {
            StringEquals: {
              "aws:RequestTag/eks-cluster-arn": clusterArn,
              "aws:RequestTag/kubernetes-namespace": namespace,
              "aws:RequestTag/kubernetes-service-account": accounts,
            },
          },
        },
      ]);
      for (const [index, serviceAccount] of [accounts].flat().entries())
        expect(world.forProvider(associationsOf(role)[index] ?? "")).toMatchObject({
          clusterName: "fleet-spoke-blue",
          namespace,
          serviceAccount,
          roleArn: `arn:aws:iam::000000000000:role/fleet-spoke-blue-${role}`,
          tags: {
            "fleet.internal/cluster": "blue",
            "fleet.internal/identity": role === "crossplane" ? serviceAccount : role,
          },
        });
    }
    const { addonName } = world.forProvider("addon-eks-pod-identity-agent");
    expect(addonName).toBe("eks-pod-identity-agent");
    expect(told(world)).toEqual(byPodIdentity);
  });

  it("leaves External Secrets its role by IRSA: no pod runs under the account of its store", () => {
    const world = running(blue(), options);
    expect(trustOf(world, "external-secrets").Statement[0]).toMatchObject({
      Action: ["sts:AssumeRoleWithWebIdentity"],
      Principal: { Federated: expect.stringContaining(":oidc-provider/") },
    });
    expect([...world.live.keys()].filter((key) => key.startsWith("pod-identity-")).sort()).toEqual(
      [...associations].sort(),
    );
  });

  it("has every association before anything is installed that it is for", () => {
    for (const each of associations) {
      const world = new World(blue(), options);
      world.reports.set(each, () => ({}));
      world.settle();
      expect(world.answer?.ready, each).toBe(false);
      expect(world.live.has("bootstrap"), each).toBe(false);
      world.reports.delete(each);
      expect(world.settle().ready, each).toBe(true);
    }
    const world = new World(blue(), options);
    world.reports.set(association("aws-ebs-csi-driver"), () => ({}));
    world.settle();
    expect(world.live.has("addon-aws-ebs-csi-driver")).toBe(false);
  });

  it("tells Git of a further add-on once its association works, and of nothing else", () => {
    const world = running(blue({ addons: [] }), options);
    world.reports.set(association("addon-external-dns"), () => ({}));
    world.change({ addons: ["external_dns"] });
    world.settle();
    expect(bridge(world)).toMatchObject({ addons: "[]", addon_identities: "{}" });
    expect(told(world)).toEqual(byPodIdentity);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(bridge(world)).toMatchObject({ addons: '["external_dns"]' });
  });

  it("asks for no role before there is an agent that could give it to pods", () => {
    const world = new World(blue(), options);
    world.reports.set("addon-eks-pod-identity-agent", () => ({}));
    world.settle();
    expect(forPods.filter((role) => world.live.has(`role-${role}`))).toEqual([]);
    expect(world.condition("AddonsReady")?.status).toBe("False");
  });

  it("is removed with its associations, which go before the cluster and after the chain", () => {
    const world = running(blue(), options);
    world.delete();
    world.settle();
    expect([world.gone, [...world.live.keys()]]).toEqual([true, []]);
    const at = (key: string) => world.removed.indexOf(key);
    for (const each of associations) {
      expect(at(each)).toBeGreaterThan(at("bootstrap"));
      expect(at(each)).toBeLessThan(at("cluster"));
    }
  });

  it("takes in the associations that a lost hub made", () => {
    const existing = { "pod-identities": { "provider-aws-iam": "a-0123456789abcdefg" } };
    const world = running(blue({ existing }), options);
    expect(world.object(association("provider-aws-iam")).metadata.annotations).toMatchObject({
      "crossplane.io/external-name": "a-0123456789abcdefg",
    });
  });

  it("is none where Cluster API makes the cluster: its chart names no agent", () => {
    const change = { existing: { madeBy: "ClusterAPI" }, network: { cidr: "10.100.0.0/16" } };
    const world = new World(blue(change), options);
    world.settle();
    expect([...world.live.keys()].filter((key) => key.includes("pod-identity"))).toEqual([]);
    expect(JSON.stringify(trustOf(world, "crossplane"))).toContain("oidc-provider");
  });
});

describe("a spoke without internet access", () => {
  const network = (...more: string[]) => ({ natGateways: "isolated", endpoints: [...isolatedServices, ...more] });
  const isolated = (...more: string[]) => blue({ network: network(...more) });

  it("is not made with EKS Pod Identity unless the agent can ask EKS Auth", () => {
    const world = new World(isolated(), options);
    world.settle();
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "EndpointMissing" });
    expect(world.condition("SpecAccepted")?.message).toContain("add eks-auth to spec.network.endpoints");
    expect(told(running(isolated("eks-auth"), options))).toEqual(byPodIdentity);
  });

  it("keeps to IRSA where it runs without that endpoint, says so, and goes over when the endpoint is usable", () => {
    const world = running(isolated(), { settings: irsa });
    const before = [...world.live.keys()];
    world.settings = podIdentity;
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "EndpointMissing" });
    expect([...world.live.keys()]).toEqual(before);
    expect(told(world)).toEqual(byIrsa);
    world.reports.set("endpoint-eks-auth", () => ({}));
    world.change({ network: { ...world.spoke.spec.network, ...network("eks-auth") } });
    world.settle();
    for (const role of forPods) expect(JSON.stringify(trustOf(world, role))).toContain("oidc-provider");
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(told(world)).toEqual(byPodIdentity);
  });

  it("goes back to IRSA when the endpoint goes", () => {
    const world = running(isolated("eks-auth"), options);
    world.change({ network: { ...world.spoke.spec.network, ...network() } });
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ status: "False", reason: "EndpointMissing" });
    expect(told(world)).toEqual(byIrsa);
    for (const role of forPods) expect(JSON.stringify(trustOf(world, role))).toContain("oidc-provider");
  });
});

describe("a spoke that runs", () => {
  it("goes over in place: nothing is removed, and Git hears of it when the last association works", () => {
    const world = running(blue(), { settings: irsa });
    const before = [...world.live.keys()];
    expect(told(world)).toEqual(byIrsa);
    world.settings = podIdentity;
    for (const each of associations) world.reports.set(each, () => ({}));
    world.settle();
    const trusted = (role: string) =>
      trustOf(world, role).Statement.map(({ Principal }: { Principal: object }) => Object.keys(Principal).join());
    for (const key of associations) {
      expect([key, ...told(world)]).toEqual([key, ...byIrsa]);
      // Pods that have begun with IRSA keep their roles while an association does not work.
      for (const each of forPods) expect([each, trusted(each)]).toEqual([each, ["Service", "Federated"]]);
      if (key === association("aws-ebs-csi-driver")) expect(driver(world)).not.toHaveProperty("podAnnotations");
      world.reports.delete(key);
      world.settle();
    }
    expect(world.answer?.ready).toBe(true);
    expect(told(world)).toEqual(byPodIdentity);
    for (const each of forPods) expect([each, trusted(each)]).toEqual([each, ["Service"]]);
    expect(driver(world)).toHaveProperty("podAnnotations");
    expect(before.filter((key) => !world.live.has(key))).toEqual([]);
    expect([...world.live.keys()].filter((key) => !before.includes(key)).sort()).toEqual(
      ["addon-eks-pod-identity-agent", ...associations].sort(),
    );
  });

  it("keeps the trust in its OIDC provider until the agent works, so that a broken agent takes no role away", () => {
    const world = running(blue(), { settings: irsa });
    world.settings = podIdentity;
    world.reports.set("addon-eks-pod-identity-agent", () => ({}));
    world.settle();
    for (const role of forPods) expect(JSON.stringify(trustOf(world, role))).toContain("oidc-provider");
    expect(told(world)).toEqual(byIrsa);
  });

  it("goes back, and its pods start anew only when no association is left, which would count first", () => {
    const world = running(blue(), options);
    world.settings = irsa;
    world.stuck.add(association("provider-aws-iam"));
    world.settle();
    expect(told(world)).toEqual(byPodIdentity);
    expect(world.live.has("addon-eks-pod-identity-agent")).toBe(true);
    expect(driver(world)).toHaveProperty("podAnnotations");
    world.stuck.clear();
    expect(world.settle().ready).toBe(true);
    expect(told(world)).toEqual(byIrsa);
    world.settle();
    expect(driver(world)).not.toHaveProperty("podAnnotations");
    expect([...world.live.keys()].filter((key) => key.includes("pod-identity"))).toEqual([]);
    for (const role of forPods) expect(JSON.stringify(trustOf(world, role))).toContain("oidc-provider");
    expect(at(world.forProvider("addon-aws-ebs-csi-driver"), "serviceAccountRoleArn")).toBe(
      "arn:aws:iam::000000000000:role/fleet-spoke-blue-aws-ebs-csi-driver",
    );
  });

  it("goes over while the stack permits an add-on nothing any more: its role stays as it is, by IRSA", () => {
    const world = running(blue(), { settings: irsa });
    world.hub = { ...fixtures.hub, addonBoundaryArn: "" };
    world.settings = podIdentity;
    world.settle();
    expect(told(world)).toEqual(byPodIdentity);
    expect(JSON.stringify(trustOf(world, "addon-external-dns"))).toContain("oidc-provider");
    expect(world.live.has(association("addon-external-dns"))).toBe(false);
  });
});

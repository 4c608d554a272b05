import { describe, expect, test } from "vitest";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { clusterOfHub, clusterOfSpoke, hubKeys, readHubFacts } from "../../../functions/spoke/inventory/cluster.ts";
import { type ClusterProfile, profileOf } from "../../../functions/spoke/inventory/profile.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { authority, hubFacts, later, now, ready, storedSpoke } from "./support/inventory.ts";
import { running } from "./support/world.ts";

const profileFor = (object: Spoke, found?: ClusterProfile, at = now) =>
  profileOf(clusterOfSpoke(object, "fleet", found), "fleet", found, at);
const conditionsOf = ({ status }: ClusterProfile) =>
  Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition]));

describe("the ClusterProfile of a spoke", () => {
  const world = ready({ environment: "prod" });
  const profile = profileFor(storedSpoke(world));

  test("is the fleet's, and is chosen by the labels of the bridge", () => {
    expect(profile).toMatchObject({
      apiVersion: "multicluster.x-k8s.io/v1alpha1",
      kind: "ClusterProfile",
      spec: { displayName: "fleet/blue", clusterManager: { name: "eks-gitops-fleet-fleet" } },
    });
    expect(profile.metadata).toEqual({
      name: "blue",
      labels: {
        "x-k8s.io/cluster-manager": "eks-gitops-fleet-fleet",
        "fleet.internal/cluster": "blue",
        "fleet.internal/role": "spoke",
        "fleet.internal/environment": "prod",
        "fleet.internal/tenant": world.spoke.spec.tenant,
      },
    });
    const ringed = spoke({ ring: "early" });
    expect(profileFor(ringed).metadata.labels).toMatchObject({ "fleet.internal/ring": "early" });
  });

  test("says the version that runs, and facts that the bridge says, too, under the bridge's names", () => {
    const bridge = fromBase64(world.object("cluster-secret").data ?? {});
    expect(profile.status?.version).toEqual({ kubernetes: bridge["kubernetes_version"] });
    const properties = profile.status?.properties ?? [];
    expect(properties).toContainEqual({ name: "location", value: "us-east-1" });
    const own = properties.filter(({ name }) => name !== "location");
    expect(own.map(({ name }) => name.replace("fleet.internal/", ""))).toEqual([
      ...["aws_account_id", "aws_cluster_name", "aws_partition", "aws_region", "aws_vpc_cidr", "aws_vpc_id"],
      ...["cluster_arn", "fleet", "oidc_provider", "oidc_provider_arn"],
    ]);
    for (const { name, value } of own) expect(value, name).toBe(bridge[name.replace("fleet.internal/", "")]);
  });

  test("says how to reach it, with what a program needs that makes a token, and no credential", () => {
    expect(profile.status?.accessProviders).toEqual([
      {
        name: "eks",
        cluster: {
          server: world.answer?.status.cluster?.endpoint,
          "certificate-authority-data": world.answer?.status.cluster?.certificateAuthority,
          extensions: [
            {
              name: "client.authentication.k8s.io/exec",
              extension: { clusterName: "fleet-spoke-blue", region: "us-east-1" },
            },
            {
              name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs",
              extension: { EKS_CLUSTER_NAME: "fleet-spoke-blue", AWS_REGION: "us-east-1" },
            },
          ],
        },
      },
    ]);
    const kubeConfig = JSON.stringify(world.object("kubeconfig").data);
    expect(kubeConfig).toContain(world.answer?.status.cluster?.endpoint);
  });

  test("says that its control plane is healthy and that it is managed, in the Spoke's own words", () => {
    expect(profile.status?.conditions).toEqual([
      {
        type: "ControlPlaneHealthy",
        status: "True",
        reason: "Available",
        message: "the control plane: ready",
        lastTransitionTime: "2026-11-26T08:00:00Z",
      },
      {
        type: "Joined",
        status: "True",
        reason: "Available",
        message: "the bootstrap chain: ready",
        lastTransitionTime: "2026-11-26T08:00:00Z",
      },
    ]);
  });

  test("has no version, no address and no health while there is no control plane", () => {
    const young = profileFor(spoke());
    expect(young.status).not.toHaveProperty("version");
    expect(young.status).toMatchObject({ accessProviders: [] });
    expect(conditionsOf(young)).toMatchObject({
      ControlPlaneHealthy: { status: "False", reason: "NotReported" },
      Joined: { status: "False", reason: "NotReported" },
    });
    // The API takes no empty value.
    expect(young.status?.properties?.filter(({ value }) => !value)).toEqual([]);
  });

  /** `status` of one of the Spoke's conditions is False. */
  const failing = (type: string): ClusterProfile => {
    const object = storedSpoke(world);
    const conditions = (object.status?.conditions ?? []).map((condition) =>
      condition.type === type
        ? { ...condition, status: "False", reason: "Throttled", message: "AWS is busy" }
        : condition,
    );
    return profileFor({ ...object, status: { ...object.status, conditions } });
  };

  test("does not call a control plane unhealthy only because AWS refuses a change", () => {
    expect(conditionsOf(failing("ControlPlaneReady"))["ControlPlaneHealthy"]).toMatchObject({
      status: "Unknown",
      reason: "Throttled",
      message: "AWS is busy",
    });
  });

  test("stays joined while a later commit fails, and is no longer once it is being removed", () => {
    expect(conditionsOf(failing("Bootstrapped"))["Joined"]).toMatchObject({ status: "True", message: "AWS is busy" });
    const removed = ready({ deletionProtection: false });
    removed.delete();
    expect(conditionsOf(profileFor(storedSpoke(removed)))["Joined"]).toMatchObject({
      status: "False",
      reason: "Removal",
    });
    const held = ready({ deletionProtection: true });
    held.delete();
    expect(conditionsOf(profileFor(storedSpoke(held)))["Joined"]).toMatchObject({ status: "True" });
  });

  test("stays joined when it changes to another ring, whose revision it has not got yet", () => {
    const ofRing = (ring: string) => ({ ring, crossplane: { compositionRef: { name: `spoke-${ring}` } } });
    const revision = `ring/early@sha1:${"a".repeat(40)}`;
    const chainStatus = { lastAttemptedRevision: revision, lastAppliedRevision: revision };
    const moved = running(spoke(ofRing("early")), { chainStatus });
    const early = profileFor(storedSpoke(moved));
    expect(conditionsOf(early)["Joined"]).toMatchObject({ status: "True" });
    moved.change(ofRing("late"));
    const failed = { type: "Ready", status: "False", reason: "BuildFailed", message: "no such branch" };
    moved.reports.set("bootstrap", (status) => ({ ...status, ...chainStatus, conditions: [failed] }));
    moved.settle();
    const stored = storedSpoke(moved);
    expect(stored.status?.rollout).not.toHaveProperty("revision");
    expect(moved.condition("Bootstrapped")).toMatchObject({ status: "False" });
    const late = profileFor(stored, early, later);
    expect(late.metadata.labels).toMatchObject({ "fleet.internal/ring": "late" });
    expect(conditionsOf(late)["Joined"]).toMatchObject({
      status: "True",
      message: expect.stringContaining("no such branch"),
      lastTransitionTime: "2026-11-26T08:00:00Z",
    });
    moved.change({ deletionProtection: false });
    moved.delete();
    expect(conditionsOf(profileFor(storedSpoke(moved), early, later))["Joined"]).toMatchObject({ status: "False" });
  });

  test("has not joined because a cluster of the same name had, which is gone", () => {
    const successor = spoke({}, "blue", "another", "2026-11-26T08:30:00Z");
    expect(conditionsOf(profileFor(successor, profile, later))["Joined"]).toMatchObject({
      status: "False",
      lastTransitionTime: "2026-11-26T09:00:00Z",
    });
  });

  test("keeps the time of a condition whose status stays, and gives a new status a new one", () => {
    const again = conditionsOf(profileFor(storedSpoke(world), profile, later));
    expect(again["Joined"]?.lastTransitionTime).toBe("2026-11-26T08:00:00Z");
    const changed = conditionsOf(profileFor(spoke(), profile, later));
    expect(changed["ControlPlaneHealthy"]?.lastTransitionTime).toBe("2026-11-26T09:00:00Z");
  });
});

describe("the ClusterProfile of the hub", () => {
  const profile = profileOf(clusterOfHub(hubFacts, authority), "fleet", undefined, now);

  test("has the facts of the hub's bridge and the address that pods on the hub use", () => {
    const bridge: Record<string, string> = bridgeData(hub);
    expect(profile.metadata).toMatchObject({ name: "hub", labels: { "fleet.internal/role": "hub" } });
    expect(profile.status?.version).toEqual({ kubernetes: hub.kubernetesVersion });
    const properties = (profile.status?.properties ?? []).filter(({ name }) => name !== "location");
    expect(properties.length).toBeGreaterThan(8);
    for (const { name, value } of properties) expect(value, name).toBe(bridge[name.replace("fleet.internal/", "")]);
    expect(profile.status?.accessProviders).toMatchObject([
      { name: "eks", cluster: { server: "https://kubernetes.default.svc", "certificate-authority-data": authority } },
    ]);
    expect(conditionsOf(profile)).toMatchObject({
      ControlPlaneHealthy: { status: "True" },
      Joined: { status: "True" },
    });
  });

  test("is not made of half the facts: the program names what its environment lacks", () => {
    const { cluster_arn: _, ...others } = bridgeData(hub);
    expect(() => readHubFacts({ ...others, tenant: "" })).toThrow(/the environment lacks tenant, cluster_arn: each is/);
    expect(Object.keys(hubFacts)).toEqual([...hubKeys]);
  });
});

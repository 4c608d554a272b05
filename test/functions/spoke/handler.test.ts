import {
  Ready,
  RunFunctionRequest,
  RunFunctionResponse,
  Severity,
  Status,
} from "@crossplane-org/function-sdk-typescript";
import { describe, expect, it } from "vitest";
import { handler } from "../../../functions/spoke/handler.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { inBase64 } from "../../../lib/base64.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { compositionInput } from "./support/definition.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

const hubSecret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cluster-hub", namespace: "flux-system" },
  data: inBase64(bridgeData(hub)),
};

interface Change {
  spoke?: object;
  composed?: ReadonlyMap<string, KubeObject>;
  input?: object;
  required?: Record<string, object[]>;
}

/** Sends a request over the wire format, as Crossplane does, and reads the answer back from it. */
async function call(change: Change = {}): Promise<RunFunctionResponse> {
  const { composed = new Map<string, KubeObject>(), input = compositionInput(), required } = change;
  const request = RunFunctionRequest.fromPartial({
    meta: { tag: "tag" },
    observed: {
      composite: { resource: { ...(change.spoke ?? spoke()) } },
      resources: Object.fromEntries([...composed].map(([key, object]) => [key, { resource: { ...object } }])),
    },
    input: { ...input },
    requiredResources: Object.fromEntries(
      Object.entries(required ?? {}).map(([name, objects]) => [
        name,
        { items: objects.map((resource) => ({ resource: { ...resource } })) },
      ]),
    ),
  });
  const received = RunFunctionRequest.decode(RunFunctionRequest.encode(request).finish());
  const response = await handler.RunFunction(received);
  return RunFunctionResponse.decode(RunFunctionResponse.encode(response).finish());
}

/** Claims of the other Spokes in these regions: none. */
const noClaims = (...regions: string[]) => Object.fromEntries(regions.map((region) => [`claims-${region}`, []]));
/** A Spoke that names its network, so that one region counts. */
const named = spoke({ network: { cidr: "10.200.0.0/16", zones: 2, natGateways: "single" } });
const fetched = { hub: [hubSecret], ...noClaims("10.200.0.0-16") };

describe("the function over gRPC", () => {
  it("asks for the hub's cluster secret, then for the claims around the network, and wants nothing yet", async () => {
    const wanted = { hub: { apiVersion: "v1", kind: "Secret", matchName: "cluster-hub", namespace: "flux-system" } };
    const first = await call({ spoke: named });
    expect(first.requirements?.resources).toEqual(wanted);
    const second = await call({ spoke: named, required: { hub: [hubSecret] } });
    expect(second.requirements?.resources).toEqual({
      ...wanted,
      "claims-10.200.0.0-16": {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "spokes",
        matchLabels: { labels: { "fleet.internal/network": "10.200.0.0-16" } },
      },
    });
    for (const { desired, results } of [first, second]) expect([desired?.resources, results]).toEqual([{}, []]);
  });

  it("asks for the same when it has it, as Crossplane calls until the requirements stay the same", async () => {
    const asked = await call({ spoke: named, required: { hub: [hubSecret] } });
    expect((await call({ spoke: named, required: fetched })).requirements).toEqual(asked.requirements);
  });

  it("answers with resources, status, conditions, readiness and the time after which to ask again", async () => {
    const response = await call({ spoke: named, required: fetched });
    expect(Object.keys(response.desired?.resources ?? {})).toEqual(["deletion-guard"]);
    expect(response.desired?.composite?.ready).toBe(Ready.READY_FALSE);
    expect(response.desired?.composite?.resource).toEqual({
      status: expect.objectContaining({ phase: "Network", cluster: { name: "fleet-spoke-blue" } }),
    });
    expect(response.conditions.find(({ type }) => type === "SpecAccepted")).toMatchObject({
      status: Status.STATUS_CONDITION_TRUE,
      reason: "Accepted",
    });
    expect(response.meta).toMatchObject({ tag: "tag", ttl: { seconds: 15 } });
  });

  it("a spoke that runs is ready, and costs the hub one read of a Secret, however many Spokes there are", async () => {
    const world = settled(spoke());
    const response = await call({ spoke: world.spoke, composed: world.observed(), required: { hub: [hubSecret] } });
    expect(Object.keys(response.requirements?.resources ?? {})).toEqual(["hub"]);
    expect(response.desired?.composite?.ready).toBe(Ready.READY_TRUE);
    const resources = Object.values(response.desired?.resources ?? {});
    expect(resources.length).toBe(world.live.size);
    expect(new Set(resources.map(({ ready }) => ready))).toEqual(new Set([Ready.READY_TRUE]));
    expect(response.meta?.ttl?.seconds).toBe(300);
    const cluster = response.desired?.resources["cluster"]?.resource;
    expect(cluster).toMatchObject({ kind: "Cluster", spec: { initProvider: { version: "1.35" } } });
  });

  it("looks at the objects of the chain while it is not ready", async () => {
    const world = settled(spoke());
    const composed = new Map(world.observed());
    const { status: _, ...bootstrap } = world.object("bootstrap");
    composed.set("bootstrap", bootstrap);
    const { requirements } = await call({ spoke: world.spoke, composed });
    expect(requirements?.resources["chain-HelmRelease"]).toEqual({
      apiVersion: "helm.toolkit.fluxcd.io/v2",
      kind: "HelmRelease",
      namespace: "spokes",
      matchLabels: { labels: { "fleet.internal/cluster": "blue" } },
    });
  });

  it("looks at everything with the spoke's label during a removal", async () => {
    const world = new World(spoke());
    world.delete();
    const { requirements } = await call({ spoke: world.spoke });
    const names = Object.keys(requirements?.resources ?? {});
    expect(names).toContain("remains-VPC");
    expect(names).toContain("remains-Kustomization");
    expect(names).not.toContain("remains-ClusterAuth");
    expect(names).not.toContain("spokes");
  });

  it.each([
    ["without the hub's cluster secret", { required: { hub: [] } }, "Secret flux-system/cluster-hub is missing"],
    [
      "when the hub's cluster secret is older than the contract",
      { required: { hub: [{ ...hubSecret, data: {} }] } },
      "Secret flux-system/cluster-hub: the cluster secret lacks cluster_name,",
    ],
    [
      "with a wrong input",
      { input: { kind: "SpokeSettings" }, required: fetched },
      "the Composition's input for function-spoke is wrong",
    ],
  ])("%s everything stays as it is, and the Spoke says why", async (_name, change, message) => {
    const response = await call(change);
    expect(response.results).toMatchObject([
      { severity: Severity.SEVERITY_FATAL, message: expect.stringContaining(message) },
    ]);
    expect(response.conditions).toMatchObject([
      {
        type: "SpecAccepted",
        status: Status.STATUS_CONDITION_UNKNOWN,
        reason: "PlatformNotReady",
        message: expect.stringContaining(message),
      },
    ]);
  });
});

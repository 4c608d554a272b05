import { describe, expect, test } from "vitest";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { clusterOfSpoke } from "../../../functions/spoke/inventory/cluster.ts";
import { pass } from "../../../functions/spoke/inventory/pass.ts";
import { type ClusterProfile, profileOf } from "../../../functions/spoke/inventory/profile.ts";
import { spoke } from "./support/fixtures.ts";
import { authority, FakeApi, hubFacts, later, merged, now, ready, storedSpoke } from "./support/inventory.ts";

describe("the program that keeps the profiles", () => {
  const blue = storedSpoke(ready());
  const look = (api: FakeApi, at = now) => pass({ api, hub: hubFacts, certificateAuthority: authority, now: at });

  test("makes one of the hub and of each Spoke, and writes nothing when nothing has changed", async () => {
    const api = new FakeApi([blue]);
    expect(await look(api)).toMatchObject({ failed: [] });
    expect(api.taken()).toEqual(["create hub", "create blue", "status hub", "status blue"]);
    expect([...api.stored.values()].map(({ metadata }) => metadata.name)).toEqual(["hub", "blue"]);
    expect(await look(api, later)).toEqual({ done: [], failed: [] });
    expect(api.taken()).toEqual([]);
  });

  test("follows a version and a label, each in the part of the profile that has it", async () => {
    const api = new FakeApi([blue]);
    await look(api);
    api.taken();
    api.all = [{ ...blue, status: { ...blue.status, kubernetesVersion: "1.37" } }];
    await look(api);
    expect(api.taken()).toEqual(["status blue"]);
    expect(api.stored.get("blue")?.status?.version).toEqual({ kubernetes: "1.37" });
    api.all = [{ ...(api.all[0] as Spoke), spec: { ...blue.spec, tenant: "search" } }];
    await look(api);
    expect(api.taken()).toEqual(["patch blue"]);
    expect(api.stored.get("blue")?.metadata.labels).toMatchObject({ "fleet.internal/tenant": "search" });
  });

  /** The program has looked, `patch` has come from somebody else, and it has looked again. */
  async function meddled(patch: object): Promise<{ api: FakeApi; before: ClusterProfile; done: readonly string[] }> {
    const api = new FakeApi([blue]);
    await look(api);
    const before = api.stored.get("blue") as ClusterProfile;
    api.meddle("blue", patch);
    const { done, failed } = await look(api);
    expect(failed).toEqual([]);
    expect(await look(api)).toEqual({ done: [], failed: [] });
    return { api, before, done };
  }

  const { status: blueStatus } = profileOf(clusterOfSpoke(blue, "fleet", undefined), "fleet", undefined, now);
  const [eks] = blueStatus?.accessProviders ?? [];
  test.each<[string, object]>([
    ["a version", { version: { kubernetes: "1.20" } }],
    ["a property", { properties: [{ name: "location", value: "moon" }] }],
    ["an address", { accessProviders: [merged(eks, { cluster: { server: "https://elsewhere.example" } })] }],
    ["a proxy", { accessProviders: [merged(eks, { cluster: { "proxy-url": "http://elsewhere.example" } })] }],
    ["another access provider", { accessProviders: [eks, { ...eks, name: "another" }] }],
    ["a provider under the deprecated name", { credentialProviders: [{ ...eks, name: "another" }] }],
    ["nothing", { conditions: null, properties: null, accessProviders: null }],
  ])("takes back what others make of a status: %s", async (_, status) => {
    const { api, before, done } = await meddled({ status });
    expect(done).toEqual(["blue: status"]);
    expect(api.stored.get("blue")).toEqual(before);
  });

  test("takes an access provider of others out of a profile that has none yet", async () => {
    const api = new FakeApi([spoke()]);
    await look(api);
    api.meddle("blue", { status: { accessProviders: [eks] } });
    expect(await look(api)).toEqual({ done: ["blue: status"], failed: [] });
    expect(api.stored.get("blue")?.status?.accessProviders).toEqual([]);
  });

  test("takes back its own labels, one that the cluster has not included, and leaves those of others alone", async () => {
    const mine = { metadata: { labels: { mine: "yes" }, annotations: { mine: "yes" } } };
    expect((await meddled(mine)).done).toEqual([]);
    const labels = { mine: "yes", "fleet.internal/ring": "early", "fleet.internal/tenant": "others" };
    const { api, before, done } = await meddled({ metadata: { labels } });
    expect(done).toEqual(["blue: labels and specification"]);
    expect(api.stored.get("blue")).toEqual(merged(before, { metadata: { labels: { mine: "yes" } } }));
  });

  test("leaves a profile of another cluster manager alone that has the name of a cluster, and says so", async () => {
    const api = new FakeApi([blue]);
    const theirs = profileOf(clusterOfSpoke(blue, "theirs", undefined), "theirs", undefined, now);
    api.stored.set("blue", theirs);
    const { done, failed } = await look(api);
    expect(failed).toEqual(["can't patch blue: 422 ClusterManager is immutable"]);
    expect(done).toEqual(["hub: created", "hub: status"]);
    expect(api.stored.get("blue")).toEqual(theirs);
  });

  test("removes the profile of a Spoke that is gone, and none of another cluster manager", async () => {
    const api = new FakeApi([blue]);
    await look(api);
    const stored = api.stored.get("blue") as ClusterProfile;
    const others = { ...stored.metadata, name: "far", labels: { "x-k8s.io/cluster-manager": "another" } };
    api.stored.set("far", { ...stored, metadata: others });
    api.taken();
    api.all = [];
    expect(await look(api)).toEqual({ done: ["blue: removed"], failed: [] });
    expect(api.taken()).toEqual(["remove blue"]);
    expect([...api.stored.keys()]).toEqual(["hub", "far"]);
  });

  test("goes on with the other profiles when one is refused, and says so", async () => {
    const api = new FakeApi([blue]);
    api.refused = "hub";
    const { done, failed } = await look(api);
    expect(failed).toEqual(["can't create hub: 403 no"]);
    expect(done).toEqual(["blue: created", "blue: status"]);
  });

  test("writes and removes nothing when it can't read the Spokes", async () => {
    const api = new FakeApi([blue]);
    await look(api);
    api.taken();
    api.spokes = async () => {
      throw new Error("can't list spokes in spokes: 403 no");
    };
    await expect(look(api)).rejects.toThrow("can't list spokes");
    expect(api.taken()).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { refusal } from "../calls.ts";
import { clusterBody, eks, useEks, withCluster } from "./fakes.ts";

useEks(withCluster);

const cluster = async () => (await eks.get("/clusters/hub")).cluster;
const config = (body: object) => eks.call("POST", "/clusters/hub/update-config", body);

describe("UpdateClusterVersion", () => {
  test("restarts the control plane under the next minor; the cluster is UPDATING until then", async () => {
    const release = eks.clusters.hold();
    const { update } = (await eks.call("POST", "/clusters/hub/updates", { version: "1.35" })).body;
    expect(update).toMatchObject({ type: "VersionUpdate", status: "InProgress" });
    expect(await cluster()).toMatchObject({ status: "UPDATING", version: "1.34" });
    release();
    await eks.settle();
    expect(await cluster()).toMatchObject({ status: "ACTIVE", version: "1.35" });
    expect(eks.clusters.started.map(({ kubernetesVersion }) => kubernetesVersion)).toEqual(["1.34", "1.35"]);
    expect((await eks.get(`/clusters/hub/updates/${update.id}`)).update.status).toBe("Successful");
    expect((await eks.get("/clusters/hub/updates")).updateIds).toEqual([update.id]);
  });

  test.each(["1.36", "1.34", "1.33", "2.0"])("refuses %s from 1.34", async (version) => {
    expect((await eks.call("POST", "/clusters/hub/updates", { version })).error).toBe("InvalidParameterException");
    expect((await cluster()).status).toBe("ACTIVE");
  });

  test("that fails leaves the cluster in its version, and the update says why", async () => {
    eks.clusters.failures.push("broken", "broken", "broken");
    const { update } = (await eks.call("POST", "/clusters/hub/updates", { version: "1.35" })).body;
    const found = async () => (await eks.get(`/clusters/hub/updates/${update.id}`)).update;
    await expect.poll(async () => (await found()).status).toBe("Failed");
    expect((await found()).errors[0].errorMessage).toBe("broken");
    expect(await cluster()).toMatchObject({ status: "ACTIVE", version: "1.34" });
    // The old version is started again, in case the new one runs by half.
    await expect.poll(() => eks.clusters.started.at(-1)?.kubernetesVersion).toBe("1.34");
    await expect.poll(() => eks.clusters.started.length).toBe(2);
  });

  test("is refused while another update runs", async () => {
    await eks.worker.stop();
    await eks.call("POST", "/clusters/hub/updates", { version: "1.35" });
    expect((await config({ deletionProtection: true })).error).toBe("ResourceInUseException");
  });
});

describe("UpdateClusterConfig", () => {
  test("changes endpoint access, and refuses what is so already", async () => {
    const access = { endpointPublicAccess: true, endpointPrivateAccess: true, publicAccessCidrs: ["5.6.7.0/24"] };
    const { body } = await config({ resourcesVpcConfig: access });
    expect(body.update.type).toBe("EndpointAccessUpdate");
    await eks.settle();
    expect((await cluster()).resourcesVpcConfig).toMatchObject(access);
    expect((await config({ resourcesVpcConfig: access })).error).toBe("InvalidParameterException");
  });

  test("switches the log types that it names, and leaves the others", async () => {
    await config({ logging: { clusterLogging: [{ types: ["api", "audit"], enabled: true }] } });
    await eks.settle();
    await config({ logging: { clusterLogging: [{ types: ["audit"], enabled: false }] } });
    await eks.settle();
    const [on] = (await cluster()).logging.clusterLogging;
    expect(on).toEqual({ types: ["api"], enabled: true });
  });

  test("does one thing at a time", async () => {
    expect(await config({ deletionProtection: true, upgradePolicy: { supportType: "STANDARD" } })).toMatchObject(
      refusal("InvalidParameterException", "one type of update"),
    );
    expect((await config({})).error).toBe("InvalidParameterException");
  });
});

describe("add-ons", () => {
  const addon = async (name: string) => (await eks.get(`/clusters/hub/addons/${name}`)).addon;

  test("coredns is installed with the cluster's DNS address and is ACTIVE when its pods are Ready, DEGRADED when that takes long", async () => {
    eks.clusters.coreDnsReady = false;
    await eks.call("POST", "/clusters/hub/addons", {
      addonName: "coredns",
      configurationValues: '{"replicaCount": 2}',
    });
    await expect
      .poll(() => eks.clusters.objects.get("hub/Deployment/kube-system/coredns"))
      .toMatchObject({ spec: { replicas: 2 } });
    expect(eks.clusters.objects.get("hub/Service/kube-system/kube-dns")).toMatchObject({
      spec: { clusterIP: "100.64.1.10" },
    });
    expect((await addon("coredns")).status).toBe("CREATING");
    eks.clock += 200;
    await expect.poll(async () => (await addon("coredns")).status).toBe("DEGRADED");
    expect((await addon("coredns")).health.issues[0].code).toBe("InsufficientNumberOfReplicas");
    eks.clusters.coreDnsReady = true;
    await eks.call("POST", "/clusters/hub/addons/coredns/update", { configurationValues: "replicaCount: 1" });
    await expect.poll(async () => (await addon("coredns")).status).toBe("ACTIVE");
    await eks.call("DELETE", "/clusters/hub/addons/coredns");
    await expect
      .poll(async () => (await eks.call("GET", "/clusters/hub/addons/coredns")).error)
      .toBe("ResourceNotFoundException");
    expect(eks.clusters.objects.has("hub/Deployment/kube-system/coredns")).toBe(false);
  });

  test("those of nodes have their DaemonSet, until they are deleted without their software", async () => {
    const found = (name: string) => eks.clusters.objects.has(`hub/DaemonSet/kube-system/${name}`);
    const deleted = async (query: string) => {
      await eks.call("DELETE", `/clusters/hub/addons/vpc-cni${query}`);
      await expect.poll(() => addon("vpc-cni")).toBeUndefined();
    };
    await eks.call("POST", "/clusters/hub/addons", { addonName: "vpc-cni" });
    await expect.poll(async () => (await addon("vpc-cni")).status).toBe("ACTIVE");
    expect(found("aws-node")).toBe(true);
    await deleted("?preserve=true");
    expect(found("aws-node")).toBe(true);
    await eks.call("POST", "/clusters/hub/addons", { addonName: "vpc-cni" });
    await expect.poll(async () => (await addon("vpc-cni")).status).toBe("ACTIVE");
    await deleted("");
    expect(found("aws-node")).toBe(false);
  });

  test("a cluster that is made with self-managed add-ons has their software without them", async () => {
    await eks.call("POST", "/clusters", { ...clusterBody("own"), bootstrapSelfManagedAddons: true });
    await eks.finish("POST", "/clusters", { ...clusterBody("bare"), bootstrapSelfManagedAddons: false });
    const { addons: listed } = await eks.get("/clusters/own/addons");
    expect(listed).toEqual([]);
    for (const object of [
      "Deployment/kube-system/coredns",
      "DaemonSet/kube-system/aws-node",
      "DaemonSet/kube-system/kube-proxy",
    ])
      expect([eks.clusters.objects.has(`own/${object}`), eks.clusters.objects.has(`bare/${object}`)], object).toEqual([
        true,
        false,
      ]);
  });

  test("their versions follow the cluster's, and others are refused with what there is", async () => {
    const { addons } = await eks.get("/addons/supported-versions?addonName=kube-proxy&kubernetesVersion=1.34");
    const [{ addonVersion }] = addons[0].addonVersions;
    expect((await eks.call("POST", "/clusters/hub/addons", { addonName: "kube-proxy", addonVersion })).status).toBe(
      200,
    );
    expect(
      await eks.call("POST", "/clusters/hub/addons", { addonName: "vpc-cni", addonVersion: "v0.0.1" }),
    ).toMatchObject(refusal("InvalidParameterException", "v1.20.4-eksbuild.1"));
    expect((await eks.call("POST", "/clusters/hub/addons", { addonName: "adot" })).error).toBe(
      "InvalidParameterException",
    );
  });

  test("configuration that CoreDNS's schema doesn't have is refused", async () => {
    expect(
      await eks.call("POST", "/clusters/hub/addons", {
        addonName: "coredns",
        configurationValues: '{"corefile": "."}',
      }),
    ).toMatchObject(refusal("InvalidParameterException", "corefile"));
  });
});

test("tags are read, added and removed by ARN, on every kind of resource", async () => {
  await eks.call("POST", "/clusters/hub/addons", { addonName: "vpc-cni", tags: { a: "1" } });
  const { addonArn } = (await eks.get("/clusters/hub/addons/vpc-cni")).addon;
  const { arn } = await cluster();
  for (const resource of [arn, addonArn]) {
    const path = `/tags/${encodeURIComponent(resource)}`;
    await eks.call("POST", path, { tags: { b: "2", c: "3" } });
    await eks.call("DELETE", `${path}?tagKeys=c&tagKeys=a`);
    expect((await eks.get(path)).tags).toEqual({ b: "2" });
    expect(eks.asked.at(-1)).toMatchObject({ action: "ListTagsForResource", resource });
  }
  expect((await eks.call("GET", "/tags/arn%3Anone")).error).toBe("NotFoundException");
});

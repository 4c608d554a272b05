import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { asked } from "./support/admission-cluster.ts";
import { kept, type Requested } from "./support/admission-request.ts";
import { flat, type Rule, rightsOf } from "./support/rights.ts";
import { isPolicy, spoke, startSpoke } from "./support/spoke-plane.ts";
import { tenantAck } from "./support/tenant-ack.ts";
import { tenantBuckets } from "./support/tenant-buckets.ts";
import { ordersOfDatabases, tenantDatabases } from "./support/tenant-databases.ts";
import { tenantIngresses } from "./support/tenant-ingresses.ts";
import { tenantOrders } from "./support/tenant-orders.ts";
import { tenantWorkloads } from "./support/tenant-workloads.ts";

/** What a tenant may do on a spoke, by requests to a real API server without nodes. */

let client: Awaited<ReturnType<typeof startSpoke>>;

const kubectl = (args: readonly string[], input?: object) => client.run(args, input);

beforeAll(async () => {
  client = await startSpoke(await ensureToolchain());
});
afterAll(() => client?.stop());

describe.for([
  ["orders in AWS", "tenant-resources.fleet.internal", [...tenantOrders, ...tenantBuckets, ...ordersOfDatabases]],
  ["databases", "tenant-databases.fleet.internal", tenantDatabases],
  ["orders by ACK", "tenant-ack.fleet.internal", tenantAck],
  ["ingresses", "tenant-ingresses.fleet.internal", tenantIngresses],
  ["workloads", "tenant-workloads.fleet.internal", tenantWorkloads],
] as const)("a tenant's %s", ([, name, cases]) => {
  test.for(cases.filter(({ refused }) => refused === undefined).map((each) => [each.title, each] as const))(
    "are let through: %s",
    ([, each]) => expect(asked(client, each)).toMatchObject({ ok: true }),
  );

  test.for(cases.flatMap((each) => (each.refused ? [[each.title, each, each.refused] as const] : [])))(
    "are refused: %s",
    ([, each, message]) => {
      const { ok, text } = asked(client, each);
      expect(ok).toBe(false);
      const policies = [name, ...(each.also === undefined ? [] : [each.also])].join("|");
      expect(text.replaceAll(/\s+/g, " ")).toMatch(new RegExp(`ValidatingAdmissionPolicy '(${policies})'`));
      expect(text.replaceAll(/\s+/g, " ")).toContain(message);
    },
  );

  test("are judged by expressions that fit the kinds", async () => {
    const status = () => JSON.parse(kubectl(["get", "validatingadmissionpolicy", name, "-o", "json"]).text).status;
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ observedGeneration: 1 });
    expect(status().typeChecking?.expressionWarnings ?? []).toEqual([]);
  });
});

describe("what a tenant already has", () => {
  const name = "tenant-resources.fleet.internal";

  test("that would not be taken today can still be removed", async () => {
    const billing = tenantOrders.find(({ title }) => title === "another's table")?.object as Requested;
    const binding = spoke.by("tools").filter((object) => isPolicy(object) && object.metadata.name === name);
    kubectl(["delete", "validatingadmissionpolicybinding", name]);
    await expect.poll(() => kubectl(["create", "--filename", "-"], kept(billing)).ok, { timeout: 60_000 }).toBe(true);
    client.apply(binding);
    const patch = (change: string, ...more: string[]) =>
      kubectl(["patch", "--filename", "-", "--type=merge", "--patch", change, ...more], billing);
    const change = () => patch('{"spec":{"forProvider":{"billingMode":"PAY_PER_REQUEST"}}}', "--dry-run=server").text;
    await expect.poll(change, { timeout: 60_000 }).toContain("names in AWS must be");
    expect(kubectl(["delete", "--wait=false", "--filename", "-"], billing)).toMatchObject({ ok: true });
    expect(change()).toContain("is being removed");
    expect(patch('{"metadata":{"finalizers":null}}')).toMatchObject({ ok: true });
    expect(kubectl(["get", "--filename", "-"], billing).text).toContain("not found");
  });
});

describe("the quota of a tenant's namespace", () => {
  const made = (object: object) => kubectl(["create", "--dry-run=server", "--filename", "-"], object);
  const service = (type: string) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "trial", namespace: "payment-app" },
    spec: { type, ports: [{ port: 80 }] },
  });

  beforeAll(async () => {
    const kinds = ["LimitRange", "ResourceQuota"];
    client.apply(spoke.by("workloads").filter(({ kind }) => kinds.includes(kind)));
    // Admission lets everything through until it sees the quota, and refuses everything until the quota is counted.
    const judged = () => made(service("LoadBalancer")).text.includes("exceeded quota") && made(service("ClusterIP")).ok;
    await vi.waitUntil(judged, { timeout: 60_000, interval: 500 });
  });

  test.each([
    ["LoadBalancer", "services.loadbalancers=1"],
    ["NodePort", "services.nodeports=1"],
  ])("refuses a Service of type %s", (type, requested) => {
    const { ok, text } = made(service(type));
    expect(ok).toBe(false);
    expect(text).toContain("exceeded quota: quota");
    expect(text).toContain(requested);
  });

  test("takes a pod that asks for nothing, and gives it limits", () => {
    const pod = tenantWorkloads.find(({ title }) => title === "a Pod")?.object as Requested;
    const said = kubectl(["create", "--dry-run=server", "--output=json", "--filename", "-"], pod);
    expect(said).toMatchObject({ ok: true });
    const [container] = JSON.parse(said.text).spec.containers;
    expect(container.resources).toEqual({
      requests: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "0" },
      limits: { cpu: "500m", memory: "256Mi", "ephemeral-storage": "1Gi" },
    });
  });

  test.each([
    ["limits.cpu", { cpu: "9" }],
    ["limits.ephemeral-storage", { "ephemeral-storage": "21Gi" }],
  ])("refuses a pod beyond %s", (name, limits) => {
    const pod = tenantWorkloads.find(({ title }) => title === "a Pod")?.object as Requested;
    const { containers, ...spec } = pod["spec"] as { containers: object[] };
    const { ok, text } = made({ ...pod, spec: { ...spec, containers: [{ ...containers[0], resources: { limits } }] } });
    expect(ok).toBe(false);
    expect(text).toContain(`requested: ${name}=`);
  });

  test("refuses more storage than it has", () => {
    const { ok, text } = made({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "trial", namespace: "payment-app" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "51Gi" } } },
    });
    expect(ok).toBe(false);
    expect(text).toContain("requested: requests.storage=51Gi");
  });
});

describe("the service account under which Flux applies an application", () => {
  const may = (verb: string, resource: string, namespace: string) =>
    kubectl([
      ...["auth", "can-i", verb, resource, "--namespace", namespace],
      "--as=system:serviceaccount:payment-app:deployer",
    ]).ok;

  test("makes workloads, tables, queues and buckets in its namespace", () => {
    for (const resource of [
      ...["deployments", "services", "tables.dynamodb.aws.m.upbound.io", "queues.sqs.aws.m.upbound.io"],
      ...["buckets.s3.aws.m.upbound.io", "bucketversionings.s3.aws.m.upbound.io"],
    ])
      expect(may("create", resource, "payment-app"), resource).toBe(true);
  });

  test("has exactly the rights of its Role there, and in other namespaces those of everybody", () => {
    const deployer = "system:serviceaccount:payment-app:deployer";
    const { of } = rightsOf(client);
    const everybody = of("system:serviceaccount:payment-app:anybody", "default");
    const role = spoke.by("workloads").find(({ kind, metadata }) => kind === "Role" && metadata.name === "deployer");
    const own = flat((role?.["rules"] ?? []) as Rule[]);
    expect(own.length).toBeGreaterThan(0);
    expect(of(deployer, "payment-app").filter((right) => !everybody.includes(right))).toEqual(own);
    expect(of(deployer, "default")).toEqual(everybody);
    expect(everybody.filter((right) => !right.endsWith("k8s.io"))).toEqual([]);
  });
});

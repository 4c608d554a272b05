import { describe, expect, test, vi } from "vitest";
import { type PropertyMap, UNKNOWN, type Value } from "../../../../pulumi/framework/index.ts";
import { fieldManager, isManagedBy } from "../../../../pulumi/kubernetes/apply.ts";
import { awaitReady, currentReadiness, timeoutOf } from "../../../../pulumi/kubernetes/await.ts";
import { ApiError, type Client, UnreachableError } from "../../../../pulumi/kubernetes/client.ts";
import { type GroupKind, kindOfToken, objectPath } from "../../../../pulumi/kubernetes/kinds.ts";
import { driftedInputs, inputsOf, sameQuantity, withoutNulls } from "../../../../pulumi/kubernetes/live.ts";
import { diff, isImmutableRefusal } from "../../../../pulumi/kubernetes/plan.ts";
import { type KubeObject, parseWaitFor, readiness } from "../../../../pulumi/kubernetes/readiness.ts";
import { replaceOn } from "../../../../pulumi/kubernetes/replace.ts";
import { openSession, type Session } from "../../../../pulumi/kubernetes/session.ts";

const object = (apiVersion: string, kind: string, rest: object): KubeObject =>
  ({ apiVersion, kind, ...rest }) as KubeObject;

test("tokens name kinds, with and without a group, for custom resources too", () => {
  expect(kindOfToken("kubernetes:core/v1:Secret")).toEqual({ apiVersion: "v1", kind: "Secret" });
  expect(kindOfToken("kubernetes:apps/v1:Deployment")).toEqual({ apiVersion: "apps/v1", kind: "Deployment" });
  expect(kindOfToken("kubernetes:source.toolkit.fluxcd.io/v1:GitRepository")).toEqual({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "GitRepository",
  });
  expect(kindOfToken("aws:ec2/vpc:Vpc")).toBeUndefined();
  expect(kindOfToken("kubernetes:index:Provider")).toBeUndefined();
  const served = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };
  expect(objectPath(served, "a", "b")).toBe("/apis/apps/v1/namespaces/a/deployments/b");
  expect(objectPath({ ...served, apiVersion: "v1", plural: "nodes", namespaced: false }, undefined, "n")).toBe(
    "/api/v1/nodes/n",
  );
});

describe("readiness", () => {
  const deployment = (status: object, metadata: object = { generation: 2 }) =>
    readiness(object("apps/v1", "Deployment", { metadata, spec: { replicas: 2 }, status }));

  test("a Deployment is ready when all replicas are of its newest form and available, and fails at its deadline", () => {
    expect(deployment({ observedGeneration: 1 })).toMatchObject({
      ready: false,
      message: expect.stringContaining("controller"),
    });
    const good = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    expect(deployment(good).ready).toBe(true);
    expect(deployment({ ...good, replicas: 3 })).toMatchObject({
      ready: false,
      message: expect.stringContaining("1 old ones left"),
    });
    expect(deployment({ ...good, availableReplicas: 1 }).ready).toBe(false);
    const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "too slow" };
    expect(deployment({ ...good, availableReplicas: 0, conditions: [late] })).toMatchObject({ failed: true });
  });

  test.each([
    [
      "apps/v1",
      "StatefulSet",
      { replicas: 1 },
      { updatedReplicas: 1, readyReplicas: 1 },
      { updatedReplicas: 0, readyReplicas: 1, currentRevision: "a", updateRevision: "b" },
    ],
    [
      "apps/v1",
      "DaemonSet",
      {},
      { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
      { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
    ],
    ["batch/v1", "Job", {}, { conditions: [{ type: "Complete", status: "True" }] }, { active: 1 }],
    ["v1", "Pod", {}, { conditions: [{ type: "Ready", status: "True" }] }, { phase: "Pending" }],
    ["v1", "Namespace", {}, { phase: "Active" }, { phase: "Terminating" }],
    ["v1", "PersistentVolumeClaim", {}, { phase: "Bound" }, { phase: "Pending" }],
    ["v1", "PersistentVolume", {}, { phase: "Available" }, { phase: "Pending" }],
    ["networking.k8s.io/v1", "Ingress", {}, { loadBalancer: { ingress: [{ hostname: "lb" }] } }, { loadBalancer: {} }],
    ["v1", "Service", { type: "LoadBalancer" }, { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }, {}],
    [
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      {},
      { conditions: [{ type: "Established", status: "True" }] },
      {},
    ],
    ["apiregistration.k8s.io/v1", "APIService", {}, { conditions: [{ type: "Available", status: "True" }] }, {}],
  ])("%s %s", (apiVersion, kind, spec, good, bad) => {
    const of = (status: object) => readiness(object(apiVersion, kind, { metadata: {}, spec, status }));
    expect(of(good).ready).toBe(true);
    expect(of(bad).ready).toBe(false);
  });

  test.each([
    ["binds at first use: ready while it is pending", "WaitForFirstConsumer", "Pending", true],
    ["has lost its volume: not ready, whenever its class binds", "WaitForFirstConsumer", "Lost", false],
    ["binds at once: not ready while it is pending", "Immediate", "Pending", false],
  ])("a claim that %s", async (_, volumeBindingMode, phase, ready) => {
    const request = vi.fn(async () => ({ volumeBindingMode }));
    const claim = object("v1", "PersistentVolumeClaim", { spec: { storageClassName: "gp3" }, status: { phase } });
    const state = await currentReadiness({ request } as unknown as Client, claim);
    expect(state.ready).toBe(ready);
  });

  test("a cancelled wait reports a failure as what it is, and anything else as cancelled", async () => {
    const log = { debug: vi.fn(), warning: vi.fn(), status: vi.fn() };
    const client = { request: async () => ({ items: [] }) } as unknown as Client;
    const context = { client, path: "/job", log, signal: AbortSignal.abort(), timeoutSeconds: undefined };
    const reasons = async (status: object) => {
      const job = object("batch/v1", "Job", { metadata: { name: "j", namespace: "n" }, status });
      return (await awaitReady(job, context)).reasons;
    };
    const failure = { type: "Failed", status: "True", reason: "BackoffLimitExceeded", message: "m" };
    expect(await reasons({ conditions: [failure] })).toEqual(["Failed is True (BackoffLimitExceeded): m"]);
    expect(await reasons({ active: 1 })).toEqual([expect.stringContaining("cancelled while waiting")]);
  });

  test("what cannot get ready any more fails at once", () => {
    const failed = { conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded", message: "m" }] };
    expect(readiness(object("batch/v1", "Job", { status: failed }))).toMatchObject({
      failed: true,
      message: "Failed is True (BackoffLimitExceeded): m",
    });
    expect(readiness(object("v1", "Pod", { status: { phase: "Failed", reason: "Evicted" } })).failed).toBe(true);
    expect(readiness(object("v1", "ConfigMap", {})).ready).toBe(true);
  });

  test("waitFor: conditions of the current generation, paths with and without a value, and lists of them", () => {
    const of = (text: string, status: object) =>
      parseWaitFor(text)({ metadata: { generation: 2 }, status } as never).ready;
    const ready = { type: "Ready", status: "True" };
    expect(of("condition=Ready", { conditions: [ready] })).toBe(true);
    expect(of("condition=ready=False", { conditions: [{ ...ready, status: "False" }] })).toBe(true);
    expect(of("condition=Ready", { conditions: [{ ...ready, observedGeneration: 1 }] })).toBe(false);
    expect(of("condition=Ready", { observedGeneration: 1, conditions: [ready] })).toBe(false);
    expect(of("jsonpath={.status.phase}=Running", { phase: "Running" })).toBe(true);
    expect(of("jsonpath={.status.list[1].a}=2", { list: [{ a: 1 }, { a: 2 }] })).toBe(true);
    expect(of("jsonpath={.status.id}", {})).toBe(false);
    expect(of('["condition=Ready", "jsonpath={.status.phase}=Running"]', { phase: "Running" })).toBe(false);
    expect(() => parseWaitFor("jsonpath={..x}")).toThrow("allowed are condition=TYPE");
  });

  test("an annotation sets the time to wait, customTimeouts go before it", () => {
    const annotated = { metadata: { annotations: { "pulumi.com/timeoutSeconds": "5" } } };
    expect([timeoutOf(annotated, undefined), timeoutOf(annotated, 7), timeoutOf({}, undefined)]).toEqual([5, 7, 600]);
    expect(() => timeoutOf({ metadata: { annotations: { "pulumi.com/timeoutSeconds": "soon" } } }, undefined)).toThrow(
      "got 'soon'",
    );
  });
});

describe("drift", () => {
  test("only what the program set is compared; defaults, admission and quantities are no drift", () => {
    const inputs = {
      metadata: { name: "a", labels: { x: "1" } },
      spec: {
        empty: "",
        none: [],
        containers: [{ name: "app", image: "i:1", resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }],
        args: ["a", "b"],
      },
    };
    const live = {
      metadata: { name: "a", uid: "u", labels: { x: "1", added: "2" } },
      spec: {
        containers: [
          { name: "sidecar", image: "s" },
          { name: "app", image: "i:1", imagePullPolicy: "Always", resources: { limits: { cpu: "1", memory: "1Gi" } } },
        ],
        args: ["a", "b"],
        replicas: 1,
      },
    };
    expect(driftedInputs(inputs, live)).toEqual(inputs);
  });

  test("changed, removed and resized values are drift", () => {
    const inputs = { spec: { image: "a", list: ["1"], gone: "x", items: [{ name: "one" }, { name: "two" }] } };
    const live = { spec: { image: "b", list: ["1", "2"], items: [{ name: "two" }] } };
    expect(driftedInputs(inputs, live)).toEqual({ spec: { image: "b", list: ["1", "2"], items: [{ name: "two" }] } });
  });

  test("an import leaves out what only the server sets, a request leaves out nulls", () => {
    const live = {
      kind: "ConfigMap",
      metadata: {
        name: "a",
        uid: "u",
        resourceVersion: "1",
        managedFields: [],
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", own: "x" },
      },
      data: { a: "1" },
      status: {},
    };
    expect(inputsOf(live)).toEqual({
      kind: "ConfigMap",
      metadata: { name: "a", annotations: { own: "x" } },
      data: { a: "1" },
    });
    expect(withoutNulls({ a: null, b: [null, { c: null, d: 1 }] })).toEqual({ b: [{ d: 1 }] });
  });

  test("quantities are compared as numbers, other texts as they are", () => {
    expect([sameQuantity("0.5", "500m"), sameQuantity("1Gi", "1024Mi"), sameQuantity(1, "1000m")]).toEqual([
      true,
      true,
      true,
    ]);
    expect([sameQuantity("1G", "1Gi"), sameQuantity("1.0.0", "1.0"), sameQuantity("abc", "abd")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("replacements", () => {
  const { settings } = openSession({});
  const { settings: mutable } = openSession({ enableConfigMapMutable: true, enableSecretMutable: "true" });
  const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };
  const BINDING = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" };
  const CUSTOM = { apiVersion: "example.com/v1", kind: "Thing" };
  const SECRET = { apiVersion: "v1", kind: "Secret" };

  test("immutable fields replace; data of ConfigMaps and Secrets unless the provider says otherwise", () => {
    const paths = (apiVersion: string, kind: string, from = settings, old: PropertyMap = {}) =>
      replaceOn({ apiVersion, kind }, from, old);
    expect(paths("apps/v1", "Deployment")).toContain("spec.selector");
    expect(paths("apps/v1", "StatefulSet")).toContain("spec.volumeClaimTemplates");
    expect(paths("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")).toContain("roleRef");
    expect(paths("v1", "Secret", mutable)).toContain("type");
    expect(paths("v1", "ConfigMap")).toContain("data");
    expect(paths("v1", "ConfigMap", mutable)).not.toContain("data");
    expect(paths("v1", "Secret", mutable)).not.toContain("stringData");
    expect(paths("v1", "Secret", mutable, { immutable: true })).toEqual(
      expect.arrayContaining(["immutable", "data", "stringData"]),
    );
    expect(paths("example.com/v1", "Secret")).not.toContain("data");
  });

  /** The diff of one input from `a` to `after`, with the given answer of the API server to the dry run. */
  async function diffed(kind: GroupKind, path: string, after: Value, answer: () => Promise<object>) {
    const log = { debug: vi.fn(), warning: vi.fn(), status: vi.fn() };
    const request = vi.fn(answer);
    const discovery = { find: async () => ({ ...kind, plural: "things", namespaced: false }) };
    const session = { client: { request }, discovery, settings: mutable } as unknown as Session;
    const context = {
      session,
      urn: "urn",
      name: "it",
      signal: new AbortController().signal,
      timeoutSeconds: undefined,
    };
    const inputs = (value: Value) => ({ metadata: { name: "it" }, [path]: value });
    const found = { id: "it", state: {}, oldInputs: inputs("a"), newInputs: inputs(after), log };
    const { properties } = await diff(kind, { ...context, ...found });
    const warnings = log.warning.mock.calls.map(([message]) => String(message));
    return { replaces: properties[path]?.replace, warnings, asked: request.mock.calls.length };
  }
  const answers = async () => ({ metadata: {} });
  const fails = (error: Error) => async () => {
    throw error;
  };

  test.each([
    [DEPLOYMENT, "spec"],
    [BINDING, "roleRef"],
    [SECRET, "type"],
  ])("of %o, %s replaces in a preview that does not know its new value", async (kind, path) => {
    expect(await diffed(kind, path, UNKNOWN, answers)).toEqual({ replaces: true, warnings: [], asked: 0 });
  });

  test("what the table does not have, the API server decides", async () => {
    const immutable = new ApiError(422, "Invalid", "spec: Invalid value: field is immutable");
    expect(await diffed(CUSTOM, "spec", "b", answers)).toEqual({ replaces: false, warnings: [], asked: 1 });
    expect(await diffed(CUSTOM, "spec", "b", fails(immutable))).toEqual({ replaces: true, warnings: [], asked: 1 });
  });

  test.each([
    ["an input is not known yet", UNKNOWN, answers],
    ["connection refused", "b", fails(new UnreachableError("connection refused"))],
    ["things is forbidden", "b", fails(new ApiError(403, "Forbidden", "things is forbidden"))],
    ["Unauthorized", "b", fails(new ApiError(401, "Unauthorized", "Unauthorized"))],
    ["does not support dry run", "b", fails(new ApiError(400, "BadRequest", "webhook does not support dry run"))],
  ])("a change that the API server could not judge is reported: %s", async (reason, after, answer) => {
    const { replaces, warnings } = await diffed(CUSTOM, "spec", after, answer);
    expect([replaces, warnings]).toEqual([false, [expect.stringContaining("may turn out to be a replacement")]]);
    expect(warnings[0]).toContain(reason);
    expect((await diffed(SECRET, "data", after, answer)).warnings).toEqual([]);
  });
});

test("the API server's words for an immutable field are known", () => {
  expect(isImmutableRefusal('Deployment "a" is invalid: spec.selector: Invalid value: field is immutable')).toBe(true);
  expect(
    isImmutableRefusal("Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"),
  ).toBe(true);
  for (const words of [
    'roleRef: Invalid value: rbac.RoleRef{Name:"b"}: cannot change roleRef',
    "spec.clusterIPs[0]: Invalid value: []: may not change once set",
    "value: Forbidden: may not be changed in an update.",
  ])
    expect(isImmutableRefusal(words), words).toBe(true);
  expect(isImmutableRefusal("spec.replicas: Invalid value: -1: must be greater than or equal to 0")).toBe(false);
});

test("every resource has a field manager of its own", () => {
  const manager = fieldManager("urn:pulumi:a");
  expect(manager).toMatch(/^pulumi-kubernetes-[0-9a-f]{8}$/);
  expect(fieldManager("urn:pulumi:b")).not.toBe(manager);
  const managed = (operation: string) => object("v1", "X", { metadata: { managedFields: [{ manager, operation }] } });
  expect([isManagedBy(managed("Apply"), manager), isManagedBy(managed("Update"), manager)]).toEqual([true, false]);
});

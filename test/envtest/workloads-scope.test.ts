import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { ensureToolchain, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Manifest } from "../repos/support/kustomize.ts";
import { asked } from "./support/admission-cluster.ts";
import { governed } from "./support/governed.ts";
import { definitionsOf } from "./support/kubectl.ts";
import { sourceOf } from "./support/pushed.ts";
import { flat, rightsOf } from "./support/rights.ts";
import { spoke, startSpoke } from "./support/spoke-plane.ts";
import { kubeConfigs, removedByWorkloads, workloadsAccount, workloadsScope } from "./support/workloads-scope.ts";

/** What a push to gitops-workloads can change on a spoke, by requests to a real API server without nodes and by Flux's own controllers. */

const policy = "workloads.fleet.internal";
const all = governed(spoke);
const inFlux = ["--namespace", "flux-system"];

let toolchain: Toolchain;
let client: Awaited<ReturnType<typeof startSpoke>>;

const kubectl = (args: readonly string[], input?: object) => client.run(args, input);
/** As kustomize-controller under the service account: the API server adds the account's groups. */
const as = (args: readonly string[], input?: object) => kubectl([...args, `--as=${workloadsAccount}`], input);
const list = (items: readonly object[]) => ({ apiVersion: "v1", kind: "List", items });
/** As kustomize-controller applies, with the labels of its Kustomization. */
const labelled = (object: Manifest): Manifest => ({
  ...object,
  metadata: {
    ...object.metadata,
    labels: { ...object.metadata.labels, "kustomize.toolkit.fluxcd.io/name": "workloads" },
  },
});
const apply = (objects: readonly Manifest[]) =>
  as(
    ["apply", "--server-side", "--field-manager=kustomize-controller", "--force-conflicts", "--filename", "-"],
    list(objects.map(labelled)),
  );
const isNamespace = ({ kind }: Manifest) => kind === "Namespace";
const named = (kind: string, name: string, more: object = {}, namespace?: string): Manifest =>
  ({
    apiVersion: kind.includes("Webhook") || kind.startsWith("Validating") ? "admissionregistration.k8s.io/v1" : "v1",
    kind,
    metadata: { name, ...(namespace && { namespace }) },
    ...more,
  }) as Manifest;

const rbac = "rbac.authorization.k8s.io/v1";
const administrators: Manifest = {
  apiVersion: rbac,
  kind: "ClusterRoleBinding",
  metadata: { name: "trial" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: "payment-app" }],
} as unknown as Manifest;
const ofAdmission = named("ValidatingAdmissionPolicy", "tenant-workloads.fleet.internal", {
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    },
    validations: [{ expression: "true" }],
  },
});
const ofSystem = named("ConfigMap", "trial", { data: { a: "b" } }, "kube-system");

/** Argo CD's kinds, as far as Kubernetes looks at them: its chart is not in the toolchain. */
const ofArgocd = ["Application", "ApplicationSet", "AppProject"].map((kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.argoproj.io` },
    spec: {
      ...{ group: "argoproj.io", scope: "Namespaced", names: { plural, kind } },
      versions: [{ name: "v1alpha1", served: true, storage: true, schema }],
    },
  };
});

beforeAll(async () => {
  toolchain = await ensureToolchain();
  client = await startSpoke(toolchain);
  client.define([
    ...definitionsOf("github.com/fluxcd/helm-controller"),
    ...definitionsOf("github.com/fluxcd/source-controller"),
    ...definitionsOf("github.com/fluxcd/notification-controller"),
    ...definitionsOf("github.com/fluxcd/image-automation-controller"),
    ...definitionsOf("github.com/fluxcd/image-reflector-controller"),
    ...definitionsOf("github.com/bitnami/sealed-secrets"),
    ...ofArgocd,
  ]);
  client.apply([named("Namespace", "argocd")]);
  const identity = ({ metadata }: Manifest) => ["workloads", policy].includes(metadata.name);
  client.apply(spoke.by("tools").filter(identity));
  await vi.waitUntil(() => as(["create", "--dry-run=server", "--filename", "-"], ofSystem).text.includes(policy), {
    timeout: 60_000,
    interval: 500,
  });
});
afterAll(() => client?.stop());

describe.for([
  ["what gitops-workloads changes", policy, workloadsScope],
  ["what Flux applies to another API server", "kube-config.fleet.internal", kubeConfigs],
  // Its cases take five seconds each here, until the namespace is removed: test/repos evaluates them.
  ["changes of an application's namespace", "tenant-namespaces.fleet.internal", []],
] as const)("the admission of %s", ([, name, cases]) => {
  test.for(cases.map((each) => [each.refused ? "rejects" : "admits", each.title, each] as const))(
    "%s %s",
    ([, , each]) => {
      const { ok, text } = asked(client, each);
      expect(ok, text).toBe(each.refused === undefined);
      if (each.refused === undefined) return;
      expect(text.replaceAll(/\s+/g, " ")).toContain(`ValidatingAdmissionPolicy '${name}'`);
      expect(text.replaceAll(/\s+/g, " ")).toContain(each.refused);
    },
  );

  test("is by expressions that fit the kinds", async () => {
    const status = () => JSON.parse(kubectl(["get", "validatingadmissionpolicy", name, "-o", "json"]).text).status;
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ observedGeneration: 1 });
    expect(status().typeChecking?.expressionWarnings ?? []).toEqual([]);
  });
});

describe("the admission of what gitops-workloads removes", () => {
  test.for(removedByWorkloads.map((each) => [each.refused ? "rejects" : "admits", each.title, each] as const))(
    "%s %s",
    ([, , { object, by, refused }]) => {
      expect(kubectl(["create", "--filename", "-"], object)).toMatchObject({ ok: true });
      const remove = ["delete", "--dry-run=server", "--filename", "-"];
      const { ok, text } = kubectl([...remove, `--as=${by}`, "--as-group=system:masters"], object);
      expect(kubectl(["delete", "--wait=false", "--filename", "-"], object)).toMatchObject({ ok: true });
      expect(ok, text).toBe(refused === undefined);
      expect(text.replaceAll(/\s+/g, " ")).toContain(refused ?? "");
    },
  );
});

describe("the service account of gitops-workloads", () => {
  test("has exactly the permissions of its ClusterRole", () => {
    const [role] = spoke.by("tools").filter(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === policy);
    const { of } = rightsOf(client);
    const everybody = of("system:serviceaccount:flux-system:anybody", "flux-system");
    const own = of(workloadsAccount, "flux-system").filter((right) => !everybody.includes(right));
    expect(own).toEqual(flat((role as unknown as { rules: [] }).rules));
  });

  test("applies everything that the templates contain, again and again", () => {
    for (const _ of [1, 2]) {
      expect(apply(all.filter(isNamespace))).toMatchObject({ ok: true });
      expect(apply(all.filter((object) => !isNamespace(object))), "all").toMatchObject({ ok: true });
    }
    expect(as(["get", "--filename", "-", "--output", "name"], list(all))).toMatchObject({ ok: true });
  });

  test("gives an application's Role more than it has itself, and a team a Role of its own", () => {
    const rule = { apiGroups: ["example.com"], resources: ["things"], verbs: ["*"] };
    const role = all.find(({ kind, apiVersion }) => kind === "Role" && apiVersion.startsWith("rbac")) as Manifest;
    const rules = [...(role as unknown as { rules: object[] }).rules, rule];
    const team = { ...named("Role", "team", { rules: [rule] }, "shop"), apiVersion: rbac };
    const binding = {
      ...named(
        "RoleBinding",
        "team",
        { subjects: [{ kind: "Group", name: "team", apiGroup: "rbac.authorization.k8s.io" }] },
        "shop",
      ),
      ...{ apiVersion: rbac, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "team" } },
    };
    expect(apply([{ ...role, rules } as unknown as Manifest, team])).toMatchObject({ ok: true });
    expect(apply([binding as unknown as Manifest])).toMatchObject({ ok: true });
  });

  const bound = (roleRef: object) =>
    ({
      ...{ apiVersion: rbac, kind: "RoleBinding", metadata: { name: "trial", namespace: "shop" } },
      ...{ roleRef: { apiGroup: "rbac.authorization.k8s.io", ...roleRef }, subjects: administrators["subjects"] },
    }) as unknown as Manifest;
  test("gives an application's account no way to take its namespace from the policies of tenants", () => {
    const verbs = ["get", "update", "patch"];
    const resources = ["namespaces", "namespaces/finalize", "namespaces/status"];
    const [metadata, apiGroup] = [{ name: "own-namespace", namespace: "shop" }, "rbac.authorization.k8s.io"];
    const subject = { kind: "ServiceAccount", name: "deployer", namespace: "shop" };
    const role = { apiVersion: rbac, kind: "Role", metadata, rules: [{ apiGroups: [""], resources, verbs }] };
    const roleRef = { apiGroup, kind: "Role", name: metadata.name };
    const binding = { apiVersion: rbac, kind: "RoleBinding", metadata, roleRef, subjects: [subject] };
    expect(apply([role, binding] as unknown as Manifest[])).toMatchObject({ ok: true });

    const path = "/api/v1/namespaces/shop";
    const own = (args: readonly string[], input?: object) =>
      kubectl([...args, "--as=system:serviceaccount:shop:deployer"], input);
    const found = JSON.parse(own(["get", "--raw", path]).text) as Manifest;
    const { "fleet.internal/tenant": _, ...unlabelled } = found.metadata.labels as Record<string, string>;
    const privileged = { ...found.metadata.labels, "pod-security.kubernetes.io/enforce": "privileged" };
    const replaced = (labels: object, subresource = "") =>
      own(["replace", "--raw", `${path}${subresource}?dryRun=All`, "--filename", "-"], {
        ...found,
        metadata: { ...found.metadata, labels },
      });
    for (const subresource of ["", "/finalize", "/status"]) {
      expect(replaced({ ...found.metadata.labels, team: "a" }, subresource), subresource).toMatchObject({ ok: true });
      for (const labels of [unlabelled, privileged]) {
        const { ok, text } = replaced(labels, subresource);
        expect(ok, text).toBe(false);
        expect(text).toContain("tenant-namespaces.fleet.internal");
      }
    }
  });

  test.for<readonly [string, Manifest]>([
    ["a ClusterRoleBinding", administrators],
    ["a ClusterRole", { apiVersion: rbac, kind: "ClusterRole", metadata: { name: "trial" } } as Manifest],
    ["a RoleBinding to a ClusterRole", bound({ kind: "ClusterRole", name: "cluster-admin" })],
    ["an admission policy", ofAdmission],
    [
      "the end of an admission policy",
      named("ValidatingAdmissionPolicyBinding", policy, { spec: { policyName: policy, validationActions: ["Audit"] } }),
    ],
    ["a webhook", named("MutatingWebhookConfiguration", "trial")],
    ["an object in kube-system", ofSystem],
    [
      "a Role in kube-system",
      { apiVersion: rbac, kind: "Role", metadata: { name: "deployer", namespace: "kube-system" } } as Manifest,
    ],
    [
      "a source in flux-system",
      {
        ...(all.find(({ kind }) => kind === "GitRepository") as Manifest),
        metadata: { name: "gitops-system", namespace: "flux-system" },
      },
    ],
    ["a DaemonSet", { ...named("DaemonSet", "trial", {}, "shop"), apiVersion: "apps/v1" }],
    ["a namespace of the platform", named("Namespace", "kube-system")],
  ])("does not apply %s", ([, object]) => {
    const { ok, text } = apply([object]);
    expect(ok, text).toBe(false);
    expect(text).toMatch(
      /forbidden: ([Uu]ser |ValidatingAdmissionPolicy 'workloads\.fleet\.internal')|attempting to grant RBAC permissions/,
    );
  });

  test("removes everything that it applied", () => {
    const remove = (objects: readonly Manifest[]) =>
      as(["delete", "--wait=false", "--ignore-not-found", "--filename", "-"], list(objects));
    const isStep = ({ apiVersion }: Manifest) => apiVersion.startsWith("kustomize.toolkit");
    // In the order that tenant-deletion-order and deletion-order keep.
    const steps = all.filter(isStep);
    for (const each of steps.toReversed()) expect(remove([each])).toMatchObject({ ok: true });
    const rest = all.filter((object) => !isStep(object) && !isNamespace(object));
    for (const each of [rest, all.filter(isNamespace)]) expect(remove(each)).toMatchObject({ ok: true });
  });
});

describe("a push to gitops-workloads", () => {
  const [step] = spoke.by("blue-workloads");
  let controller: ChildProcess;
  let source: Awaited<ReturnType<typeof sourceOf>>;
  const reported = () => {
    const { text } = kubectl(["get", "kustomization", "workloads", ...inFlux, "--output", "json"]);
    const { status = {} } = JSON.parse(text);
    const [ready] = (status.conditions ?? []).filter(({ type }: { type: string }) => type === "Ready");
    return {
      revision: status.lastAttemptedRevision,
      applied: status.lastAppliedRevision,
      ready: ready?.status,
      message: ready?.message,
    };
  };
  const good = [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: "bakery",
        labels: { "fleet.internal/tenant": "payments", "pod-security.kubernetes.io/enforce": "restricted" },
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "bakery" }, data: { a: "b" } },
  ];

  beforeAll(async () => {
    client.apply([
      ...spoke.by("blue-sync").filter(({ metadata }) => metadata.name === "cluster-info"),
      ...spoke.by("blue-sync").filter(({ metadata }) => metadata.name === "gitops-workloads"),
      ...spoke.by("blue-tools").map((each) => ({ ...each, spec: { ...each.spec, suspend: true } })),
      step as Manifest,
    ]);
    source = await sourceOf(client, client.address, "gitops-workloads");
    const log = openSync(join(client.dir, "kustomize-controller.log"), "a");
    const flags = ["metrics-addr", "health-addr"].map((name, index) => `--${name}=${client.address}:${18101 + index}`);
    controller = spawn(
      toolchain.bin("kustomize-controller"),
      [...flags, "--no-cross-namespace-refs=true", "--default-service-account=default", "--requeue-dependency=2s"],
      {
        stdio: ["ignore", log, log],
        env: { ...process.env, KUBECONFIG: client.kubeconfigFile, RUNTIME_NAMESPACE: "flux-system" },
      },
    );
    closeSync(log);
  });
  afterAll(async () => {
    controller?.kill("SIGKILL");
    await source?.stop();
  });

  const reportedAfter = async (objects: readonly object[]) => {
    const revision = source.push(objects);
    await expect.poll(reported, { timeout: 120_000, interval: 500 }).toMatchObject({ revision });
    await expect.poll(() => reported().ready, { timeout: 120_000, interval: 500 }).not.toBe("Unknown");
    return reported();
  };

  test("is applied", async () => {
    expect(await reportedAfter(good)).toMatchObject({ ready: "True" });
    expect(kubectl(["get", "configmap", "settings", "--namespace", "bakery"])).toMatchObject({ ok: true });
  });

  test.for([
    ["a ClusterRoleBinding", administrators, "ClusterRoleBinding/trial"],
    ["an admission policy", ofAdmission, "ValidatingAdmissionPolicy/tenant-workloads.fleet.internal"],
    ["an object in kube-system", ofSystem, "ConfigMap/kube-system/trial"],
  ] as const)("with %s is rejected, and the Kustomization reports it", async ([, object, name]) => {
    const { ready, message } = await reportedAfter([...good, object]);
    expect(ready, message).toBe("False");
    expect(message).toContain(name);
    expect(message).toMatch(/forbidden/i);
  });

  test("is applied again once it is corrected", async () => {
    expect(await reportedAfter(good)).toMatchObject({ ready: "True" });
  });
});

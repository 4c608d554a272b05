import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { foldersIn } from "../../cli/fleet/folders.ts";
import { isPlatformNamespace, namespaces, platformNamespaces } from "../../lib/names.ts";
import { workloadsAccount } from "../envtest/support/workloads-scope.ts";
import { refusal } from "./support/admission.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { app, render, system, withAddons } from "./support/spoke.ts";

const addons = foldersIn(join(system, "tools", "base", "addons"));
const onSpoke = render(withAddons("minimal", addons))
  .applied.filter(({ on }) => on === "spoke")
  .flatMap(({ objects }) => objects);
/** The steps of the hub that create namespaces. Cluster API's own namespaces are upstream's, Pulumi creates those of its releases. */
const onHub = [
  ...["namespaces", "kyverno/namespace", "hub/argocd/release", "hub/cluster-api/cert-manager"],
  ...["hub/cluster-api/clusters", "hub/cluster-inventory/release", "hub/prometheus/release"],
].flatMap((folder) => build(join(system, "platform", folder)));
const created = (objects: readonly Manifest[]) =>
  objects.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name);

test("the platform's namespaces, which no application and no team gets, are those that gitops-system makes on a spoke", () => {
  expect(addons.length).toBeGreaterThan(3);
  const made = created(onSpoke);
  expect(made.filter((name) => !isPlatformNamespace(name))).toEqual([app.app]);
  // spokes is the hub's.
  expect(platformNamespaces.filter((name) => !made.includes(name))).toEqual([namespaces.spokes]);
});

describe.each([
  ["a spoke with every add-on", onSpoke, []],
  ["the hub", onHub, ["argocd", "capa-system", "capi-system", "crossplane-system", "external-secrets", "flux-system"]],
] as const)("each namespace of the platform on %s", (_, objects, createdByOthers) => {
  const names = [...created(objects), ...createdByOthers].filter((name) => name !== app.app);
  const find = (kind: string, namespace: string, name: string) =>
    objects.filter(
      ({ kind: of, metadata }) => of === kind && metadata.namespace === namespace && metadata.name === name,
    );

  test.each(names)("%s mounts no token of its default service account, which Flux does not prune", (namespace) => {
    const [account, ...others] = find("ServiceAccount", namespace, "default");
    expect(others).toEqual([]);
    expect(account).toMatchObject({ automountServiceAccountToken: false });
    expect(account?.metadata.annotations).toEqual({ "kustomize.toolkit.fluxcd.io/prune": "disabled" });
  });

  test.each(names)("%s denies all traffic by default, with a policy that Flux prunes before any other", (namespace) => {
    const policies = objects.filter(
      ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.namespace === namespace,
    );
    expect(find("NetworkPolicy", namespace, "default-deny").map(({ spec }) => spec)).toEqual([
      { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    ]);
    // In reverse order of their names (fluxcd/pkg, ssa/manager_delete.go): without its allow rules Flux would not reach the API server.
    expect(
      policies
        .map(({ metadata }) => metadata.name)
        .sort()
        .at(-1),
    ).toBe("default-deny");
    expect(JSON.stringify(policies)).not.toContain('"egress":[{}]');
  });

  test.each(created(objects).filter((name) => name !== app.app))("%s enforces a Pod Security level", (name) => {
    const namespace = objects.find(({ kind, metadata }) => kind === "Namespace" && metadata.name === name);
    const level = namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"];
    const lower = { "crossplane-system": "baseline", default: "baseline", "node-exporter": "privileged" };
    expect(level).toBe(lower[name as keyof typeof lower] ?? "restricted");
  });
});

/** What hardeneks checks of every object (docs/concepts/security.md), of the objects in Git: charts bring more. */
describe.each([
  ["a spoke with every add-on", onSpoke],
  ["the hub", onHub],
] as const)("in Git for %s", (_, objects) => {
  type Rules = readonly { readonly verbs?: readonly string[]; readonly resources?: readonly string[] }[];

  test("no binding names anonymous or unauthenticated users", () => {
    const subjects = objects.flatMap((object) => (object["subjects"] ?? []) as { name: string }[]);
    expect(objects.some(({ kind }) => kind === "ClusterRoleBinding")).toBe(true);
    expect(subjects.filter(({ name }) => /^system:(anonymous|unauthenticated)$/.test(name))).toEqual([]);
  });

  test("no role has a wildcard among its verbs or resources, except a provider's over its own API groups", () => {
    const wild = objects.filter(({ rules }) =>
      ((rules ?? []) as Rules).some(({ verbs = [], resources = [] }) => [...verbs, ...resources].includes("*")),
    );
    const names = wild.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.filter((name) => !/^ClusterRole provider-(family-)?aws/.test(name))).toEqual([]);
  });

  test("no pod gets a Secret in its environment, and none runs without an owner", () => {
    const pods = JSON.stringify(objects.flatMap(({ spec }) => spec?.template?.spec?.containers ?? []));
    expect(pods).toContain('"readinessProbe"');
    expect(pods).not.toMatch(/secretKeyRef|secretRef/);
    expect(objects.filter(({ kind }) => kind === "Pod")).toEqual([]);
  });
});

test("gitops-workloads creates none of the platform's namespaces", () => {
  const policy = render(withAddons("minimal", []))
    .by("tools")
    .find(({ kind, metadata }) => kind === "ValidatingAdmissionPolicy" && metadata.name === "workloads.fleet.internal");
  const labels = { "fleet.internal/tenant": "payments", "pod-security.kubernetes.io/enforce": "restricted" };
  const passes = (name: string) => {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    return refusal(policy as Manifest, { object, by: workloadsAccount }) === undefined;
  };
  expect([...platformNamespaces, "kube-system"].filter(passes)).toEqual([]);
  expect(passes(app.app)).toBe(true);
});

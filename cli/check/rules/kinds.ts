import { groupOf, type Manifest } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import {
  allObjects,
  type Cluster,
  isHelmRelease,
  nameOf,
  type Rendered,
  type RenderedFleet,
  type Step,
} from "../../render/fleet.ts";
import type { Definitions } from "../definitions.ts";

/**
 * What installs a kind on a cluster, and whether that happens before the kind is used: Flux fails on an object of a kind that the API
 * server doesn't know, and retries only after a while.
 */

const flux = ["kustomize", "source", "helm", "notification"].map((name) => `${name}.toolkit.fluxcd.io`);
const ofImages = "image.toolkit.fluxcd.io";
const crossplane = ["apiextensions", "pkg", "ops", "protection"].map((name) => `${name}.crossplane.io`);
const externalSecrets = ["external-secrets.io", "generators.external-secrets.io"];

/** Of a controller of ACK; each chart has the common ones too (its helm/crds). */
const ack = (service: string) => [`${service}.services.k8s.aws`, "services.k8s.aws"];

/** API groups that a chart installs. */
const ofChart: Readonly<Record<string, readonly string[]>> = {
  flux2: flux,
  crossplane,
  "external-secrets": externalSecrets,
  "sealed-secrets": ["bitnami.com"],
  "argo-cd": ["argoproj.io"],
  "cert-manager": ["cert-manager.io", "acme.cert-manager.io"],
  kyverno: ["kyverno.io", "policies.kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io"],
  "kube-prometheus-stack": ["monitoring.coreos.com"],
  karpenter: ["karpenter.sh", "karpenter.k8s.aws"],
  "dynamodb-chart": ack("dynamodb"),
  "sqs-chart": ack("sqs"),
  "aws-load-balancer-controller": ["elbv2.k8s.aws", "gateway.k8s.aws"],
};

/** What the Pulumi program installs on the hub before Flux applies anything; the chart flux2 with its value sourceWatcher.create. */
const onTheHub: ReadonlySet<string> = new Set([
  ...flux,
  "source.extensions.fluxcd.io",
  ...crossplane,
  ...externalSecrets,
]);

/** Kubernetes' own groups. */
const isBuiltIn = (group: string): boolean => !group.includes(".") || group.endsWith(".k8s.io") || group === "k8s.io";

/** API groups that a package of Crossplane's AWS provider installs. */
function ofPackage(reference: string): string[] {
  const name = /([^/:@]+)(?:[:@][^/]*)?$/.exec(reference)?.[1] ?? "";
  if (/^provider-family-aws$/.test(name)) return ["aws.m.upbound.io", "aws.upbound.io"];
  const [, service] = /^provider-aws-(\w+)$/.exec(name) ?? [];
  return service ? [`${service}.aws.m.upbound.io`, `${service}.aws.upbound.io`] : [];
}

/** The chart flux2 has two controllers with a group of their own, which a release may leave out. */
const withImages = (values: Manifest["spec"]): boolean =>
  values?.["imageReflectionController"]?.create !== false || values?.["imageAutomationController"]?.create !== false;

function groupsOf({ manifest }: Rendered): readonly string[] {
  const { kind, spec } = manifest;
  if (kind === "CustomResourceDefinition" || kind === "CompositeResourceDefinition") return [String(spec?.group)];
  if (kind === "Provider" && groupOf(manifest) === "pkg.crossplane.io") return ofPackage(String(spec?.package));
  if (isHelmRelease(manifest)) {
    const chart = spec?.chart?.spec?.chart as string;
    return [...(ofChart[chart] ?? []), ...(chart === "flux2" && withImages(spec?.values) ? [ofImages] : [])];
  }
  return [];
}

interface Provision {
  readonly object: Rendered;
  readonly groups: readonly string[];
  readonly on: Cluster;
}

/** The cluster on which an object has its effect: for a HelmRelease with a kubeConfig, not the one that it is on. */
function target({ manifest, by }: Rendered, fleet: RenderedFleet): Cluster {
  const { configMapRef, secretRef } = manifest.spec?.kubeConfig ?? {};
  const name: string | undefined = configMapRef?.name ?? secretRef?.name;
  return fleet.clusters.get((name ?? "").replace(/-kubeconfig$/, "")) ?? by.on;
}

/** Kustomizations that are ready when `step` is: itself, its dependencies, and those that it applied, if it waits for them. */
function readyWith(step: Step, fleet: RenderedFleet, seen: Set<Step>): void {
  if (seen.has(step)) return;
  seen.add(step);
  if (step.manifest.spec.wait === true) for (const child of step.children) readyWith(child, fleet, seen);
  waitedFor(step, fleet, seen);
}

/** Kustomizations that are ready before `step` is applied: its dependencies, and those of what applies it. */
function waitedFor(step: Step, fleet: RenderedFleet, seen: Set<Step>): void {
  for (const { name, namespace = step.namespace, readyExpr } of step.manifest.spec.dependsOn ?? []) {
    const found = step.home.steps.find((other) => other.name === name && other.namespace === namespace);
    // A readyExpr may hold for a dependency that is not ready; a constant one certainly says nothing.
    if (found && !/^\s*true\s*$/.test(readyExpr ?? "")) readyWith(found, fleet, seen);
  }
  if (step.parent) waitedFor(step.parent, fleet, seen);
}

/** The name of a kind in an activation policy. */
const resource = ({ kind }: Manifest, group: string, definitions: Definitions): string =>
  `${definitions.find(group, kind)?.plural ?? `${kind.toLowerCase().replace(/y$/, "ie")}s`}.${group}`;

const isManaged = (group: string, kind: string): boolean =>
  /^[a-z0-9]+\.aws\.m\.upbound\.io$/.test(group) && !kind.includes("ProviderConfig");

/** Whether an entry of an activation policy, which may have a wildcard, names the resource. */
const activates = (entry: string, name: string): boolean =>
  entry.startsWith("*") ? name.endsWith(entry.slice(1)) : entry === name;

export function checkKinds(fleet: RenderedFleet, definitions: Definitions, findings: Findings): void {
  // The kind may be installed by a part that could not be built.
  if (fleet.steps.some(({ complete }) => !complete)) return;
  const objects = allObjects(fleet);
  const provisions = objects
    .map((object): Provision => ({ object, groups: groupsOf(object), on: target(object, fleet) }))
    .filter(({ groups }) => groups.length > 0);
  // By cluster: each has its own, and a fleet has many.
  const provisionsOn = Map.groupBy(provisions, ({ on }) => on);
  const policiesOn = Map.groupBy(
    objects.filter(({ manifest: { kind } }) => kind === "ManagedResourceActivationPolicy"),
    ({ by }) => by.on,
  );
  for (const object of objects) {
    const { manifest, by, place, raw } = object;
    const group = groupOf(manifest);
    if (isBuiltIn(group) || (by.on.isHub && onTheHub.has(group))) continue;
    const what = `${manifest.kind} ${raw.metadata.name}`;
    const sources = (provisionsOn.get(by.on) ?? []).filter(({ groups }) => groups.includes(group));
    if (sources.length === 0) {
      findings.add(
        "definition-order",
        place(["apiVersion"]),
        `${what}: nothing installs the kinds of ${group} on the cluster`,
        "apply a chart, a provider package or a CustomResourceDefinition that does, and depend on it",
        by.on.name,
        group,
      );
      continue;
    }
    const before = new Set<Step>();
    waitedFor(by, fleet, before);
    const isThere = sources.some(
      ({ object: source }) =>
        before.has(source.by) || (source.by === by && source.manifest.kind === "CustomResourceDefinition"),
    );
    if (!isThere) {
      const names = [...new Set(sources.map(({ object: source }) => nameOf(source.by)))].join(" or ");
      findings.add(
        "definition-order",
        by.place(["spec", "dependsOn"]),
        `Kustomization ${nameOf(by)} applies kinds of ${group} (${what}) without waiting for ${names}, which installs them`,
        sources.some(({ object: source }) => source.by === by)
          ? `split it: move what installs ${group} to a Kustomization with wait: true, and add that to dependsOn`
          : `add ${names} to spec.dependsOn, or wait for a Kustomization that waits for it`,
        by.on.name,
        group,
      );
      continue;
    }
    const name = resource(manifest, group, definitions);
    const isActive = (policiesOn.get(by.on) ?? []).some(({ manifest: { spec } }) =>
      (spec?.activate ?? []).some((entry: string) => activates(entry, name)),
    );
    if (isManaged(group, manifest.kind) && !isActive)
      findings.add(
        "definition-order",
        place(["kind"]),
        `${what}: no ManagedResourceActivationPolicy of the cluster activates ${name}`,
        `add ${name} to spec.activate of a policy that is applied there`,
        by.on.name,
        name,
      );
  }
}

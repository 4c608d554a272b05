import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { oldVersion } from "../../../cli/check/api-versions.ts";
import { Definitions } from "../../../cli/check/definitions.ts";
import { unpinned } from "../../../cli/check/rules/pinned.ts";

describe("an image", () => {
  test.each([
    "a:1.2.3",
    "a:6.9.2-alpine",
    `a@sha256:${"0".repeat(64)}`,
    "host:5000/a:v1",
    `a:latest@sha256:${"0".repeat(64)}`,
  ])("%s is pinned", (reference) => expect(unpinned(reference)).toBeUndefined());

  test.each([
    ["a", "has neither a tag nor a digest"],
    ["host:5000/a", "has neither a tag nor a digest"],
    ["a:latest", "has the moving tag latest"],
    ...["latest", "stable", "main", "master", "edge", "nightly"].map((tag) => [
      `a:${tag}`,
      `has the moving tag ${tag}`,
    ]),
  ])("%s is not: it %s", (reference = "", why) => expect(unpinned(reference)).toBe(why));
});

describe("an API version", () => {
  test.each([
    ["extensions/v1beta1", "DaemonSet", "removed in Kubernetes 1.16", "apps/v1"],
    ["extensions/v1beta1", "Deployment", "removed in Kubernetes 1.16", "apps/v1"],
    ["extensions/v1beta1", "ReplicaSet", "removed in Kubernetes 1.16", "apps/v1"],
    ["extensions/v1beta1", "NetworkPolicy", "removed in Kubernetes 1.16", "networking.k8s.io/v1"],
    ["extensions/v1beta1", "Ingress", "removed in Kubernetes 1.22", "networking.k8s.io/v1"],
    [
      "extensions/v1beta1",
      "PodSecurityPolicy",
      "removed in Kubernetes 1.16",
      "the namespace label pod-security.kubernetes.io/enforce",
    ],
    ["apps/v1beta1", "Any", "removed in Kubernetes 1.16", "apps/v1"],
    ["apps/v1beta2", "Any", "removed in Kubernetes 1.16", "apps/v1"],
    [
      "admissionregistration.k8s.io/v1beta1",
      "MutatingWebhookConfiguration",
      "removed in Kubernetes 1.22",
      "admissionregistration.k8s.io/v1",
    ],
    [
      "admissionregistration.k8s.io/v1beta1",
      "ValidatingWebhookConfiguration",
      "removed in Kubernetes 1.22",
      "admissionregistration.k8s.io/v1",
    ],
    [
      "admissionregistration.k8s.io/v1beta1",
      "ValidatingAdmissionPolicy",
      "deprecated since Kubernetes 1.30",
      "admissionregistration.k8s.io/v1",
    ],
    [
      "admissionregistration.k8s.io/v1beta1",
      "ValidatingAdmissionPolicyBinding",
      "deprecated since Kubernetes 1.30",
      "admissionregistration.k8s.io/v1",
    ],
    [
      "admissionregistration.k8s.io/v1alpha1",
      "ValidatingAdmissionPolicy",
      "removed in Kubernetes 1.30",
      "admissionregistration.k8s.io/v1",
    ],
    [
      "admissionregistration.k8s.io/v1alpha1",
      "ValidatingAdmissionPolicyBinding",
      "removed in Kubernetes 1.30",
      "admissionregistration.k8s.io/v1",
    ],
    ["apiextensions.k8s.io/v1beta1", "Any", "removed in Kubernetes 1.22", "apiextensions.k8s.io/v1"],
    ["apiregistration.k8s.io/v1beta1", "Any", "removed in Kubernetes 1.22", "apiregistration.k8s.io/v1"],
    ["authentication.k8s.io/v1beta1", "TokenReview", "removed in Kubernetes 1.22", "authentication.k8s.io/v1"],
    ["authorization.k8s.io/v1beta1", "Any", "removed in Kubernetes 1.22", "authorization.k8s.io/v1"],
    [
      "certificates.k8s.io/v1beta1",
      "CertificateSigningRequest",
      "removed in Kubernetes 1.22",
      "certificates.k8s.io/v1",
    ],
    ["coordination.k8s.io/v1beta1", "Lease", "removed in Kubernetes 1.22", "coordination.k8s.io/v1"],
    ["networking.k8s.io/v1beta1", "Ingress", "removed in Kubernetes 1.22", "networking.k8s.io/v1"],
    ["networking.k8s.io/v1beta1", "IngressClass", "removed in Kubernetes 1.22", "networking.k8s.io/v1"],
    ["rbac.authorization.k8s.io/v1alpha1", "Any", "removed in Kubernetes 1.22", "rbac.authorization.k8s.io/v1"],
    ["rbac.authorization.k8s.io/v1beta1", "Any", "removed in Kubernetes 1.22", "rbac.authorization.k8s.io/v1"],
    ["scheduling.k8s.io/v1beta1", "PriorityClass", "removed in Kubernetes 1.22", "scheduling.k8s.io/v1"],
    ["storage.k8s.io/v1beta1", "CSIDriver", "removed in Kubernetes 1.22", "storage.k8s.io/v1"],
    ["storage.k8s.io/v1beta1", "CSINode", "removed in Kubernetes 1.22", "storage.k8s.io/v1"],
    ["storage.k8s.io/v1beta1", "StorageClass", "removed in Kubernetes 1.22", "storage.k8s.io/v1"],
    ["storage.k8s.io/v1beta1", "VolumeAttachment", "removed in Kubernetes 1.22", "storage.k8s.io/v1"],
    ["storage.k8s.io/v1beta1", "CSIStorageCapacity", "removed in Kubernetes 1.27", "storage.k8s.io/v1"],
    ["batch/v1beta1", "CronJob", "removed in Kubernetes 1.25", "batch/v1"],
    ["batch/v2alpha1", "CronJob", "removed in Kubernetes 1.21", "batch/v1"],
    ["discovery.k8s.io/v1beta1", "EndpointSlice", "removed in Kubernetes 1.25", "discovery.k8s.io/v1"],
    ["events.k8s.io/v1beta1", "Event", "removed in Kubernetes 1.25", "events.k8s.io/v1"],
    ["autoscaling/v2beta1", "Any", "removed in Kubernetes 1.25", "autoscaling/v2"],
    ["autoscaling/v2beta2", "Any", "removed in Kubernetes 1.26", "autoscaling/v2"],
    ["policy/v1beta1", "PodDisruptionBudget", "removed in Kubernetes 1.25", "policy/v1"],
    [
      "policy/v1beta1",
      "PodSecurityPolicy",
      "removed in Kubernetes 1.25",
      "the namespace label pod-security.kubernetes.io/enforce",
    ],
    ["node.k8s.io/v1beta1", "RuntimeClass", "removed in Kubernetes 1.25", "node.k8s.io/v1"],
    ["flowcontrol.apiserver.k8s.io/v1beta1", "Any", "removed in Kubernetes 1.26", "flowcontrol.apiserver.k8s.io/v1"],
    ["flowcontrol.apiserver.k8s.io/v1beta2", "Any", "removed in Kubernetes 1.29", "flowcontrol.apiserver.k8s.io/v1"],
    ["flowcontrol.apiserver.k8s.io/v1beta3", "Any", "removed in Kubernetes 1.32", "flowcontrol.apiserver.k8s.io/v1"],
    ["v1", "Endpoints", "deprecated since Kubernetes 1.33", "discovery.k8s.io/v1 EndpointSlice"],
    ["v1", "ComponentStatus", "deprecated since Kubernetes 1.19", "the API server's own health endpoints"],
    ["kustomize.toolkit.fluxcd.io/v1beta1", "Any", "removed in Flux 2.7", "kustomize.toolkit.fluxcd.io/v1"],
    ["kustomize.toolkit.fluxcd.io/v1beta2", "Any", "removed in Flux 2.8", "kustomize.toolkit.fluxcd.io/v1"],
    ["source.toolkit.fluxcd.io/v1beta1", "Any", "removed in Flux 2.7", "source.toolkit.fluxcd.io/v1"],
    ["source.toolkit.fluxcd.io/v1beta2", "Any", "removed in Flux 2.8", "source.toolkit.fluxcd.io/v1"],
    ["helm.toolkit.fluxcd.io/v2beta1", "Any", "removed in Flux 2.7", "helm.toolkit.fluxcd.io/v2"],
    ["helm.toolkit.fluxcd.io/v2beta2", "Any", "removed in Flux 2.8", "helm.toolkit.fluxcd.io/v2"],
    ["image.toolkit.fluxcd.io/v1beta1", "Any", "removed in Flux 2.7", "image.toolkit.fluxcd.io/v1"],
    ["image.toolkit.fluxcd.io/v1beta2", "Any", "removed in Flux 2.9", "image.toolkit.fluxcd.io/v1"],
    ["notification.toolkit.fluxcd.io/v1beta1", "Any", "removed in Flux 2.7", "notification.toolkit.fluxcd.io/v1"],
    ["notification.toolkit.fluxcd.io/v1beta2", "Any", "removed in Flux 2.9", "notification.toolkit.fluxcd.io/v1"],
    [
      "external-secrets.io/v1alpha1",
      "ClusterExternalSecret",
      "removed in External Secrets 0.17",
      "external-secrets.io/v1",
    ],
    [
      "external-secrets.io/v1alpha1",
      "ClusterSecretStore",
      "removed in External Secrets 0.17",
      "external-secrets.io/v1",
    ],
    ["external-secrets.io/v1alpha1", "ExternalSecret", "removed in External Secrets 0.17", "external-secrets.io/v1"],
    ["external-secrets.io/v1alpha1", "SecretStore", "removed in External Secrets 0.17", "external-secrets.io/v1"],
    ["external-secrets.io/v1beta1", "Any", "removed in External Secrets 0.17", "external-secrets.io/v1"],
    [
      "apiextensions.crossplane.io/v1",
      "CompositeResourceDefinition",
      "deprecated since Crossplane 2.0",
      "apiextensions.crossplane.io/v2",
    ],
    [
      "pkg.crossplane.io/v1alpha1",
      "ControllerConfig",
      "removed in Crossplane 2.0",
      "pkg.crossplane.io/v1beta1 DeploymentRuntimeConfig",
    ],
    ["apiextensions.crossplane.io/v1beta1", "Usage", "removed in Crossplane 2.0", "protection.crossplane.io/v1beta1"],
    ["pkg.crossplane.io/v1beta1", "Function", "deprecated since Crossplane 2.0", "pkg.crossplane.io/v1"],
    ["sqs.aws.upbound.io/v1beta1", "Queue", "deprecated since Crossplane 2.0", "sqs.aws.m.upbound.io/v1beta1"],
  ])("%s %s is %s: %s", (apiVersion, kind, fate, successor) => {
    expect(oldVersion(apiVersion, kind)).toMatchObject({ fate, successor });
  });

  test.each([
    ["policy/v1", "PodDisruptionBudget"],
    ["helm.toolkit.fluxcd.io/v2", "HelmRelease"],
    ["sqs.aws.m.upbound.io/v1beta1", "Queue"],
    ["apiextensions.crossplane.io/v1", "Composition"],
  ])("%s %s is in order", (apiVersion, kind) => expect(oldVersion(apiVersion, kind)).toBeUndefined());
});

const things = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Thing", plural: "things" },
    versions: [
      {
        name: "v1",
        served: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer" },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

describe("a definition", () => {
  const definitions = new Definitions();
  definitions.add(things);
  const thing = (spec: object, metadata: object = {}) =>
    definitions.violations({ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a", ...metadata }, spec });

  test("lets pass what it describes, and what it leaves open", () => {
    expect(thing({ size: 1, free: { anything: true } }, { labels: { a: "b" } })).toEqual([]);
  });

  test.each([
    [{ size: "1" }, {}, 'spec.size must be integer; got "1"'],
    [{}, {}, "spec lacks size"],
    [{ size: 1, colour: "red" }, {}, "spec has the field colour, which its definition does not know"],
    [{ size: 1 }, { labels: { a: 1 } }, "metadata.labels.a must be string; got 1"],
  ])("refuses %j %j: %s", (spec, metadata, problem) => {
    expect(thing(spec, metadata)?.map((violation) => violation.problem)).toEqual([problem]);
  });

  test("says nothing of a kind that it does not know", () => {
    expect(
      definitions.violations({ apiVersion: "example.com/v1", kind: "Other", metadata: { name: "a" } }),
    ).toBeUndefined();
  });
});

describe("definitions in files", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleet-definitions-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return new Definitions([join(folder, name)]);
  };
  const wrong = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: {} };

  test.each([
    ["one of a controller's source", stringify(things)],
    ["what kubectl get crds -o yaml prints", stringify({ apiVersion: "v1", kind: "List", items: [things] })],
  ])("are read: %s", (_, text) => {
    expect(
      read("things.yaml", text)
        .violations(wrong)
        ?.map(({ problem }) => problem),
    ).toEqual(["spec lacks size"]);
  });

  test("are the cluster's where several are given: the last path wins, and a list over single ones in a folder", () => {
    const named = (field: string) => stringify(things).replaceAll("size", field);
    const list = (field: string) => stringify({ apiVersion: "v1", kind: "List", items: [parse(named(field))] });
    const write = (path: string, content: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    write("pinned/a.yaml", named("old"));
    write("pinned/b.yaml", named("pinned"));
    write("cluster.yaml", list("cluster"));
    write("both/a-cluster.yaml", list("cluster"));
    write("both/b.yaml", named("pinned"));
    const lacks = (...paths: string[]) =>
      new Definitions(paths.map((path) => join(folder, path))).violations(wrong)?.map(({ problem }) => problem);
    expect(lacks("pinned")).toEqual(["spec lacks pinned"]);
    expect(lacks("pinned", "cluster.yaml")).toEqual(["spec lacks cluster"]);
    expect(lacks("cluster.yaml", "pinned")).toEqual(["spec lacks pinned"]);
    expect(lacks("both")).toEqual(["spec lacks cluster"]);
    const own = new Definitions([join(folder, "pinned")]);
    own.add(parse(named("own")));
    expect(own.violations(wrong)?.map(({ problem }) => problem)).toEqual(["spec lacks own"]);
  });

  test("are read: what kubectl get --raw /openapi/v3/apis/… prints", () => {
    const schemas = {
      Size: { type: "object", properties: { min: { type: "integer" } } },
      Thing: {
        type: "object",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          metadata: { type: "object" },
          spec: { allOf: [{ $ref: "#/components/schemas/Size" }], default: {} },
        },
        "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Thing" }],
      },
    };
    const definitions = read("things.json", JSON.stringify({ openapi: "3.0.0", components: { schemas } }));
    expect(definitions.violations({ ...wrong, spec: { min: 1 } })).toEqual([]);
    expect(definitions.violations({ ...wrong, spec: { min: 1, max: 2 } })).toEqual([
      {
        path: ["spec", "max"],
        problem: "spec has the field max, which its definition does not know",
        isBlocking: false,
      },
    ]);
  });
});

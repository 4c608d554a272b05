import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { uses } from "../../cli/render/envsubst.ts";
import { fromBase64 } from "../../lib/base64.ts";
import { bridgeData } from "../../lib/bridge.ts";
import { credentialVariables } from "../../lib/registries.ts";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { substituted } from "./support/flux.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { mirror, mirrored } from "./support/mirrors.ts";
import { credentials, render, system, withAddons } from "./support/spoke.ts";

/** What a fleet behind mirrors of its own applies. The images of charts: test/envtest/mirrors.test.ts. */

const addons = ["kyverno", "metrics_server"];
const spoke = render(withAddons("production", addons), { hub: mirrored });
const name = spoke.spoke.metadata.name;
const all = spoke.applied.flatMap(({ objects }) => objects);
const onSpoke = spoke.applied.filter(({ on }) => on === "spoke").flatMap(({ objects }) => objects);
const ofKind = (objects: readonly Manifest[], kind: string) => objects.filter((object) => object.kind === kind);

const onHub = (folder: string, metadata = mirrored) => {
  const values = { ...bridgeData(metadata), ...credentialVariables(credentials), kyverno_version: "3.9.1" };
  // Those of their Flux Kustomizations (platform/hub/api.yaml, platform/policies/kyverno); other folders have none of that name.
  const takesCharts = ["platform/charts", "platform/kyverno/chart"].includes(folder);
  const components = takesCharts ? (JSON.parse(values.charts_components) as string[]) : [];
  return build(join(system, folder), components).map((manifest) => substituted(manifest, values));
};

/** Namespaces in which something of the platform runs on the spoke. */
const targets = ofKind(all, "HelmRelease").map(({ spec }) => spec.targetNamespace as string);

describe("a fleet behind mirrors", () => {
  test("has the pull secret in every namespace of a spoke in which the platform runs pods", () => {
    const secrets = ofKind(onSpoke, "Secret").filter(({ metadata }) => metadata.name === "pull-secret");
    expect(targets.length).toBeGreaterThan(5);
    expect(secrets.map(({ metadata }) => metadata.namespace).sort()).toEqual([...new Set(targets)].sort());
    for (const secret of secrets) {
      expect(secret["type"]).toBe("kubernetes.io/dockerconfigjson");
      expect(fromBase64(secret["data"] as Record<string, string>)).toEqual({
        ".dockerconfigjson": credentials.pullSecret,
      });
    }
  });

  test("has it on a spoke before the first pod, which is External Secrets'", () => {
    const steps = new Map(spoke.steps.map((step) => [step.metadata.name, step]));
    const needed = (step: string): string[] =>
      ((steps.get(step)?.spec.dependsOn ?? []) as { name: string }[]).flatMap((each) => [
        each.name,
        ...needed(each.name),
      ]);
    const bringing = spoke.applied.find(
      ({ by, on, objects }) => by.startsWith(`${name}-`) && on === "spoke" && ofKind(objects, "Secret").length > 0,
    );
    expect(bringing?.by).toBe(`${name}-base`);
    const releasing = spoke.steps.filter(({ metadata }) => ofKind(spoke.by(metadata.name), "HelmRelease").length > 0);
    expect(releasing.length).toBeGreaterThan(2);
    for (const { metadata } of releasing) expect(needed(metadata.name), metadata.name).toContain(`${name}-base`);
  });

  test("tells every chart of the pull secret", () => {
    for (const { metadata, spec } of ofKind(all, "HelmRelease"))
      expect(JSON.stringify(spec.values), metadata.name).toMatch(
        /[pP]ullSecrets":\[("pull-secret"|\{"name":"pull-secret"\})\]/,
      );
  });

  test("pulls every package of Crossplane from the mirror with it, on hub and spokes", () => {
    const packages = [...onHub("platform/crossplane/packages"), ...all].filter(({ kind }) =>
      ["Provider", "Function"].includes(kind),
    );
    expect(packages.length).toBeGreaterThan(9);
    for (const { metadata, spec } of packages) {
      expect(spec.package, metadata.name).toMatch(new RegExp(`^${mirror}/[a-z]+[.][a-z.]+/`));
      expect(spec.packagePullSecrets, metadata.name).toEqual([{ name: "pull-secret" }]);
    }
  });

  test("reads every chart with the mirror's credential, which is beside each HelmRepository", () => {
    const hubs = [...onHub("platform/charts"), ...onHub("platform/kyverno/chart")];
    for (const objects of [hubs, onSpoke]) {
      const repositories = ofKind(objects, "HelmRepository");
      expect(repositories.map(({ metadata }) => metadata.name)).toContain("kyverno");
      expect(repositories.length).toBeGreaterThan(2);
      const secrets = ofKind(objects, "Secret").filter((secret) => secret.metadata.name === "charts-credential");
      for (const { metadata, spec } of repositories) {
        expect(spec, metadata.name).toMatchObject({
          type: "oci",
          url: mirrored.chartsRegistry,
          secretRef: { name: "charts-credential" },
        });
        const secret = secrets.find((each) => each.metadata.namespace === metadata.namespace);
        expect(fromBase64((secret?.["data"] ?? {}) as Record<string, string>), metadata.name).toEqual({
          username: "fleet",
          password: "t0ps3cret",
        });
      }
    }
  });

  test("hands the credentials on to the spoke's own Flux, as the hub got them", () => {
    const handed = [onHub("platform/charts"), onSpoke].map((objects) =>
      ofKind(objects, "Secret").find(({ metadata }) => metadata.name === "registry-credentials"),
    );
    for (const secret of handed) expect(secret?.["stringData"]).toEqual(credentialVariables(credentials));
    expect(handed.map((secret) => secret?.metadata.namespace)).toEqual(["spokes", "flux-system"]);
  });

  test("keeps credentials out of the bridge, on the hub and on spokes", () => {
    const secret = /t0ps3cret|dDBwczNjcmV0/;
    expect(JSON.stringify([spoke.bridge, ofKind(onSpoke, "ConfigMap")])).not.toMatch(secret);
  });
});

describe("a fleet whose registry is Amazon ECR", () => {
  const registry = "111111111111.dkr.ecr.us-east-1.amazonaws.com/mirror";
  const inEcr = {
    ...hub,
    chartsRegistry: `oci://${registry}/charts`,
    imagesRegistry: registry,
    packagesRegistry: registry,
  };
  const rendered = render(withAddons("production", addons), { hub: inEcr });
  const objects = rendered.applied.flatMap((each) => each.objects);

  test("has source-controller log in to every HelmRepository with its role, on hub and spokes", () => {
    const repositories = ofKind([...objects, ...onHub("platform/charts", inEcr)], "HelmRepository");
    expect(repositories.length).toBeGreaterThan(5);
    for (const { metadata, spec } of repositories) {
      expect(spec, metadata.name).toMatchObject({ type: "oci", provider: "aws", url: inEcr.chartsRegistry });
      // With a Secret Flux would ignore the provider (source-controller 1.9.5, internal/helm/getter/client_opts.go).
      expect(spec, metadata.name).not.toHaveProperty("secretRef");
    }
  });

  test("gives a spoke's Flux and Crossplane their roles", () => {
    const values = (release: string) =>
      ofKind(objects, "HelmRelease").find(({ metadata }) => metadata.name === release)?.spec.values;
    const role = (name: string) => ({ "eks.amazonaws.com/role-arn": expect.stringMatching(new RegExp(`-${name}$`)) });
    const source = role("source-controller");
    const packages = role("crossplane-packages");
    expect(values(`${rendered.spoke.metadata.name}-flux`)).toMatchObject({
      sourceController: { serviceAccount: { annotations: source }, annotations: source },
    });
    expect(values("crossplane")).toMatchObject({
      serviceAccount: { customAnnotations: packages },
      customAnnotations: packages,
    });
  });
});

test("a fleet without mirrors names upstream's images and packages, and no credential", () => {
  const plain = render(withAddons("production", addons), { hub });
  const objects = [...plain.applied.flatMap((each) => each.objects), ...onHub("platform/charts", hub)];
  for (const { metadata, spec } of ofKind(objects, "HelmRelease"))
    expect(JSON.stringify(spec.values), metadata.name).not.toContain("pull-secret");
  for (const { spec } of ofKind(objects, "HelmRepository")) {
    expect(spec).not.toHaveProperty("secretRef");
    expect(spec.provider).toBe("generic");
  }
  for (const { spec } of ofKind(objects, "Provider")) {
    expect(spec.package).toMatch(/^xpkg[.]crossplane[.]io\//);
    expect(spec.packagePullSecrets).toEqual([]);
  }
});

test("the hub's policies need no key that an older bridge lacks, so that they may come before pulumi up writes it", () => {
  const added = ["images_prefix", "packages_prefix", "pull_secret_names", "pull_secrets", "charts_components"];
  const former = new Set(Object.keys(bridgeData(hub)).filter((key) => !added.includes(key)));
  const needed = (folder: string, components: readonly string[]) =>
    build(join(system, folder), components)
      .flatMap((manifest) => uses(stringify(manifest, { lineWidth: 0 })))
      .filter(({ hasDefault }) => !hasDefault)
      .map(({ name }) => name);
  const names = [...needed("platform/policies", ["kyverno"]), ...needed("platform/hub", [])];
  expect(names).toContain("cluster_name");
  expect(names.filter((name) => !former.has(name))).toEqual([]);
});

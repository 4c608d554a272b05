import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { build, documents, type Manifest } from "./support/kustomize.ts";
import { app, instantiated, render, repos, sealed, system, withAddons } from "./support/spoke.ts";

const spoke = render(withAddons("minimal", ["image_automation"]));
const flux = spoke.by(`${spoke.spoke.metadata.name}-flux`).find(({ kind }) => kind === "HelmRelease") as Manifest;
const own = spoke.by("image-automation");
const release = own.find(({ kind }) => kind === "HelmRelease") as Manifest;
const values = parse(own.find(({ kind }) => kind === "ConfigMap")?.["data"]["values.yaml"]);
const controllers = ["imageAutomationController", "imageReflectionController"];

describe("the add-on image_automation", () => {
  test("is the chart of the spoke's Flux in the same version, of which the two releases make every controller once", () => {
    expect(release.spec.chart.spec).toMatchObject({ chart: "flux2", version: flux.spec.chart.spec.version });
    for (const [key, { create }] of Object.entries<{ create?: boolean }>(flux.spec.values).filter(([name]) =>
      /Controller$|^sourceWatcher$/.test(name),
    ))
      expect([key, values[key]?.create ?? true]).toEqual([key, create === false]);
    expect(values.sourceWatcher.create).toBe(false);
    expect(controllers.map((key) => flux.spec.values[key].create)).toEqual([false, false]);
  });

  test("is in the namespace of Flux, whose release has its rights and network policies, and makes none of its own", () => {
    expect(release.spec.targetNamespace).toBe(flux.spec.targetNamespace);
    expect([values.rbac, values.policies]).toEqual([{ create: false, createAggregation: false }, { create: false }]);
  });

  test("keeps tenants apart as Flux does, and tells the same notification-controller", () => {
    expect(values.multitenancy.enabled).toBe(flux.spec.values.multitenancy.enabled);
    for (const key of controllers)
      expect(values[key].container.additionalArgs).toEqual([
        "--events-addr=http://notification-controller.flux-system.svc.cluster.local.",
      ]);
  });

  test("takes its CRDs along when it goes, while those of Flux stay", () => {
    expect(flux.spec.values.crds.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    expect(values.installCRDs).toBe(true);
    expect(values.crds).toBeUndefined();
  });
});

describe("the template of an application's new images", () => {
  const filled = { ...app, cluster: "blue", path: "./overlays/dev", image: "shop", repository: "ghcr.io/acme/shop" };
  const more = { registryProvider: "generic", range: ">=0.0.0" };
  const template = join(repos, "gitops-workloads", "templates", "app-auto-update");
  const credential = { "images/credential.yaml": sealed("payment-app-auto-update-git", app.app) };
  const made = <T>(use: (folder: string) => T): T => instantiated(template, { ...filled, ...more }, credential, use);
  const images = made((folder) => build(join(folder, "images")));
  const [sync] = made((folder) => documents(join(folder, "auto-update.yaml")));
  const of = (kind: string) => images.find((object) => object.kind === kind)?.spec;

  test("depends on the add-on, where the policy of removals sees it, so that the add-on stays until it is gone", () => {
    expect(sync?.metadata).toEqual({ name: "payment-app-auto-update", namespace: "flux-system" });
    expect(sync?.spec.dependsOn).toEqual([{ name: "image-automation" }]);
    const [policy] = documents(join(system, "platform", "deletion-order", "deletion-order.yaml"));
    expect(policy?.spec.validations[0].expression).toContain("params.spec.dependsOn.exists");
    expect(sync?.spec).toMatchObject({ prune: true, wait: true, deletionPolicy: "WaitForTermination" });
  });

  test("is no part of what Flux applies with the application, where a kind that is not there would hold up all of it", () => {
    const applied = made((folder) => documents(join(folder, "auto-update.yaml")).map(({ apiVersion }) => apiVersion));
    expect(applied).toEqual(["kustomize.toolkit.fluxcd.io/v1"]);
    expect(made((folder) => documents(join(folder, "kustomization.yaml"))[0])).toMatchObject({
      kind: "Component",
      resources: ["auto-update.yaml"],
    });
  });

  test("commits below the overlay alone, to the branch that Flux reads, with a key of its own", () => {
    expect(of("ImageUpdateAutomation")).toMatchObject({
      sourceRef: { kind: "GitRepository", name: "payment-app-auto-update" },
      update: { strategy: "Setters", path: "./overlays/dev" },
    });
    // Without another branch to push to, it is the one that was checked out.
    expect(of("ImageUpdateAutomation")?.git).not.toHaveProperty("push");
    expect(of("GitRepository")).toMatchObject({
      ...{ url: app.repositoryUrl, ref: { branch: "main" } },
      secretRef: { name: "payment-app-auto-update-git" },
    });
  });

  test("is all in the application's namespace, where its policies are the only ones that count", () => {
    expect(images.map(({ kind }) => kind).sort()).toEqual([
      ...["GitRepository", "ImagePolicy", "ImageRepository", "ImageUpdateAutomation", "SealedSecret"],
    ]);
    for (const { kind, metadata } of images) expect(metadata.namespace, kind).toBe(app.app);
  });
});

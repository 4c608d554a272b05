import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ensureToolchain, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { build, files, type Manifest } from "../repos/support/kustomize.ts";
import { app, instantiated, render, repos, withAddons } from "../repos/support/spoke.ts";
import { isPolicy, spoke, startSpoke } from "./support/spoke-plane.ts";

/** What a spoke gets, on a real API server without nodes. */

let toolchain: Toolchain;
let client: Awaited<ReturnType<typeof startSpoke>>;

const kubectl = (args: readonly string[], input?: object) => client.run(args, input);

beforeAll(async () => {
  toolchain = await ensureToolchain();
  client = await startSpoke(toolchain);
});
afterAll(() => client?.stop());

describe("the manifests in repos/", () => {
  test("come out of kubectl kustomize as the unit tests build them", () => {
    const folders = files(repos)
      .filter((file) => file.endsWith("/kustomization.yaml") && !file.includes("/templates/"))
      .filter((file) => parse(readFileSync(file, "utf8")).kind === "Kustomization")
      .map((file) => join(file, ".."));
    expect(folders.length).toBeGreaterThan(10);
    const key = ({ kind, metadata: { namespace, name } }: Manifest) => `${kind}/${namespace}/${name}`;
    const sorted = (manifests: readonly Manifest[]) => [...manifests].sort((a, b) => (key(a) < key(b) ? -1 : 1));
    for (const folder of folders) {
      const args = ["kustomize", "--load-restrictor=LoadRestrictionsNone", folder];
      const real = parseAllDocuments(execFileSync(toolchain.bin("kubectl"), args, { encoding: "utf8" }));
      const theirs = sorted(real.map((document) => document.toJS() as Manifest));
      expect(isDeepStrictEqual(sorted(build(folder)), theirs), relative(repos, folder)).toBe(true);
    }
  });
});

describe("the order of removals", () => {
  const remove = (name: string, ...more: string[]) =>
    kubectl(["delete", "kustomization", name, "--namespace", "spokes", "--wait=false", ...more]);

  test("is refused out of turn, with the name of what is in the way", () => {
    const { ok, text } = remove("blue-tools", "--dry-run=server");
    expect(ok).toBe(false);
    expect(text).toContain("Kustomization blue-tools is removed after what depends on it");
    expect(text).toContain("Kustomization blue-workloads still exists");
  });

  test("goes from the applications back to the namespaces, when everything is asked to go at once", async () => {
    const gone: string[] = [];
    await expect
      .poll(
        () => {
          const names = spoke.steps.map(({ metadata }) => metadata.name).filter((name) => !gone.includes(name));
          gone.push(...names.filter((name) => remove(name).ok));
          return gone.length;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(spoke.steps.length);
    const at = (name: string) => gone.indexOf(`blue-${name}`);
    const order = ["workloads", "tools", "sync", "flux", "sealed-secrets", "sealing-keys", "external-secrets", "base"];
    expect([...order].sort((a, b) => at(a) - at(b))).toEqual(order);
  });
});

describe("the removal of an application", () => {
  const inNamespace = ["--namespace", "payment-app"];
  const remove = (kind: string, name: string) =>
    kubectl(["delete", kind, name, ...(kind === "namespace" ? [] : inNamespace), "--dry-run=server"]);
  const governance: readonly (readonly [string, string])[] = [
    ["namespace", "payment-app"],
    ["serviceaccount", "deployer"],
    ["roles.rbac.authorization.k8s.io", "deployer"],
    ["rolebinding", "deployer"],
    ["providerconfigs.aws.m.upbound.io", "aws"],
  ];
  /** As Flux labels what it applies. */
  const team = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: "of-the-team",
      namespace: "payment-app",
      labels: {
        "kustomize.toolkit.fluxcd.io/name": "payment-app",
        "kustomize.toolkit.fluxcd.io/namespace": "payment-app",
      },
    },
  };

  beforeAll(() => {
    const kinds = ["Kustomization", "ProviderConfig"];
    client.apply([...spoke.by("workloads").filter(({ kind }) => kinds.includes(kind)), team]);
  });

  test.each(governance)(
    "keeps the %s %s while Flux and Crossplane need it for what the team made",
    async (kind, name) => {
      const refusal = "is removed after what needs it; Kustomization payment-app/payment-app still exists";
      await expect.poll(() => remove(kind, name).text, { timeout: 30_000 }).toContain(refusal);
    },
  );

  test("lets go what the team made", () => expect(remove("serviceaccount", "of-the-team")).toMatchObject({ ok: true }));

  test("lets go everything when the last Kustomization is gone", async () => {
    expect(kubectl(["delete", "kustomization", "payment-app", ...inNamespace])).toMatchObject({ ok: true });
    for (const [kind, name] of governance)
      await expect.poll(() => remove(kind, name).ok, { timeout: 30_000 }).toBe(true);
  });
});

describe("the removal of the tools", () => {
  const remove = () => kubectl(["delete", "kustomization", "tools", "--namespace", "flux-system", "--dry-run=server"]);
  const change = (patch: object) =>
    kubectl(["patch", "persistentvolume", "pvc-1", "--type=merge", "--patch", JSON.stringify(patch)]);

  test("waits for a volume that the EBS CSI driver deletes, and for none that stays", async () => {
    client.apply(spoke.by("blue-tools").filter(({ kind }) => kind === "Kustomization"));
    expect(remove()).toMatchObject({ ok: true });
    client.apply([
      {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "pvc-1", annotations: { "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com" } },
        spec: {
          // The control plane itself finds that this claim is gone, and leaves the volume to its driver.
          claimRef: { namespace: "default", name: "data", uid: "11111111-2222-3333-4444-555555555555" },
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" },
          persistentVolumeReclaimPolicy: "Delete",
        },
      },
    ]);
    await expect.poll(() => remove().text, { timeout: 30_000 }).toContain("PersistentVolume pvc-1 still exists");
    expect(change({ spec: { persistentVolumeReclaimPolicy: "Retain" } })).toMatchObject({ ok: true });
    await expect.poll(() => remove().ok, { timeout: 30_000 }).toBe(true);
  });
});

describe("the removal of Karpenter", () => {
  const addon = render(withAddons("minimal", ["karpenter"]));
  const nodeClaims = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "nodeclaims.karpenter.sh" },
    spec: {
      group: "karpenter.sh",
      names: { plural: "nodeclaims", kind: "NodeClaim" },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const node = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "default-abcde" } };
  const remove = () =>
    kubectl(["delete", "kustomization", "karpenter", "--namespace", "flux-system", "--dry-run=server"]);

  test("waits for the last of its nodes, and for none where its kinds never came", async () => {
    const karpenter = addon.by("tools").filter(({ metadata }) => metadata.name === "karpenter");
    client.apply([...karpenter, ...addon.by("karpenter").filter(isPolicy)]);
    expect(remove()).toMatchObject({ ok: true });
    client.define([nodeClaims]);
    client.apply([node]);
    // The API server looks for new kinds every half minute.
    await expect.poll(() => remove().text, { timeout: 90_000 }).toContain("NodeClaim default-abcde still exists");
    expect(kubectl(["delete", "nodeclaim", "default-abcde"])).toMatchObject({ ok: true });
    await expect.poll(() => remove().ok, { timeout: 30_000 }).toBe(true);
  });
});

describe("the removal of Argo CD", () => {
  const addon = render(withAddons("minimal", ["argocd"]));
  const applications = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "applications.argoproj.io" },
    spec: {
      group: "argoproj.io",
      names: { plural: "applications", kind: "Application" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1alpha1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  };
  const application = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: "payment-app", namespace: "argocd" },
    spec: { destination: { server: "https://kubernetes.default.svc", namespace: "payment-app" } },
  };
  const made = (name: string, annotations: object) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, namespace: "payment-app", annotations },
  });
  const inNamespace = ["--namespace", "payment-app"];
  const remove = (...args: string[]) => kubectl(["delete", ...args, "--dry-run=server"]);
  const inFlux = ["--namespace", "flux-system"];
  const argocd = (name = "argocd") => remove("kustomization", name, ...inFlux);
  const [cluster, ofApplications] = instantiated(
    join(repos, "gitops-workloads", "templates", "argocd"),
    { ...app, cluster: "blue", path: "overlays/dev" },
    {},
    (folder) => build(folder),
  ) as [Manifest, Manifest];
  const governance: readonly (readonly string[])[] = [
    ["namespace", "payment-app"],
    ["serviceaccount", "of-the-platform", ...inNamespace],
    ["roles.rbac.authorization.k8s.io", "deployer", ...inNamespace],
    ["rolebinding", "deployer", ...inNamespace],
    ["providerconfigs.aws.m.upbound.io", "aws", ...inNamespace],
  ];

  /** What Argo CD knows of its cluster, with these namespaces. */
  const listed = (namespaces: string) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "cluster-blue",
      namespace: "argocd",
      annotations: { "fleet.internal/argocd-namespaces": namespaces },
    },
  });
  const list = (namespaces: string) =>
    kubectl(["apply", "--server-side", "--dry-run=server", "--filename", "-"], listed(namespaces));

  beforeAll(() => {
    const step = addon.by("tools").filter(({ metadata }) => metadata.name === "argocd");
    const own = addon.by("argocd").filter((object) => object.kind === "Namespace" || isPolicy(object));
    const tracked = { "argocd.argoproj.io/tracking-id": "payment-app:/ServiceAccount:payment-app/of-argocd" };
    client.apply([...step, ...own, cluster, ofApplications, made("of-the-platform", {}), made("of-argocd", tracked)]);
    client.apply([listed("payment-app,search-app")]);
    client.apply(spoke.by("workloads").filter(({ kind }) => kind === "ProviderConfig"));
  });

  test("is in order: what it delivers, what it knows and may do, then Argo CD; whatever is ready", async () => {
    const inTheWay = (name: string) => expect.stringContaining(`Kustomization ${name} still exists`);
    await expect
      .poll(() => argocd("argocd-cluster").text, { timeout: 30_000 })
      .toEqual(inTheWay("argocd-applications"));
    expect(argocd()).toMatchObject({ ok: false });
    expect(kubectl(["delete", "kustomization", "argocd-applications", ...inFlux])).toMatchObject({ ok: true });
    await expect.poll(() => argocd("argocd-cluster").ok, { timeout: 30_000 }).toBe(true);
    expect(argocd().text).toEqual(inTheWay("argocd-cluster"));
  });

  test("waits for no Application where their kinds never came", async () => {
    expect(kubectl(["delete", "kustomization", "argocd-cluster", ...inFlux])).toMatchObject({ ok: true });
    await expect.poll(() => argocd().ok, { timeout: 30_000 }).toBe(true);
    // In nobody's way but the Applications'.
    client.apply([{ ...cluster, spec: { ...cluster.spec, dependsOn: [] } }]);
    expect(argocd("argocd-cluster")).toMatchObject({ ok: true });
    for (const args of governance) expect(remove(...args)).toMatchObject({ ok: true });
    expect(list("search-app")).toMatchObject({ ok: true });
  });

  test("waits for the last Application, and so do the rights and the namespace to which it goes, but not what it made", async () => {
    client.define([applications]);
    client.apply([application]);
    // The API server looks for new kinds every half minute.
    for (const name of ["argocd", "argocd-cluster"])
      await expect
        .poll(() => argocd(name).text, { timeout: 90_000 })
        .toContain(
          `Kustomization ${name} is removed after what Argo CD delivers; Application payment-app still exists`,
        );
    for (const args of governance)
      await expect
        .poll(() => remove(...args).text, { timeout: 90_000 })
        .toContain("is removed after what needs it; Application argocd/payment-app still exists");
    await expect
      .poll(() => list("search-app").text, { timeout: 90_000 })
      .toContain(
        "Secret cluster-blue lists payment-app until Argo CD has removed what it made there; Application payment-app still exists",
      );
    expect(list("payment-app")).toMatchObject({ ok: true });
    expect(remove("serviceaccount", "of-argocd", ...inNamespace)).toMatchObject({ ok: true });
    expect(kubectl(["delete", "application", "payment-app", "--namespace", "argocd"])).toMatchObject({ ok: true });
    for (const name of ["argocd", "argocd-cluster"])
      await expect.poll(() => argocd(name).ok, { timeout: 30_000 }).toBe(true);
    for (const args of governance) await expect.poll(() => remove(...args).ok, { timeout: 30_000 }).toBe(true);
    await expect.poll(() => list("search-app").ok, { timeout: 30_000 }).toBe(true);
  });
});

import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { bridgeKeys } from "../../lib/bridge-keys.ts";
import { spokeIdentities } from "../../lib/spoke.ts";
import { variables } from "./support/flux.ts";
import { build, documents, files, reads } from "./support/kustomize.ts";
import { system as root } from "./support/spoke.ts";

const used = (folder: string): string[] => reads(folder).flatMap((file) => variables(readFileSync(file, "utf8")));

const steps = build(join(root, "clusters", "hub"));
/** The spokes come and go with their folders; the other steps are made of what a kustomization.yaml names. */
const [spokes] = steps.filter(({ metadata }) => metadata.name === "spokes");
const platform = steps.filter((step) => step !== spokes);

describe("clusters/hub, what Flux on the hub applies", () => {
  test("is made of Flux Kustomizations that wait, prune, retry and give up in time", () => {
    expect(steps.length).toBeGreaterThan(0);
    for (const { kind, metadata, spec } of platform) {
      expect(kind).toBe("Kustomization");
      expect(metadata.namespace, metadata.name).toBe("flux-system");
      expect(spec, metadata.name).toMatchObject({
        sourceRef: { kind: "GitRepository", name: "gitops-system" },
        prune: true,
        wait: true,
        interval: expect.stringMatching(/^\d+m$/),
        retryInterval: expect.stringMatching(/^\d+m$/),
        timeout: expect.stringMatching(/^\d+m$/),
      });
    }
  });

  test("every path exists, every dependency is a step, and steps have names of their own", () => {
    const names = steps.map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { metadata, spec } of steps) {
      const content = metadata.name === "spokes" ? spec.path : join(spec.path, "kustomization.yaml");
      expect(existsSync(join(root, content)), `${metadata.name}: ${spec.path}`).toBe(true);
      for (const { name } of spec.dependsOn ?? []) expect(names, metadata.name).toContain(name);
    }
  });

  test("a step substitutes from the cluster secret exactly when its manifests use variables", () => {
    for (const { metadata, spec } of platform) {
      const substitutes = used(join(root, spec.path)).length > 0;
      const from = spec.postBuild?.substituteFrom;
      expect(from, metadata.name).toEqual(
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
        substitutes ? [{ kind: "Secret", name: "cluster-${cluster_name}" }] : undefined,
      );
    }
  });
});

describe("the spokes", () => {
  test("are applied as their folders are, with no list of them to forget", () => {
    expect(spokes?.spec).toMatchObject({ path: "./spokes", prune: true });
    expect(spokes?.spec.postBuild).toBeUndefined();
    expect(existsSync(join(root, "spokes", "kustomization.yaml"))).toBe(false);
  });

  test("hold up no commit while one of them can't come up, and are gone when their removal ends", () => {
    expect(spokes?.spec).toMatchObject({ wait: false, deletionPolicy: "WaitForTermination" });
  });

  test("come after the Spoke API, the charts of the chain and the order of removals", () => {
    const ancestors = (name: string): string[] =>
      (steps.find(({ metadata }) => metadata.name === name)?.spec.dependsOn ?? []).flatMap(
        (dependency: { name: string }) => [dependency.name, ...ancestors(dependency.name)],
      );
    expect(ancestors("spokes")).toEqual(
      expect.arrayContaining(["platform-api", "platform-charts", "platform-deletion-order", "crossplane-packages"]),
    );
  });
});

describe("the repository as a whole", () => {
  test("uses only variables of the bridge contract, and versions of tools", () => {
    const identities = Object.keys(spokeIdentities).flatMap((addon) =>
      ["iam_role_arn", "namespace", "service_account"].map((key) => `${addon}_${key}`),
    );
    const versions = build(join(root, "tools", "dev")).flatMap(({ spec }) =>
      Object.keys(spec.postBuild?.substitute ?? {}),
    );
    const known = new Set([...Object.keys(bridgeKeys), ...identities, ...versions]);
    for (const file of files(root))
      for (const name of variables(readFileSync(file, "utf8"))) expect(known, relative(root, file)).toContain(name);
  });

  test("values that look like numbers are quoted in the way that survives the substitution", () => {
    const looksNumeric = /^\s*\S+: ["']?\$\{(aws_account_id|kubernetes_version)\}/m;
    for (const file of files(root)) expect(readFileSync(file, "utf8"), relative(root, file)).not.toMatch(looksNumeric);
  });

  test("every manifest is reached by a kustomization.yaml", () => {
    const chain = ["spoke-bootstrap", "spoke-bootstrap/sealing-keys/dev", "spoke-bootstrap/sealing-keys/prod"];
    const content = ["base", "external-secrets", "flux", "sealed-secrets", "sync", "tools", "workloads"];
    const tools = ["dev", "prod", "dev/metrics_server", "prod/metrics_server", "base/crossplane"];
    const folders = [
      ...["clusters/hub", ...chain, ...content.map((name) => `spoke-bootstrap/${name}`)],
      ...[...tools, "base/crossplane-packages", "base/addons/metrics_server/release"].map((name) => `tools/${name}`),
      ...platform.map(({ spec }) => spec.path as string),
    ].map((folder) => join(root, folder));
    const reached = new Set(folders.flatMap(reads));
    const manifests = files(root).filter((file) => !relative(root, file).startsWith("templates/"));
    expect(manifests.filter((file) => !reached.has(file)).map((file) => relative(root, file))).toEqual([]);
  });

  test("holds no Secret", () => {
    expect(
      files(root)
        .flatMap(documents)
        .filter(({ kind }) => kind === "Secret"),
    ).toEqual([]);
  });

  test("the namespace of the spokes runs no privileged pod and outlives a file removed by mistake", () => {
    const [namespace] = documents(join(root, "platform", "namespaces", "spokes.yaml"));
    expect(namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"]).toBe("restricted");
    expect(namespace?.metadata.annotations?.["kustomize.toolkit.fluxcd.io/prune"]).toBe("disabled");
  });
});

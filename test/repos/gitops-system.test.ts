import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { bridgeKeys } from "../../lib/bridge.ts";

const root = join(import.meta.dirname, "..", "..", "repos", "gitops-system");

interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    path: string;
    dependsOn?: { name: string }[];
    postBuild?: {
      substitute?: Record<string, string>;
      substituteFrom: { kind: string; name: string; optional?: boolean }[];
    };
    [field: string]: unknown;
  };
}

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && file.endsWith(".yaml"));

/** The files that `kustomize build` of a folder reads, from its kustomization.yaml. */
const built = (folder: string): string[] =>
  (parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).resources as string[]).map((name) =>
    join(folder, name),
  );

const documents = (file: string) =>
  parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);

const variables = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(/(?<!\$)\$\{([^}:]+)[^}]*\}/g)].map(([, name]) => name as string);

const steps = built(join(root, "clusters", "hub")).flatMap(documents);

describe("clusters/hub, what Flux on the hub applies", () => {
  test("is made of Flux Kustomizations that wait, prune, retry and give up in time", () => {
    expect(steps.length).toBeGreaterThan(0);
    for (const { kind, metadata, spec } of steps) {
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
      expect(existsSync(join(root, spec.path, "kustomization.yaml")), `${metadata.name}: ${spec.path}`).toBe(true);
      for (const { name } of spec.dependsOn ?? []) expect(names, metadata.name).toContain(name);
    }
  });

  test("a step substitutes from the cluster secret exactly when its manifests use variables", () => {
    for (const { metadata, spec } of steps) {
      const used = built(join(root, spec.path)).flatMap(variables).length > 0;
      const from = spec.postBuild?.substituteFrom;
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
      expect(from, metadata.name).toEqual(used ? [{ kind: "Secret", name: "cluster-${cluster_name}" }] : undefined);
    }
  });
});

describe("the repository as a whole", () => {
  test("uses only variables of the bridge contract", () => {
    for (const file of files(root))
      for (const name of variables(file)) expect(Object.keys(bridgeKeys), relative(root, file)).toContain(name);
  });

  test("values that look like numbers are quoted in the way that survives the substitution", () => {
    const looksNumeric = /^\s*\S+: ["']?\$\{(aws_account_id|kubernetes_version)\}/m;
    for (const file of files(root)) expect(readFileSync(file, "utf8"), relative(root, file)).not.toMatch(looksNumeric);
  });

  test("every manifest is reached by a kustomization.yaml", () => {
    // The hub applies the Spoke API once it has Crossplane's packages.
    const ahead = join(root, "platform", "api");
    const folders = [join(root, "clusters", "hub"), ahead, ...steps.map(({ spec }) => join(root, spec.path))];
    const reached = new Set(folders.flatMap((folder) => [join(folder, "kustomization.yaml"), ...built(folder)]));
    expect(files(root).filter((file) => !reached.has(file))).toEqual([]);
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

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { spokeSync } from "../../lib/layout.ts";
import { build, documents, type Manifest } from "./support/kustomize.ts";
import { system as root } from "./support/spoke.ts";

const applied = build(join(root, "platform", "hub"));
const steps = applied.filter(({ kind }) => kind === "Kustomization");
const named = (name: string) => steps.find(({ metadata }) => metadata.name === name);
/** The spokes come and go with their folders; the other steps are made of what a kustomization.yaml names. */
const spokes = named("each-spoke");
const platform = steps.filter((step) => step !== spokes);
const generators = applied.filter(({ kind }) => kind === "ArtifactGenerator");
const [sync] = documents(join(root, "templates", "spoke", "flux", "sync.yaml"));

describe("platform/hub, what Flux on the hub applies", () => {
  test("is made of Flux Kustomizations that wait, prune, retry and give up in time", () => {
    expect(steps.length).toBeGreaterThan(0);
    expect(applied.length).toBe(steps.length + generators.length);
    for (const { metadata, spec } of platform) {
      expect(metadata.namespace, metadata.name).toBe("flux-system");
      expect(spec, metadata.name).toMatchObject({
        // One source for all: only then Flux orders the steps within a commit (kustomize-controller, checkDependencies).
        sourceRef: { kind: "ExternalArtifact", name: "platform" },
        prune: true,
        wait: true,
        interval: expect.stringMatching(/^\d+m$/),
        retryInterval: expect.stringMatching(/^\d+m$/),
        timeout: expect.stringMatching(/^\d+m$/),
      });
    }
  });

  test("has every step's folder in the artifact that the step takes", () => {
    const artifacts = generators.flatMap(({ spec }) => spec.artifacts);
    const names = artifacts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { spec } of [...platform, spokes as Manifest]) {
      const artifact = artifacts.find(({ name }) => name === spec.sourceRef.name);
      const folders = artifact?.copy.map(({ from }: { from: string }) => from.replace(/^@system/, "."));
      expect(
        folders?.some((folder: string) => `${spec.path}/`.startsWith(folder)),
        spec.path,
      ).toBe(true);
    }
  });

  test("tells with every artifact of which commit it is, and has the digest of its content for a revision", () => {
    for (const { metadata, spec } of generators)
      for (const artifact of spec.artifacts) {
        expect(artifact.originRevision, `${metadata.name} ${artifact.name}`).toBe(`@${spec.sources[0].alias}`);
        expect(artifact.revision).toBeUndefined();
      }
  });
});

describe("the spokes", () => {
  test("are applied as their folders are, with no list of them to forget", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
    expect(spokes?.spec).toMatchObject({ path: "./spokes/${fleet}", prune: true });
    expect(spokes?.spec.postBuild).toBeUndefined();
    expect(existsSync(join(root, "spokes", "kustomization.yaml"))).toBe(false);
  });

  test("have a Kustomization each, which takes its own folder and is there until everything of the spoke is gone", () => {
    expect(sync).toMatchObject({
      metadata: { name: "spoke-__name__", namespace: "flux-system" },
      spec: {
        sourceRef: { kind: "ExternalArtifact", name: "spoke-__name__" },
        path: "./spokes/__fleet__/__name__",
        wait: false,
        prune: true,
        deletionPolicy: "WaitForTermination",
      },
    });
    const hours = /^(\d+)h$/.exec(sync?.spec.timeout)?.[1];
    expect(Number(hours)).toBeGreaterThanOrEqual(24);
    expect(sync?.metadata.name.replace("__name__", "blue")).toBe(spokeSync("blue"));
  });

  test("hold up no commit while one of them can't come up, and are gone when their removal ends", () => {
    expect(spokes?.spec).toMatchObject({ wait: false });
    expect(sync?.spec).toMatchObject({ wait: false, deletionPolicy: "WaitForTermination" });
  });

  test("stay when what applies their Kustomizations goes, as by a revert", () => {
    expect(spokes?.spec).toMatchObject({ prune: true, deletionPolicy: "Orphan" });
    const pattern = generators.find(({ metadata }) => metadata.name === "each-spoke")?.spec.pathPattern;
    // The folder counts, not its Kustomization: platform/api/protection.yaml.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
    expect(pattern).toBe("@spokes/spokes/${fleet}/{spoke}");
  });

  test("come after the Spoke API, the charts of the chain and the order of removals", () => {
    const ancestors = (name: string): string[] =>
      (steps.find(({ metadata }) => metadata.name === name)?.spec.dependsOn ?? []).flatMap(
        (dependency: { name: string }) => [dependency.name, ...ancestors(dependency.name)],
      );
    expect(ancestors("each-spoke")).toEqual(
      expect.arrayContaining(["platform-api", "platform-charts", "platform-deletion-order", "crossplane-packages"]),
    );
  });
});

describe("platform/namespaces", () => {
  test("the namespace of the spokes runs no privileged pod and outlives a file removed by mistake", () => {
    const [namespace] = documents(join(root, "platform", "namespaces", "spokes.yaml"));
    expect(namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"]).toBe("restricted");
    expect(namespace?.metadata.annotations?.["kustomize.toolkit.fluxcd.io/prune"]).toBe("disabled");
  });
});

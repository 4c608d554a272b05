import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { build, documents } from "./support/kustomize.ts";
import { system as root } from "./support/spoke.ts";

const steps = build(join(root, "platform", "hub"));
/** The spokes come and go with their folders; the other steps are made of what a kustomization.yaml names. */
const [spokes] = steps.filter(({ metadata }) => metadata.name === "spokes");
const platform = steps.filter((step) => step !== spokes);

describe("platform/hub, what Flux on the hub applies", () => {
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
});

describe("the spokes", () => {
  test("are applied as their folders are, with no list of them to forget", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
    expect(spokes?.spec).toMatchObject({ path: "./spokes/${fleet}", prune: true });
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

describe("platform/namespaces", () => {
  test("the namespace of the spokes runs no privileged pod and outlives a file removed by mistake", () => {
    const [namespace] = documents(join(root, "platform", "namespaces", "spokes.yaml"));
    expect(namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"]).toBe("restricted");
    expect(namespace?.metadata.annotations?.["kustomize.toolkit.fluxcd.io/prune"]).toBe("disabled");
  });
});

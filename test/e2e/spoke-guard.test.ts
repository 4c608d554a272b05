import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, kubectl, tryKubectl } from "./support/fleet.ts";

/** Deletes nothing: a dry run on the server passes admission like a real request. */
const deleteRoot = (name = "hub") =>
  tryKubectl(["delete", "kustomization", name, "--namespace", "flux-system", "--dry-run=server"]);

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "spokes.fleet.internal" },
  spec: {
    group: "fleet.internal",
    scope: "Namespaced",
    names: { kind: "Spoke", plural: "spokes" },
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

const spoke = { apiVersion: "fleet.internal/v1alpha1", kind: "Spoke", metadata: { name: "blue", namespace: "spokes" } };

const apply = (object: object) => kubectl(["apply", "--filename", "-"], { input: JSON.stringify(object) });

describe("the guard of the hub's root Kustomization", () => {
  beforeAll(async () => {
    expect(
      (await tryKubectl(["get", "crd", definition.metadata.name])).code,
      "the Spoke API is not installed yet",
    ).not.toBe(0);
  });
  afterAll(async () => {
    await kubectl(["delete", "crd", definition.metadata.name, "--ignore-not-found"]);
  });

  test("lets the root go before the Spoke API is installed, and while there is no Spoke", async () => {
    expect((await deleteRoot()).code).toBe(0);
    await apply(definition);
    await kubectl(["wait", "crd", definition.metadata.name, "--for=condition=Established", "--timeout=60s"]);
    expect((await deleteRoot()).code).toBe(0);
  });

  test("refuses it while a Spoke exists, names the spoke and says what to do", async () => {
    await apply(spoke);
    await eventually(60, async () => {
      const { stderr } = await deleteRoot();
      expect(stderr).toContain("the hub still runs spoke blue; remove spokes through Git first");
    });
    expect((await deleteRoot("cluster-info")).code, "other Kustomizations are not guarded").toBe(0);
  });

  test("lets it go again when the last Spoke is gone", async () => {
    await kubectl(["delete", "spoke", spoke.metadata.name, "--namespace", spoke.metadata.namespace]);
    await eventually(60, async () => expect((await deleteRoot()).code).toBe(0));
  });
});

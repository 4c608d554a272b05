import { join } from "node:path";
import { startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { customResourceDefinition } from "../functions/spoke/support/definition.ts";
import { build } from "../repos/support/kustomize.ts";
import { repos } from "../repos/support/spoke.ts";
import { eventually } from "../support/process.ts";
import {
  anotherCluster,
  definitionsOfClusters,
  inClusters,
  kindsOfCluster,
  madeByClusterApi,
  partsOf,
  releaseOf,
  spokeOf,
  stepOf,
} from "./support/cluster-api-guard.ts";
import { definitionsOf, kubectlOf, type Said } from "./support/kubectl.ts";

/** What keeps a cluster of Cluster API while its Spoke is there, by requests to a real API server without nodes. */

let plane: Awaited<ReturnType<typeof startControlPlane>>;
let client: ReturnType<typeof kubectlOf>;

/** As Cluster API's own, as far as admission looks at them. */
const definition = (group: string, kind: string) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { plural, kind },
      scope: "Namespaced",
      versions: [{ name: "v1beta2", served: true, storage: true, schema }],
    },
  };
};

const remove = (kind: string, name: string, namespace?: string): Said =>
  client.run([
    "delete",
    kind,
    name,
    "--dry-run=server",
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
  ]);
const change = (name: string, spec: object): Said =>
  client.run([
    ...["patch", "helmrelease", `cluster-${name}`, "--namespace", "flux-system", "--dry-run=server", "--type=merge"],
    ...["--patch", JSON.stringify({ spec })],
  ]);
/** What makes up the cluster of a spoke, and removes it when it goes. */
const everythingOf = (name: string): readonly (readonly [string, string, string])[] => [
  ["helmrelease", `cluster-${name}`, "flux-system"],
  ["kustomization", `cluster-${name}`, "flux-system"],
  ["clusters.cluster.x-k8s.io", `fleet-spoke-${name}`, inClusters],
  ["awsmanagedcontrolplanes", `fleet-spoke-${name}`, inClusters],
  ["awsmanagedclusters", `fleet-spoke-${name}`, inClusters],
];

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  client.define([
    ...definitionsOf("github.com/fluxcd/kustomize-controller"),
    ...definitionsOf("github.com/fluxcd/helm-controller"),
    customResourceDefinition(),
    ...kindsOfCluster.map(([group, kind]) => definition(group, kind)),
  ]);
  const clusters = build(join(repos, "gitops-system", "platform", "hub", "cluster-api", "clusters"));
  const namespaces = ["spokes", "flux-system", "capi-system", "capa-system"].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  client.apply(namespaces);
  client.apply(clusters);
  client.apply([
    ...["blue", "green"].flatMap((name) => [releaseOf(name), stepOf(`cluster-${name}`), ...partsOf(name)]),
    releaseOf("podinfo", "podinfo"),
    stepOf("tools"),
    spokeOf("blue", madeByClusterApi),
    // Of this name Crossplane made one: what is called alike in Cluster API's namespace is nothing of it.
    spokeOf("green"),
  ]);
  // The API server takes a moment to put new policies into force, and to find new kinds.
  await eventually(90, async () => expect(remove("helmrelease", "cluster-blue", "flux-system").ok).toBe(false));
});
afterAll(() => plane?.stop());

describe("the cluster of a Spoke that Cluster API made", () => {
  test.each(everythingOf("blue"))("stays while the Spoke is there: %s", (kind, name, namespace) => {
    const { ok, text } = remove(kind, name, namespace);
    expect(ok).toBe(false);
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      `${name} belongs to the cluster of Spoke blue, which still exists; got a request to delete it: remove the whole folder of the spoke`,
    );
  });

  test("keeps the namespace in which Cluster API has it", () => {
    expect(remove("namespace", inClusters).text).toContain("belongs to the cluster of Spoke blue");
    expect(remove("namespace", "default").text).not.toContain("cluster-api-guard");
  });

  test("keeps the definitions of the kinds that it is made of", () => {
    for (const name of definitionsOfClusters)
      expect(remove("crd", name).text, name).toContain("belongs to the cluster of Spoke blue");
    expect(remove("crd", "awsmanagedmachinepools.infrastructure.cluster.x-k8s.io")).toMatchObject({ ok: true });
  });

  test.each(anotherCluster)("is not changed into another one: %s", (_what, spec) => {
    expect(change("blue", spec)).toMatchObject({ ok: false });
    expect(change("blue", spec).text).toContain("got a change that makes it another cluster");
  });

  test("is scaled and upgraded, and its machine pools go", () => {
    expect(change("blue", { values: { machinePools: { nodes: { desired: 2 } } } })).toMatchObject({ ok: true });
    expect(change("blue", { values: { cluster: { environment: "prod" } } })).toMatchObject({ ok: true });
    expect(change("blue", { suspend: true })).toMatchObject({ ok: true });
    expect(remove("awsmanagedmachinepools", "fleet-spoke-blue", inClusters)).toMatchObject({ ok: true });
  });
});

describe("what is nobody's cluster", () => {
  test.each(everythingOf("green"))("goes when it is asked to, without a Spoke that Cluster API made: %s", (...args) => {
    expect(remove(...args)).toMatchObject({ ok: true });
  });

  test("is none of the policy's business", () => {
    expect(remove("helmrelease", "cluster-podinfo", "flux-system")).toMatchObject({ ok: true });
    expect(remove("kustomization", "tools", "flux-system")).toMatchObject({ ok: true });
  });
});

describe("when the Spoke has gone", () => {
  test("everything of its cluster goes, and the namespace and the definitions with the feature", async () => {
    expect(client.run(["delete", "spoke", "blue", "--namespace", "spokes"])).toMatchObject({ ok: true });
    for (const args of everythingOf("blue"))
      await expect.poll(() => remove(...args), { timeout: 30_000 }).toMatchObject({ ok: true });
    for (const name of definitionsOfClusters) expect(remove("crd", name), name).toMatchObject({ ok: true });
    expect(remove("namespace", inClusters)).toMatchObject({ ok: true });
  });

  test("nothing is in the way on a hub whose API of Spokes has gone", async () => {
    expect(client.run(["delete", "crd", "spokes.fleet.internal"])).toMatchObject({ ok: true });
    await expect.poll(() => everythingOf("blue").every((args) => remove(...args).ok), { timeout: 90_000 }).toBe(true);
    expect(client.run(["delete", "helmrelease", "cluster-blue", "--namespace", "flux-system"])).toMatchObject({
      ok: true,
    });
  });
});

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hubKeys, readHubFacts } from "../../functions/spoke/inventory/cluster.ts";
import { statusKeys } from "../../functions/spoke/inventory/profile.ts";
import { functionPackage, INVENTORY_PROGRAM } from "../../functions/spoke/package/function.ts";
import { NODE } from "../../functions/spoke/package/runtime.ts";
import { bridgeData } from "../../lib/bridge.ts";
import { namespaces } from "../../lib/names.ts";
import { credentialVariables } from "../../lib/registries.ts";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { substituted } from "./support/flux.ts";
import { build, generated, type Manifest } from "./support/kustomize.ts";
import { mirror, mirrored } from "./support/mirrors.ts";
import { credentials, system } from "./support/spoke.ts";

/** What a hub gets that names platform/hub/cluster-inventory. */

const folder = join(system, "platform/hub/cluster-inventory");
const onHub = (metadata = hub) =>
  build(join(folder, "release")).map((manifest) =>
    substituted(manifest, { ...bridgeData(metadata), ...credentialVariables(credentials) }),
  );
const objects = onHub();
const find = (all: readonly Manifest[], kind: string, namespace = "cluster-inventory"): Manifest => {
  const found = all.find((object) => object.kind === kind && object.metadata.namespace === namespace);
  if (found === undefined) throw new Error(`no ${kind} in ${namespace}`);
  return found;
};
const podOf = (all: readonly Manifest[]) => find(all, "Deployment").spec.template.spec;
const [container] = podOf(objects).containers;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
const rulesOf = (namespace: string) =>
  (find(objects, "Role", namespace) as unknown as { readonly rules: readonly Rule[] }).rules;

describe("the cluster inventory", () => {
  test("runs the program of the composition function's image, of the same version as the function", () => {
    expect(container.image).toBe(`${hub.functionPackage}:${functionPackage.version}`);
    const functionDigest = `@sha256:${"1".repeat(64)}`;
    const [pinned] = podOf(onHub({ ...hub, functionDigest })).containers;
    expect(pinned.image).toBe(`${hub.functionPackage}:${functionPackage.version}${functionDigest}`);
    expect(container.command).toEqual([NODE, INVENTORY_PROGRAM]);
    expect(Object.keys(functionPackage.programs ?? {})).toEqual([INVENTORY_PROGRAM]);
  });

  test("tells the program the facts of the hub that it asks for, as text and no others", () => {
    const environment = container.env as { readonly name: string; readonly value: unknown }[];
    expect(environment.map(({ name }) => name)).toEqual([...hubKeys]);
    const values = Object.fromEntries(environment.map(({ name, value }) => [name, value as string]));
    expect(readHubFacts(values)).toEqual(readHubFacts(bridgeData(hub)));
    // Names may look like a number or like a truth value.
    const [other] = podOf(onHub({ ...hub, environment: "on", tenant: "123" })).containers;
    for (const { name, value } of other.env) expect(typeof value, name).toBe("string");
  });

  test("may list Spokes and keep profiles, and nothing else", () => {
    const profiles = { apiGroups: ["multicluster.x-k8s.io"] };
    expect(rulesOf("cluster-inventory")).toEqual([
      { ...profiles, resources: ["clusterprofiles"], verbs: ["list", "create", "patch", "delete"] },
      { ...profiles, resources: ["clusterprofiles/status"], verbs: ["patch"] },
    ]);
    expect(rulesOf(namespaces.spokes)).toEqual([
      { apiGroups: ["fleet.internal"], resources: ["spokes"], verbs: ["list"] },
    ]);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith("ClusterRole"))).toEqual([]);
    const account = { kind: "ServiceAccount", name: podOf(objects).serviceAccountName, namespace: "cluster-inventory" };
    for (const binding of objects.filter(({ kind }) => kind === "RoleBinding"))
      expect(binding["subjects"]).toEqual([account]);
    const [own] = objects.filter(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === account.name);
    expect(own).toBeDefined();
    expect(own?.metadata["annotations"]).toBeUndefined();
  });

  test("knows all fields of a status: what others write into any of them is taken back", () => {
    const [definition] = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    const { status } = definition?.spec.versions[0].schema.openAPIV3Schema.properties ?? {};
    expect(Object.keys(status.properties).sort()).toEqual([...statusKeys].sort());
  });

  test("runs under the restricted Pod Security Standard", () => {
    const [namespace] = objects.filter(({ kind }) => kind === "Namespace");
    expect(namespace?.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    expect(podOf(objects).securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("is not ready, nor its Deployment available, while the program says that it can't do its work", () => {
    const { port } = container.readinessProbe.httpGet;
    expect(container.ports.map(({ name }: { readonly name: string }) => name)).toEqual([port]);
  });

  test("takes its image from where the fleet has the function, with the fleet's pull secret", () => {
    const behind = onHub(mirrored);
    expect(podOf(behind).containers[0].image).toMatch(new RegExp(`^${mirror}/`));
    expect(podOf(behind).imagePullSecrets).toEqual([{ name: find(behind, "Secret").metadata.name }]);
  });

  test("goes with its Kustomization, definition and namespace included", () => {
    const [step] = build(folder).filter(({ kind }) => kind === "Kustomization");
    expect(step?.spec).toMatchObject({ prune: true, wait: true, deletionPolicy: "WaitForTermination" });
    const kept = objects.filter(({ metadata }) => JSON.stringify(metadata["annotations"] ?? {}).includes("prune"));
    // Kubernetes creates it again.
    expect(kept.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["ServiceAccount default"]);
  });

  test("is not on a hub that does not name it", () => {
    const plain = generated(join(system, "platform/hub")).map(({ metadata }) => metadata.name);
    expect(plain).toContain("platform-api");
    expect(plain.filter((name) => name.includes("inventory"))).toEqual([]);
  });
});

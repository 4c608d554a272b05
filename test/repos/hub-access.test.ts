import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accessStepId } from "../../functions/spoke/hub-access.ts";
import { registrySecrets } from "../../lib/registries.ts";
import { hubGroups } from "../../lib/spoke.ts";
import { example } from "../functions/spoke/support/fixtures.ts";
import { namespacedRolesFor, rightsFile } from "./support/hub-rights.ts";
import type { Manifest } from "./support/kustomize.ts";
import { called, render, system, withAddons } from "./support/spoke.ts";

const header = `# What kustomize-controller of the hub may do on a spoke: apply the objects of the chain, by name; remove none but sealed
# secrets and the sealing keys of retired generations; read no Secret but those that it brings.
# Generated from the chain by test/repos/hub-access.test.ts: npm run generate.
`;
const headerOfAutoMode = `# What kustomize-controller of the hub may do besides on a spoke with EKS Auto Mode.
# Generated from the chain by test/repos/hub-access.test.ts: npm run generate.
`;
const generated = "kustomize-controller.yaml";

const chains = [
  render(example("minimal")),
  render(called(example("minimal"), "github")),
  render(withAddons("production", [])),
];
const [chain] = chains as [(typeof chains)[number]];
const spoke = chain.spoke.metadata.name;

const isOwn = ({ metadata }: Manifest) => metadata.name === "hub-kustomize-controller.fleet.internal";
const idOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

/** What the hub's steps apply to the spokes. */
const applied = chains.flatMap(({ steps, by }) =>
  steps.filter(({ spec }) => spec.kubeConfig).flatMap(({ metadata }) => by(metadata.name)),
);
/** What they apply to a spoke with EKS Auto Mode and to no other. */
const ofAutoMode = (() => {
  const { steps, by } = render(example("auto"));
  const everywhere = new Set(applied.map(idOf));
  return steps
    .filter(({ spec }) => spec.kubeConfig)
    .flatMap(({ metadata }) => by(metadata.name))
    .filter((object) => !everywhere.has(idOf(object)) && !isOwn(object));
})();
const rights = chain.by(`${spoke}-access`);
const granted = rights.flatMap((role) => (role as unknown as { rules?: Record<string, string[]>[] }).rules ?? []);

describe("Flux on the hub", () => {
  test("may apply to a spoke exactly the objects of the chain", async () => {
    const others = applied.filter((object) => !isOwn(object));
    await expect(rightsFile(others, header)).toMatchFileSnapshot(
      join(system, "spoke-bootstrap/access", generated),
      "npm run generate",
    );
  });

  test("may apply to a spoke with EKS Auto Mode what only such a spoke has, and may do so on no other", async () => {
    expect(ofAutoMode.map(idOf)).toEqual(["ConfigMap kube-system/amazon-vpc-cni"]);
    await expect(rightsFile(ofAutoMode, headerOfAutoMode, namespacedRolesFor(ofAutoMode))).toMatchFileSnapshot(
      join(system, "spoke-bootstrap/access/auto-mode", generated),
      "npm run generate",
    );
    expect(applied.filter(({ metadata }) => metadata.namespace === "kube-system")).toEqual([]);
  });

  test("reads Secrets of a spoke only where Helm keeps its releases, where there is nothing else, and those that it brings", () => {
    const reading = granted.filter(({ resources }) => resources?.includes("secrets"));
    expect(reading.filter(({ resourceNames }) => resourceNames === undefined)).toEqual([
      { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] },
    ]);
    const brought = reading.flatMap(({ resourceNames }) => resourceNames ?? []);
    expect([...new Set(brought)].sort()).toEqual(Object.values(registrySecrets).sort());
    const listing = rights.filter((role) => JSON.stringify(role).includes('"secrets"],"verbs":["get","list"]'));
    expect(listing).toEqual([
      expect.objectContaining({
        kind: "Role",
        metadata: { name: "hub-helm-controller.fleet.internal", namespace: "fleet-releases" },
        rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }],
      }),
    ]);
    const releases = chain.applied.flatMap(({ on, objects }) =>
      on === "hub" ? objects.filter(({ kind }) => kind === "HelmRelease") : [],
    );
    expect(releases.length).toBeGreaterThan(0);
    for (const { metadata, spec } of releases) expect(spec.storageNamespace, metadata.name).toBe("fleet-releases");
    const there = chain.applied.flatMap(({ objects }) =>
      objects.filter(({ metadata, spec }) => [metadata.namespace, spec?.targetNamespace].includes("fleet-releases")),
    );
    expect([...new Set(there.map(({ kind }) => kind))].sort()).toEqual([
      "NetworkPolicy",
      "Role",
      "RoleBinding",
      "ServiceAccount",
    ]);
  });

  test("may grant no rights, run nothing on a spoke and remove nothing but what is sealed, the keys of retired generations and the default StorageClass", () => {
    expect(granted.length).toBeGreaterThan(0);
    const removing = granted.filter(({ verbs }) => verbs?.includes("delete"));
    expect(removing.flatMap(({ resources }) => resources).sort()).toEqual([
      "externalsecrets",
      "sealedsecrets",
      "storageclasses",
    ]);
    const others = granted.filter((rule) => !removing.includes(rule));
    expect([...new Set(others.flatMap(({ verbs = [] }) => verbs))].sort()).toEqual(["create", "get", "list", "patch"]);
    const named = granted.flatMap(({ resources = [], resourceNames }) => (resourceNames ? [] : resources));
    expect(named.sort()).toEqual([
      ...["externalsecrets", "kustomizations", "persistentvolumes", "sealedsecrets", "secrets"],
    ]);
    expect(granted.flatMap(({ apiGroups = [], resources = [] }) => [...apiGroups, ...resources])).not.toContain("*");
  });

  test("gets these rights through the groups that its access entries hand over, and through nothing else", () => {
    const subjects = rights.flatMap((binding) => (binding as unknown as { subjects?: object[] }).subjects ?? []);
    expect(new Set(subjects.map((subject) => JSON.stringify(subject)))).toEqual(
      new Set(
        Object.values(hubGroups).map((name) =>
          JSON.stringify({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name }),
        ),
      ),
    );
  });

  test("is held to them by a step of the chain that the Spoke knows of", () => {
    const step = chain.steps.find(({ spec }) => spec.path === "./spoke-bootstrap/access") as Manifest;
    const { namespace = "", name } = step.metadata;
    // As kustomize-controller writes it into status.inventory: namespace, name, group and kind.
    expect(accessStepId(spoke, namespace)).toBe(`${namespace}_${name}_${step.apiVersion.split("/")[0]}_${step.kind}`);
  });
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { foldersIn } from "../../cli/fleet/folders.ts";
import { isPlatformNamespace, namespaces, platformNamespaces } from "../../lib/names.ts";
import { workloadsAccount } from "../envtest/support/workloads-scope.ts";
import { refusal } from "./support/admission.ts";
import type { Manifest } from "./support/kustomize.ts";
import { app, render, system, withAddons } from "./support/spoke.ts";

test("the platform's namespaces, which no application and no team gets, are those that gitops-system makes on a spoke", () => {
  const addons = foldersIn(join(system, "tools", "base", "addons"));
  expect(addons.length).toBeGreaterThan(3);
  const spoke = render(withAddons("minimal", addons));
  const made = spoke.applied
    .filter(({ on }) => on === "spoke")
    .flatMap(({ objects }) => objects)
    .filter(({ kind }) => kind === "Namespace")
    .map(({ metadata }) => metadata.name);
  expect(made.filter((name) => !isPlatformNamespace(name))).toEqual([app.app]);
  // Kubernetes makes default, and spokes is the hub's.
  const others = ["default", namespaces.spokes];
  expect(platformNamespaces.filter((name) => !made.includes(name)).sort()).toEqual(others);
});

test("gitops-workloads creates none of the platform's namespaces", () => {
  const policy = render(withAddons("minimal", []))
    .by("tools")
    .find(({ kind, metadata }) => kind === "ValidatingAdmissionPolicy" && metadata.name === "workloads.fleet.internal");
  const labels = { "fleet.internal/tenant": "payments", "pod-security.kubernetes.io/enforce": "restricted" };
  const passes = (name: string) => {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    return refusal(policy as Manifest, { object, by: workloadsAccount }) === undefined;
  };
  expect([...platformNamespaces, "kube-system"].filter(passes)).toEqual([]);
  expect(passes(app.app)).toBe(true);
});

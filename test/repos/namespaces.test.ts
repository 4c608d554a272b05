import { join } from "node:path";
import { expect, test } from "vitest";
import { foldersIn } from "../../cli/fleet/folders.ts";
import { isPlatformNamespace, namespaces, platformNamespaces } from "../../lib/names.ts";
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

import { expect, test } from "vitest";
import { settlingCommands } from "../../../cli/interrupted-releases.ts";

const urn = (name: string) => `urn:pulumi:local::eks-gitops-fleet::kubernetes:helm.sh/v3:Release::${name}-release`;
const operation = (type: string, name: string, namespace = name) => ({
  type,
  resource: { urn: urn(name), inputs: { name, namespace } },
});

test("releases that an interrupted update was installing are uninstalled, those that it was changing rolled back", () => {
  const left = {
    pending_operations: [operation("creating", "flux", "flux-system"), operation("updating", "crossplane")],
  };
  const pending = [
    { name: "flux", namespace: "flux-system" },
    { name: "crossplane", namespace: "crossplane" },
    // By Flux on the hub.
    { name: "argocd", namespace: "argocd" },
  ];
  expect(settlingCommands(left, pending).map((words) => words.join(" "))).toEqual([
    "uninstall flux -n flux-system --ignore-not-found --wait",
    "rollback crossplane -n crossplane",
  ]);
});

test("a release that is in the state stays, also where an older interruption is still recorded, and other kinds are left alone", () => {
  const secret = {
    type: "creating",
    resource: { urn: "urn:pulumi:local::p::kubernetes:core/v1:Secret::s", inputs: {} },
  };
  const left = { resources: [{ urn: urn("flux") }], pending_operations: [operation("creating", "flux"), secret] };
  expect(settlingCommands(left, [])).toEqual([]);
  expect(settlingCommands({}, [])).toEqual([]);
});

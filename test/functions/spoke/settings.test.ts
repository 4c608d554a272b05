import { expect, test } from "vitest";
import { readSettings } from "../../../functions/spoke/settings.ts";

const input = {
  apiVersion: "fleet.internal/v1alpha1",
  kind: "SpokeSettings",
  kubeConfig: "configMap",
  kubernetesVersions: { "1.36": {} },
};

test.each([
  ["left out", {}],
  ["empty", { stages: {} }],
  ["null, as the API server keeps them when the last one is taken away", { stages: null }],
])("stages can be %s", (_how, stages) => expect(readSettings({ ...input, ...stages }).stages).toEqual({}));

test("a member that stages don't have is refused by name", () => {
  expect(() => readSettings({ ...input, stages: { prod: { branch: "prod" } } })).toThrow(/stages\.prod: .*branch/);
});

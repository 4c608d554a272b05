/**
 * The fields of the program's Kubernetes objects. Pulumi's provider has the API server drop what it doesn't know, in silence
 * (pulumi-kubernetes, await.go: FieldValidationWarn; provider.go: rest.NoWarnings), so a misspelt field is found here or nowhere.
 */
import { definingModules, definitionFolder } from "@eks-gitops-fleet/local/toolchain";
import { expect, test } from "vitest";
import { Definitions } from "../../cli/check/definitions.ts";
import type { Manifest } from "../../cli/render/files.ts";
import { project, runStack } from "../support/program.ts";
import { sshKey } from "../support/signers.ts";

const definitions = new Definitions(definingModules.map(definitionFolder));

const signers = { "bob.sshpub": sshKey };
/** What makes objects of further kinds. */
const features = {
  gitVerification: JSON.stringify({ "gitops-system": signers, "gitops-workloads": signers }),
  notifications: JSON.stringify([{ name: "platform-team", type: "slack" }]),
  notificationSecrets: JSON.stringify({ "platform-team": { address: "https://hooks.slack.com/services/T0/B0/x" } }),
};
const withFeatures = Object.fromEntries(Object.entries(features).map(([key, value]) => [`${project}:${key}`, value]));

test.each([
  ["dev", "", {}],
  ["dev", " with signers and notifications", withFeatures],
  ["prod", "", {}],
])("the API server knows every field of the objects of %s%s", async (stack, _features, changes) => {
  const { resources } = await runStack(stack, changes, [`${project}:notificationSecrets`]);
  const objects = resources
    .filter(({ type }) => type.startsWith("kubernetes:") && !type.startsWith("kubernetes:helm.sh/"))
    .map(({ inputs }) => inputs as unknown as Manifest);
  expect(objects.length).toBeGreaterThan(10);
  for (const object of objects)
    expect(definitions.schemaErrors(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
});

test("a field that is not there is found", () => {
  const spec = { url: "https://git.example/x", interval: "1m", intervall: "1m" };
  const metadata = { name: "x", namespace: "flux-system" };
  const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository", metadata, spec };
  expect(definitions.schemaErrors(source)).toMatchObject([{ path: ["spec", "intervall"] }]);
});

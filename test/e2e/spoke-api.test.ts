import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { customResourceDefinition, definition } from "../functions/spoke/support/definition.ts";
import { type Patch, spokeWith, validSpoke } from "../functions/spoke/support/rule-cases.ts";
import type { Manifest } from "../repos/support/kustomize.ts";
import * as fleet from "./support/fleet.ts";

/** What only a hub shows of the Spoke API: Crossplane's definition of it, admission and deletion. Every rule: spoke-rules.test.ts. */

/** As an administrator with a certificate: a token of `aws eks get-token` costs more than all that these tests ask of the API server. */
const admin = ["--kubeconfig", join(fleet.instance.paths.clusters, "fleet-hub", "admin.kubeconfig")];
const kubectl: typeof fleet.kubectl = (args, options) => fleet.kubectl([...admin, ...args], options);
const tryKubectl: typeof fleet.tryKubectl = (args, options) => fleet.tryKubectl([...admin, ...args], options);

/** Not the fleet's: nothing looks after Spokes here, and what is stored is paused, so that Crossplane makes nothing of it. */
const namespace = "spoke-rules";
const inNamespace = ["--namespace", namespace];
const { name } = validSpoke.metadata;

const paused = { "crossplane.io/paused": "true" };

const written = (patch: Patch) => JSON.stringify(spokeWith({ ...patch, metadata: { annotations: paused, namespace } }));

const send = (verb: readonly string[], patch: Patch) =>
  tryKubectl([...verb, "--filename", "-"], { input: written(patch) });

async function store(patch: Patch, status?: Readonly<Record<string, unknown>>): Promise<void> {
  await kubectl(["create", "--filename", "-"], { input: written(patch) });
  if (status === undefined) return;
  const change = ["--subresource", "status", "--type", "merge", "--patch", JSON.stringify({ status })];
  await kubectl(["patch", "spoke", name, ...inNamespace, ...change]);
}

function expectAnswer({ code, stdout, stderr }: fleet.Result, refused: string | undefined): void {
  if (refused === undefined) expect(code, stdout + stderr).toBe(0);
  else expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(refused) });
}

/** What a definition asks of a Spoke, without what Crossplane adds in `spec.crossplane` and in the status. */
function asked(crd: Manifest): object {
  const { properties, "x-kubernetes-validations": rules } = crd.spec.versions[0].schema.openAPIV3Schema;
  const { crossplane: _, ...fields } = properties.spec.properties;
  return { rules, name: properties.metadata, spec: { ...properties.spec, properties: fields } };
}

beforeAll(() => kubectl(["create", "namespace", namespace]));
afterAll(() => kubectl(["delete", "namespace", namespace]));
afterEach(() => kubectl(["delete", "spoke", name, ...inNamespace, "--ignore-not-found"]));

describe("the API server of a hub", () => {
  test("has the definition's schema and rules, of which spoke-rules.test.ts asks each", async () => {
    const get = ["get", "customresourcedefinition", definition.metadata.name, "--output", "json"];
    const made = JSON.parse(await kubectl(get));
    expect(asked(made)).toEqual(asked(customResourceDefinition()));
  });

  test("takes a Spoke that the definition allows, and refuses another with the definition's message", async () => {
    const create = ["create", "--dry-run=server"];
    expectAnswer(await send(create, {}), undefined);
    expectAnswer(
      await send(create, { spec: { endpoint: { publicAccessCidrs: ["0.0.0.0/0"] } } }),
      "must not be 0.0.0.0/0",
    );
  });

  test("refuses the second of two quick raises, whoever sends it and however", async () => {
    const asked = (kubernetesVersion: string) => ({ spec: { kubernetesVersion } });
    const refusal =
      "kubernetesVersion goes up one minor at a time and never down: the control plane runs 1.34, got 1.36";
    await store({}, { kubernetesVersion: "1.34" });
    expectAnswer(await send(["replace"], asked("1.35")), undefined);
    // As Flux sends it, as a person does, and as a program does.
    expectAnswer(await send(["apply", "--server-side", "--force-conflicts"], asked("1.36")), refusal);
    expectAnswer(await send(["replace"], asked("1.36")), refusal);
    const patch = ["--type", "merge", "--patch", JSON.stringify(asked("1.36"))];
    expectAnswer(await tryKubectl(["patch", "spoke", name, ...inNamespace, ...patch]), refusal);
    expect(
      await kubectl(["get", "spoke", name, ...inNamespace, "--output", "jsonpath={.spec.kubernetesVersion}"]),
    ).toBe("1.35");
  });

  test("refuses to delete it as a dry run, which Crossplane would take for a real request, and deletes it when asked to", async () => {
    await store({});
    const deletion = ["delete", "spoke", name, ...inNamespace];
    expectAnswer(await tryKubectl([...deletion, "--dry-run=server"]), "can't be deleted as a dry run");
    expectAnswer(await tryKubectl(deletion), undefined);
  });

  test("refuses to delete a protected one, says what to do, and deletes it once that is done", async () => {
    await store({ spec: { deletionProtection: true } });
    const deletion = ["delete", "spoke", name, ...inNamespace];
    expectAnswer(
      await tryKubectl(deletion),
      `Spoke ${name} is protected: set spec.deletionProtection to false in a commit of its own, then remove it`,
    );
    expectAnswer(await send(["replace"], { spec: { deletionProtection: false } }), undefined);
    expectAnswer(await tryKubectl(deletion), undefined);
  });
});

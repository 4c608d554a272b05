import { join } from "node:path";
import { ACCOUNT } from "@eks-gitops-fleet/local/gateway";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { customResourceDefinition, definition } from "../functions/spoke/support/definition.ts";
import { type Patch, ruleCases, spokeWith, validSpoke } from "../functions/spoke/support/rule-cases.ts";
import type { Manifest } from "../repos/support/kustomize.ts";
import * as fleet from "./support/fleet.ts";

/** What only a hub shows of the Spoke API: Crossplane's definition of it, admission and deletion. Every rule: spoke-rules.test.ts. */

/** As an administrator with a certificate: a token of `aws eks get-token` costs more than all that these tests ask of the API server. */
const admin = ["--kubeconfig", join(fleet.instance.paths.clusters, "fleet-hub", "admin.kubeconfig")];
const kubectl: typeof fleet.kubectl = (args, options) => fleet.kubectl([...admin, ...args], options);
const tryKubectl: typeof fleet.tryKubectl = (args, options) => fleet.tryKubectl([...admin, ...args], options);

const dryRun = ["create", "--dry-run=server"];

/** The account of the cases, and the one that the fleet's admission policy allows here (platform/policies/spoke-placement.yaml). */
const allowedAccount = ["111111111111", ACCOUNT] as const;

/** Not the fleet's: nothing looks after Spokes here, and what is stored is paused, so that Crossplane makes nothing of it. */
const namespace = "spoke-rules";
const inNamespace = ["--namespace", namespace];
const { name } = validSpoke.metadata;

const paused = { "crossplane.io/paused": "true" };

const object = ({ metadata, spec = {} }: Patch) =>
  spokeWith({ spec, metadata: { annotations: paused, ...metadata, namespace } });

const sendText = (verb: readonly string[], input: string) => tryKubectl([...verb, "--filename", "-"], { input });
const send = (verb: readonly string[], patch: Patch) => sendText(verb, JSON.stringify(object(patch)));

async function store(patch: Patch, status?: Readonly<Record<string, unknown>>): Promise<void> {
  expectAnswer(await send(["create"], patch), undefined);
  if (status === undefined) return;
  const change = ["--subresource", "status", "--type", "merge", "--patch", JSON.stringify({ status })];
  await kubectl(["patch", "spoke", name, ...inNamespace, ...change]);
}

function expectAnswer({ code, stdout, stderr }: fleet.Result, refused: string | undefined): void {
  if (refused === undefined) expect(code, stdout + stderr).toBe(0);
  else expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(refused) });
}

/** The schema of a definition without what Crossplane adds: `spec.crossplane` and the conditions. */
function schemaOf(crd: Manifest): Manifest {
  const schema = structuredClone(crd.spec.versions[0].schema.openAPIV3Schema);
  delete schema.properties.spec.properties.crossplane;
  delete schema.properties.status.properties.conditions;
  return schema;
}

beforeAll(() => kubectl(["create", "namespace", namespace]));
afterAll(() => kubectl(["delete", "namespace", namespace]));
afterEach(() => kubectl(["delete", "spoke", name, ...inNamespace, "--ignore-not-found"]));

describe("the API server of a hub", () => {
  test("has the definition's schema and rules, of which spoke-rules.test.ts asks each", async () => {
    const get = ["get", "customresourcedefinition", definition.metadata.name, "--output", "json"];
    const made = JSON.parse(await kubectl(get));
    expect(schemaOf(made)).toEqual(schemaOf(customResourceDefinition()));
  });

  test("takes every Spoke that the definition allows: no policy of the fleet refuses one", async () => {
    const taken = ruleCases.filter(({ before, refused }) => before === undefined && refused === undefined);
    const list = { apiVersion: "v1", kind: "List", items: taken.map(({ change }) => object(change)) };
    const input = JSON.stringify(list).replaceAll(...allowedAccount);
    const { code, stderr, stdout } = await sendText([...dryRun, "--output", "name"], input);
    expect({ code, stderr, made: stdout.trim().split("\n").length }).toEqual({
      code: 0,
      stderr: "",
      made: taken.length,
    });
    expect(taken.length).toBeGreaterThan(25);
  });

  test("refuses a Spoke that the definition does not allow, with its message", async () => {
    const open = { spec: { endpoint: { publicAccessCidrs: ["0.0.0.0/0"] } } };
    expectAnswer(await send(dryRun, open), "must not be 0.0.0.0/0");
  });

  test("refuses the second of two quick raises, whoever sends it and however", async () => {
    const asked = (kubernetesVersion: string) => ({ spec: { kubernetesVersion } });
    const refusal =
      "kubernetesVersion goes up one minor at a time and never down: the control plane runs 1.35, got 1.37";
    await store({}, { kubernetesVersion: "1.35" });
    expectAnswer(await send(["replace"], asked("1.36")), undefined);
    // As Flux sends it, as a person does, and as a program does.
    expectAnswer(await send(["apply", "--server-side", "--force-conflicts"], asked("1.37")), refusal);
    expectAnswer(await send(["replace"], asked("1.37")), refusal);
    const patch = ["--type", "merge", "--patch", JSON.stringify(asked("1.37"))];
    expectAnswer(await tryKubectl(["patch", "spoke", name, ...inNamespace, ...patch]), refusal);
    expect(
      await kubectl(["get", "spoke", name, ...inNamespace, "--output", "jsonpath={.spec.kubernetesVersion}"]),
    ).toBe("1.36");
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

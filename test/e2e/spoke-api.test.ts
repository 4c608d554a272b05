import { join } from "node:path";
import { ACCOUNT } from "@eks-gitops-fleet/local/gateway";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RuleCase, ruleCases, spokeWith, validSpoke } from "../functions/spoke/support/rule-cases.ts";
import * as fleet from "./support/fleet.ts";

/** As an administrator with a certificate: a token of `aws eks get-token` costs more than all that these tests ask of the API server. */
const admin = ["--kubeconfig", join(fleet.instance.paths.clusters, "fleet-hub", "admin.kubeconfig")];
const kubectl: typeof fleet.kubectl = (args, options) => fleet.kubectl([...admin, ...args], options);
const tryKubectl: typeof fleet.tryKubectl = (args, options) => fleet.tryKubectl([...admin, ...args], options);

/** Not the fleet's: nothing looks after Spokes here, and what is stored is paused, so that Crossplane makes nothing of it. */
const namespace = "spoke-rules";
const inNamespace = ["--namespace", namespace];
const { name } = validSpoke.metadata;

type Patch = NonNullable<RuleCase["before"]>;

const paused = { "crossplane.io/paused": "true" };

/** The account of the cases, and the one that the fleet's admission policy allows here (platform/policies/spoke-placement.yaml). */
const allowed = ["111111111111", ACCOUNT] as const;

function written(patch: Patch): string {
  const object = spokeWith({ ...patch, metadata: { annotations: paused, ...patch.metadata, namespace } });
  return JSON.stringify(object).replaceAll(...allowed);
}

const send = (verb: readonly string[], patch: Patch) =>
  tryKubectl([...verb, "--filename", "-"], { input: written(patch) });

/** What the API server says to a request that changes nothing, whatever it says. */
const dryRun = (verb: string, patch: Patch) => send([verb, "--dry-run=server"], patch);

async function store(patch: Patch, status?: RuleCase["status"]): Promise<void> {
  await kubectl(["create", "--filename", "-"], { input: written(patch) });
  if (status === undefined) return;
  const change = ["--subresource", "status", "--type", "merge", "--patch", JSON.stringify({ status })];
  await kubectl(["patch", "spoke", name, ...inNamespace, ...change]);
}

function expectAnswer({ code, stdout, stderr }: fleet.Result, refused: string | undefined): void {
  if (refused === undefined) expect(code, stdout + stderr).toBe(0);
  else expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(refused) });
}

beforeAll(() => kubectl(["create", "namespace", namespace]));
afterAll(() => kubectl(["delete", "namespace", namespace]));
afterEach(() => kubectl(["delete", "spoke", name, ...inNamespace, "--ignore-not-found"]));

const title = ({ name: what, refused }: RuleCase) => `${refused === undefined ? "takes" : "refuses"} ${what}`;
const creations = ruleCases.filter(({ before }) => before === undefined);
const updates = ruleCases.filter(({ before }) => before !== undefined);

describe("the API server, of a new Spoke,", () => {
  test.each(creations.map((each) => [title(each), each] as const))("%s", async (_, { change, refused }) => {
    expectAnswer(await dryRun("create", change), refused);
  });
});

describe("the API server, of a Spoke that is there,", () => {
  test.each(updates.map((each) => [title(each), each] as const))(
    "%s",
    async (_, { before = {}, status, change, refused }) => {
      await store(before, status);
      expectAnswer(await dryRun("replace", change), refused);
    },
  );

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

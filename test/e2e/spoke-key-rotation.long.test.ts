import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pulumiPaths } from "@eks-gitops-fleet/local/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Run, runner } from "../../cli/doctor/process.ts";
import { run } from "../../cli/rotation/command.ts";
import { type Generation, generationsOf } from "../../cli/sealing/generations.ts";
import { fingerprint, seal } from "../../cli/sealing/seal.ts";
import { sealedAnnotations } from "../../lib/labels.ts";
import { repositories } from "../../lib/names.ts";
import { printing } from "../cli/support/printing.ts";
import { withResources } from "../support/checkout.ts";
import { succeeds } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { eventually, instance, outputs, pulumi, root, scratch } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  fleet,
  getOnSpoke,
  on,
  onSpoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/** The rotation of docs/guides/secrets.md#rotate-keys on a live spoke: the one that the local stack has a sealing key of its own for. */

const SPOKE = "amber";
const SCOPE = `cluster-${SPOKE}`;
const folder = join("spokes", "fleet", SPOKE);
const value = `drill-${Date.now()}`;
/** Seconds that a change may take from a push until it holds on the spoke, on a machine that is busy. */
const ROLLOUT_SECONDS = 300;

/** A project with the stack's file of the instance, which the rotation changes. */
const project = join(scratch, "rotation");
const stackFile = join(project, "stacks", "Pulumi.local.yaml");
const up = () => pulumi(["up", "--yes", "--skip-preview", "--config-file", stackFile]);

let repository: Checkout;
let apps: Checkout;
let first: Generation;
let before: string[];

const context = (): string => parse(readFileSync(on(SPOKE)[1] as string, "utf8"))["current-context"];
/** kubeseal as somebody whose kubeconfig has the spoke. */
const program: Run = (name, args, options) =>
  runner(root, process.env)(join(instance.paths.bin, name), [...args, ...on(SPOKE)], options);

/** `fleet rotate-key` of the scope. @returns what it says */
async function rotate(...args: string[]): Promise<string> {
  const checkouts = [repository, apps].flatMap((each) => ["--repository", each.folder]);
  const world = { root: project, ask: outputs, program, pause: () => setTimeout(1000) };
  const line = [SCOPE, "--stack", "local", ...checkouts, ...args];
  const { code, said } = await printing(() => run(line, world), ["log", "error"]);
  expect(code, said).toBe(0);
  return said;
}

const generation = async (name: string) =>
  generationsOf(await outputs()).find((each) => each.scope === SCOPE && each.generation === name) as Generation;
const hasKey = async (name: string): Promise<boolean> =>
  (await tryOnSpoke(SPOKE, ["get", "secret", `sealing-key-${SCOPE}-${name}`, "--namespace", "sealed-secrets"])).code ===
  0;
const secretOn = async (name: string) => (await getOnSpoke(SPOKE, ["secret", name, "--namespace", "flux-system"])).data;
const opened = async () => [
  atob((await secretOn("drill"))["token"]),
  ...(await Promise.all(repositories.map(async (name) => atob((await secretOn(name))["identity.pub"]).trim()))),
];

let trials = 0;
/** Whether the spoke opens what is sealed with a generation's certificate. */
async function opens(key: Generation): Promise<string> {
  trials += 1;
  const name = `trial-${trials}`;
  const input = await seal(join(instance.paths.bin, "kubeseal"), key, {
    ...{ namespace: "flux-system", name, data: { value: "x" } },
  });
  await onSpoke(SPOKE, ["apply", "--filename", "-"], { input });
  const trial = ["sealedsecret", name, "--namespace", "flux-system"];
  const isSynced = await eventually(60, async () => {
    const { status } = await getOnSpoke(SPOKE, trial);
    expect(status?.conditions?.[0]?.status).toMatch(/True|False/);
    return status.conditions[0].status as string;
  });
  await onSpoke(SPOKE, ["delete", ...trial]);
  return isSynced;
}

beforeAll(async () => {
  mkdirSync(dirname(stackFile), { recursive: true });
  cpSync(join(root, "Pulumi.yaml"), join(project, "Pulumi.yaml"));
  cpSync(join(pulumiPaths(instance.dir).project, "stacks", "Pulumi.local.yaml"), stackFile);
  repository = await system();
  apps = await workloads();
  await addSpoke(repository, SPOKE, "dev", undefined, ["--sealing", "cluster"]);
  const file = join(repository.folder, folder, "secrets", "drill.yaml");
  const request = ["--cluster", SPOKE, "--namespace", "flux-system", "--name", "drill", "--from-stdin", "token"];
  const places = ["--system", repository.folder, "--workloads", apps.folder, "--output", file];
  await succeeds(fleet(["seal", ...request, ...places], { input: `${value}\n` }));
  await repository.edit(join(folder, "secrets", "kustomization.yaml"), withResources("drill.yaml"));
  await repository.push(`Add spoke ${SPOKE}`);
  await untilReady(SPOKE);
  first = await generation("1");
  before = await opened();
});
afterAll(async () => {
  await repository.remove(folder);
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE);
  // With the instance's own configuration: generation 1 alone, with a new key.
  await pulumi(["up", "--yes", "--skip-preview"]);
});

// Each step has several waits, each with a limit of its own.
describe("the rotation of a spoke's sealing key", { timeout: 1_200_000 }, () => {
  test("begins with a secret that fleet seal has sealed, open on the spoke", () => expect(before[0]).toBe(value));

  test("brings the new generation to the spoke while the old one still seals", async () => {
    expect(await rotate("--new")).toMatch(/^Step 1/);
    await up();
    expect(await rotate()).toMatch(/^Step 2/);
    await repository.push("Bring generation 2");
    await eventually(ROLLOUT_SECONDS, async () => expect(await hasKey("2")).toBe(true));
    await untilReady(SPOKE);
    expect((await generation("1")).isActive).toBe(true);
  });

  test("lets the new one seal, and both open", async () => {
    expect(await rotate()).toMatch(/^Step 3/);
    await up();
    const second = await generation("2");
    expect(second.isActive).toBe(true);
    expect([await opens(first), await opens(second)]).toEqual(["True", "True"]);
  });

  test("has the spoke seal again what is in Git, and no value changes", async () => {
    expect(await rotate()).toContain(`${repositories.length + 1} SealedSecrets sealed with an older generation`);
    expect(await rotate("--context", context())).toContain(`Sealed ${repositories.length + 1} again.`);
    const { certificate } = await generation("2");
    for (const name of [...repositories, "drill"]) {
      const file = readFileSync(join(repository.folder, folder, "secrets", `${name}.yaml`), "utf8");
      expect(parse(file).metadata.annotations[sealedAnnotations.certificate]).toBe(fingerprint(certificate));
    }
    await repository.push("Seal again with generation 2");
    await untilReady(SPOKE);
    await eventually(ROLLOUT_SECONDS, async () => {
      const { metadata, status } = await getOnSpoke(SPOKE, ["sealedsecret", "drill", "--namespace", "flux-system"]);
      expect(metadata.annotations[sealedAnnotations.certificate]).toBe(fingerprint(certificate));
      expect(status.observedGeneration).toBe(metadata.generation);
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Synced", status: "True" }));
    });
    expect(await opened()).toEqual(before);
  });

  test("takes the old one away, which then opens nothing more, and nothing is lost", async () => {
    expect(await rotate()).toMatch(/^Step 5/);
    await repository.push("Retire generation 1");
    await eventually(ROLLOUT_SECONDS, async () => expect(await hasKey("1")).toBe(false));
    await untilReady(SPOKE);
    expect(await rotate()).toMatch(/^Step 6/);
    await up();
    expect(await rotate()).toMatch(/^No rotation of/);
    await onSpoke(SPOKE, ["delete", "secret", "drill", "--namespace", "flux-system"]);
    // The controller keeps keys in memory that it once read, and makes a Secret that somebody deleted when it starts.
    for (const verb of ["restart", "status"])
      await onSpoke(SPOKE, ["rollout", verb, "deployment/sealed-secrets-controller", "--namespace", "sealed-secrets"]);
    expect([await opens(first), await opens(await generation("2"))]).toEqual(["False", "True"]);
    // The drill's secret is made anew, from what is in Git now.
    await eventually(ROLLOUT_SECONDS, async () => expect(await opened()).toEqual(before));
    for (const name of repositories) await fetchNow(SPOKE, name, "flux-system");
    await untilReady(SPOKE);
  });
});

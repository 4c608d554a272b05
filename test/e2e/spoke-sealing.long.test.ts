import { existsSync } from "node:fs";
import { join } from "node:path";
import { DescribeSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromOutputs, sealingKeyFor } from "../../cli/fleet/facts.ts";
import { seal } from "../../cli/sealing/seal.ts";
import { repositories } from "../../lib/names.ts";
import { outcome } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { account, eventually, execute, instance, outputs, upWith } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  fleet,
  getOnSpoke,
  on,
  onSpoke,
  sharedSpoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/** The spoke that the local stack has a sealing key of its own for. */
const SPOKE = "amber";
const SCOPE = `cluster-${SPOKE}`;
/** Another spoke of its environment. */
const OTHER = "blue";
/** Seconds that a change may take from a push until it holds on the spoke, on a machine that is busy. */
const ROLLOUT_SECONDS = 300;

let repository: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  repository = await system();
});
afterAll(async () => {
  await removeSpoke();
  await upWith((config) => config);
});

/** Removes the spoke, as people do it; nothing where that has happened. */
async function removeSpoke(): Promise<void> {
  const folder = join("spokes", "fleet", SPOKE);
  if (!existsSync(join(repository.folder, folder))) return;
  await repository.remove(folder);
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE);
}

const deployKey = async (name: string): Promise<string> =>
  atob((await getOnSpoke(SPOKE, ["secret", name, "--namespace", "flux-system"])).data["identity.pub"]).trim();

/** Has a spoke's Flux fetch a repository and waits for what comes of it: True, or False with the message. */
async function fetched(spoke: string, name: string, status: "True" | "False", message = ""): Promise<void> {
  const source = () => getOnSpoke(spoke, ["gitrepository", name, "--namespace", "flux-system"]);
  const before = (await source()).status?.lastHandledReconcileAt;
  await eventually(60, async () => {
    const { metadata, status: found } = await source();
    // Flux on the hub, which applies the source, may take a request away before it was seen.
    const asked = metadata.annotations?.["reconcile.fluxcd.io/requestedAt"] ?? before;
    if (asked === before) await fetchNow(spoke, name, "flux-system");
    expect(found.lastHandledReconcileAt).not.toBe(before);
    const ready = { type: "Ready", status, message: expect.stringContaining(message) };
    expect(found.conditions).toContainEqual(expect.objectContaining(ready));
  });
}

/** Whether a spoke opens what is sealed for a scope. */
async function opens(spoke: string, scope: string): Promise<string> {
  const kubeseal = join(instance.paths.bin, "kubeseal");
  const name = `trial-${scope}`;
  const secret = { namespace: "flux-system", name, data: { value: "x" } };
  const input = await seal(kubeseal, sealingKeyFor(fromOutputs(await outputs()), scope), secret);
  await onSpoke(spoke, ["apply", "--filename", "-"], { input });
  const trial = ["sealedsecret", name, "--namespace", "flux-system"];
  const isSynced = await eventually(60, async () => {
    const condition = (await getOnSpoke(spoke, trial)).status?.conditions?.[0];
    expect(condition?.status).toMatch(/True|False/);
    return condition.status as string;
  });
  await onSpoke(spoke, ["delete", ...trial]);
  return isSynced;
}

const hasKey = async (name: string): Promise<boolean> =>
  (await tryOnSpoke(SPOKE, ["get", "secret", name, "--namespace", "sealed-secrets"])).code === 0;

const command = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await fleet([...args, "--repository", repository.folder]);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
};

/** Public keys that `fleet rotate-deploy-key` names, by repository. */
const keysIn = (said: string): string[] => [...said.matchAll(/^ +(ssh-ed25519 .+)$/gm)].map(([, key]) => key as string);

/** Has the Git host know a deploy key, or with `--remove` not any more. */
async function atHost(...args: string[]): Promise<void> {
  const { code, stderr } = await execute(join(instance.paths.bin, "deploy-key"), args);
  expect(code, stderr).toBe(0);
}

/** New deploy keys for the spoke, up to the moment when it reads with them. @returns what the command says of the former ones */
async function rotated(): Promise<string> {
  const keys = keysIn(await command("rotate-deploy-key", SPOKE, "--new"));
  expect(keys).toHaveLength(repositories.length);
  await repository.push(`New deploy keys of spoke ${SPOKE}`);
  for (const [index, name] of repositories.entries()) {
    await atHost(name, keys[index] as string);
    await fetched(SPOKE, name, "True");
  }
  const said = await command("rotate-deploy-key", SPOKE, "--registered");
  await repository.push(`Deploy keys of spoke ${SPOKE}`);
  await eventually(ROLLOUT_SECONDS, async () => expect(await Promise.all(repositories.map(deployKey))).toEqual(keys));
  await untilReady(SPOKE);
  for (const name of repositories) await fetched(SPOKE, name, "True");
  return said;
}

describe("a spoke that moves from its environment's sealing keys to its own", { timeout: 1_200_000 }, () => {
  test("gets its own key in place of the environment's, and keeps what was unsealed", async () => {
    const before = await Promise.all(repositories.map(deployKey));
    await command("sealing-keys", SPOKE);
    await repository.push(`Sealing keys of spoke ${SPOKE}`);
    await eventually(ROLLOUT_SECONDS, async () => {
      expect(await hasKey(`sealing-key-${SCOPE}-1`)).toBe(true);
      expect(await hasKey("sealing-key-1")).toBe(false);
    });
    await untilReady(SPOKE);
    expect(await Promise.all(repositories.map(deployKey))).toEqual(before);
  });

  test("reads the repositories with deploy keys of its own, which only its own key opens", async () => {
    const said = await rotated();
    // It had the fleet's, with which the hub goes on to read.
    expect(keysIn(said)).toEqual([]);
  });

  test("has them replaced, and can read at every moment, also when the former ones are gone at the Git host", async () => {
    const before = await Promise.all(repositories.map(deployKey));
    const former = keysIn(await rotated());
    expect(former).toEqual(before);
    for (const [index, name] of repositories.entries()) {
      await atHost("--remove", name, former[index] as string);
      await fetched(SPOKE, name, "True");
    }
    expect(await command("rotate-deploy-key", SPOKE, "--removed")).toContain("No rotation of the deploy keys");
    await repository.push(`Former deploy keys of spoke ${SPOKE}`);
  });

  test("opens what is sealed for itself, and nothing that is sealed for its environment", async () => {
    // The controller keeps keys in memory that it once read.
    const rollout = (verb: string) =>
      onSpoke(SPOKE, ["rollout", verb, "deployment/sealed-secrets-controller", "--namespace", "sealed-secrets"]);
    await rollout("restart");
    await rollout("status");
    expect(await opens(SPOKE, SCOPE)).toBe("True");
    expect(await opens(SPOKE, "dev")).toBe("False");
  });

  test("has an identity that reads its own sealing key, and no longer its environment's", async () => {
    const { data } = await getOnSpoke(SPOKE, ["configmap", "cluster-info", "--namespace", "flux-system"]);
    expect(data.sealing_scope).toBe(SCOPE);
    const subject = { namespace: data.external_secrets_namespace, name: data.external_secrets_service_account };
    const { secretsmanager } = await actingAs(data.external_secrets_iam_role_arn, subject, on(SPOKE));
    const read = (scope: string) =>
      outcome(secretsmanager.send(new GetSecretValueCommand({ SecretId: `fleet/sealing-keys/${scope}/1` })));
    expect(await read(SCOPE)).toBe("allowed");
    for (const scope of ["dev", "prod"]) expect(await read(scope), scope).toBe("AccessDeniedException");
  });
});

describe("a spoke that is compromised, with keys of its own", { timeout: 1_200_000 }, () => {
  const keys = new Map<string, string>();
  beforeAll(async () => {
    await sharedSpoke(OTHER, "dev");
    for (const name of repositories) keys.set(name, await deployKey(name));
  });

  test("reads no repository any more once its deploy keys are withdrawn at the Git host; the others do", async () => {
    for (const [name, key] of keys) await atHost("--remove", name, key);
    for (const name of repositories) {
      await fetched(SPOKE, name, "False", "unable to authenticate");
      await fetched(OTHER, name, "True");
    }
  });

  test("is removed with everything that it had, though it can't read Git", async () => {
    await removeSpoke();
  });

  test("has its sealing key withdrawn with the stack's entry, and the others go on opening what is theirs", async () => {
    await upWith(({ sealingKeys, ...config }) => ({
      ...config,
      sealingKeys: (sealingKeys as { scope: string }[]).filter(({ scope }) => scope !== SCOPE),
    }));
    const key = new DescribeSecretCommand({ SecretId: `fleet/sealing-keys/${SCOPE}/1` });
    const left = await account.secretsmanager.send(key).catch(({ name }: Error) => name);
    if (typeof left === "string") expect(left).toBe("ResourceNotFoundException");
    else expect(left.DeletedDate).toBeInstanceOf(Date);
    expect(await opens(OTHER, "dev")).toBe("True");
    await untilReady(OTHER);
  });
});

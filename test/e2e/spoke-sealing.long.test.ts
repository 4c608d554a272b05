import { existsSync } from "node:fs";
import { join } from "node:path";
import { DescribeSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromOutputs, sealingKeyFor } from "../../cli/fleet/facts.ts";
import { seal } from "../../cli/sealing/seal.ts";
import { repositories } from "../../lib/names.ts";
import { outcome, succeeds } from "../support/process.ts";
import { account, eventually, instance, outputs, upWith } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  atHost,
  deployKeysOf,
  fetched,
  keysIn,
  ROTATION_SECONDS,
  rotateDeployKeys,
  rotationSays,
} from "./support/rotation.ts";
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
  const stdout = await succeeds(fleet([...args, "--repository", repository.folder]));
  return stdout;
};

describe("a spoke that moves from its environment's sealing keys to its own", { timeout: 1_200_000 }, () => {
  test("gets its own key in place of the environment's, and keeps what was unsealed", async () => {
    const before = await deployKeysOf(SPOKE);
    await command("sealing-keys", SPOKE);
    await repository.push(`Sealing keys of spoke ${SPOKE}`);
    await eventually(ROTATION_SECONDS, async () => {
      expect(await hasKey(`sealing-key-${SCOPE}-1`)).toBe(true);
      expect(await hasKey("sealing-key-1")).toBe(false);
    });
    await untilReady(SPOKE);
    expect(await deployKeysOf(SPOKE)).toEqual(before);
  });

  test("reads the repositories with deploy keys of its own, which only its own key opens", async () => {
    const said = await rotateDeployKeys(repository, SPOKE);
    // It had the fleet's, with which the hub goes on to read.
    expect(keysIn(said)).toEqual([]);
  });

  test("has them replaced, and can read at every moment, also when the former ones are gone at the Git host", async () => {
    const before = await deployKeysOf(SPOKE);
    const former = keysIn(await rotateDeployKeys(repository, SPOKE));
    expect(former).toEqual(before);
    for (const [index, name] of repositories.entries()) {
      await atHost("--remove", name, former[index] as string);
      await fetched(SPOKE, name, "True");
    }
    expect(await rotationSays(repository, SPOKE, "--removed")).toContain("No rotation of the deploy keys");
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
    for (const [index, key] of (await deployKeysOf(SPOKE)).entries()) keys.set(repositories[index] as string, key);
  });

  test("reads no repository any more once its deploy keys are withdrawn at the Git host; the others do", async () => {
    for (const [name, key] of keys) await atHost("--remove", name, key);
    for (const name of repositories) {
      await fetched(SPOKE, name, "False", "unable to authenticate");
      await fetched(OTHER, name, "True");
    }
  });

  test("is removed with everything that it had, though it can't read Git", () => removeSpoke());

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

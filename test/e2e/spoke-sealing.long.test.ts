import { join } from "node:path";
import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromOutputs, sealingKeyFor } from "../../cli/fleet/facts.ts";
import { seal } from "../../cli/sealing/seal.ts";
import { repositories } from "../../lib/names.ts";
import { outcome } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { eventually, execute, instance, outputs } from "./support/fleet.ts";
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
/** Seconds that a change may take from a push until it holds on the spoke, on a machine that is busy. */
const ROLLOUT_SECONDS = 300;

let repository: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  repository = await system();
});
afterAll(async () => {
  await repository.remove(join("spokes", "fleet", SPOKE));
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE);
});

const deployKey = async (name: string): Promise<string> =>
  atob((await getOnSpoke(SPOKE, ["secret", name, "--namespace", "flux-system"])).data["identity.pub"]).trim();

const hasKey = async (name: string): Promise<boolean> =>
  (await tryOnSpoke(SPOKE, ["get", "secret", name, "--namespace", "sealed-secrets"])).code === 0;

const command = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await fleet([...args, "--repository", repository.folder]);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
};

describe("a spoke that moves from its environment's sealing keys to its own", () => {
  test("gets its own key in place of the environment's, and keeps what was unsealed", async () => {
    const before = await Promise.all(repositories.map(deployKey));
    await command("sealing-keys", SPOKE);
    await repository.push(`Sealing keys of spoke ${SPOKE}`);
    await eventually(ROLLOUT_SECONDS, async () => {
      expect(await hasKey(`sealing-key-cluster-${SPOKE}-1`)).toBe(true);
      expect(await hasKey("sealing-key-1")).toBe(false);
    });
    await untilReady(SPOKE);
    expect(await Promise.all(repositories.map(deployKey))).toEqual(before);
  });

  test("reads the repositories with deploy keys of its own, which only its own key opens", async () => {
    const stdout = await command("reseal", SPOKE, "--deploy-keys", "own");
    const keys = [...stdout.matchAll(/^ {2}(ssh-ed25519 .+)$/gm)].map(([, key]) => key as string);
    expect(keys).toHaveLength(repositories.length);
    for (const [index, name] of repositories.entries()) {
      const registered = await execute(join(instance.paths.bin, "deploy-key"), [name, keys[index] as string]);
      expect(registered.code, registered.stderr).toBe(0);
    }
    await repository.push(`Deploy keys of spoke ${SPOKE}`);
    await eventually(ROLLOUT_SECONDS, async () => expect(await Promise.all(repositories.map(deployKey))).toEqual(keys));
    await untilReady(SPOKE);
    for (const name of repositories) {
      await fetchNow(SPOKE, name, "flux-system");
      await eventually(60, async () => {
        const { metadata, status } = await getOnSpoke(SPOKE, ["gitrepository", name, "--namespace", "flux-system"]);
        expect(status.lastHandledReconcileAt).toBe(metadata.annotations["reconcile.fluxcd.io/requestedAt"]);
        expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
      });
    }
  });

  test("opens what is sealed for itself, and nothing that is sealed for its environment", async () => {
    // The controller keeps keys in memory that it once read.
    const rollout = (verb: string) =>
      onSpoke(SPOKE, ["rollout", verb, "deployment/sealed-secrets-controller", "--namespace", "sealed-secrets"]);
    await rollout("restart");
    await rollout("status");
    const facts = fromOutputs(await outputs());
    const kubeseal = join(instance.paths.bin, "kubeseal");
    const synced = async (scope: string) => {
      const name = `trial-${scope}`;
      const secret = { namespace: "flux-system", name, data: { value: "x" } };
      const input = await seal(kubeseal, sealingKeyFor(facts, scope), secret);
      await onSpoke(SPOKE, ["apply", "--filename", "-"], { input });
      const get = ["sealedsecret", name, "--namespace", "flux-system"];
      return eventually(60, async () => {
        const condition = (await getOnSpoke(SPOKE, get)).status?.conditions?.[0];
        expect(condition?.status).toMatch(/True|False/);
        return condition.status as string;
      });
    };
    expect(await synced(`cluster-${SPOKE}`)).toBe("True");
    expect(await synced("dev")).toBe("False");
  });

  test("has an identity that reads its own sealing key, and no longer its environment's", async () => {
    const { data } = await getOnSpoke(SPOKE, ["configmap", "cluster-info", "--namespace", "flux-system"]);
    expect(data.sealing_scope).toBe(`cluster-${SPOKE}`);
    const subject = { namespace: data.external_secrets_namespace, name: data.external_secrets_service_account };
    const { secretsmanager } = await actingAs(data.external_secrets_iam_role_arn, subject, on(SPOKE));
    const read = (scope: string) =>
      outcome(secretsmanager.send(new GetSecretValueCommand({ SecretId: `fleet/sealing-keys/${scope}/1` })));
    expect(await read(`cluster-${SPOKE}`)).toBe("allowed");
    for (const scope of ["dev", "prod"]) expect(await read(scope), scope).toBe("AccessDeniedException");
  });
});

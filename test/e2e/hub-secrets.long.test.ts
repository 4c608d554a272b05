import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { fromOutputs, sealingKeyFor } from "../../cli/fleet/facts.ts";
import { seal } from "../../cli/sealing/seal.ts";
import { withResources } from "../support/checkout.ts";
import { eventually, get, instance, outputs, pulumi, secretData, tryKubectl, upWith } from "./support/fleet.ts";
import { type Checkout, checkout } from "./support/repository.ts";

/** Secrets of the hub in Git (docs/guides/secrets.md#seal-a-secret), which a hub has only where its stack and its folder say so. */

const inFlux = ["--namespace", "flux-system"];
const folder = join("clusters", "fleet");
const token = `hub-only-${Date.now()}`;
/** Seconds that a commit may take until the controller runs, on a machine that is busy. */
const ROLLOUT_SECONDS = 300;

let repository: Checkout;

/** Commits the hub's secrets, each sealed for a scope. */
async function commitSecrets(scopes: Readonly<Record<string, string>>): Promise<void> {
  const known = fromOutputs(await outputs());
  const kubeseal = join(instance.paths.bin, "kubeseal");
  const names = Object.keys(scopes);
  for (const [name, scope] of Object.entries(scopes)) {
    const plain = { namespace: "flux-system", name, data: { token } };
    const sealed = await seal(kubeseal, sealingKeyFor(known, scope), plain);
    await repository.write(join(folder, "secrets", `${name}.yaml`), parse(sealed));
  }
  const resources = names.map((name) => `${name}.yaml`);
  const kustomization = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources };
  await repository.write(join(folder, "secrets", "kustomization.yaml"), kustomization);
  await repository.push(`Secrets of the hub: ${names.join(", ")}`);
}

const readyOf = async (name: string) => {
  const { status } = await get(["kustomization", name, ...inFlux]);
  return status.conditions.find(({ type }: { type: string }) => type === "Ready");
};
const isGone = async (...object: string[]) => {
  const { code, stderr } = await tryKubectl(["get", ...object, ...inFlux]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/NotFound|not found|doesn't have a resource type/);
};

beforeAll(async () => {
  const key = { scope: "cluster-hub", generation: "1", active: true };
  await upWith(({ sealingKeys, ...config }) => ({ ...config, sealingKeys: [...(sealingKeys as object[]), key] }));
  repository = await checkout("gitops-system");
  await repository.edit(join(folder, "kustomization.yaml"), withResources("../../platform/hub/sealed-secrets"));
});
afterAll(async () => {
  await repository.restore();
  await eventually(ROLLOUT_SECONDS, () => isGone("kustomization", "sealed-secrets"));
  await pulumi(["up", "--yes", "--skip-preview"]);
});

describe("a secret of the hub in Git", () => {
  test("is opened on the hub, by the key that only the hub reads", async () => {
    await commitSecrets({ chat: "cluster-hub" });
    await eventually(ROLLOUT_SECONDS, async () => expect(await secretData("flux-system", "chat")).toEqual({ token }));
    await eventually(60, async () => expect(await readyOf("hub-secrets")).toMatchObject({ status: "True" }));
    const key = await get(["secret", "sealing-key-1", ...inFlux]);
    expect(key.metadata.ownerReferences[0].kind).toBe("ExternalSecret");
  });

  test("that is sealed for an environment is not opened: its step says which, and the platform and the spokes go on", async () => {
    await commitSecrets({ chat: "cluster-hub", foreign: "dev" });
    await eventually(ROLLOUT_SECONDS, async () => {
      const ready = await readyOf("hub-secrets");
      expect(ready.status).toBe("False");
      expect(ready.message).toContain("SealedSecret/flux-system/foreign");
    });
    await isGone("secret", "foreign");
    for (const step of ["sealed-secrets", "platform-api", "each-spoke"])
      expect(await readyOf(step), step).toMatchObject({ status: "True" });
    expect(await secretData("flux-system", "chat")).toEqual({ token });
  });

  test("goes with its manifest", async () => {
    await repository.remove(join(folder, "secrets", "foreign.yaml"), join(folder, "secrets", "chat.yaml"));
    await commitSecrets({ other: "cluster-hub" });
    await eventually(ROLLOUT_SECONDS, async () => {
      await isGone("secret", "chat");
      expect(await secretData("flux-system", "other")).toEqual({ token });
    });
  });
});

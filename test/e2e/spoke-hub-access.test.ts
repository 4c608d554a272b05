import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withResources } from "../support/checkout.ts";
import { aws, eventually, execute, instance, type Result } from "./support/fleet.ts";
import { assume, serviceAccountToken } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  BOOTSTRAP_SECONDS,
  clusterOf,
  condition,
  getOnSpoke,
  onSpoke,
  sharedSpoke,
  spoke,
  system,
  tryOnSpoke,
  untilReady,
} from "./support/spokes.ts";

/** Flux on the hub on a spoke whose chain is ready, by real tokens of its roles. */

const SPOKE = "blue";
const EXTRA = "hub-access-trial";
const base = mkdtempSync(join(tmpdir(), "fleet-hub-access-"));

/** kubectl on the spoke with a token of the role of one of Flux's controllers on the hub, as Flux makes it. */
async function fluxOf(controller: string): Promise<(args: readonly string[]) => Promise<Result>> {
  const subject = { namespace: "flux-system", name: controller };
  const role = `arn:aws:iam::000000000000:role/fleet-hub-${controller}`;
  const credentials = await assume(role, await serviceAccountToken(subject));
  const answer = await aws(["eks", "get-token", "--cluster-name", clusterOf(SPOKE), "--region", "us-east-1"], {
    env: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
    },
  });
  const config = parse(await onSpoke(SPOKE, ["config", "view", "--raw", "--minify"]));
  const { server, "certificate-authority-data": ca = "" } = config.clusters[0].cluster;
  writeFileSync(join(base, "ca.crt"), Buffer.from(ca, "base64"));
  const target = ["--kubeconfig", "/dev/null", "--server", server, "--certificate-authority", join(base, "ca.crt")];
  const token = ["--token", JSON.parse(answer).status.token];
  return (args) => execute(join(instance.paths.bin, "kubectl"), [...target, ...token, ...args]);
}

const inFlux = ["--namespace", "flux-system"];
const forbidden = { code: 1, stderr: expect.stringMatching(/is forbidden: User "arn:aws:sts::\d+:assumed-role\//) };
const allowed = { code: 0 };
const access = () => condition(SPOKE, "HubAccessNarrow");

let kustomize: Awaited<ReturnType<typeof fluxOf>>;
let helm: Awaited<ReturnType<typeof fluxOf>>;
let repository: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await eventually(BOOTSTRAP_SECONDS, async () => expect(await access()).toMatchObject({ status: "True" }));
  repository = await system();
  kustomize = await fluxOf("kustomize-controller");
  helm = await fluxOf("helm-controller");
  // The API server may know the rights of a moment ago.
  await eventually(60, async () => expect(await kustomize(["get", "secrets", ...inFlux])).toMatchObject(forbidden));
});
afterAll(async () => {
  rmSync(base, { recursive: true });
  if ((await repository.restore()) !== undefined) await untilReady(SPOKE);
});

describe("kustomize-controller of the hub, once the chain is ready,", () => {
  test("reads no Secret of the spoke, a tenant's or the platform's; it reads the facts that it wrote", async () => {
    const secret = ["get", "secret", "gitops-system", ...inFlux];
    expect(await tryOnSpoke(SPOKE, secret)).toMatchObject(allowed);
    expect(await kustomize(secret)).toMatchObject(forbidden);
    for (const namespace of ["sealed-secrets", "default", "fleet-releases"])
      expect(await kustomize(["get", "secrets", "--namespace", namespace]), namespace).toMatchObject(forbidden);
    expect(await kustomize(["get", "configmap", "cluster-info", ...inFlux])).toMatchObject(allowed);
  });

  test("gives nobody rights", async () => {
    const bind = [
      "create",
      "clusterrolebinding",
      EXTRA,
      "--clusterrole=cluster-admin",
      "--user=hub",
      "--dry-run=server",
    ];
    expect(await tryOnSpoke(SPOKE, bind)).toMatchObject(allowed);
    expect(await kustomize(bind)).toMatchObject(forbidden);
  });

  test("runs no pod and nothing in one", async () => {
    expect(await kustomize(["run", EXTRA, "--image=none", ...inFlux, "--dry-run=server"])).toMatchObject(forbidden);
    const { items } = await getOnSpoke(SPOKE, ["pods", ...inFlux]);
    const pod = items[0].metadata.name;
    expect(await kustomize(["exec", pod, ...inFlux, "--", "true"])).toMatchObject({ code: 1 });
    const can = (as: typeof kustomize) => as(["auth", "can-i", "create", "pods/exec", ...inFlux]);
    expect((await can(kustomize)).stdout.trim()).toBe("no");
    expect((await can((args) => tryOnSpoke(SPOKE, args))).stdout.trim()).toBe("yes");
  });

  test("changes the chain's own namespaces, makes no other and removes none", async () => {
    const patch = (name: string) => ["patch", "namespace", name, "--type=merge", "--patch={}", "--dry-run=server"];
    expect(await kustomize(patch("flux-system"))).toMatchObject(allowed);
    expect(await kustomize(patch("kube-system"))).toMatchObject(forbidden);
    expect(await kustomize(["create", "namespace", EXTRA, "--dry-run=server"])).toMatchObject(forbidden);
    expect(await kustomize(["delete", "namespace", "flux-system", "--dry-run=server"])).toMatchObject(forbidden);
  });
});

test("helm-controller of the hub, once the chain is ready, reads its releases and changes nothing", async () => {
  const releases = await helm(["get", "secrets", "--namespace", "fleet-releases", "--output", "name"]);
  expect(releases).toMatchObject(allowed);
  for (const name of ["external-secrets", "sealed-secrets", "flux"])
    expect(releases.stdout).toContain(`secret/sh.helm.release.v1.${name}.`);
  for (const namespace of ["flux-system", "sealed-secrets"])
    expect(await helm(["get", "secrets", "--namespace", namespace]), namespace).toMatchObject(forbidden);
  expect(await helm(["delete", "secrets", "--all", "--namespace", "fleet-releases", "--dry-run=server"])).toMatchObject(
    { code: 1 },
  );
});

test("a change of the chain that needs more arrives, and so does its end; the Spoke is Ready all the time and says what was refused", async () => {
  const phases = new Set<string>();
  const decided = async (...reasons: readonly string[]) => {
    const { status } = await spoke(SPOKE);
    phases.add(status.phase);
    expect(reasons).toContain((await access())?.["reason"]);
    return status.hubAccess.refused.map(({ attempt }: { attempt: string }) => attempt.split(" (")[0]);
  };
  await repository.write(`spoke-bootstrap/base/${EXTRA}.yaml`, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: EXTRA },
  });
  await repository.edit("spoke-bootstrap/base/kustomization.yaml", withResources(`${EXTRA}.yaml`));
  await repository.edit("spoke-bootstrap/sealed-secrets/release.yaml", (release) => {
    release.spec.values.resources.requests.memory = "49Mi";
    return release;
  });
  await repository.push("Let the chain of all spokes have one more namespace");
  const memory = async () => {
    const { items } = await getOnSpoke(SPOKE, ["deployments", "--namespace", "sealed-secrets"]);
    return items[0].spec.template.spec.containers[0].resources.requests.memory;
  };
  const there = async () => (await tryOnSpoke(SPOKE, ["get", "namespace", EXTRA])).code === 0;
  const watching = async () => void phases.add((await spoke(SPOKE)).status.phase);
  await eventually(BOOTSTRAP_SECONDS, async () => {
    await watching();
    expect({ namespace: await there(), memory: await memory() }).toEqual({ namespace: true, memory: "49Mi" });
  });
  await eventually(BOOTSTRAP_SECONDS, async () =>
    // The release may come when the rights for the namespace are there already, and then is not refused. Flux looks again after a
    // failure (retryInterval): if the rights have gone again by then, the same is refused once more, and they stay.
    expect(await decided("Narrow", "RoleTooNarrow")).toContain(`Kustomization ${SPOKE}-base`),
  );
  await repository.restore();
  await eventually(BOOTSTRAP_SECONDS, async () => {
    await watching();
    expect({ namespace: await there(), memory: await memory() }).toEqual({ namespace: false, memory: "48Mi" });
  });
  await eventually(BOOTSTRAP_SECONDS, () => decided("Narrow"));
  await untilReady(SPOKE);
  expect([...phases]).toEqual(["Ready"]);
  // Nothing is left of the rights.
  await eventually(60, async () => expect(await kustomize(["get", "secrets", ...inFlux])).toMatchObject(forbidden));
}, 1_200_000);

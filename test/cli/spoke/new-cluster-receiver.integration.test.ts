import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { run } from "../../../cli/spoke/new-cluster.ts";
import { type ReceiverType, receiverTypes } from "../../../lib/receivers.ts";
import { definition } from "../../functions/spoke/support/definition.ts";
import { knownHosts } from "../support/fleet.ts";
import { printed, tokenIn, traces } from "../support/receivers.ts";
import { inNewSpokeCases } from "../support/spoke-cases.ts";

const { at, dev, make, refusal, spokes } = await inNewSpokeCases("fleet-new-cluster-receiver-");

const read = (...path: string[]) => parse(readFileSync(join(...path), "utf8"));
const lastCall = () => at.kubeseal.calls().at(-1);

describe("fleet new-cluster with a Receiver", () => {
  test.each(receiverTypes)(
    "of type %s says so in the Spoke, and seals a token for Flux's namespace on it",
    async (type) => {
      const folder = await make({ gitReceiver: type });
      expect(read(folder, "spoke.yaml").spec.gitReceiver).toBe(type);
      const { resources } = read(folder, "secrets", "kustomization.yaml");
      expect(resources).toEqual(["gitops-system.yaml", "gitops-workloads.yaml", "git-receiver.yaml"]);
      for (const name of resources) expect(existsSync(join(folder, "secrets", name)), name).toBe(true);
      expect(lastCall()?.input.metadata).toEqual({
        name: "git-receiver",
        namespace: "flux-system",
        labels: { "reconcile.fluxcd.io/watch": "Enabled" },
      });
      expect(lastCall()?.certificate).toBe(dev);
    },
  );

  test("makes no token where nobody calls", async () => {
    const folder = await make();
    expect(read(folder, "spoke.yaml").spec).not.toHaveProperty("gitReceiver");
    expect(existsSync(join(folder, "secrets", "git-receiver.yaml"))).toBe(false);
    expect(at.kubeseal.calls()).toHaveLength(2);
  });

  test("gives each spoke a token of its own, which appears in no file and no argument", async () => {
    await make({ gitReceiver: "generic" });
    const token = tokenIn(lastCall());
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    await make({ name: "green", gitReceiver: "generic" });
    expect(tokenIn(lastCall())).not.toBe(token);
    expect(traces(token, at.checkout, at.kubeseal.calls())).toEqual([]);
  });

  test("refuses an unknown type with every other problem, and writes nothing", async () => {
    const message = await refusal({ gitReceiver: "bitbucket" as ReceiverType, tenant: "no team" });
    expect(message).toContain("2 problems in fleet new-cluster, nothing was changed:");
    expect(message).toMatch(/--git-receiver: .*\n\s+got: +bitbucket\n\s+allowed: .*git/);
    expect(spokes()).toEqual(["README.md"]);
  });

  test("prints how to read on the spoke what the Git host is told, and not the token", async () => {
    const argv = ["blue", "--environment", "dev", "--tenant", "payments", "--region", "us-east-1", "--fleet", "fleet"];
    const more = ["--deploy-keys", "own", "--git-receiver", "github", "--repository", at.checkout];
    const text = await printed(run, at.kubeseal.program, [...argv, ...more], {
      certificate: dev,
      "known-hosts": knownHosts,
    });
    expect(text).not.toContain(tokenIn(lastCall()));
    expect(text).toContain("github for pushes at gitops-system and gitops-workloads");
    expect(text).toContain("-n flux-system get receiver git-receiver -o jsonpath='{.status.webhookPath}'");
    expect(text).toContain("-n flux-system get secret git-receiver -o jsonpath='{.data.token}' | base64 -d");
  });
});

test("the types are the Spoke API's", () => {
  const { gitReceiver } = definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
  expect(gitReceiver.enum).toEqual(receiverTypes);
});

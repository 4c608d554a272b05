import { createHash, X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { FleetFacts } from "../../../cli/fleet/facts.ts";
import { run as runReseal } from "../../../cli/sealing/reseal.ts";
import { afterPush } from "../../../cli/sealing/sealing-keys.ts";
import { newSpoke } from "../../../cli/spoke/folder.ts";
import { ownSealingKeys, reseal } from "../../../cli/spoke/keys.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { certificate, type fakeKubeseal, newCase, privateHalf } from "../support/fleet.ts";
import { tokenIn, traces } from "../support/receivers.ts";

const base = temporaryFolder("fleet-spoke-keys");
const dev = await certificate();
const own = await certificate();

let checkout: string;
let kubeseal: ReturnType<typeof fakeKubeseal>;
let fleet: FleetFacts;
let folder: string;
beforeEach(async () => {
  ({ checkout, kubeseal, fleet } = newCase(base, "gitops-system", { dev, "cluster-blue": own }));
  const request = { name: "blue", environment: "dev", tenant: "payments" };
  ({ folder } = await newSpoke(checkout, request, async () => fleet));
});

const connect = async () => fleet;
const spec = () => parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec;
const lastSealed = () => kubeseal.calls().slice(-2);

describe("fleet sealing-keys", () => {
  test("gives a spoke of its environment's scope sealing keys of its own, and leaves what is sealed as it is", async () => {
    const secrets = readFileSync(join(folder, "secrets", "gitops-system.yaml"), "utf8");
    expect(await ownSealingKeys(checkout, "blue", connect)).toEqual({ folder, moved: true });
    expect(spec()).toMatchObject({ environment: "dev", sealing: "cluster" });
    expect(readFileSync(join(folder, "spoke.yaml"), "utf8")).toContain("# Changes of the Composition take effect");
    expect(readdirSync(join(folder, "sealing-keys")).sort()).toEqual(["generation-1.yaml", "kustomization.yaml"]);
    expect(readFileSync(join(folder, "secrets", "gitops-system.yaml"), "utf8")).toBe(secrets);
  });

  test("run again, adds generations that the stack has got and removes those that it has lost, and no other file changes", async () => {
    await ownSealingKeys(checkout, "blue", connect);
    const keys = join(folder, "sealing-keys");
    const first = readFileSync(join(keys, "generation-1.yaml"), "utf8").replace("1h0m0s", "5m0s");
    writeFileSync(join(keys, "generation-1.yaml"), first);
    const withGenerations = (...generations: string[]) => ({ ...fleet, generations: { "cluster-blue": generations } });
    fleet = withGenerations("1", "2");
    expect(await ownSealingKeys(checkout, "blue", connect)).toEqual({ folder, moved: false });
    expect(readFileSync(join(keys, "generation-1.yaml"), "utf8")).toBe(first);
    expect(parse(readFileSync(join(keys, "generation-2.yaml"), "utf8")).spec.dataFrom[0].extract.key).toMatch(/\/2$/);
    fleet = withGenerations("2");
    await ownSealingKeys(checkout, "blue", connect);
    expect(readdirSync(keys).sort()).toEqual(["generation-2.yaml", "kustomization.yaml"]);
    expect(parse(readFileSync(join(keys, "kustomization.yaml"), "utf8")).resources.slice(1)).toEqual([
      "generation-2.yaml",
    ]);
  });

  test("without such a key in the stack is refused with what to add, and changes nothing", async () => {
    fleet = { ...fleet, certificates: { dev }, generations: { dev: ["1"] } };
    await expect(ownSealingKeys(checkout, "blue", connect)).rejects.toThrow("append { scope: cluster-blue");
    expect(spec()).not.toHaveProperty("sealing");
    expect(existsSync(join(folder, "sealing-keys"))).toBe(false);
  });
});

test("fleet sealing-keys names the next command with all that it needs", () => {
  const [, argv = ""] = /fleet reseal (.*)/.exec(afterPush("blue", true)) ?? [];
  // It gets as far as to look for the checkout.
  return expect(runReseal([...argv.split(" "), "--repository", base])).rejects.toThrow(
    "is not a checkout of gitops-system",
  );
});

describe("fleet reseal", () => {
  test("seals the fleet's deploy keys for the scope that the Spoke says", async () => {
    await ownSealingKeys(checkout, "blue", connect);
    const { scope } = await reseal(checkout, { name: "blue", deployKeys: "fleet" }, connect);
    expect(scope).toBe("cluster-blue");
    expect(lastSealed().map(({ certificate: used }) => used)).toEqual([own, own]);
    for (const { input } of lastSealed()) expect(fromBase64(input.data)["identity"]).toContain(privateHalf);
  });

  test("notes on the SealedSecret, and not in the Secret, for which scope and with which certificate it is sealed", async () => {
    await ownSealingKeys(checkout, "blue", connect);
    await reseal(checkout, { name: "blue", deployKeys: "fleet" }, connect);
    const { metadata } = parse(readFileSync(join(folder, "secrets", "gitops-system.yaml"), "utf8"));
    // As openssl x509 -fingerprint -sha256 has it, without the colons.
    const sha256 = createHash("sha256").update(new X509Certificate(own).raw).digest("hex");
    expect(metadata.annotations).toEqual({
      "fleet.internal/sealed-for": "cluster-blue",
      "fleet.internal/sealed-with": sha256,
      "fleet.internal/deploy-key": "ssh-ed25519 AAAA",
    });
    for (const { input } of lastSealed()) expect(input.metadata).not.toHaveProperty("annotations");
  });
});

describe("fleet reseal of a Spoke whose Git host calls it", () => {
  const list = () => parse(readFileSync(join(folder, "secrets", "kustomization.yaml"), "utf8")).resources;
  const turnOn = (type = "gitlab") => {
    const file = join(folder, "spoke.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8").trimEnd()}\n  gitReceiver: ${type}\n`);
  };
  const again = () => reseal(checkout, { name: "blue", deployKeys: "fleet" }, connect);

  test("turns on what the Spoke has got meanwhile, and lists the token once", async () => {
    expect((await again()).gitReceiver).toBeUndefined();
    expect(list()).toEqual(["gitops-system.yaml", "gitops-workloads.yaml"]);
    turnOn();
    for (const _ of ["first", "second"]) {
      expect((await again()).gitReceiver).toBe("gitlab");
      expect(list()).toEqual(["gitops-system.yaml", "gitops-workloads.yaml", "git-receiver.yaml"]);
    }
  });

  test("makes the token alone where the deploy keys are kept, and is refused where nobody calls", async () => {
    const keep = () => reseal(checkout, { name: "blue", deployKeys: "keep" }, connect);
    await expect(keep()).rejects.toThrow("keep leaves nothing to seal");
    turnOn();
    const keys = () =>
      list()
        .slice(0, 2)
        .map((file: string) => readFileSync(join(folder, "secrets", file), "utf8"));
    const [before, calls] = [keys(), kubeseal.calls().length];
    expect(await keep()).toMatchObject({ gitReceiver: "gitlab" });
    expect(
      kubeseal
        .calls()
        .slice(calls)
        .map(({ input }) => input.metadata.name),
    ).toEqual(["git-receiver"]);
    expect(keys()).toEqual(before);
    expect(list()).toEqual(["gitops-system.yaml", "gitops-workloads.yaml", "git-receiver.yaml"]);
  });

  test("makes another token each time, for the scope that the Spoke says", async () => {
    turnOn();
    await again();
    const former = kubeseal.calls().at(-1);
    await ownSealingKeys(checkout, "blue", connect);
    await again();
    const now = kubeseal.calls().at(-1);
    expect(now?.input.metadata).toMatchObject({ name: "git-receiver", namespace: "flux-system" });
    expect(now?.certificate).toBe(own);
    expect(tokenIn(now)).not.toBe(tokenIn(former));
    expect(traces(tokenIn(now), checkout, kubeseal.calls())).toEqual([]);
  });

  test.each([["gitea"], ["null"], ["true"]])("refuses the type %s, for which there would be no token", async (type) => {
    turnOn(type);
    const before = kubeseal.calls().length;
    await expect(again()).rejects.toThrow(new RegExp(`spoke.yaml: has an unknown value\\s+got: +"?${type}"?\\n`));
    expect(kubeseal.calls()).toHaveLength(before);
  });

  test.each([
    ["no kustomization", undefined],
    ["one that lists nothing", "kind: Kustomization\n"],
    ["one that lists a token alone", "resources: [git-receiver.yaml]\n"],
  ])("refuses secrets with %s, where the token would be alone", async (_, text) => {
    turnOn();
    const file = join(folder, "secrets", "kustomization.yaml");
    rmSync(file);
    if (text !== undefined) writeFileSync(file, text);
    const before = kubeseal.calls().length;
    await expect(again()).rejects.toThrow(
      "secrets/kustomization.yaml: does not list gitops-system.yaml and gitops-workloads.yaml",
    );
    expect(kubeseal.calls()).toHaveLength(before);
    expect(existsSync(join(folder, "secrets", "git-receiver.yaml"))).toBe(false);
  });
});

test.each([
  ["teal", "is not the name of a spoke in this checkout"],
  ["../blue", "can't be the name of a spoke"],
])("both refuse the spoke %s before the fleet is asked", async (name, problem) => {
  const asked = () => Promise.reject(new Error("asked the fleet"));
  await expect(ownSealingKeys(checkout, name, asked)).rejects.toThrow(problem);
  await expect(reseal(checkout, { name, deployKeys: "fleet" }, asked)).rejects.toThrow(problem);
});

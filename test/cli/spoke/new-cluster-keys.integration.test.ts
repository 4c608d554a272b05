import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { FleetFacts } from "../../../cli/fleet/facts.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { certificate, knownHosts, privateHalf } from "../support/fleet.ts";
import { inNewSpokeCases } from "../support/spoke-cases.ts";

const { at, dev, made, make, refusal, spokes } = await inNewSpokeCases("fleet-new-cluster-keys-");

describe("fleet new-cluster --sealing cluster", () => {
  const own = () => certificate();

  test("seals for the spoke alone, and says so in the Spoke", async () => {
    at.fleet = {
      ...at.fleet,
      certificates: { dev, "cluster-blue": await own() },
      generations: { "cluster-blue": ["1"] },
    };
    const folder = await make({ sealing: "cluster" });
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.sealing).toBe("cluster");
    expect(new Set(at.kubeseal.calls().map(({ certificate: used }) => used))).toEqual(
      new Set([(at.fleet.certificates as Record<string, string>)["cluster-blue"]]),
    );
  });

  test("brings every generation of the key to the spoke", async () => {
    at.fleet = {
      ...at.fleet,
      certificates: { "cluster-blue": await own() },
      generations: { "cluster-blue": ["1", "2"] },
    };
    const folder = join(await make({ sealing: "cluster" }), "sealing-keys");
    const { resources } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"));
    expect(resources.slice(1)).toEqual(["generation-1.yaml", "generation-2.yaml"]);
    expect(existsSync(join(folder, resources[0], "store.yaml")), "the store of the chain").toBe(true);
    for (const name of resources.slice(1)) expect(existsSync(join(folder, name)), name).toBe(true);
  });

  test("leaves the environment's key to the others by default", async () => {
    at.fleet = {
      ...at.fleet,
      certificates: { dev, "cluster-blue": await own() },
      generations: { "cluster-blue": ["1"] },
    };
    const folder = await make();
    expect(existsSync(join(folder, "sealing-keys"))).toBe(false);
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec).not.toHaveProperty("sealing");
    expect(new Set(at.kubeseal.calls().map(({ certificate: used }) => used))).toEqual(new Set([dev]));
  });

  test("without a key of the spoke's own is refused with what to add to the stack, and writes nothing", async () => {
    await expect(make({ sealing: "cluster" })).rejects.toThrow(
      /--sealing: needs a sealing key of the spoke's own[\s\S]*append { scope: cluster-blue, generation: "1", active: true } to sealingKeys[\s\S]*pulumi up/,
    );
    expect(spokes()).toEqual(["README.md"]);
  });

  test("is refused where the stack that knows the key's generations is not asked", async () => {
    const { generations: _, ...other } = at.fleet;
    at.fleet = { ...other, certificates: dev };
    await expect(make({ sealing: "cluster" })).rejects.toThrow("--sealing: needs the outputs of the hub's stack");
  });

  test("is the only other choice", async () => {
    expect(await refusal({ sealing: "tenant" as never })).toMatch(/--sealing: .*\n\s+got: {5}tenant/);
  });
});

describe("fleet new-cluster --deploy-keys own", () => {
  const sealed = () => at.kubeseal.calls().map(({ input }) => fromBase64(input.data));

  test("makes a new key for each repository, sealed with the Git host's keys, and no key of the fleet", async () => {
    const { publicKeys } = await made({ deployKeys: "own" });
    const keys = Object.values(publicKeys);
    expect(Object.keys(publicKeys).sort()).toEqual(["gitops-system", "gitops-workloads"]);
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^ssh-ed25519 \S+ blue@fleet$/);
    expect(
      sealed()
        .map((data) => data["identity.pub"])
        .sort(),
    ).toEqual([...keys].sort());
    for (const data of sealed()) {
      expect(data["identity"]).not.toContain(privateHalf);
      expect(data["known_hosts"]).toBe(knownHosts);
    }
  });

  test("says which public half to register at which repository, and shows no private one", async () => {
    const { publicKeys, register } = await made({ deployKeys: "own" });
    for (const [repository, key] of Object.entries(publicKeys))
      expect(register).toContain(`read-only, at ssh://git@git.fleet.internal:2222/${repository}.git:\n  ${key}\n`);
    const secretLines = sealed().flatMap((data) => (data["identity"] ?? "").split("\n").slice(2, -2));
    expect(secretLines.length).toBeGreaterThan(2);
    const folder = join(at.checkout, "spokes", "fleet", "blue");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
    for (const line of secretLines)
      expect([register, ...at.kubeseal.calls().flatMap(({ argv }) => argv), ...texts].join("\n")).not.toContain(line);
  });

  test("takes other host keys, and then asks for no credential of the fleet", async () => {
    at.fleet = { ...at.fleet, credential: () => Promise.reject(new Error("asked for the fleet's key")) };
    const hosts = "[git.fleet.internal]:2222 ssh-ed25519 BBBB";
    await made({ deployKeys: "own", knownHosts: hosts });
    for (const data of sealed()) expect(data["known_hosts"]).toBe(hosts);
  });

  test.each([
    [
      "keys of another host",
      { knownHosts: "github.com ssh-ed25519 AAAA" },
      {},
      "--known-hosts: has no key of the Git host",
    ],
    [
      "repositories that are not read over SSH",
      {},
      { "gitops-system": "https://git.example/a.git", "gitops-workloads": "https://git.example/b.git" },
      "--deploy-keys: can't be own: gitops-",
    ],
    ["a choice that there is not", { deployKeys: "mine" as never }, {}, "--deploy-keys: has an unknown value"],
  ])("refuses %s before anything is written", async (_, change, urls, problem) => {
    at.fleet = {
      ...at.fleet,
      repositoryUrls: { ...at.fleet.repositoryUrls, ...urls } as FleetFacts["repositoryUrls"] & object,
    };
    await expect(made({ deployKeys: "own", ...change })).rejects.toThrow(problem);
    expect(spokes()).toEqual(["README.md"]);
  });

  test("is not the default: a spoke gets the fleet's keys, and there is nothing to register", async () => {
    const { publicKeys, register } = await made();
    expect(publicKeys).toEqual({});
    expect(register).toBe("");
  });
});

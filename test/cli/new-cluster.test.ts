import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Fleet } from "../../cli/sources.ts";
import { newSpoke, type SpokeRequest } from "../../cli/spoke-folder.ts";
import { UsageError } from "../../cli/usage.ts";
import { fromBase64 } from "../../lib/bridge.ts";
import { spokeNameRule } from "../../lib/spoke.ts";
import { definition } from "../functions/spoke/support/definition.ts";
import { certificate, type fakeKubeseal, knownHosts, newCase, privateHalf } from "./support/fleet.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-new-cluster-"));
afterAll(() => rmSync(base, { recursive: true }));
const dev = await certificate();

let checkout: string;
let kubeseal: ReturnType<typeof fakeKubeseal>;
let fleet: Fleet;
beforeEach(() => {
  ({ checkout, kubeseal, fleet } = newCase(base, "gitops-system", { dev }));
});

const request: SpokeRequest = { name: "blue", environment: "dev", tenant: "payments" };
const made = (change: Partial<SpokeRequest> = {}) => newSpoke(checkout, { ...request, ...change }, async () => fleet);
const make = async (change: Partial<SpokeRequest> = {}) => (await made(change)).folder;
const unreachable = () => Promise.reject(new Error("asked the fleet"));
const refusal = (change: Partial<SpokeRequest>) =>
  newSpoke(checkout, { ...request, ...change }, unreachable).then(
    () => expect.fail("it was not refused"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(UsageError);
      return (error as Error).message;
    },
  );
const spokes = () => readdirSync(join(checkout, "spokes", "fleet")).sort();

describe("fleet new-cluster", () => {
  test("makes a folder with a Spoke of the newest version in the hub's region, as the template says", async () => {
    const folder = await make();
    expect(folder).toBe(join(checkout, "spokes", "fleet", "blue"));
    const spoke = parse(readFileSync(join(folder, "spoke.yaml"), "utf8"));
    expect(spoke).toMatchObject({
      kind: "Spoke",
      metadata: { name: "blue", namespace: "spokes", labels: { "fleet.internal/fleet": "fleet" } },
    });
    expect(spoke.spec).toMatchObject({
      environment: "dev",
      tenant: "payments",
      region: "us-east-1",
      kubernetesVersion: "1.36",
    });
    expect(spoke.spec).not.toHaveProperty("network");
    expect(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).resources).toEqual(["spoke.yaml"]);
  });

  test("takes a version, a region, networks, nodes and administrators, and leaves the template's comments", async () => {
    const admins = ["arn:aws:iam::000000000000:role/team"];
    const folder = await make({
      kubernetesVersion: "1.34",
      region: "eu-west-1",
      cidr: "10.9.0.0/18",
      nodes: "1",
      admins,
      publicAccessCidrs: ["8.8.8.0/24", "9.9.9.9/32", "8.8.8.0/24"],
    });
    const text = readFileSync(join(folder, "spoke.yaml"), "utf8");
    expect(parse(text).spec).toMatchObject({
      kubernetesVersion: "1.34",
      region: "eu-west-1",
      network: { cidr: "10.9.0.0/18" },
      nodes: { min: 1, desired: 1, max: 2 },
      admins,
      endpoint: { publicAccessCidrs: ["8.8.8.0/24", "9.9.9.9/32"] },
    });
    expect(text).toContain("# Changes of the Composition arrive");
  });

  const editComposition = (from: string, to: string) => {
    const file = join(checkout, "platform", "api", "composition.yaml");
    const before = readFileSync(file, "utf8");
    expect(before).toContain(from);
    writeFileSync(file, before.replace(from, to));
  };

  test("takes the newest version by its number, not by its letters", async () => {
    editComposition('"1.34":', '"1.100":\n          "1.34":');
    const folder = await make();
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.kubernetesVersion).toBe("1.100");
  });

  test("chooses no version where the environment's channel holds the Composition back", async () => {
    editComposition('fleet.internal/dev: "true"', 'fleet.internal/dev: "false"');
    const message = await refusal({});
    expect(message).toContain("--kubernetes-version: must be named: the channel of dev holds the Composition back");
    expect(message).toMatch(/allowed: those of 1\.34, 1\.35, 1\.36/);
    const folder = await make({ kubernetesVersion: "1.34" });
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.kubernetesVersion).toBe("1.34");
  });

  test("seals the credential of each repository that the spoke reads, for Flux's namespace on it", async () => {
    const folder = await make();
    for (const name of parse(readFileSync(join(folder, "secrets", "kustomization.yaml"), "utf8")).resources) {
      const { metadata } = parse(readFileSync(join(folder, "secrets", name), "utf8"));
      expect(metadata).toEqual({ name: name.replace(".yaml", ""), namespace: "flux-system" });
    }
    const sealed = kubeseal.calls().map(({ input }) => fromBase64(input.data)["identity"]);
    expect(sealed.sort()).toEqual([`${privateHalf} gitops-system`, `${privateHalf} gitops-workloads`]);
  });

  test("hands a private key over by stdin only, and writes it nowhere", async () => {
    await make();
    for (const { argv } of kubeseal.calls()) {
      expect(argv.join(" ")).not.toContain(privateHalf);
      const file = argv[argv.indexOf("--cert") + 1] as string;
      expect(existsSync(file), "the copy of the certificate is removed").toBe(false);
    }
    for (const file of readdirSync(checkout, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name), "utf8")).not.toContain(privateHalf);
  });

  test("tells every mistake at once, before the fleet is asked, and writes nothing", async () => {
    const message = await refusal({
      name: "Blue",
      environment: "stage",
      kubernetesVersion: "1.20",
      nodes: "many",
      tenant: "no team",
      admins: ["me"],
      publicAccessCidrs: ["9.9.9.9", "203.0.113.0/24", "0.0.0.0/0"],
    });
    expect(message).toContain("9 mistakes in fleet new-cluster, nothing was changed:");
    expect(message).toContain("got:     Blue");
    expect(message).toContain(`allowed: ${spokeNameRule.allowed}`);
    expect(message).toMatch(/--environment: is not offered\n\s+got: {5}stage\n\s+allowed: dev, prod/);
    expect(message).toMatch(/--kubernetes-version: is not offered\n\s+got: {5}1\.20\n\s+allowed: 1\.34, 1\.35/);
    expect(message).toMatch(/--nodes: .*must be integer\n\s+got: {5}many/);
    expect(message).toMatch(/--tenant: .*must match pattern.*\n\s+got: {5}no team/);
    expect(message).toMatch(/--public-access-cidr: is not an IPv4 network\n\s+got: {5}9\.9\.9\.9\n/);
    expect(message).toMatch(/--public-access-cidr: .* reserved for documentation .*\n\s+got: {5}203\.0\.113\.0\/24\n/);
    expect(message).toMatch(/--public-access-cidr: is everybody\n\s+got: {5}0\.0\.0\.0\/0\n/);
    expect(message).toMatch(/--admin: .*must match pattern.*\n\s+got: {5}me/);
    expect(spokes()).toEqual(["README.md"]);
  });

  test.each([
    ["10.64.0.0", "is not an IPv4 network"],
    ["10.64.0.1/18", "is not an IPv4 network"],
    ["10.0.0.0/8", "can't be divided into subnets"],
    ["8.8.0.0/18", "is not private"],
  ])("refuses the network %s: it %s", async (cidr, problem) => {
    const message = await refusal({ cidr });
    expect(message).toContain(`--cidr: ${problem}`);
    expect(message).toContain(`got:     ${cidr}`);
  });

  test("refuses a network that overlaps one of the fleet's spokes, and leaves those of other fleets to them", async () => {
    const spokeOf = (of: string, cidr: string) => {
      mkdirSync(join(checkout, "spokes", of, "green"), { recursive: true });
      writeFileSync(join(checkout, "spokes", of, "green", "spoke.yaml"), `spec: { network: { cidr: ${cidr} } }`);
    };
    spokeOf("fleet", "10.70.0.0/18");
    spokeOf("fleet-prod", "10.80.0.0/18");
    await expect(make({ cidr: "10.70.0.0/20" })).rejects.toThrow("overlaps 10.70.0.0/18 of spoke green");
    await make({ cidr: "10.80.0.0/20" });
  });

  test("refuses a name that a spoke of another fleet has: gitops-workloads has one folder for both", async () => {
    mkdirSync(join(checkout, "spokes", "fleet-prod", "blue"), { recursive: true });
    expect(await refusal({})).toMatch(/<name>: has a folder already\n\s+got: .*fleet-prod\/blue/);
  });

  test("refuses a fleet that has no folders, and says how it gets them", async () => {
    fleet = { ...fleet, name: "fleet-dev" };
    await expect(make()).rejects.toThrow(/got: {5}fleet-dev\n\s+allowed: fleet\n.*fleet new-fleet fleet-dev/);
    mkdirSync(join(checkout, "spokes", "green"));
    writeFileSync(join(checkout, "spokes", "green", "spoke.yaml"), "");
    await expect(make()).rejects.toThrow("run fleet move-spokes fleet-dev first: green lie");
    expect(spokes()).toEqual(["README.md"]);
  });

  test("refuses a network that overlaps the hub's", async () => {
    await expect(make({ cidr: "10.0.64.0/18" })).rejects.toThrow("overlaps 10.0.0.0/16 of the hub");
    expect(spokes()).toEqual(["README.md"]);
  });

  test("refuses a tenant that YAML would read as a number", async () => {
    expect(await refusal({ tenant: "123" })).toContain("--tenant: would be read as a number");
  });

  test("never touches a spoke that is there", async () => {
    await make();
    const before = readFileSync(join(checkout, "spokes", "fleet", "blue", "spoke.yaml"), "utf8");
    expect(await refusal({ tenant: "others" })).toContain("<name>: has a folder already");
    expect(readFileSync(join(checkout, "spokes", "fleet", "blue", "spoke.yaml"), "utf8")).toBe(before);
  });

  test("leaves nothing behind when sealing fails", async () => {
    fleet = { ...fleet, kubeseal: join(base, "no-kubeseal") };
    await expect(make()).rejects.toThrow("no-kubeseal is not on PATH: install kubeseal");
    expect(spokes()).toEqual(["README.md"]);
  });

  test("names the environments for which the fleet has a key", async () => {
    await expect(make({ environment: "prod" })).rejects.toThrow(/--environment.*\n\s+got: {5}prod\n\s+allowed: dev\n/);
  });

  test("says what a folder is not, and how to name the right one", async () => {
    const elsewhere = newSpoke(base, request, unreachable);
    await expect(elsewhere).rejects.toThrow(
      /is not a checkout of gitops-system: it has no folder templates\/spoke.*--repository DIR/,
    );
  });
});

describe("fleet new-cluster --sealing cluster", () => {
  const own = () => certificate();

  test("seals for the spoke alone, and says so in the Spoke", async () => {
    fleet = { ...fleet, certificates: { dev, "cluster-blue": await own() }, generations: { "cluster-blue": ["1"] } };
    const folder = await make({ sealing: "cluster" });
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.sealing).toBe("cluster");
    expect(new Set(kubeseal.calls().map(({ certificate: used }) => used))).toEqual(
      new Set([(fleet.certificates as Record<string, string>)["cluster-blue"]]),
    );
  });

  test("brings every generation of the key to the spoke", async () => {
    fleet = {
      ...fleet,
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
    fleet = { ...fleet, certificates: { dev, "cluster-blue": await own() }, generations: { "cluster-blue": ["1"] } };
    const folder = await make();
    expect(existsSync(join(folder, "sealing-keys"))).toBe(false);
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec).not.toHaveProperty("sealing");
    expect(new Set(kubeseal.calls().map(({ certificate: used }) => used))).toEqual(new Set([dev]));
  });

  test("without a key of the spoke's own is refused with what to add to the stack, and writes nothing", async () => {
    await expect(make({ sealing: "cluster" })).rejects.toThrow(
      /--sealing: needs a sealing key of the spoke's own[\s\S]*append { scope: cluster-blue, generation: "1", active: true } to sealingKeys[\s\S]*pulumi up/,
    );
    expect(spokes()).toEqual(["README.md"]);
  });

  test("is refused where the stack that knows the key's generations is not asked", async () => {
    const { generations: _, ...other } = fleet;
    fleet = { ...other, certificates: dev };
    await expect(make({ sealing: "cluster" })).rejects.toThrow("--sealing: needs the outputs of the hub's stack");
  });

  test("is the only other choice", async () => {
    expect(await refusal({ sealing: "tenant" as never })).toMatch(/--sealing: .*\n\s+got: {5}tenant/);
  });
});

describe("fleet new-cluster --deploy-keys own", () => {
  const sealed = () => kubeseal.calls().map(({ input }) => fromBase64(input.data));

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
    const folder = join(checkout, "spokes", "fleet", "blue");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
    for (const line of secretLines)
      expect([register, ...kubeseal.calls().flatMap(({ argv }) => argv), ...texts].join("\n")).not.toContain(line);
  });

  test("takes other host keys, and then asks for no credential of the fleet", async () => {
    fleet = { ...fleet, credential: () => Promise.reject(new Error("asked for the fleet's key")) };
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
    ["a choice that there is not", { deployKeys: "mine" as never }, {}, "--deploy-keys: is not offered"],
  ])("refuses %s before anything is written", async (_, change, urls, problem) => {
    fleet = { ...fleet, repositoryUrls: { ...fleet.repositoryUrls, ...urls } as Fleet["repositoryUrls"] & object };
    await expect(made({ deployKeys: "own", ...change })).rejects.toThrow(problem);
    expect(spokes()).toEqual(["README.md"]);
  });

  test("is not the default: a spoke gets the fleet's keys, and there is nothing to register", async () => {
    const { publicKeys, register } = await made();
    expect(publicKeys).toEqual({});
    expect(register).toBe("");
  });
});

test("the rule for names is the Spoke API's", () => {
  const [rule] = definition.spec.versions[0].schema.openAPIV3Schema["x-kubernetes-validations"];
  expect(rule.rule).toContain("self.metadata.name.size() <= 40");
  expect(rule.rule).toContain("self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')");
  expect(rule.messageExpression).toContain(spokeNameRule.allowed);
  for (const [name, allowed] of [
    ["a", true],
    ["a".repeat(40), true],
    ["a".repeat(41), false],
    ["1a", false],
    ["a-", false],
    ["hub", false],
    ["cluster-a", false],
  ] as const)
    expect(spokeNameRule.accepts(name), name).toBe(allowed);
});

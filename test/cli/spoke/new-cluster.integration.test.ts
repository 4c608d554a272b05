import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { newSpoke } from "../../../cli/spoke/folder.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { spokeNameRule } from "../../../lib/spoke.ts";
import { definition } from "../../functions/spoke/support/definition.ts";
import { privateHalf } from "../support/fleet.ts";
import { inNewSpokeCases } from "../support/spoke-cases.ts";

const { at, base, request, make, unreachable, refusal, spokes } = await inNewSpokeCases("fleet-new-cluster-");

describe("fleet new-cluster", () => {
  test("makes a folder with a Spoke of the version of new spokes in the hub's region, as the template says", async () => {
    const folder = await make();
    expect(folder).toBe(join(at.checkout, "spokes", "fleet", "blue"));
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
    expect(parse(readFileSync(join(folder, "flux", "sync.yaml"), "utf8"))).toMatchObject({
      metadata: { name: "spoke-blue", namespace: "flux-system" },
      spec: { sourceRef: { kind: "ExternalArtifact", name: "spoke-blue" }, path: "./spokes/fleet/blue" },
    });
  });

  test("takes a version, a region, networks, nodes and administrators, and leaves the template's comments", async () => {
    const admins = ["arn:aws:iam::000000000000:role/team"];
    const folder = await make({
      kubernetesVersion: "1.35",
      region: "eu-west-1",
      cidr: "10.9.0.0/18",
      nodes: "1",
      admins,
      publicAccessCidrs: ["8.8.8.0/24", "9.9.9.9/32", "8.8.8.0/24"],
    });
    const text = readFileSync(join(folder, "spoke.yaml"), "utf8");
    expect(parse(text).spec).toMatchObject({
      kubernetesVersion: "1.35",
      region: "eu-west-1",
      network: { cidr: "10.9.0.0/18" },
      nodes: { min: 1, desired: 1, max: 2 },
      admins,
      endpoint: { publicAccessCidrs: ["8.8.8.0/24", "9.9.9.9/32"] },
    });
    expect(text).toContain("# Changes of the Composition take effect");
  });

  test("puts a spoke into a ring of the fleet, with the ring's Composition and the channel of its environment", async () => {
    const rings = join(at.checkout, "clusters", "fleet", "rings");
    const refused = (ring: string) => make({ ring }).catch(({ message }: Error) => message);
    expect(await refused("early")).toMatch(/--ring: has an unknown value.*early.*fleet new-ring early/s);
    mkdirSync(rings, { recursive: true });
    for (const file of ["canary.yaml", "early.yaml", "README.md"]) writeFileSync(join(rings, file), "");
    expect(await refused("late")).toContain("allowed: canary, early\n");
    const { spec } = parse(readFileSync(join(await make({ ring: "early" }), "spoke.yaml"), "utf8"));
    expect(spec).toMatchObject({
      ring: "early",
      crossplane: {
        compositionRef: { name: "spoke-early" },
        compositionRevisionSelector: { matchLabels: { "channel.fleet.internal/dev": "true" } },
      },
    });
  });

  const editComposition = (from: string, to: string) => {
    const file = join(at.checkout, "platform", "composition", "composition.yaml");
    const before = readFileSync(file, "utf8");
    expect(before).toContain(from);
    writeFileSync(file, before.replace(from, to));
  };

  test("takes the newest version by its number, not by its letters", async () => {
    editComposition('"1.35":', '"1.100": {vpc-cni: v1}\n          "1.35":');
    const folder = await make();
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.kubernetesVersion).toBe("1.100");
  });

  test("chooses no version where the environment's channel holds the Composition back", async () => {
    editComposition('fleet.internal/dev: "true"', 'fleet.internal/dev: "false"');
    const message = await refusal({});
    expect(message).toContain("--kubernetes-version: must be named: the channel of dev holds the Composition back");
    expect(message).toMatch(/allowed: those of 1\.35, 1\.36, 1\.37/);
    const folder = await make({ kubernetesVersion: "1.35" });
    expect(parse(readFileSync(join(folder, "spoke.yaml"), "utf8")).spec.kubernetesVersion).toBe("1.35");
  });

  test("seals the credential of each repository that the spoke reads, for Flux's namespace on it", async () => {
    const folder = await make();
    for (const name of parse(readFileSync(join(folder, "secrets", "kustomization.yaml"), "utf8")).resources) {
      const { metadata } = parse(readFileSync(join(folder, "secrets", name), "utf8"));
      expect(metadata).toMatchObject({ name: name.replace(".yaml", ""), namespace: "flux-system" });
    }
    const sealed = at.kubeseal.calls().map(({ input }) => fromBase64(input.data)["identity"]);
    expect(sealed.sort()).toEqual([`${privateHalf} gitops-system`, `${privateHalf} gitops-workloads`]);
  });

  test("hands a private key over by stdin only, and writes it nowhere", async () => {
    await make();
    for (const { argv } of at.kubeseal.calls()) {
      expect(argv.join(" ")).not.toContain(privateHalf);
      const file = argv[argv.indexOf("--cert") + 1] as string;
      expect(existsSync(file), "the copy of the certificate is removed").toBe(false);
    }
    for (const file of readdirSync(at.checkout, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name), "utf8")).not.toContain(privateHalf);
  });

  test("tells every problem at once, before the fleet is asked, and writes nothing", async () => {
    const message = await refusal({
      name: "Blue",
      environment: "stage",
      kubernetesVersion: "1.20",
      nodes: "many",
      tenant: "no team",
      admins: ["me"],
      publicAccessCidrs: ["9.9.9.9", "203.0.113.0/24", "0.0.0.0/0"],
    });
    expect(message).toContain("9 problems in fleet new-cluster, nothing was changed:");
    expect(message).toContain("got:     Blue");
    expect(message).toContain(`allowed: ${spokeNameRule.allowed}`);
    expect(message).toMatch(/--environment: has an unknown value\n\s+got: {5}stage\n\s+allowed: dev, prod/);
    expect(message).toMatch(/--kubernetes-version: has an unknown value\n\s+got: {5}1\.20\n\s+allowed: 1\.35, 1\.36/);
    expect(message).toMatch(/--nodes: is not a number of nodes\n\s+got: {5}many/);
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
      mkdirSync(join(at.checkout, "spokes", of, "green"), { recursive: true });
      writeFileSync(join(at.checkout, "spokes", of, "green", "spoke.yaml"), `spec: { network: { cidr: ${cidr} } }`);
    };
    spokeOf("fleet", "10.70.0.0/18");
    spokeOf("fleet-prod", "10.80.0.0/18");
    await expect(make({ cidr: "10.70.0.0/20" })).rejects.toThrow("overlaps 10.70.0.0/18 of spoke green");
    await make({ cidr: "10.80.0.0/20" });
  });

  test("refuses a name that a spoke of another fleet has: gitops-workloads has one folder for both", async () => {
    mkdirSync(join(at.checkout, "spokes", "fleet-prod", "blue"), { recursive: true });
    expect(await refusal({})).toMatch(/<name>: already has a folder\n\s+got: .*fleet-prod\/blue/);
  });

  test("refuses a fleet that has no folders, and says how it gets them", async () => {
    at.fleet = { ...at.fleet, name: "fleet-dev" };
    await expect(make()).rejects.toThrow(/got: {5}fleet-dev\n\s+allowed: fleet\n.*fleet new-fleet fleet-dev/);
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
    const before = readFileSync(join(at.checkout, "spokes", "fleet", "blue", "spoke.yaml"), "utf8");
    expect(await refusal({ tenant: "others" })).toContain("<name>: already has a folder");
    expect(readFileSync(join(at.checkout, "spokes", "fleet", "blue", "spoke.yaml"), "utf8")).toBe(before);
  });

  test("leaves nothing behind when sealing fails", async () => {
    at.fleet = { ...at.fleet, kubeseal: join(base, "no-kubeseal") };
    await expect(make()).rejects.toThrow("no-kubeseal is not on PATH: install kubeseal");
    expect(spokes()).toEqual(["README.md"]);
  });

  test("names the environments for which the fleet has a key", async () => {
    await expect(make({ environment: "prod" })).rejects.toThrow(/--environment.*\n\s+got: {5}prod\n\s+allowed: dev\n/);
  });

  test("says what a folder is not, and how to name the right one", async () => {
    const elsewhere = newSpoke(base, request, unreachable);
    await expect(elsewhere).rejects.toThrow(
      /is not a checkout of gitops-system: it has no folder templates\/spoke[\s\S]*--repository DIR/,
    );
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

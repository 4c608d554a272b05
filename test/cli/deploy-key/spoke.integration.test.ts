import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { run } from "../../../cli/deploy-key/command.ts";
import { fingerprintOf } from "../../../cli/sealing/deploy-key-notes.ts";
import { newSpoke } from "../../../cli/spoke/folder.ts";
import { reseal } from "../../../cli/spoke/keys.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { repositories } from "../../../lib/names.ts";
import { inNewCases } from "../support/cases.ts";
import { certificate, privateHalf } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";
import { traces } from "../support/receivers.ts";

const { at, dev } = await inNewCases("fleet-deploy-keys-", "gitops-system");
const other = await certificate();
const files = repositories.map((name) => join("spokes", "fleet", "blue", "secrets", `${name}.yaml`));
const nextFiles = repositories.map((name) => join("spokes", "fleet", "blue", "secrets", "next", `${name}.yaml`));
const read = (file: string): string => readFileSync(join(at.checkout, file), "utf8");
const notes = (file: string) => parse(read(file)).metadata.annotations;
const keyIn = (file: string): string => notes(file)["fleet.internal/deploy-key"];
const url = (name: string) => `ssh://git@git.fleet.internal:2222/${name}.git`;

beforeEach(async () => {
  const request = { name: "blue", environment: "dev", tenant: "payments", deployKeys: "own" } as const;
  await newSpoke(at.checkout, request, async () => at.fleet);
});

/** Runs the command on a spoke; what it says, or why it refuses. */
async function rotate(...argv: string[]): Promise<string> {
  const noKustomize = () => {
    throw new Error("no kustomize here");
  };
  const world = {
    ...{ connect: async () => at.fleet, ask: async () => ({}), programs: { kustomize: noKustomize } },
    now: () => new Date("2026-01-31T12:30:59Z"),
  };
  try {
    return (await printing(() => run(["blue", "--repository", at.checkout, ...argv], world))).said;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("fleet rotate-deploy-key of a spoke", () => {
  test("seals new keys beside the present ones, which stay in use, and says where to register them", async () => {
    const before = files.map(read);
    const said = await rotate("--new");
    expect(files.map(read)).toEqual(before);
    expect(parse(read("spokes/fleet/blue/secrets/kustomization.yaml")).resources).toEqual(
      repositories.map((name) => `${name}.yaml`),
    );
    const sealed = at.kubeseal.calls().slice(-2);
    expect(sealed.map(({ certificate: used }) => used)).toEqual([dev, dev]);
    for (const [index, name] of repositories.entries()) {
      const data = fromBase64(sealed[index]?.input.data ?? {});
      const key = keyIn(nextFiles[index] as string);
      expect(key).toBe(data["identity.pub"]);
      expect(key).toMatch(/^ssh-ed25519 \S+ blue@fleet 2026-01-31T12:30:59Z$/);
      expect(said).toContain(`  at ${url(name)}:\n    ${key}\n`);
      expect(sealed[index]?.input.metadata).toEqual({ name, namespace: "flux-system" });
    }
    expect(said).toContain('git commit -m "Make new deploy keys for blue"');
    expect(said).toContain("fleet rotate-deploy-key blue --registered");
  });

  test("lets them take the place of the present ones once they are registered, and names those to remove", async () => {
    const former = files.map(keyIn);
    await rotate("--new");
    const next = nextFiles.map(keyIn);
    const said = await rotate("--registered");
    expect(files.map(keyIn)).toEqual(next);
    expect(nextFiles.filter((file) => existsSync(join(at.checkout, file)))).toEqual([]);
    for (const [index, name] of repositories.entries()) {
      expect(said).toContain(`  at ${url(name)}:\n    ${former[index]}\n    ${fingerprintOf(former[index] ?? "")}`);
      expect(said).toContain(`get secret ${name} -o jsonpath='{.data.identity\\.pub}' | base64 -d`);
    }
    expect(said).toContain("fleet rotate-deploy-key blue --removed");
    expect(await rotate("--removed")).toContain("No rotation of the deploy keys of blue is under way");
    expect(files.map(keyIn)).toEqual(next);
    for (const file of files) expect(notes(file)).not.toHaveProperty("fleet.internal/former-deploy-key");
  });

  test("shows a private key nowhere, and writes none", async () => {
    const said = [await rotate("--new"), await rotate("--registered"), await rotate(), await rotate("--removed")];
    for (const { input } of at.kubeseal.calls()) {
      const { identity = "" } = fromBase64(input.data);
      expect(identity).toContain("PRIVATE KEY");
      expect(said.join("\n")).not.toContain(identity.split("\n")[1]);
      expect(traces(identity, at.checkout, at.kubeseal.calls())).toEqual([]);
    }
  });

  test("run again, does no step twice: the key that was registered stays the one that is used", async () => {
    const first = await rotate("--new");
    const [next, calls] = [nextFiles.map(read), at.kubeseal.calls().length];
    for (const argv of [["--new"], []]) {
      const said = await rotate(...argv);
      expect(first).toContain(said);
      expect(nextFiles.map(read)).toEqual(next);
    }
    expect(at.kubeseal.calls()).toHaveLength(calls);
    await rotate("--registered");
    const inUse = files.map(read);
    expect(await rotate("--registered")).toBe(await rotate());
    expect(files.map(read)).toEqual(inUse);
    await rotate("--removed");
    expect(await rotate("--removed")).toBe(await rotate());
  });

  test.each([
    [[], "--registered", "there are no new keys of blue"],
    [["--new"], "--removed", "blue still reads with its present keys"],
    [["--new", "--registered"], "--new", "the keys that blue had before the present ones are not removed yet"],
  ])("after %j refuses %s, which comes too early, and changes nothing", async (before, wish, why) => {
    for (const step of before) await rotate(step);
    const state = [...files, ...nextFiles].map((file) => existsSync(join(at.checkout, file)) && read(file));
    const message = await rotate(wish);
    expect(message).toContain(`${wish}: comes too early: ${why}`);
    expect([...files, ...nextFiles].map((file) => existsSync(join(at.checkout, file)) && read(file))).toEqual(state);
  });

  test("a dry run shows which files change, and writes and registers nothing", async () => {
    const said = await rotate("--new", "--dry-run");
    expect(said).toContain(`+++ b/${nextFiles[0]}\n(sealed, not shown)`);
    expect(said).toContain("Nothing was written.");
    expect(said).not.toContain("ssh-ed25519");
    expect(nextFiles.some((file) => existsSync(join(at.checkout, file)))).toBe(false);
  });

  test("does not use a key that the cluster could not open, because it moved to another scope meanwhile", async () => {
    await rotate("--new");
    at.fleet = { ...at.fleet, certificates: { dev, "cluster-blue": other } };
    const spoke = join(at.checkout, "spokes", "fleet", "blue", "spoke.yaml");
    writeFileSync(spoke, `${readFileSync(spoke, "utf8").trimEnd()}\n  sealing: cluster\n`);
    const before = files.map(read);
    expect(await rotate("--registered")).toMatch(
      /sealed for another scope[\s\S]*a key that is sealed for cluster-blue/,
    );
    expect(files.map(read)).toEqual(before);
    for (const file of nextFiles) rmSync(join(at.checkout, file));
    await rotate("--new");
    expect(at.kubeseal.calls().at(-1)?.certificate).toBe(other);
  });

  test("gives a spoke that reads with the fleet's keys some of its own, and names none of the fleet's to remove", async () => {
    const fleetKey = "ssh-ed25519 AAAA of the fleet";
    at.fleet = {
      ...at.fleet,
      credential: async () => ({
        identity: privateHalf,
        "identity.pub": fleetKey,
        known_hosts: "[git.fleet.internal]:2222 ssh-ed25519 AAAA",
      }),
    };
    await reseal(at.checkout, { name: "blue", deployKeys: "fleet" }, async () => at.fleet);
    expect(files.map(keyIn)).toEqual([fleetKey, fleetKey]);
    await rotate("--new");
    const said = await rotate("--registered");
    expect(said).not.toContain(fleetKey);
    expect(said).not.toContain("--removed");
    expect(keyIn(files[0] as string)).toContain("blue@fleet");
  });

  test("rejects a credential that names no deploy key", async () => {
    writeFileSync(join(at.checkout, files[0] as string), "kind: SealedSecret\nmetadata: { name: a }\n");
    const message = await rotate("--new");
    expect(message).toContain("has no sealed deploy key for gitops-system in this checkout");
    expect(message).toContain(`${files[0]} without fleet.internal/deploy-key`);
  });

  test.each([
    ["reads over HTTPS", { url: "https://git.example.com/a.git" }, "reads gitops-system without a deploy key"],
    [
      "has a host whose key nobody knows",
      { url: "ssh://git@elsewhere/a.git" },
      "--known-hosts: has no key of the Git host of gitops-system",
    ],
  ])("refuses a fleet that %s", async (_, { url }, problem) => {
    at.fleet = { ...at.fleet, repositoryUrls: { "gitops-system": url, "gitops-workloads": url } };
    expect(await rotate("--new")).toContain(problem);
    expect(nextFiles.some((file) => existsSync(join(at.checkout, file)))).toBe(false);
  });

  test("refuses a spoke without a sealed credential", async () => {
    rmSync(join(at.checkout, files[1] as string));
    expect(await rotate("--new")).toContain(`has no sealed credential for gitops-workloads in this checkout`);
  });
});

describe("fleet rotate-deploy-key in a clone", () => {
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", at.checkout, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  beforeEach(() => {
    for (const args of [
      ["init", "--quiet", "--initial-branch=main"],
      ["config", "user.name", "ada"],
      ["config", "user.email", "ada@example.com"],
      ["add", "--all"],
      ["commit", "--quiet", "--message", "first"],
    ])
      git(...args);
  });

  test("makes a commit for each step, of the keys alone", async () => {
    for (const wish of ["--new", "--registered", "--removed"]) await rotate(wish, "--commit");
    expect(git("log", "--format=%s", "-3").split("\n")).toEqual([
      "Forget the former deploy keys of blue",
      "Let blue read with its new deploy keys",
      "Make new deploy keys for blue",
    ]);
    expect(git("show", "--name-only", "--format=", "--no-renames", "HEAD~1").split("\n")).toEqual(
      [...files, ...nextFiles].sort(),
    );
    expect(git("status", "--porcelain")).toBe("");
  });

  test("uses no key that Git does not have yet", async () => {
    await rotate("--new");
    expect(await rotate("--registered")).toMatch(
      /--registered: would move files that Git does not have yet[\s\S]*commit and push/,
    );
    git("add", "--all");
    git("commit", "--quiet", "--message", "new keys");
    expect(await rotate("--registered")).toContain("gets its new deploy keys");
  });
});

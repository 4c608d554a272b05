/** The real Pulumi engine with the local language host and the stand-ins tls and random. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installPulumi, pulumiEnvironment, pulumiPaths } from "../../pulumi/cli/index.ts";
import { openSdk } from "../../pulumi/framework/shape.ts";
import { ensureToolchain } from "../../toolchain/index.ts";
import { makeProject, type Project } from "../support/project.ts";

const program = ({ length = 20, hours = 24, type = "RandomPassword" } = {}) => `
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";
const config = new pulumi.Config();
console.log("hello from the program");
const key = new tls.PrivateKey("key", { algorithm: "ED25519" });
const certificate = new tls.SelfSignedCert("certificate", {
  privateKeyPem: key.privateKeyPem, allowedUses: ["server_auth"], validityPeriodHours: ${hours}, subject: { commonName: "it" },
});
const password = new random.${type}("password", { length: ${length} } as never);
export const publicKey = key.publicKeyOpenssh;
export const certPem = certificate.certPem;
export const secret: pulumi.Output<string> = config.requireSecret("secret");
export const result = (password as random.RandomPassword).result;
export const privateKey = key.privateKeyPem;
`;

let project: Project;
beforeAll(async () => {
  const toolchain = await ensureToolchain();
  project = await makeProject(toolchain.bin);
  await project.write(program());
  await project.command("config", "set", "--secret", "secret", "a-configured-secret");
});
afterAll(() => project?.remove());

test("the engine takes the stand-ins, and official plugins in their place where these are installed and asked for", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "fleet-plugins-"));
  // With another home it would be built there.
  const program = (await ensureToolchain()).bin;
  const { HOME, FLEET_PULUMI_PLUGINS } = process.env;
  try {
    const { home, binary } = pulumiPaths(root);
    const official = path.join(root, ".pulumi", "plugins", `resource-tls-v${openSdk("tls").version}`);
    await mkdir(official, { recursive: true });
    await writeFile(path.join(official, "pulumi-resource-tls"), "#!/bin/sh\n", { mode: 0o755 });
    for (const [choice, kind] of [
      ["stand-in", "stand-in"],
      ["official", "official"],
    ] as const) {
      Object.assign(process.env, { HOME: root, FLEET_PULUMI_PLUGINS: choice });
      const installed = await installPulumi(home, program);
      expect(installed.find(({ name }) => name === "tls")?.kind).toBe(kind);
      const env = { ...process.env, ...pulumiEnvironment(root) };
      const listed = execFileSync(binary, ["plugin", "ls", "--json"], { env, encoding: "utf8" });
      const found = (JSON.parse(listed) as { name: string; version: string }[]).map(({ name, version }) => [
        name,
        version,
      ]);
      expect(found.sort()).toEqual(installed.map(({ name, version }) => [name, version]));
    }
  } finally {
    Object.assign(process.env, { HOME, FLEET_PULUMI_PLUGINS: FLEET_PULUMI_PLUGINS ?? "" });
    await rm(root, { recursive: true, force: true });
  }
});

test("an older version of a plugin, as a component may ask for it, is served by the installed one and changes nothing later", async () => {
  const older = await makeProject((await ensureToolchain()).bin);
  const asking = (options: string) => `
import * as random from "@pulumi/random";
export const { length } = new random.RandomPassword("password", { length: 20 }, ${options});
`;
  try {
    await older.write(asking('{ version: "4.20.0" }'));
    expect((await older.run("up")).changes).toEqual({ create: 2 });
    expect(await older.state()).toContain("default_4_20_0");
    await older.write(asking("{}"));
    expect((await older.run("up")).changes).toEqual({ same: 2 });
    expect(await older.state()).not.toContain("default_4_20_0");
  } finally {
    await older.remove();
  }
});

describe("pulumi with the local language host", () => {
  test("a preview shows what up will make, and up makes it; the program's output reaches the terminal", async () => {
    const preview = await project.run("preview");
    expect(preview.changes).toEqual({ create: 4 });
    const up = await project.run("up");
    expect(up.code).toBe(0);
    expect(up.changes).toEqual({ create: 4 });
    expect(up.text).toContain("hello from the program");
    const outputs = await project.outputs();
    expect(outputs).toMatchObject({
      secret: "a-configured-secret",
      publicKey: expect.stringMatching(/^ssh-ed25519 /),
      certPem: expect.stringContaining("BEGIN CERTIFICATE"),
    });
    expect(outputs["result"]).toHaveLength(20);
  });

  test("no secret stands in the state in plain text", async () => {
    const outputs = await project.outputs();
    const state = await project.state();
    for (const name of ["secret", "result", "privateKey"])
      expect(state).not.toContain(JSON.stringify(outputs[name]).slice(1, -1));
    expect(state).not.toContain("BEGIN PRIVATE KEY");
    expect(state).toContain("BEGIN CERTIFICATE");
  });

  test("a second up and a refresh change nothing", async () => {
    expect((await project.run("up")).changes).toEqual({ same: 4 });
    expect((await project.run("refresh")).changes).toEqual({ same: 4 });
  });

  test("a changed input gives exactly its diff", async () => {
    await project.write(program({ hours: 48 }));
    const preview = await project.run("preview");
    expect(preview.steps).toEqual(["replace certificate: validityPeriodHours"]);
    const up = await project.run("up");
    expect(up.steps).toEqual(["replace certificate: validityPeriodHours"]);
    expect((await project.run("up")).changes).toEqual({ same: 4 });
  });

  test("a type that the stand-in lacks is refused by name", async () => {
    await project.write(program({ type: "RandomPet" }));
    const { code, text } = await project.run("preview");
    expect(code).not.toBe(0);
    expect(text).toContain("does not implement the resource type random:index/randomPet:RandomPet");
    await project.write(program({ hours: 48 }));
  });

  test("a program that throws fails the run with its message and leaves the state alone", async () => {
    await project.write(`${program({ hours: 48 })}\nthrow new Error("the program broke on purpose");`);
    const { code, text } = await project.run("up");
    expect(code).not.toBe(0);
    expect(text).toContain("the program broke on purpose");
    await project.write(program({ hours: 48 }));
    expect((await project.run("preview")).changes).toEqual({ same: 4 });
  });

  test("a policy pack fails the preview that violates it, and passes the one that doesn't", async () => {
    const pack = path.join(project.dir, "pack");
    await mkdir(pack);
    await writeFile(path.join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\nmain: index.js\n");
    await writeFile(path.join(pack, "package.json"), '{ "name": "pack", "version": "1.0.0" }');
    await writeFile(
      path.join(pack, "index.js"),
      `const { PolicyPack } = require("@pulumi/policy");
new PolicyPack("pack", { policies: [{ name: "long-passwords", description: "d", enforcementLevel: "mandatory",
  validateResource: (args, report) => {
    if (args.type === "random:index/randomPassword:RandomPassword" && args.props.length < 16) report("a password is too short");
  } }] });`,
    );
    expect((await project.run("preview", "--policy-pack", pack)).code).toBe(0);
    await project.write(program({ hours: 48, length: 8 }));
    const violating = project.command("preview", "--stack", "test", "--policy-pack", pack);
    await expect(violating).rejects.toThrow("a password is too short");
  });

  test("destroy removes everything", async () => {
    const { code, changes } = await project.run("destroy");
    expect(code).toBe(0);
    expect(changes).toEqual({ delete: 4 });
  });
});

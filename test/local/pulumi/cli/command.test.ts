/** The runner with a stand-in for the CLI that records how it was called. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { commandOf, flagOf, pulumiCommand, runPulumi } from "../../../../local/pulumi/cli/command.ts";
import { installPlugins, installPulumi } from "../../../../local/pulumi/cli/install.ts";
import { CHECKOUT, pulumiPaths } from "../../../../local/pulumi/cli/paths.ts";
import { prepareStack } from "../../../../local/pulumi/cli/stack.ts";

let dir: string;
beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "pulumi-cli-"));
  const cli = path.join(dir, "fake-pulumi");
  // Like the real one, `stack init` makes the stack's state and writes a salt into the configuration of the project in --cwd.
  writeFileSync(
    cli,
    `#!/bin/sh
echo "$@" >> '${dir}/calls'
if [ "$1 $2" = "stack init" ]; then
  mkdir -p '${dir}/pulumi/.pulumi/stacks/eks-gitops-fleet'
  touch "${dir}/pulumi/.pulumi/stacks/eks-gitops-fleet/$3.json"
  printf 'encryptionsalt: v1:salt-of-%s\\n' "$3" >> "${dir}/pulumi/project/stacks/Pulumi.$3.yaml"
fi
echo "home $PULUMI_HOME stack $PULUMI_STACK"; echo oops >&2; exit 3
`.replace("exit 3", 'case "$1" in stack) exit 0;; *) exit 3;; esac'),
    { mode: 0o755 },
  );
  await installPulumi(pulumiPaths(dir).home, cli);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const calls = () => readFileSync(path.join(dir, "calls"), "utf8").trim().split("\n");
const rendered = (stack: string) => path.join(pulumiPaths(dir).project, "stacks", `Pulumi.${stack}.yaml`);

test("a stack is made once, outside the checkout, and its salt is kept", async () => {
  const before = readdirSync(path.join(CHECKOUT, "stacks"));
  const file = await prepareStack(dir, "dev");
  expect(file).toBe(rendered("dev"));
  expect(calls()).toEqual([`stack init dev --no-select --non-interactive --cwd ${pulumiPaths(dir).project}`]);
  await prepareStack(dir, "dev");
  expect(calls()).toHaveLength(1);
  const config = parse(readFileSync(file, "utf8")) as { encryptionsalt: string; config: object };
  const own = parse(readFileSync(path.join(CHECKOUT, "stacks", "Pulumi.dev.yaml"), "utf8")) as { config: object };
  expect(config).toEqual({ encryptionsalt: "v1:salt-of-dev", config: own.config });
  expect(readdirSync(path.join(CHECKOUT, "stacks"))).toEqual(before);
  expect(readFileSync(path.join(CHECKOUT, "stacks", "Pulumi.dev.yaml"), "utf8")).not.toContain("salt-of-dev");
});

test("the instance's overrides go on top of the checkout's configuration", async () => {
  mkdirSync(pulumiPaths(dir).overrides, { recursive: true });
  writeFileSync(
    path.join(pulumiPaths(dir).overrides, "Pulumi.local.yaml"),
    "config:\n  eks-gitops-fleet:extra: here\n",
  );
  const { config } = parse(readFileSync(await prepareStack(dir, "local"), "utf8")) as {
    config: Record<string, unknown>;
  };
  expect(config["eks-gitops-fleet:extra"]).toBe("here");
  expect(Object.keys(config).length).toBeGreaterThan(1);
});

test("commands of a stack get its configuration; others and other projects stay as they are", async () => {
  const of = async (args: string[], cwd = CHECKOUT) => (await pulumiCommand(dir, args, cwd)).args;
  expect(await of(["preview", "-s", "dev", "--diff"])).toEqual([
    "preview",
    "-s",
    "dev",
    "--diff",
    "--config-file",
    rendered("dev"),
  ]);
  expect(await of(["--color", "never", "up"])).toEqual(["--color", "never", "up", "--config-file", rendered("local")]);
  expect(await of(["up", "--config-file", "mine.yaml", "--stack=prod"])).toEqual([
    "up",
    "--config-file",
    "mine.yaml",
    "--stack=prod",
  ]);
  expect(await of(["import", "--", "x"])).toEqual(["import", "--config-file", rendered("local"), "--", "x"]);
  expect(await of(["stack", "output"])).toEqual(["stack", "output"]);
  expect(await of(["up", "--help"])).toEqual(["up", "--help"]);
  expect(await of(["up"], dir)).toEqual(["up"]);
  await expect(of(["up", "-s", "nowhere"])).rejects.toThrow(
    /there is no stack 'nowhere': .*Pulumi.nowhere.yaml is missing/,
  );
});

describe("the checkout's policy pack", () => {
  const config = (stack: string) => path.join(pulumiPaths(dir).project, "stacks", `policies.${stack}.json`);
  const flags = async (stack: string, ...args: string[]) =>
    (await pulumiCommand(dir, ["preview", "--stack", stack, ...args], CHECKOUT)).args.slice(3 + args.length + 2);

  test("gets the configuration of the stack, with what the instance lays over it", async () => {
    mkdirSync(pulumiPaths(dir).overrides, { recursive: true });
    const override = { "kubernetes-helm-registries": { registries: ["https://100.64.255.1/charts"] } };
    writeFileSync(path.join(pulumiPaths(dir).overrides, "policies.local.json"), JSON.stringify(override));
    expect(await flags("local", "--policy-pack", "policies")).toEqual(["--policy-pack-config", config("local")]);
    const own = JSON.parse(readFileSync(path.join(CHECKOUT, "stacks", "policies.local.json"), "utf8")) as object;
    expect(JSON.parse(readFileSync(config("local"), "utf8"))).toEqual({ ...own, ...override });
    expect(await flags("local", `--policy-pack=${CHECKOUT}/policies/`)).toEqual([
      "--policy-pack-config",
      config("local"),
    ]);
  });

  test("is left alone where there is nothing to add, or where the user says it all", async () => {
    expect(await flags("dev", "--policy-pack", "policies")).toEqual([]);
    expect(await flags("local")).toEqual([]);
    expect(await flags("local", "--policy-pack", "other")).toEqual([]);
    expect(await flags("local", "--policy-pack", "policies", "--policy-pack", "other")).toEqual([]);
    expect(await flags("local", "--policy-pack", "policies", "--policy-pack-config", "mine.json")).toEqual([]);
  });
});

test("the environment names the instance; the stack is the flag's, the selected one, or local", async () => {
  const { env } = await pulumiCommand(dir, ["stack"], CHECKOUT);
  expect(env).toMatchObject({
    PULUMI_HOME: pulumiPaths(dir).home,
    PULUMI_BACKEND_URL: `file://${pulumiPaths(dir).backend}?metadata=skip`,
    PULUMI_CONFIG_PASSPHRASE_FILE: pulumiPaths(dir).passphrase,
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_STACK: "local",
  });
  expect(statSync(pulumiPaths(dir).passphrase).mode & 0o777).toBe(0o600);
  const passphrase = readFileSync(pulumiPaths(dir).passphrase, "utf8");
  await pulumiCommand(dir, ["stack"], CHECKOUT);
  expect(readFileSync(pulumiPaths(dir).passphrase, "utf8")).toBe(passphrase);
});

test("output comes line by line with the exit code", async () => {
  const lines: string[] = [];
  const result = await runPulumi({ dir, args: ["whoami"], onLine: (line, stream) => lines.push(`${stream}: ${line}`) });
  expect(result).toEqual({ code: 3, stdout: `home ${pulumiPaths(dir).home} stack local\n`, stderr: "oops\n" });
  expect(lines.sort()).toEqual([`stderr: oops`, `stdout: home ${pulumiPaths(dir).home} stack local`]);
});

test("plugins are installed in the versions of the SDKs, and official ones replace them when asked for and found", async () => {
  const { home } = pulumiPaths(dir);
  const userHome = path.join(dir, "user");
  const { HOME, FLEET_PULUMI_PLUGINS } = process.env;
  try {
    const standIns = await installPlugins(home);
    expect(standIns.map(({ name, kind }) => `${name} ${kind}`)).toEqual(
      ["aws", "eks", "kubernetes", "random", "tls"].map((name) => `${name} stand-in`),
    );
    const tls = standIns.find(({ name }) => name === "tls");
    const folder = `resource-tls-v${tls?.version}`;
    const binary = path.join(home, "plugins", folder, "pulumi-resource-tls");
    expect(readFileSync(binary, "utf8")).toContain(path.join(CHECKOUT, "local/pulumi/tls/main.ts"));
    const official = path.join(userHome, ".pulumi", "plugins", folder);
    mkdirSync(official, { recursive: true });
    writeFileSync(path.join(official, "pulumi-resource-tls"), "official");
    Object.assign(process.env, { HOME: userHome, FLEET_PULUMI_PLUGINS: "official" });
    expect((await installPlugins(home)).filter(({ kind }) => kind === "official").map(({ name }) => name)).toEqual([
      "tls",
    ]);
    expect(readFileSync(binary, "utf8")).toBe("official");
    process.env["FLEET_PULUMI_PLUGINS"] = "";
    await installPlugins(home);
    expect(readFileSync(binary, "utf8")).toContain("local/pulumi/tls/main.ts");
    expect(readFileSync(path.join(official, "pulumi-resource-tls"), "utf8")).toBe("official");
    process.env["FLEET_PULUMI_PLUGINS"] = "both";
    await expect(installPlugins(home)).rejects.toThrow("got 'both', allowed are 'official' and 'stand-in'");
  } finally {
    process.env["HOME"] = HOME;
    process.env["FLEET_PULUMI_PLUGINS"] = FLEET_PULUMI_PLUGINS ?? "";
  }
  expect(existsSync(path.join(home, "bin", "pulumi-language-nodejs"))).toBe(true);
});

test("the command and its flags are found wherever they stand", () => {
  expect(commandOf(["-C", "up", "--color", "never", "preview", "x"])).toBe("preview");
  expect(commandOf(["--help"])).toBeUndefined();
  expect([
    flagOf(["-s", "a"], "--stack", "-s"),
    flagOf(["-sb"], "--stack", "-s"),
    flagOf(["--stack=c"], "--stack", "-s"),
    flagOf(["--skip"], "--stack", "-s"),
  ]).toEqual(["a", "b", "c", undefined]);
});

/** The runner with a stand-in for the CLI that records how it was called. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHECKOUT, productPaths } from "../../../../product-paths.ts";
import { pulumiCommand, readArguments, runPulumi } from "../../../../pulumi/cli/command.ts";
import { installPlugins, installPulumi } from "../../../../pulumi/cli/install.ts";
import { pulumiEnvironment, pulumiPaths } from "../../../../pulumi/cli/paths.ts";
import { prepareStack } from "../../../../pulumi/cli/stack.ts";
import { openSdk } from "../../../../pulumi/framework/shape.ts";
import { scratch } from "../../../support/scratch.ts";

/** A plugin that tells which CA it trusts, where its files go and what it was given. */
const PRINTS =
  '#!/bin/sh\necho "trusts $SSL_CERT_FILE, keeps charts in $HELM_CACHE_HOME, files in $TMPDIR, got $*"\ntest -d $TMPDIR\n';

let dir: string;
const programOf = (name: string) => path.join(dir, name === "pulumi" ? "fake-pulumi" : name);
beforeEach(async () => {
  dir = scratch("pulumi-cli-");
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
  await installPulumi(pulumiPaths(dir).home, programOf);
});

const calls = () => readFileSync(path.join(dir, "calls"), "utf8").trim().split("\n");
const rendered = (stack: string) => path.join(pulumiPaths(dir).project, "stacks", `Pulumi.${stack}.yaml`);

test("a stack that cannot be made says why, in Pulumi's words", async () => {
  const { binary } = pulumiPaths(dir);
  rmSync(binary);
  writeFileSync(binary, "#!/bin/sh\necho 'error: the passphrase is wrong' >&2; exit 255\n", { mode: 0o755 });
  await expect(prepareStack(dir, "dev")).rejects.toThrow(
    /^the stack 'dev' could not be made: .*exit code 255\): error: the passphrase is wrong$/,
  );
});

test("a stack is made once, outside the checkout, and its salt is kept", async () => {
  const before = readdirSync(productPaths.stacks);
  const file = await prepareStack(dir, "dev");
  expect(file).toBe(rendered("dev"));
  expect(calls()).toEqual([`stack init dev --no-select --non-interactive --cwd ${pulumiPaths(dir).project}`]);
  await prepareStack(dir, "dev");
  expect(calls()).toHaveLength(1);
  const config = parse(readFileSync(file, "utf8")) as { encryptionsalt: string; config: object };
  const own = parse(readFileSync(path.join(productPaths.stacks, "Pulumi.dev.yaml"), "utf8")) as { config: object };
  expect(config).toEqual({ encryptionsalt: "v1:salt-of-dev", config: own.config });
  expect(readdirSync(productPaths.stacks)).toEqual(before);
  expect(readFileSync(path.join(productPaths.stacks, "Pulumi.dev.yaml"), "utf8")).not.toContain("salt-of-dev");
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
  const of = async (args: string, cwd = CHECKOUT) => (await pulumiCommand(dir, args.split(" "), cwd)).args.join(" ");
  expect(await of("preview -s dev --diff")).toBe(`preview -s dev --diff --config-file ${rendered("dev")}`);
  expect(await of("--color never up")).toBe(`--color never up --config-file ${rendered("local")}`);
  const own = "up --config-file mine.yaml --stack=prod";
  expect(await of(own)).toBe(own);
  expect(await of("import -- x")).toBe(`import --config-file ${rendered("local")} -- x`);
  for (const same of ["stack output", "up --help"]) expect(await of(same)).toBe(same);
  expect(await of("up", dir)).toBe("up");
  await expect(of("up -s nowhere")).rejects.toThrow(
    /unknown stack 'nowhere': .*Pulumi.nowhere.yaml does not exist. The stacks are dev, local, prod$/,
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
    const own = JSON.parse(readFileSync(path.join(productPaths.stacks, "policies.local.json"), "utf8")) as object;
    expect(JSON.parse(readFileSync(config("local"), "utf8"))).toEqual({ ...own, ...override });
    const withEquals = await flags("local", `--policy-pack=${productPaths.policyPack}/`);
    expect(withEquals).toEqual(["--policy-pack-config", config("local")]);
  });

  test("is left alone where there is nothing to add, or where the user says it all", async () => {
    expect(await flags("dev", "--policy-pack", "policies")).toEqual([]);
    expect(await flags("local")).toEqual([]);
    expect(await flags("local", "--policy-pack", "other")).toEqual([]);
    expect(await flags("local", "--policy-pack", "policies", "--policy-pack", "other")).toEqual([]);
    expect(await flags("local", "--policy-pack", "policies", "--policy-pack-config", "mine.json")).toEqual([]);
  });
});

test("the state is below the instance's directory, whichever characters that has", () => {
  const odd = "/home/ä b/it's #1 %41?/.local";
  const { PULUMI_BACKEND_URL = "" } = pulumiEnvironment(odd);
  expect(fileURLToPath(PULUMI_BACKEND_URL)).toBe(pulumiPaths(odd).backend);
  expect(new URL(PULUMI_BACKEND_URL).search).toBe("?metadata=skip");
});

test("the environment names the instance; the stack is the flag's, the selected one, or local", async () => {
  const { env } = await pulumiCommand(dir, ["stack"], CHECKOUT);
  expect(env).toMatchObject({
    PULUMI_HOME: pulumiPaths(dir).home,
    PULUMI_BACKEND_URL: `file://${pulumiPaths(dir).backend}?metadata=skip`,
    PULUMI_CONFIG_PASSPHRASE_FILE: pulumiPaths(dir).passphrase,
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH: "true",
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

describe("provider plugins", () => {
  const { HOME, FLEET_PULUMI_PLUGINS } = process.env;
  /** What {@link PRINTS} prints. */
  const printed = () => {
    const home = pulumiPaths(dir).home;
    const files = `keeps charts in ${path.join(home, "helm", "cache")}, files in ${path.join(home, "tmp")}`;
    return `trusts ${certificate()}, ${files}, got 127.0.0.1:1\n`;
  };
  const names = ["aws", "eks", "kubernetes", "random", "tls"];
  const standIns = names.filter((name) => name !== "kubernetes");
  const wants = (choice: string) => Object.assign(process.env, { FLEET_PULUMI_PLUGINS: choice });
  const userPlugins = () => path.join(dir, "user", ".pulumi", "plugins");
  const certificate = () => path.join(dir, "it's the ca.crt");
  const install = () => installPlugins(pulumiPaths(dir).home, programOf, certificate());
  const kinds = async (kind: string) => (await install()).filter((plugin) => plugin.kind === kind).map((p) => p.name);

  beforeEach(() => Object.assign(process.env, { HOME: path.join(dir, "user"), FLEET_PULUMI_PLUGINS: "" }));
  afterEach(() => Object.assign(process.env, { HOME, FLEET_PULUMI_PLUGINS: FLEET_PULUMI_PLUGINS ?? "" }));

  /** Puts an official plugin into the user's home that tells which CA it trusts and what it was given. */
  function official(name: string): string {
    const { version } = openSdk(name);
    const folder = path.join(userPlugins(), `resource-${name}-v${version}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `pulumi-resource-${name}`), PRINTS, { mode: 0o755 });
    writeFileSync(path.join(folder, "README.md"), "beside it");
    return folder;
  }

  /** What the engine would start: tryPlugin in sdk/go/common/workspace/plugins.go takes folders alone, no links, with this name. */
  function engineFinds(): Map<string, string> {
    const plugins = path.join(pulumiPaths(dir).home, "plugins");
    const folders = readdirSync(plugins, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const matches = folders.map(({ name }) => /^(?<kind>[a-z]+)-(?<name>[a-zA-Z0-9-]+)-v(?<version>.*)$/.exec(name));
    return new Map(
      matches.flatMap((match) => {
        const { kind, name, version } = match?.groups ?? {};
        if (!match || kind !== "resource" || !name || version !== openSdk(name).version) return [];
        return [[name, path.join(plugins, match[0], `pulumi-resource-${name}`)] as const];
      }),
    );
  }

  test("are the stand-ins, in the versions of the SDKs, beside our language host", async () => {
    official("tls");
    expect(await kinds("stand-in")).toEqual(standIns);
    expect(readFileSync(path.join(pulumiPaths(dir).home, "bin", "pulumi-language-nodejs"), "utf8")).toContain(
      path.join(CHECKOUT, "local/pulumi/language-host/main.ts"),
    );
    expect([...engineFinds().keys()].sort()).toEqual(names);
    for (const name of standIns)
      expect(readFileSync(engineFinds().get(name) ?? "", "utf8")).toContain(
        path.join(CHECKOUT, `local/pulumi/${name}/main.ts`),
      );
  });

  test("are, of kubernetes, the toolchain's, which trusts the instance's CA and keeps nothing in the user's folders for Helm", async () => {
    writeFileSync(programOf("pulumi-resource-kubernetes"), PRINTS, { mode: 0o755 });
    expect(await kinds("built")).toEqual(["kubernetes"]);
    expect(execFileSync(engineFinds().get("kubernetes") ?? "", ["127.0.0.1:1"], { encoding: "utf8" })).toBe(printed());
  });

  test("are official ones where these are installed, trust the instance's CA, and make place for the stand-ins again", async () => {
    const tls = official("tls");
    const half = official("random");
    writeFileSync(`${half}.partial`, "");
    wants("official");
    expect(await kinds("official")).toEqual(["tls"]);
    expect([...engineFinds().keys()].sort()).toEqual(names);
    const program = engineFinds().get("tls") ?? "";
    expect(execFileSync(program, ["127.0.0.1:1"], { encoding: "utf8" })).toBe(printed());
    expect(readFileSync(path.join(path.dirname(program), "README.md"), "utf8")).toBe("beside it");
    expect(await kinds("official")).toEqual(["tls"]);
    wants("");
    expect(await kinds("stand-in")).toEqual(standIns);
    expect(readFileSync(program, "utf8")).toContain("local/pulumi/tls/main.ts");
    expect(readdirSync(path.dirname(program))).toEqual(["pulumi-resource-tls"]);
    expect(readdirSync(tls).sort()).toEqual(["README.md", "pulumi-resource-tls"]);
  });

  test("are a choice of two", async () => {
    wants("both");
    await expect(install()).rejects.toThrow("got 'both', allowed are 'official' and 'stand-in'");
  });
});

test("the command and its flags are found wherever they stand", () => {
  expect(readArguments(["-C", "up", "--color", "never", "preview", "x"]).command).toBe("preview");
  expect(readArguments(["--help"])).toMatchObject({ command: "", help: true });
  const stack = (...args: string[]) => readArguments(args).last("stack");
  const found = [stack("-s", "a"), stack("-sb"), stack("-s=b"), stack("--stack=c"), stack("--skip")];
  expect([...found, stack("--", "-sx")]).toEqual(["a", "b", "b", "c", undefined, undefined]);
});

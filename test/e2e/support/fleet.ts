import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pulumiPaths } from "@eks-gitops-fleet/local/pulumi";
import { instance } from "@eks-gitops-fleet/local/test/instance";
import { afterAll } from "vitest";
import { parse, stringify } from "yaml";
import { clusterBy } from "../../support/cluster.ts";
import { execute, type Options, root, succeed } from "../../support/process.ts";

export { account, instance } from "@eks-gitops-fleet/local/test/instance";
export { eventually, execute, git, type Options, type Result, root } from "../../support/process.ts";

/** For what a test file writes; goes with its last test. */
export const scratch = mkdtempSync(join(tmpdir(), "fleet-test-files-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const tool = (name: string) => join(instance.paths.bin, name);

/** `pulumi` as in a shell that sourced the instance's env file; whatever its exit code. */
export const tryPulumi = (args: readonly string[]) => execute(tool("pulumi"), [...args, "--non-interactive"]);
export const pulumi = (args: readonly string[]) => succeed(tool("pulumi"), [...args, "--non-interactive"]);

type Config = Readonly<Record<string, unknown>>;

/** `pulumi up` with the instance's configuration as `change` makes it; keys are those of the project, without its name. */
export async function upWith(change: (config: Config) => Config): Promise<void> {
  const own = "eks-gitops-fleet:";
  const stack = parse(readFileSync(join(pulumiPaths(instance.dir).project, "stacks", "Pulumi.local.yaml"), "utf8"));
  const all: [string, unknown][] = Object.entries(stack.config);
  const ofProject = all.filter(([key]) => key.startsWith(own)).map(([key, value]) => [key.slice(own.length), value]);
  const changed = Object.entries(change(Object.fromEntries(ofProject))).map(([key, value]) => [`${own}${key}`, value]);
  const config = { ...Object.fromEntries(all.filter(([key]) => !key.startsWith(own))), ...Object.fromEntries(changed) };
  const file = join(scratch, "Pulumi.local.yaml");
  writeFileSync(file, stringify({ ...stack, config }), { mode: 0o600 });
  // Outputs would push what went wrong out of the error, which holds the end of what Pulumi said.
  await pulumi(["up", "--yes", "--skip-preview", "--suppress-outputs", "--config-file", file]);
}

/** Milliseconds that a token is used; EKS takes it for 15 minutes. */
const TOKEN_MS = 600_000;
const kept = { file: join(scratch, "kubeconfig"), of: "", until: 0 };

/**
 * Arguments that let kubectl act as the person of the instance's kubeconfig with a token that is kept for a while: the AWS CLI, which
 * would be asked for one at every call, takes ten times as long as kubectl itself.
 */
async function withToken(args: readonly string[]): Promise<readonly string[]> {
  const { kubeconfig } = instance.paths;
  if (args.some((arg) => /^--(kubeconfig|context)\b/.test(arg)) || !existsSync(kubeconfig)) return args;
  const text = readFileSync(kubeconfig, "utf8");
  if (kept.of !== text || Date.now() > kept.until) {
    const config = parse(text);
    const context = config.contexts.find(({ name }: { name: string }) => name === config["current-context"]);
    const found = config.users.find(({ name }: { name: string }) => name === context?.context.user);
    if (found === undefined) return args;
    const { command, args: options } = found.user.exec;
    found.user = { token: JSON.parse(await succeed(command, options)).status.token };
    writeFileSync(kept.file, stringify(config), { mode: 0o600 });
    Object.assign(kept, { of: text, until: Date.now() + TOKEN_MS });
  }
  return ["--kubeconfig", kept.file, ...args];
}

/** The hub, unless the arguments name another cluster. */
export const hub = clusterBy(async (args, options) => execute(tool("kubectl"), await withToken(args), options));
export const { tryKubectl, kubectl, get } = hub;

export const aws = (args: readonly string[], options?: Options) => succeed(tool("aws"), args, options);
/** The program behind the instance's `aws`, whose profile would win over keys in the environment. */
export function realAws(): string {
  const [, quoted, plain = ""] = /^exec (?:'([^']+)'|(\S+))/m.exec(readFileSync(tool("aws"), "utf8")) ?? [];
  const program = quoted ?? plain;
  if (!existsSync(program)) throw new Error(`${tool("aws")} runs no program that exists: got ${program || "none"}`);
  return program;
}
export const helm = (args: readonly string[]) => succeed(tool("helm"), args);
/** A command of local/cli/ on the tests' instance. */
export const cli = (name: string, args: readonly string[] = []) =>
  execute(process.execPath, [join(root, "local", "cli", name), ...args], { env: { FLEET_LOCAL_DIR: instance.dir } });

/** Runs a command of local/cli/ and kills it, hard, as soon as its output matches; `also` is called right after. */
export function killedAt(
  name: string,
  args: readonly string[],
  line: RegExp,
  also: () => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "local", "cli", name), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, FLEET_LOCAL_DIR: instance.dir },
    });
    let output = "";
    let killed = false;
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk;
      if (killed || !line.test(output)) return;
      killed = true;
      child.kill("SIGKILL");
      also();
    });
    child.once("error", reject);
    child.once("exit", () =>
      killed ? resolve() : reject(new Error(`${name} ended before ${line}:\n${output.slice(-3000)}`)),
    );
  });
}

/** The stack's outputs. */
export const outputs = async () => JSON.parse(await pulumi(["stack", "output", "--json", "--show-secrets"]));

/** The data of a Secret, decoded. */
export async function secretData(namespace: string, name: string): Promise<Record<string, string>> {
  const { data } = await get(["secret", name, "--namespace", namespace]);
  return Object.fromEntries(Object.entries(data as Record<string, string>).map(([key, value]) => [key, atob(value)]));
}

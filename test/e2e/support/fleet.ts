import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, inject } from "vitest";
import { parse, stringify } from "yaml";
import { rootAws } from "../../../local/cli/aws.ts";
import { findInstance } from "../../../local/instance/index.ts";

/** The root of the checkout. */
export const root = join(import.meta.dirname, "..", "..", "..");

/** The tests' instance; it runs. */
export const instance = await (async () => {
  const found = await findInstance(inject("dir"));
  if (found === undefined) throw new Error(`no instance runs in ${inject("dir")}`);
  return found;
})();

/** For what a test file writes; goes with its last test. */
export const scratch = mkdtempSync(join(tmpdir(), "fleet-test-files-"));
afterAll(() => rmSync(scratch, { recursive: true }));

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Runs a program to its end, whatever its exit code. */
export function execute(
  file: string,
  args: readonly string[],
  { env = {}, input = "", cwd = root }: Options = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { cwd, env: { ...process.env, ...env }, maxBuffer: 256 << 20 },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== "number") return reject(error);
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      },
    );
    child.stdin?.on("error", () => {}); // a program that ends without reading its input is judged by its exit code
    child.stdin?.end(input);
  });
}

/** Standard output of a program that must succeed. */
async function succeed(file: string, args: readonly string[], options?: Options): Promise<string> {
  const { code, stdout, stderr } = await execute(file, args, options);
  if (code !== 0)
    throw new Error(
      `${file} ${args.join(" ")} ended with exit code ${code}:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`,
    );
  return stdout;
}

const tool = (name: string) => join(instance.paths.bin, name);

/** `pulumi` as in a shell that sourced the instance's env file; whatever its exit code. */
export const tryPulumi = (args: readonly string[]) => execute(tool("pulumi"), [...args, "--non-interactive"]);
export const pulumi = (args: readonly string[]) => succeed(tool("pulumi"), [...args, "--non-interactive"]);

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

/** `kubectl` on the hub; whatever its exit code. */
export const tryKubectl = async (args: readonly string[], options?: Options) =>
  execute(tool("kubectl"), await withToken(args), options);
export const kubectl = async (args: readonly string[], options?: Options) =>
  succeed(tool("kubectl"), await withToken(args), options);
export const get = async (args: readonly string[]) => JSON.parse(await kubectl(["get", ...args, "--output", "json"]));

export const aws = (args: readonly string[], options?: Options) => succeed(tool("aws"), args, options);
export const helm = (args: readonly string[]) => succeed(tool("helm"), args);
export const git = (args: readonly string[], cwd?: string) =>
  succeed(
    "git",
    ["-c", "user.name=A person", "-c", "user.email=person@example.com", ...args],
    cwd === undefined ? {} : { cwd },
  );

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

/** AWS clients as the account's root: for what a test needs and no identity of the fleet may do. */
export const account = await rootAws(instance);

/** The stack's outputs. */
export const outputs = async () => JSON.parse(await pulumi(["stack", "output", "--json", "--show-secrets"]));

/** The data of a Secret, decoded. */
export async function secretData(namespace: string, name: string): Promise<Record<string, string>> {
  const { data } = await get(["secret", name, "--namespace", namespace]);
  return Object.fromEntries(Object.entries(data as Record<string, string>).map(([key, value]) => [key, atob(value)]));
}

/** Waits until a check passes (does not throw); rejects with its last error after `seconds`. */
export async function eventually<T>(seconds: number, check: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(500);
  }
}

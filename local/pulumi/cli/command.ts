/** A Pulumi command line for an instance: environment, stack and configuration filled in. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { CHECKOUT } from "../../product-paths.ts";
import { ensurePassphrase, pulumiEnvironment, pulumiPaths } from "./paths.ts";
import { policyFlags } from "./policies.ts";
import { prepareStack, selectedStack } from "./stack.ts";

/** What to execute. */
export interface PulumiCommand {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/** Commands that read or write a stack's configuration file and take `--config-file`. */
const STACK_COMMANDS = new Set("up update preview pre refresh destroy down dn import watch logs".split(" "));
const text = { type: "string" } as const;
/** Flags that are of interest here, and global ones with a value, which may stand before the command. */
const FLAGS = {
  stack: { type: "string", short: "s" },
  cwd: { type: "string", short: "C" },
  "config-file": text,
  "policy-pack": { type: "string", multiple: true },
  "policy-pack-config": text,
  help: { type: "boolean", short: "h" },
  color: text,
  memprofilerate: text,
  profiling: text,
  tracing: text,
  verbose: { type: "string", short: "v" },
} as const;
/** The stack when none is named or selected. */
const DEFAULT_STACK = "local";

/** What the arguments say: the command, and the values of the flags above in their forms `--name value`, `--name=value`, `-n value`, `-nvalue`. */
export function readArguments(args: readonly string[]) {
  const options = { args: [...args], options: FLAGS, strict: false, allowPositionals: true };
  const { values, positionals } = parseArgs(options);
  const all = (name: keyof typeof FLAGS): string[] =>
    [values[name] ?? []].flat().flatMap((value) => (typeof value === "string" ? [value.replace(/^=/, "")] : []));
  return {
    command: positionals[0] ?? "",
    all,
    last: (name: keyof typeof FLAGS) => all(name).at(-1),
    help: !!values["help"],
  };
}

/**
 * Fills in what a command needs. In another project than this checkout only the environment is set, so `pulumi` stays a plain Pulumi.
 * @param dir the instance's folder.
 * @param args the arguments of `pulumi`.
 * @param cwd where the command runs.
 */
export async function pulumiCommand(dir: string, args: readonly string[], cwd = process.cwd()): Promise<PulumiCommand> {
  const { binary } = pulumiPaths(dir);
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run npm start first`);
  await ensurePassphrase(dir);
  const env = { ...(process.env as Record<string, string>), ...pulumiEnvironment(dir) };
  const given = readArguments(args);
  const from = path.resolve(cwd, given.last("cwd") ?? ".");
  if (projectRoot(from) !== CHECKOUT) return { binary, args, env };
  const named = given.last("stack") ?? env["PULUMI_STACK"] ?? (await selectedStack(dir));
  const stack = named?.split("/").at(-1) ?? DEFAULT_STACK;
  const withStack = named ? env : { ...env, PULUMI_STACK: stack };
  if (!STACK_COMMANDS.has(given.command) || given.help) return { binary, args, env: withStack };
  const rendered = await prepareStack(dir, stack);
  const filled = [
    ...(given.last("config-file") ? [] : ["--config-file", rendered]),
    ...(given.last("policy-pack-config") ? [] : await policyFlags(dir, stack, given.all("policy-pack"), from)),
  ];
  // Behind the user's arguments, except where `--` ends the flags.
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return { binary, args: [...args.slice(0, end), ...filled, ...args.slice(end)], env: withStack };
}

function projectRoot(from: string): string | undefined {
  const parent = path.dirname(from);
  if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((file) => existsSync(path.join(from, file)))) return from;
  return parent === from ? undefined : projectRoot(parent);
}

/** Options of {@link runPulumi}. */
export interface RunOptions {
  readonly dir: string;
  readonly args: readonly string[];
  /** Default: the checkout. */
  readonly cwd?: string;
  /** On top of the environment of this process and the instance's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Every line of stdout and stderr as it comes; missing: both go to the terminal. */
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
  readonly signal?: AbortSignal;
}

/** Runs a command to its end. An abort interrupts it, so that Pulumi cancels in order. */
export async function runPulumi(options: RunOptions): Promise<{ code: number; stdout: string; stderr: string }> {
  const cwd = options.cwd ?? CHECKOUT;
  const command = await pulumiCommand(options.dir, options.args, cwd);
  const { onLine } = options;
  const child = spawn(command.binary, command.args, {
    cwd,
    env: { ...command.env, ...options.env },
    stdio: onLine ? ["ignore", "pipe", "pipe"] : "inherit",
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    const readable = child[stream];
    if (!readable) continue;
    createInterface({ input: readable }).on("line", (line) => {
      output[stream] += `${line}\n`;
      onLine?.(line, stream);
    });
  }
  const interrupt = () => child.kill("SIGINT");
  options.signal?.addEventListener("abort", interrupt);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (status, signal) => resolve(status ?? (signal ? 130 : 1)));
    });
    return { code, ...output };
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
  }
}

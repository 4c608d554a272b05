/** Configuration of the checkout's policy pack for a stack, with what only the instance knows. */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { writeAtomic } from "../../instance/files.ts";
import { CHECKOUT, pulumiPaths } from "./paths.ts";

/** Parameters by policy, as `--policy-pack-config` takes them. */
export type PolicyConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Every value of a flag in its forms `--name value` and `--name=value`. */
function valuesOf(args: readonly string[], flag: string): string[] {
  return args.flatMap((arg, index) => {
    if (args[index - 1] === flag) return [arg];
    return arg.startsWith(`${flag}=`) ? [arg.slice(flag.length + 1)] : [];
  });
}

/**
 * The flag that configures the checkout's policy pack, when a command names this pack alone and no configuration, and the
 * stack or the instance has one; else nothing.
 * @param cwd where the command runs.
 */
export async function policyFlags(dir: string, stack: string, args: readonly string[], cwd: string): Promise<string[]> {
  const packs = valuesOf(args, "--policy-pack");
  const [pack = ""] = packs;
  const own = packs.length === 1 && path.resolve(cwd, pack) === path.join(CHECKOUT, "policies");
  if (!own || valuesOf(args, "--policy-pack-config").length > 0) return [];
  const name = `policies.${stack}.json`;
  const { overrides, project } = pulumiPaths(dir);
  const base = await read(path.join(CHECKOUT, "stacks", name));
  const override = await read(path.join(overrides, name));
  if (!base && !override) return [];
  const file = path.join(project, "stacks", name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeAtomic(file, JSON.stringify(merged(base ?? {}, override ?? {}), null, 2));
  return ["--policy-pack-config", file];
}

function merged(base: PolicyConfig, override: PolicyConfig): PolicyConfig {
  const names = Object.keys({ ...base, ...override });
  return Object.fromEntries(names.map((name) => [name, { ...base[name], ...override[name] }]));
}

async function read(file: string): Promise<PolicyConfig | undefined> {
  return existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as PolicyConfig) : undefined;
}

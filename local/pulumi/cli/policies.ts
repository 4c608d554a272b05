/** Configuration of the checkout's policy pack for a stack, with what only the instance knows. */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { writeAtomic } from "../../instance/files.ts";
import { policyFileName, productPaths, STACKS } from "../../product-paths.ts";
import { pulumiPaths } from "./paths.ts";

/** Parameters by policy, as `--policy-pack-config` takes them. */
export type PolicyConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * The flag that configures the checkout's policy pack, when a command names this pack alone, and the stack or the instance has a
 * configuration of it; else nothing.
 * @param packs the values of `--policy-pack`.
 * @param cwd where the command runs.
 */
export async function policyFlags(
  dir: string,
  stack: string,
  [pack = "", ...more]: readonly string[],
  cwd: string,
): Promise<string[]> {
  if (more.length > 0 || path.resolve(cwd, pack) !== productPaths.policyPack) return [];
  const name = policyFileName(stack);
  const { overrides, project } = pulumiPaths(dir);
  const base = await read(path.join(productPaths.stacks, name));
  const override = await read(path.join(overrides, name));
  if (!base && !override) return [];
  const file = path.join(project, STACKS, name);
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

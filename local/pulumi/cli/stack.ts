/**
 * Stacks without a trace in the checkout.
 *
 * Pulumi writes `encryptionsalt` into a stack's configuration when it makes the stack (pkg/v3 3.250.0, cmd/pulumi/stack/secrets.go and
 * io.go). So stacks are made in a project folder of the instance, and every command works with a rendered copy of the configuration.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import { run } from "../../instance/command.ts";
import { writeAtomic } from "../../instance/files.ts";
import { productPaths, STACKS, stackFileName } from "../../product-paths.ts";
import { ensurePassphrase, pulumiEnvironment, pulumiPaths } from "./paths.ts";

interface StackFile {
  encryptionsalt?: string;
  secretsprovider?: string;
  config?: Record<string, unknown>;
}

const projectFile = productPaths.project;

/** Where the checkout keeps the configuration of a stack. */
export function stackFile(stack: string): string {
  return path.join(productPaths.stacks, stackFileName(stack));
}

/** @throws when the checkout has no such stack; the message names those that it has. */
export async function requireStack(stack: string): Promise<void> {
  const file = stackFile(stack);
  if (existsSync(file)) return;
  const known = (await readdir(path.dirname(file))).flatMap((name) => /^Pulumi\.(.+)\.yaml$/.exec(name)?.[1] ?? []);
  throw new Error(`unknown stack '${stack}': ${file} does not exist. The stacks are ${known.sort().join(", ")}`);
}

/**
 * Renders the configuration of a stack (the checkout's, plus the instance's overrides, plus the salt of its secrets) and makes the stack
 * when it doesn't exist. Returns the rendered file, for `--config-file`.
 * @throws when the checkout has no such stack.
 */
export async function prepareStack(dir: string, stack: string): Promise<string> {
  await requireStack(stack);
  await ensurePassphrase(dir);
  const { project } = pulumiPaths(dir);
  await mkdir(path.join(project, STACKS), { recursive: true });
  await copyFile(projectFile, path.join(project, "Pulumi.yaml"));
  const rendered = path.join(project, STACKS, stackFileName(stack));
  await writeAtomic(rendered, stringify(await renderStack(dir, stack, rendered)), 0o600);
  if (!(await stackExists(dir, stack))) await makeStack(dir, stack);
  return rendered;
}

async function renderStack(dir: string, stack: string, previous: string): Promise<StackFile> {
  const base = await readStackFile(stackFile(stack));
  const override = await readStackFile(path.join(pulumiPaths(dir).overrides, stackFileName(stack)));
  const { encryptionsalt } = await readStackFile(previous);
  return {
    ...(encryptionsalt && !base.secretsprovider ? { encryptionsalt } : {}),
    ...base,
    config: { ...base.config, ...override.config },
  };
}

async function readStackFile(file: string): Promise<StackFile> {
  if (!existsSync(file)) return {};
  return ((parse(await readFile(file, "utf8")) as StackFile | null) ?? {}) satisfies StackFile;
}

async function projectName(): Promise<string> {
  return (parse(await readFile(projectFile, "utf8")) as { name: string }).name;
}

/** True when the instance's state has the stack. */
export async function stackExists(dir: string, stack: string): Promise<boolean> {
  const folder = path.join(pulumiPaths(dir).backend, ".pulumi", "stacks", await projectName());
  return [".json", ".json.gz"].some((suffix) => existsSync(path.join(folder, stack + suffix)));
}

async function makeStack(dir: string, stack: string): Promise<void> {
  const { binary, project } = pulumiPaths(dir);
  const args = ["stack", "init", stack, "--no-select", "--non-interactive", "--cwd", project];
  const env = { ...process.env, ...pulumiEnvironment(dir) };
  await run([binary, ...args], { env }).catch((error: unknown) => {
    throw new Error(`the stack '${stack}' could not be made: ${(error as Error).message}`, { cause: error });
  });
}

/**
 * The stack that `pulumi stack select` chose for this checkout, undefined when none was.
 * Source of the file's name and form: sdk/v3 3.250.0, go/common/workspace/workspace.go.
 */
export async function selectedStack(dir: string): Promise<string | undefined> {
  const hash = createHash("sha1").update(projectFile).digest("hex");
  const name = `${await projectName()}-${hash}-workspace.json`;
  const file = path.join(pulumiPaths(dir).home, "workspaces", name);
  if (!existsSync(file)) return undefined;
  const { stack } = JSON.parse(await readFile(file, "utf8")) as { stack?: string };
  return stack?.split("/").at(-1);
}

/** Encrypted values of a stack's configuration, made by Pulumi itself. */
import { copyFile, readFile, rm } from "node:fs/promises";
import { parse } from "yaml";
import { run } from "../../instance/command.ts";
import { pulumiEnvironment, pulumiPaths } from "./paths.ts";
import { prepareStack } from "./stack.ts";

/**
 * Encrypts values for a stack, by full config key, to the form in which they stand in its file. The values go through a pipe only.
 */
export async function encryptConfig(
  dir: string,
  stack: string,
  values: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const rendered = await prepareStack(dir, stack);
  const scratch = `${rendered}.secrets.yaml`;
  const { binary, project } = pulumiPaths(dir);
  const env = { ...process.env, ...pulumiEnvironment(dir) };
  const flags = ["--secret", "--stack", stack, "--config-file", scratch, "--cwd", project, "--non-interactive"];
  try {
    await copyFile(rendered, scratch);
    for (const [key, input] of Object.entries(values))
      await run([binary, "config", "set", key, ...flags], { env, input });
    const { config = {} } = parse(await readFile(scratch, "utf8")) as { config?: Record<string, unknown> };
    return Object.fromEntries(Object.keys(values).map((key) => [key, config[key]]));
  } finally {
    await rm(scratch, { force: true });
  }
}

import { join } from "node:path";
import { quote, script } from "../instance/command.ts";
import { type Instance, writeAtomic } from "../instance/index.ts";

/** The lines of `<dir>/env`, to be sourced by sh or bash; the instance's tools come first on PATH. */
export function environmentFile(variables: Readonly<Record<string, string>>, bin: string): string {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
  // Sourced twice, PATH still has the folder once.
  const path = `case ":$PATH:" in *:${quote(bin)}:*) ;; *) export PATH=${quote(bin)}":$PATH" ;; esac`;
  return `${[...lines, path].join("\n")}\n`;
}

/** Writes an executable script. */
export async function writeScript(
  file: string,
  program: readonly string[],
  before: readonly string[] = [],
): Promise<void> {
  await writeAtomic(file, script(program, before), 0o755);
}

/**
 * Writes `<dir>/env` and the commands of `<dir>/bin`: each is the real program in the instance's environment, whatever
 * the caller's is.
 */
export async function writeShellFiles(
  { paths }: Instance,
  variables: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  await writeAtomic(paths.env, environmentFile(variables, paths.bin));
  for (const [name, program] of Object.entries(programs))
    await writeScript(join(paths.bin, name), program, [`. ${quote(paths.env)}`]);
}

import { readFile } from "node:fs/promises";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { parse } from "yaml";
import { describeProblems, type Problem, shown } from "../lib/problems.ts";

/** A command was called wrongly: exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What parseArgs makes of `argv`; its complaints (an unknown flag, a missing value) become a {@link UsageError} that names the help. */
export function parsed<const T extends ParseArgsOptionsConfig>(command: string, argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. See npx fleet ${command} --help`, { cause: error });
  }
}

/**
 * The text of the file that a flag names; undefined without the flag.
 * @throws UsageError when there is no such file, or it can't be read.
 */
export async function flagFile(flag: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`${flag} can't be read: ${(error as Error).message}. Name a file with what it takes`, {
      cause: error,
    });
  }
}

/**
 * The values of flags that a command can't do without.
 * @throws UsageError that names all that are missing.
 */
export function requiredFlags<K extends string>(
  command: string,
  values: Readonly<Partial<Record<K, string | undefined>>>,
  names: readonly K[],
): Record<K, string> {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0)
    throw new UsageError(
      `${command} needs ${missing.map((name) => `--${name}`).join(", ")}. See npx fleet ${command} --help`,
    );
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Record<K, string>;
}

/** @throws UsageError when there is not exactly one positional argument. */
export function onePositional(command: string, what: string, positionals: readonly string[]): string {
  const [value, ...rest] = positionals;
  if (value !== undefined && rest.length === 0) return value;
  throw new UsageError(
    `${command} takes one <${what}>, got ${positionals.join(" ") || "none"}. See npx fleet ${command} --help`,
  );
}

/** @throws UsageError when there is a positional argument. */
export function noPositional(command: string, positionals: readonly string[]): void {
  if (positionals.length > 0)
    throw new UsageError(
      `fleet ${command} takes no argument, got ${positionals.join(" ")}. See npx fleet ${command} --help`,
    );
}

/** @throws UsageError that lists the problems, if there are any. */
export function refuse(command: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw new UsageError(describeProblems(`fleet ${command}`, problems));
}

/** Values by flag that YAML would read as something else than a text: `123`, `true`, `null`. */
export function textProblems(values: Readonly<Record<string, string>>): Problem[] {
  return Object.entries(values)
    .filter(([, value]) => isPlain(value) && parse(value) !== value)
    .map(([key, value]) => ({
      key,
      what: "would be read as a number, a boolean or nothing in YAML",
      got: shown(value),
      allowed: "a text with a letter in it, and not true, false or null",
      remedy: "choose another one",
    }));
}

/** Whether a value has only characters that mean nothing in YAML; others are refused by the rules of each flag. */
const isPlain = (value: string) => /^[-A-Za-z0-9_.~/]+$/.test(value);

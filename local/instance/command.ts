import { execFile } from "node:child_process";
import { createInterface } from "node:readline";

/** How many lines of both outputs the error of a command with `onLine` tells. */
const TAIL_LINES = 40;

/** A value as one word of a POSIX shell, quoted if necessary. */
export const quote = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

/** The words that start a program with these variables. `env` itself takes every word with "=" for a variable, also the path of a program. */
export const withVariables = (variables: Readonly<Record<string, string>>, program: string): string[] => [
  ...["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
  ...["sh", "-c", 'exec "$0" "$@"', program],
];

/** A shell script that becomes a program, after the lines of `before`. */
export const script = (program: readonly string[], before: readonly string[] = []): string =>
  `${["#!/bin/sh", ...before, `exec ${program.map(quote).join(" ")} "$@"`].join("\n")}\n`;

/** A command failed; the message holds the command, its exit code and the end of its error output (with `onLine`: of both outputs). */
export class CommandError extends Error {
  readonly exitCode: number | undefined;
  /** What it wrote to its error output; its standard output where it wrote nothing there. */
  readonly stderr: string;

  constructor(
    argv: readonly string[],
    exitCode: number | undefined,
    stderr: string,
    reason: string,
    tail = stderr.trim().slice(-2000),
  ) {
    super(`${argv.join(" ")} failed (${exitCode === undefined ? reason : `exit code ${exitCode}`}): ${tail}`);
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

export interface RunOptions {
  /** Goes to standard input. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** A command that starts this one, such as `nice`; messages don't name it. */
  readonly before?: readonly string[];
  /** Gets every line of standard output and error output, which may then be of any length; without it, 64 MiB each. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command to its end and gives its standard output. Rejects with CommandError. */
export function run(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input = "", env = process.env, cwd = process.cwd(), before = [], onLine } = options;
  const [file = "", ...args] = [...before, ...argv];
  const maxBuffer = onLine === undefined ? 64 << 20 : Number.POSITIVE_INFINITY;
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const child = execFile(file, args, { encoding: "utf8", maxBuffer, env, cwd }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const reason = error.signal == null ? error.message : `ended by ${error.signal}`;
      const exitCode = typeof error.code === "number" ? error.code : undefined;
      const told = onLine === undefined ? undefined : tail.join("\n");
      reject(new CommandError(argv, exitCode, stderr || stdout, reason, told));
    });
    const follow = (line: string) => {
      onLine?.(line);
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
    };
    if (onLine !== undefined)
      for (const stream of [child.stdout, child.stderr])
        if (stream !== null) createInterface({ input: stream }).on("line", follow);
    // A command that ends without reading its input is judged by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

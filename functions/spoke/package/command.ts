import { execFile } from "node:child_process";
import { createInterface } from "node:readline";

interface RunOptions {
  readonly cwd?: string;
  /** Gets every line of standard output. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command to its end and gives its standard output; rejects with what it wrote to its error output. */
export type Run = (argv: readonly string[], options?: RunOptions) => Promise<string>;

export const run: Run = ([file = "", ...args], { cwd, onLine } = {}) =>
  new Promise((resolve, reject) => {
    const child = execFile(file, args, { cwd, maxBuffer: 64 << 20 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    if (onLine && child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  });

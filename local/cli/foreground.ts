import { type SpawnOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

interface ForegroundOptions extends Pick<SpawnOptions, "cwd" | "env"> {
  /** Gets what it writes to standard output, which goes to the terminal all the same. */
  readonly onOutput?: (text: string) => void;
  /** What it gets on INT and TERM to this process. @default the same signal */
  readonly ending?: NodeJS.Signals;
  /** Starts each line of its output and its errors, to distinguish programs that run side by side. */
  readonly prefix?: string | undefined;
}

/** How long output that was written before the exit may take to arrive. */
const LAST_OUTPUT_MS = 5000;

function copyLines(from: Readable | null, to: NodeJS.WriteStream, prefix: string): void {
  if (from !== null) createInterface({ input: from }).on("line", (line) => to.write(`${prefix}${line}\n`));
}

/** Runs a program on this process's terminal to its end; gives its exit code, 130 when a signal ended it. */
export function foreground(
  argv: readonly [string, ...string[]],
  { onOutput, ending, prefix, ...options }: ForegroundOptions,
): Promise<number> {
  const [program, ...args] = argv;
  return new Promise((resolve, reject) => {
    const [output, errors] = [onOutput || prefix ? "pipe" : "inherit", prefix ? "pipe" : "inherit"] as const;
    const child = spawn(program, args, { ...options, stdio: ["inherit", output, errors] });
    if (prefix !== undefined) {
      copyLines(child.stdout, process.stdout, prefix);
      copyLines(child.stderr, process.stderr, prefix);
    }
    if (onOutput !== undefined)
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        onOutput(text);
        process.stdout.write(text);
      });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(ending ?? signal));
    child.once("error", reject);
    child.once("exit", (code) => {
      const end = () => resolve(code ?? 130);
      child.once("close", end);
      // A process that it left behind may keep its output open.
      setTimeout(end, LAST_OUTPUT_MS).unref();
    });
  });
}

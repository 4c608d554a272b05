import { type SpawnOptions, spawn } from "node:child_process";

interface ForegroundOptions extends Pick<SpawnOptions, "cwd" | "env"> {
  /** Gets what it writes to standard output, which goes to the terminal all the same. */
  readonly onOutput?: (text: string) => void;
  /** What it gets on INT and TERM to this process. @default the same signal */
  readonly ending?: NodeJS.Signals;
}

/** Runs a program on this process's terminal to its end; gives its exit code, 130 when a signal ended it. */
export function foreground(
  argv: readonly [string, ...string[]],
  { onOutput, ending, ...options }: ForegroundOptions,
): Promise<number> {
  const [program, ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["inherit", onOutput ? "pipe" : "inherit", "inherit"] });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      onOutput?.(text);
      process.stdout.write(text);
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(ending ?? signal));
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 130));
  });
}

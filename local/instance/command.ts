import { execFile } from "node:child_process";
import { createInterface } from "node:readline";

/** A command failed; the message holds the command, its exit code and the end of its error output. */
export class CommandError extends Error {
  readonly exitCode: number | undefined;
  /** What it wrote to its error output; its standard output where it wrote nothing there. */
  readonly stderr: string;

  constructor(argv: readonly string[], exitCode: number | undefined, stderr: string, reason: string) {
    super(
      `${argv.join(" ")} failed (${exitCode === undefined ? reason : `exit code ${exitCode}`}): ${stderr.trim().slice(-2000)}`,
    );
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
  /** Gets every line of standard output and error output. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command to its end and gives its standard output. Rejects with CommandError. */
export function run(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input = "", env = process.env, cwd = process.cwd(), before = [], onLine } = options;
  const [file = "", ...args] = [...before, ...argv];
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { encoding: "utf8", maxBuffer: 64 << 20, env, cwd }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const reason = error.signal == null ? error.message : `ended by ${error.signal}`;
      reject(new CommandError(argv, typeof error.code === "number" ? error.code : undefined, stderr || stdout, reason));
    });
    if (onLine !== undefined)
      for (const stream of [child.stdout, child.stderr])
        if (stream !== null) createInterface({ input: stream }).on("line", onLine);
    // A command that ends without reading its input is judged by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

import { execFile } from "node:child_process";

/** A command failed; the message holds the command, its exit code and the end of its error output. */
export class CommandError extends Error {
  readonly exitCode: number | undefined;
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

/** Runs a command to its end and gives its standard output. `input` goes to standard input. Rejects with CommandError. */
export function run(
  argv: readonly [string, ...string[]],
  options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<string> {
  const [file, ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { encoding: "utf8", maxBuffer: 64 << 20, env: options.env ?? process.env, cwd: options.cwd ?? process.cwd() },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(new CommandError(argv, typeof error.code === "number" ? error.code : undefined, stderr, error.message));
      },
    );
    // A command that ends without reading its input is judged by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input ?? "");
  });
}

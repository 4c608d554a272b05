import { spawn } from "node:child_process";

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a program to its end; undefined if there is none of that name on PATH. */
export type Run = (program: string, args: readonly string[], options?: RunOptions) => Promise<Ended | undefined>;

/** A program that runs longer probably waits for input. */
const SECONDS = 60;

/** Programs in the folder `cwd`, with the environment `env`. */
export function runner(cwd: string, env: Readonly<NodeJS.ProcessEnv>): Run {
  return (program, args, options = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, env: { ...env, ...options.env } });
      // Not spawn's own timeout, which keeps Node running when the program does not exist.
      const timer = setTimeout(() => child.kill(), SECONDS * 1000);
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name].setEncoding("utf8");
        child[name].on("data", (chunk: string) => {
          output[name] += chunk;
        });
      }
      child.stdin.on("error", () => {}); // it ended before it had read everything; its exit code says why
      child.once("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        if (error.code === "ENOENT") resolve(undefined);
        else reject(error);
      });
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        const stderr =
          signal === null ? output.stderr : `${output.stderr}\nended by ${signal} after up to ${SECONDS} s`;
        resolve({ code: code ?? 1, stdout: output.stdout, stderr });
      });
      child.stdin.end(options.input ?? "");
    });
}

const saidOf = ({ stdout, stderr, code }: Ended): readonly string[] => {
  const lines = (stderr.trim() || stdout.trim()).split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 ? lines.map((line) => line.trim()) : [`it ended with exit code ${code}`];
};

/** The first line of a program's error: git and ssh begin with the cause. */
export const firstComplaint = (ended: Ended): string => saidOf(ended)[0] ?? "";

/** The last line of a program's error: pulumi and most others end with the cause. */
export const complaint = (ended: Ended): string => saidOf(ended).at(-1) ?? "";

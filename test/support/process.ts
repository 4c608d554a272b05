import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The root of the checkout. */
export const root = join(import.meta.dirname, "..", "..");

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Runs a program to its end, whatever its exit code. */
export function execute(
  file: string,
  args: readonly string[],
  { env = {}, input = "", cwd = root }: Options = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { cwd, env: { ...process.env, ...env }, maxBuffer: 256 << 20 },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== "number") return reject(error);
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      },
    );
    child.stdin?.on("error", () => {}); // a program that ends without reading its input is judged by its exit code
    child.stdin?.end(input);
  });
}

/** Standard output of a program that must have succeeded. @throws when it did not, with the end of what it said */
export function succeeded(command: readonly string[], { code, stdout, stderr }: Result): string {
  if (code !== 0)
    throw new Error(
      `${command.join(" ")} ended with exit code ${code}:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`,
    );
  return stdout;
}

/** Standard output of a program that was started and must succeed. */
export const succeeds = async (result: Promise<Result>): Promise<string> => succeeded(["the command"], await result);

/** Standard output of a program that must succeed. */
export const succeed = async (file: string, args: readonly string[], options?: Options): Promise<string> =>
  succeeded([file, ...args], await execute(file, args, options));

export const git = (args: readonly string[], cwd?: string) =>
  succeed(
    "git",
    ["-c", "user.name=A person", "-c", "user.email=person@example.com", ...args],
    cwd === undefined ? {} : { cwd },
  );

/** Waits until a check passes (does not throw), asking again after `pause` milliseconds; rejects with its last error after `seconds`. */
export async function eventually<T>(seconds: number, check: () => Promise<T>, pause = 500): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(pause);
  }
}

/** `allowed`, or the name of the error that a call to AWS ended with. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "allowed";
  } catch (error) {
    return (error as Error).name;
  }
}

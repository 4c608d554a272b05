import { createHash } from "node:crypto";
import { tryLock, withLock } from "../instance/index.ts";

const WAIT_SECONDS = 3600;

/** Runs a command alone on its instance's folder: a second one waits for the first, whichever they are. */
export async function alone<T>(dir: string, body: () => Promise<T>): Promise<T> {
  const name = `command/${createHash("sha256").update(dir).digest("hex").slice(0, 16)}`;
  const free = await tryLock(name);
  if (free === undefined) console.log(`another command works on ${dir}: waiting for it`);
  await free?.release();
  return withLock(name, body, WAIT_SECONDS);
}

/** The entry of a command: its exit code becomes the process's; an error is one message, without a stack, and exit code 1. */
export async function main(body: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await body();
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    if (process.env["FLEET_DEBUG"]) console.error(error);
    process.exitCode = 1;
  }
}

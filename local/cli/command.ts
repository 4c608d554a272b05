import { createHash } from "node:crypto";
import { tryLock, withLock } from "../instance/index.ts";

const WAIT_SECONDS = 3600;

/** Commands that change an instance, one at a time. */
const commands = ["npm start", "npm run down"] as const;

const lockOf = (dir: string, what: string) =>
  `${what.replaceAll(" ", "-")}/${createHash("sha256").update(dir).digest("hex").slice(0, 16)}`;

/** The command that works on an instance's folder now; undefined when none does. */
export async function underWay(dir: string): Promise<(typeof commands)[number] | undefined> {
  for (const command of commands) {
    const free = await tryLock(lockOf(dir, command));
    if (free === undefined) return command;
    await free.release();
  }
  return undefined;
}

/** Runs a command alone on its instance's folder: a second one waits for the first, whichever they are. */
export async function alone<T>(dir: string, command: (typeof commands)[number], body: () => Promise<T>): Promise<T> {
  const name = lockOf(dir, "command");
  const free = await tryLock(name);
  if (free === undefined) console.log(`${(await underWay(dir)) ?? "another command"} works on ${dir}: waiting for it`);
  await free?.release();
  return withLock(name, () => withLock(lockOf(dir, command), body), WAIT_SECONDS);
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

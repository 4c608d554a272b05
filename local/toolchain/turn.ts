import { tryLock, withLock } from "../instance/lock.ts";
import { contentKey } from "./cache.ts";

/** How long a run waits for another that builds: longer than any build takes. */
const LOCK_SECONDS = 2 * 3600;

/** Add-ons and the browser have turns of their own: nobody who finds the toolchain ready waits until they are there. */
type What = "toolchain" | "addons" | "browser";

/** The lock under which processes of this machine take turns in building into a cache. */
const lockName = (root: string, what: What) => `${what}/${contentKey({ root })}`;

/** Runs `body` alone among those that build the same into a cache, or remove it. */
export const inTurn = <T>(root: string, what: What, body: () => Promise<T>): Promise<T> =>
  withLock(lockName(root, what), body, LOCK_SECONDS);

/** Says so when another run is building the same into a cache. */
export async function sayTurn(root: string, what: What, write: (line: string) => void): Promise<void> {
  const free = await tryLock(lockName(root, what));
  if (free) await free.release();
  else write(`${what}: another run is building in ${root}; waiting for it`);
}

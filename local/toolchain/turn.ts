import { tryLock, withLock } from "../instance/lock.ts";
import { contentKey } from "./cache.ts";

/** How long a run waits for another that builds: longer than any build takes. */
const LOCK_SECONDS = 2 * 3600;

/** The lock under which processes of this machine take turns in building into a cache. */
const lockName = (root: string) => `toolchain/${contentKey({ root })}`;

/** Runs `body` alone among those that build into a cache, or remove it. */
export const inTurn = <T>(root: string, body: () => Promise<T>): Promise<T> =>
  withLock(lockName(root), body, LOCK_SECONDS);

/** Says so when another run is building into a cache. */
export async function sayTurn(root: string, write: (line: string) => void): Promise<void> {
  const free = await tryLock(lockName(root));
  if (free) await free.release();
  else write(`toolchain: another run is building in ${root}; waiting for it`);
}

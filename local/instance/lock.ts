import { createHash } from "node:crypto";
import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A held lock. */
export interface Lock {
  release(): Promise<void>;
}

/**
 * Takes a machine-wide lock at once, or gives undefined while another process holds it.
 * It is a Linux abstract socket: the kernel frees it with its process, so a kill leaves no stale lock behind.
 */
export function tryLock(name: string): Promise<Lock | undefined> {
  return new Promise((resolve, reject) => {
    const server: Server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(socketOf(name), () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

/**
 * The abstract socket of a lock. A long name, such as that of a cluster, has its hash in place: a socket's name has at most 107 bytes,
 * and Node.js cuts a longer one without an error.
 */
function socketOf(name: string): string {
  const socket = `\0eks-gitops-fleet/${name}`;
  return Buffer.byteLength(socket) <= 107 ? socket : socketOf(createHash("sha256").update(name).digest("hex"));
}

/** Runs `body` alone on this machine under the lock's name. Rejects when the lock isn't free within `timeoutSeconds` (60). */
export async function withLock<T>(name: string, body: () => Promise<T>, timeoutSeconds = 60): Promise<T> {
  const deadline = Date.now() + timeoutSeconds * 1000;
  for (;;) {
    const lock = await tryLock(name);
    if (lock !== undefined) {
      try {
        return await body();
      } finally {
        await lock.release();
      }
    }
    if (Date.now() > deadline)
      throw new Error(`another process has held the lock "${name}" for ${timeoutSeconds} s: let it finish, or end it`);
    await sleep(50);
  }
}

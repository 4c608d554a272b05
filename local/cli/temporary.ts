import { createHash } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listInstances, tryLock } from "../instance/index.ts";
import { tearDown } from "./teardown.ts";

const ownerLock = (dir: string) => `owner/${createHash("sha256").update(dir).digest("hex").slice(0, 16)}`;

/**
 * Makes the folder of an instance that lives as long as this process, and owns it. Instances of the same kind whose owner
 * is gone (it was killed) are removed first.
 * @param kind begins the folder's name: `fleet-preview`.
 */
export async function temporaryInstance(kind: string, stack: string): Promise<string> {
  const prefix = join(tmpdir(), `${kind}-`);
  for (const { dir } of await listInstances()) {
    const abandoned = dir.startsWith(prefix) ? await tryLock(ownerLock(dir)) : undefined;
    if (abandoned === undefined) continue;
    console.log(`removing the instance in ${dir}, which an interrupted run left`);
    await tearDown(dir, stack, { force: true });
    await abandoned.release();
  }
  const dir = await mkdtemp(prefix);
  if ((await tryLock(ownerLock(dir))) === undefined) throw new Error(`another process owns the new folder ${dir}`);
  return dir;
}

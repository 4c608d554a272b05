import { createHash } from "node:crypto";
import { type Cidr, overlaps, part } from "../../lib/cidr.ts";
import { poolPrefix } from "../../lib/spoke.ts";

/** Blocks in the pool; 0 when it is smaller than one. */
function blockCount(pool: Cidr): number {
  return pool.prefix > poolPrefix ? 0 : 2 ** (poolPrefix - pool.prefix);
}

/**
 * A block of the pool that shares no address with `taken`; undefined when none is left. The search begins at a block that
 * follows from `name`, so Spokes that appear together rarely want the same block.
 */
export function freeBlock(pool: Cidr, taken: readonly Cidr[], name: string): Cidr | undefined {
  const count = blockCount(pool);
  const start = createHash("sha256").update(name).digest().readUInt32BE() % Math.max(count, 1);
  for (let step = 0; step < count; step += 1) {
    const block = part(pool, poolPrefix - pool.prefix, (start + step) % count);
    if (!taken.some((other) => overlaps(block, other))) return block;
  }
  return undefined;
}

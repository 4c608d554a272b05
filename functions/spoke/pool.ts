import { createHash } from "node:crypto";
import { type Cidr, part } from "../../lib/cidr.ts";
import { poolPrefix } from "../../lib/spoke.ts";

/** Blocks in the pool; 0 when it is smaller than one. */
function blockCount(pool: Cidr): number {
  return pool.prefix > poolPrefix ? 0 : 2 ** (poolPrefix - pool.prefix);
}

/**
 * The blocks of the pool in the order in which a Spoke of this name tries them. The first follows from `name`, so Spokes that appear
 * together rarely want the same block.
 */
export function candidates(pool: Cidr, name: string): Cidr[] {
  const count = blockCount(pool);
  const start = createHash("sha256").update(name).digest().readUInt32BE() % Math.max(count, 1);
  return Array.from({ length: count }, (_, step) => part(pool, poolPrefix - pool.prefix, (start + step) % count));
}

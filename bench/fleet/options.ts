/** Sizes of the fleet by benchmark. A run of `fleet` ends before the first one that the machine can't carry. */
export const defaultSizes = { commits: [2, 500], fleet: [1, 25, 100, 500, 1000] } as const;
/** The gateway's numbers for recorded clusters (local/gateway/eks/recorded-clusters.ts). */
const MOST = 1000;

/**
 * The sizes through which a benchmark's fleet grows, from `--spokes 1,25,100`.
 * @throws RangeError when they are not whole numbers from 1 to 1,000, each greater than the one before.
 */
export function sizesOf(option: string | undefined, defaults: readonly number[]): readonly number[] {
  if (option === undefined) return defaults;
  const sizes = option.split(",").map(Number);
  const grows = sizes.every((size, index) => Number.isInteger(size) && size > (sizes[index - 1] ?? 0) && size <= MOST);
  if (!grows)
    throw new RangeError(
      `--spokes must be numbers of spokes from 1 to ${MOST}, each greater than the one before; got ${option}: give, say, --spokes 1,25,100`,
    );
  return sizes;
}

import { mebibytes } from "../report.ts";

/** What one more spoke took in the step before. */
export interface Step {
  readonly size: number;
  /** Bytes of memory for one more spoke, of the hub and of the embedded cloud. */
  readonly memoryEach: number;
  /** Processor seconds of the hub for one more spoke. */
  readonly cpuEach: number;
}

/** Share of the memory that a step may take: what the kernel caches, and peaks, need some. */
const SHARE = 0.8;

/** Whether the machine carries `next` spokes after a step, and the words that say so. `available` is in bytes. */
export function room(
  last: Step,
  next: number,
  available: number,
  processors: number,
): { fits: boolean; words: string } {
  const added = next - last.size;
  const needed = added * last.memoryEach;
  const minutes = Math.ceil((added * last.cpuEach) / processors / 60);
  const takes = `${next} spokes: ${added} more at ${mebibytes(last.memoryEach)} each take about ${mebibytes(needed)} and at least ${minutes} min`;
  const has = `${mebibytes(available)} are available`;
  return needed <= available * SHARE
    ? { fits: true, words: `${takes}; ${has}` }
    : {
        fits: false,
        words: `${takes}; ${has}, of which a step may take ${SHARE * 100} %: a machine with more memory carries them`,
      };
}

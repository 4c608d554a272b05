/** The flags of upstream's provider that have a meaning here; others are refused. */
import { parseArgs } from "node:util";

export interface Options {
  /** How often each resource is checked for drift, in milliseconds. */
  readonly pollMs: number;
  /** Objects that are worked on at the same time. */
  readonly concurrency: number;
  readonly debug: boolean;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration as Go writes it (`90s`, `1h30m`) in milliseconds; undefined for any other text. */
export function duration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit as string] as number), 0);
}

/** @throws for unknown flags and invalid values */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      debug: { type: "boolean", short: "d", default: false },
      poll: { type: "string", default: "10m" },
      "max-reconcile-rate": { type: "string", default: "100" },
    },
  });
  const pollMs = duration(values.poll);
  if (!pollMs) throw new Error(`--poll=${values.poll}: give a duration like 1m or 90s`);
  const concurrency = Number(values["max-reconcile-rate"]);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new Error(`--max-reconcile-rate=${values["max-reconcile-rate"]}: give a whole number from 1`);
  return { pollMs, concurrency, debug: values.debug };
}

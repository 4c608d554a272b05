import table from "./prices.json" with { type: "json" };

/**
 * List prices by region, as others have published AWS's; `scripts/list-prices.ts` wrote them, and
 * docs/decisions/fleet-commands/list-prices-are-dated-data-by-region.md says where from.
 */
export interface Price {
  /** US dollars. */
  readonly usd: number;
  /** The day on which it was AWS's price, as YYYY-MM-DD. */
  readonly date: string;
  /** Whether it was worked out from another size of the instance family, to whose price it is in proportion. */
  readonly isWorkedOut: boolean;
}

const regions = table.regions.split(" ");
const instances: Readonly<Record<string, string>> = table.instances;

function priceIn(row: string | undefined, dates: string, region: string): Price | undefined {
  const at = regions.indexOf(region);
  const [cell, date] = [row?.split(" ")[at], dates.split(" ")[at]];
  if (cell === undefined || cell === "-" || date === undefined) return undefined;
  return { usd: Number(cell.replace("~", "")), date, isWorkedOut: cell.startsWith("~") };
}

/** An hour of an instance with Linux, on demand; undefined where it is not known. */
export const instanceHour = (type: string, region: string): Price | undefined =>
  priceIn(Object.hasOwn(instances, type) ? instances[type] : undefined, table.dates, region);

/** A GB-month of a gp3 volume with its baseline performance; undefined where it is not known. */
export const volumeMonth = (region: string): Price | undefined => priceIn(table.gp3, table.gp3Dates, region);

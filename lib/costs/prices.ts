import table from "./prices.json" with { type: "json" };

/**
 * List prices by region, as others have published AWS's; `scripts/list-prices.ts` wrote them
 * (docs/reference/costs.md).
 */
export interface Price {
  /** US dollars. */
  readonly usd: number;
  /** The day on which it was AWS's price, as YYYY-MM-DD, or the month, as YYYY-MM. */
  readonly date: string;
  /** The publication that has it: a repository, or pages of AWS. */
  readonly source: string;
  /** Whether it was worked out from another size of the instance family, to whose price it is in proportion. */
  readonly isWorkedOut: boolean;
}

const regions = table.regions.split(" ");
const instances: Readonly<Record<string, string>> = table.instances;

const sources: Readonly<Record<string, { readonly name: string; readonly date: string }>> = table.sources;

function priceIn(row: string | undefined, region: string): Price | undefined {
  const at = regions.indexOf(region);
  const cell = row?.split(" ")[at] ?? "-";
  const source = sources[cell.slice(-1)];
  if (source === undefined) return undefined;
  const usd = Number(cell.slice(0, -1).replace("~", ""));
  return { usd, date: source.date, source: source.name, isWorkedOut: cell.startsWith("~") };
}

/** An hour of an instance with Linux, on demand; undefined where it is not known. */
export const instanceHour = (type: string, region: string): Price | undefined =>
  priceIn(Object.hasOwn(instances, type) ? instances[type] : undefined, region);

/** A GB-month of a gp3 volume with its baseline performance; undefined where it is not known. */
export const volumeMonth = (region: string): Price | undefined => priceIn(table.gp3, region);

/** Reads list prices from where others have published AWS's, and lays them out for lib/costs/prices.json. */

/** What is known of one region. */
export interface RegionPrices {
  /** The day on which the prices were AWS's, as YYYY-MM-DD. */
  readonly date: string;
  /** US dollars an hour by instance type: Linux, on demand, shared tenancy. */
  readonly instances: Readonly<Record<string, number>>;
  /** US dollars for a GB-month of gp3, and its day. */
  readonly gp3?: { readonly price: number; readonly date: string };
}

const families = [
  ...[
    "t3",
    "t3a",
    "t4g",
    "m5",
    "m5a",
    "m6a",
    "m6g",
    "m6i",
    "m7a",
    "m7g",
    "m7i",
    "m8g",
    "c5",
    "c5a",
    "c6a",
    "c6g",
    "c6i",
    "c7a",
  ],
  ...["c7g", "c7i", "c8g", "r5", "r5a", "r6a", "r6g", "r6i", "r7a", "r7g", "r7i", "r8g"],
] as const;

const sizes = ["small", "medium", "large", "xlarge", "2xlarge", "4xlarge"] as const;

/** General purpose, compute and memory of the generations 5 to 8, and burstable ones, in the sizes that nodes of fleets have. */
export const chosenTypes: readonly string[] = families.flatMap((family) => sizes.map((size) => `${family}.${size}`));

/** Reads a table that Karpenter generated from AWS's price list. @throws where the text is none */
export function readGoTable(text: string): Record<string, RegionPrices> {
  const date = /^\/\/ generated at (\d{4}-\d{2}-\d{2})T/m.exec(text)?.[1];
  if (date === undefined) throw new Error("got a table of Karpenter without the line '// generated at <time>'");
  const parts = text.split(/^\t"([a-z]+(?:-[a-z]+)+-\d+)": \{$/m).slice(1);
  const regions = parts.flatMap((region, index) =>
    index % 2 === 0 ? [[region, parts[index + 1] ?? ""] as const] : [],
  );
  if (regions.length === 0) throw new Error("got a table of Karpenter without a region");
  return Object.fromEntries(
    regions.map(([region, body]) => {
      const found = [...body.matchAll(/"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)/g)];
      return [region, { date, instances: Object.fromEntries(found.map(([, type, price]) => [type, Number(price)])) }];
    }),
  );
}

/** Reads the two files of a region in rosa-calculator; undefined where they are empty. */
export function readRegionFile(ec2: string, ebs: string, date: string): RegionPrices | undefined {
  const types = JSON.parse(ec2) as readonly { readonly type: string; readonly priceOnDemand?: string }[];
  const storage = (ebs.trim() === "" ? {} : JSON.parse(ebs)) as Record<string, { readonly price: string } | undefined>;
  const gp3 = storage["Storage General Purpose gp3 GB Mo"]?.price;
  if (types.length === 0 && gp3 === undefined) return undefined;
  return {
    date,
    instances: Object.fromEntries(
      types.flatMap(({ type, priceOnDemand }) => (priceOnDemand === undefined ? [] : [[type, Number(priceOnDemand)]])),
    ),
    ...(gp3 === undefined ? {} : { gp3: { price: Number(gp3), date } }),
  };
}

/** Sizes by how many of the smallest one they are: AWS's prices of a family are in this proportion. */
const weights: Readonly<Record<string, number>> = Object.fromEntries(sizes.map((size, index) => [size, 2 ** index]));

/** What a type costs by the price of the xlarge of its family. */
function proportional(instances: RegionPrices["instances"], type: string): number | undefined {
  const [family, size = ""] = type.split(".");
  const whole = instances[`${family}.xlarge`];
  return whole === undefined ? undefined : (whole * (weights[size] ?? 0)) / (weights["xlarge"] as number);
}

/** @throws where AWS's prices of a family are in another proportion, so that nothing could be said of sizes that a source lacks */
function requireProportion(regions: Readonly<Record<string, RegionPrices>>, types: readonly string[]): void {
  for (const [region, { instances }] of Object.entries(regions))
    for (const type of types) {
      const [known, worked] = [instances[type], proportional(instances, type)];
      if (known !== undefined && worked !== undefined && Math.abs(known - worked) / known > 0.0025)
        throw new Error(
          `${type} costs ${known} in ${region}, and by its size ${worked}: leave its family out of the table`,
        );
    }
}

const row = (cells: readonly (number | string | undefined)[]): string => cells.map((cell) => cell ?? "-").join(" ");

/**
 * The layout of lib/costs/prices.json: a row for each type, with a cell for each region. A cell with `~` is worked out from the price of the
 * family's xlarge, where the source has no smaller sizes. Types that no region has are left out.
 */
export function priceRows(regions: Readonly<Record<string, RegionPrices>>, types: readonly string[]) {
  requireProportion(regions, types);
  const all = Object.values(regions);
  const known = types.filter((type) => all.some(({ instances }) => instances[type] !== undefined));
  const cell = ({ instances }: RegionPrices, type: string) => {
    const worked = proportional(instances, type);
    return instances[type] ?? (worked === undefined ? undefined : `~${Number(worked.toFixed(4))}`);
  };
  return {
    regions: row(Object.keys(regions)),
    dates: row(all.map(({ date }) => date)),
    gp3: row(all.map(({ gp3 }) => gp3?.price)),
    gp3Dates: row(all.map(({ gp3 }) => gp3?.date)),
    instances: Object.fromEntries(known.map((type) => [type, row(all.map((region) => cell(region, type)))])),
  };
}

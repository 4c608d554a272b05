/** Reads list prices from where others have published AWS's, and lays them out for lib/costs/prices.json. */

/** Prices of one region in one source. */
export interface RegionPrices {
  /** US dollars an hour by instance type: Linux, on demand, shared tenancy. */
  readonly instances: Readonly<Record<string, number>>;
  /** US dollars for a GB-month of gp3. */
  readonly gp3?: number;
}

/** One publication of AWS's prices. */
export interface Source {
  /** Its repository. */
  readonly name: string;
  /** The day on which the prices were AWS's, as YYYY-MM-DD; the month, as YYYY-MM, of a source without a day. */
  readonly date: string;
  readonly regions: Readonly<Record<string, RegionPrices>>;
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
export function readGoTable(text: string): Pick<Source, "date" | "regions"> {
  const date = /^\/\/ generated at (\d{4}-\d{2}-\d{2})T/m.exec(text)?.[1];
  if (date === undefined) throw new Error("got a table of Karpenter without the line '// generated at <time>'");
  const parts = text.split(/^\t"([a-z]+(?:-[a-z]+)+-\d+)": \{$/m).slice(1);
  const regions = parts.flatMap((region, index) =>
    index % 2 === 0 ? [[region, parts[index + 1] ?? ""] as const] : [],
  );
  if (regions.length === 0) throw new Error("got a table of Karpenter without a region");
  const entries = regions.map(([region, body]) => {
    const found = [...body.matchAll(/"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)/g)];
    return [region, { instances: Object.fromEntries(found.map(([, type, price]) => [type, Number(price)])) }];
  });
  return { date, regions: Object.fromEntries(entries) };
}

const catalogColumns = ["InstanceType", "Price", "Region"] as const;

/** Reads the VMs of SkyPilot's catalog for AWS. @throws if the text has no header with its columns */
export function readCatalog(text: string): Source["regions"] {
  const [header = "", ...lines] = text.trim().split("\n");
  const columns = header.split(",");
  const missing = catalogColumns.filter((name) => !columns.includes(name));
  if (missing.length > 0) throw new Error(`the catalog has no column ${missing.join(", ")}: ${header}`);
  // Only accelerators have quoted cells, which contain commas.
  const rows = lines.filter((line) => !line.includes('"')).map((line) => line.split(","));
  const cells = rows.map((row) => catalogColumns.map((name) => row[columns.indexOf(name)] ?? ""));
  const priced = cells.filter(([, price]) => price !== "");
  return Object.fromEntries(
    [...Map.groupBy(priced, ([, , region = ""]) => region)].map(([region, its]) => [
      region,
      { instances: Object.fromEntries(its.map(([type, price]) => [type, Number(price)])) },
    ]),
  );
}

/** Reads the two files of a region in rosa-calculator; undefined where they are empty. */
export function readRegionFile(ec2: string, ebs: string): RegionPrices | undefined {
  const types = JSON.parse(ec2) as readonly { readonly type: string; readonly priceOnDemand?: string }[];
  const storage = (ebs.trim() === "" ? {} : JSON.parse(ebs)) as Record<string, { readonly price: string } | undefined>;
  const gp3 = storage["Storage General Purpose gp3 GB Mo"]?.price;
  if (types.length === 0 && gp3 === undefined) return undefined;
  return {
    instances: Object.fromEntries(
      types.flatMap(({ type, priceOnDemand }) => (priceOnDemand === undefined ? [] : [[type, Number(priceOnDemand)]])),
    ),
    ...(gp3 === undefined ? {} : { gp3: Number(gp3) }),
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
function requireProportion(regions: Source["regions"], types: readonly string[]): void {
  for (const [region, { instances }] of Object.entries(regions))
    for (const type of types) {
      const [known, worked] = [instances[type], proportional(instances, type)];
      if (known !== undefined && worked !== undefined && Math.abs(known - worked) / known > 0.0025)
        throw new Error(
          `${type} costs ${known} in ${region}, and by its size ${worked}: leave its family out of the table`,
        );
    }
}

/** The price of a type as a cell has it, with `~` if it is worked out from the price of the family's xlarge. */
function cellOf(instances: RegionPrices["instances"], type: string): string | undefined {
  const [known, worked] = [instances[type], proportional(instances, type)];
  if (known !== undefined) return String(known);
  return worked === undefined ? undefined : `~${Number(worked.toFixed(4))}`;
}

/**
 * The layout of lib/costs/prices.json: a row for each type, with a cell for each region. A cell ends with the letter of its source: the first of
 * `sources` that has the price. Types that no source has are left out.
 */
export function priceRows(sources: readonly Source[], types: readonly string[]) {
  for (const { regions } of sources) requireProportion(regions, types);
  const letter = (index: number): string => String.fromCharCode("a".charCodeAt(0) + index);
  const regions = [...new Set(sources.flatMap((source) => Object.keys(source.regions)))].sort();
  const row = (textIn: (prices: RegionPrices) => number | string | undefined): string =>
    regions
      .map((region) => {
        const found = sources.flatMap((source, index) => {
          const text = source.regions[region] && textIn(source.regions[region]);
          return text === undefined ? [] : [`${text}${letter(index)}`];
        });
        return found[0] ?? "-";
      })
      .join(" ");
  const all = sources.flatMap((source) => Object.values(source.regions));
  const known = types.filter((type) => all.some(({ instances }) => instances[type] !== undefined));
  return {
    regions: regions.join(" "),
    sources: Object.fromEntries(sources.map(({ name, date }, index) => [letter(index), { name, date }])),
    gp3: row(({ gp3 }) => gp3),
    instances: Object.fromEntries(known.map((type) => [type, row(({ instances }) => cellOf(instances, type))])),
  };
}

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chosenTypes, priceRows, readCatalog, readGoTable, readRegionFile, type Source } from "./documents/prices.ts";

/**
 * `node scripts/list-prices.ts --karpenter DIR --rosa DIR --catalog FILE --catalog-date DATE` writes lib/costs/prices.json from two Git directories or
 * checkouts, aws/karpenter-provider-aws and jimgarrett123/rosa-calculator, and catalogs/v8/aws/vms.csv of skypilot-org/skypilot-catalog, or an
 * extract of it (docs/reference/costs.md).
 */

const { values } = parseArgs({
  options: {
    karpenter: { type: "string" },
    rosa: { type: "string" },
    catalog: { type: "string" },
    "catalog-date": { type: "string" },
  },
});
const { karpenter, rosa, catalog, "catalog-date": catalogDate } = values;
if (karpenter === undefined || rosa === undefined || catalog === undefined || catalogDate === undefined)
  throw new Error(
    "--karpenter and --rosa (Git directories of aws/karpenter-provider-aws and jimgarrett123/rosa-calculator), --catalog (vms.csv of " +
      "skypilot-org/skypilot-catalog) and --catalog-date (YYYY-MM-DD or YYYY-MM) are required",
  );

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" });
const text = (folder: string, path: string): string => git(folder, "show", `HEAD:${path}`);

const tables = ["aws", "aws_us_gov"].map((partition) =>
  readGoTable(text(karpenter, `pkg/providers/pricing/zz_generated.pricing_${partition}.go`)),
);
const generated: Source = {
  name: "aws/karpenter-provider-aws",
  date: tables.map((table) => table.date).sort()[0] as string,
  regions: Object.assign({}, ...tables.map((table) => table.regions)) as Source["regions"],
};

const folder = "frontend/public/prices";
const files = git(rosa, "ls-tree", "--name-only", "HEAD", `${folder}/`).trim().split("\n");
const { last_updated: updated } = JSON.parse(text(rosa, `${folder}/info.json`)) as { readonly last_updated: number };
const calculator: Source = {
  name: "jimgarrett123/rosa-calculator",
  date: new Date(updated * 1000).toISOString().slice(0, 10),
  regions: Object.fromEntries(
    files.flatMap((path) => {
      const region = /\/([a-z0-9-]+)-ec2\.json$/.exec(path)?.[1];
      if (region === undefined) return [];
      const found = readRegionFile(text(rosa, path), text(rosa, `${folder}/${region}-ebs.json`));
      return found === undefined ? [] : [[region, found] as const];
    }),
  ),
};

const vms: Source = {
  name: "skypilot-org/skypilot-catalog",
  date: catalogDate,
  regions: readCatalog(readFileSync(catalog, "utf8")),
};
const file = join(import.meta.dirname, "..", "lib/costs/prices.json");
const before = existsSync(file) ? readFileSync(file, "utf8") : "";
const after = `${JSON.stringify(priceRows([generated, vms, calculator], chosenTypes), undefined, 2)}\n`;
writeFileSync(file, after);
console.log(before === after ? `${file} is unchanged` : `${file} is rewritten`);

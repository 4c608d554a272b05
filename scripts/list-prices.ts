import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chosenTypes, priceRows, type RegionPrices, readGoTable, readRegionFile } from "./documents/prices.ts";

/**
 * `node scripts/list-prices.ts --karpenter DIR --rosa DIR` writes lib/costs/prices.json anew from two Git directories or checkouts:
 * aws/karpenter-provider-aws, whose tables are the newer ones, and jimgarrett123/rosa-calculator, which has more regions
 * (docs/decisions/fleet-commands/list-prices-are-dated-data-by-region.md).
 */

const { values } = parseArgs({ options: { karpenter: { type: "string" }, rosa: { type: "string" } } });
const { karpenter, rosa } = values;
if (karpenter === undefined || rosa === undefined)
  throw new Error(
    "--karpenter and --rosa are needed: Git directories of aws/karpenter-provider-aws and jimgarrett123/rosa-calculator",
  );

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" });
const text = (folder: string, path: string): string => git(folder, "show", `HEAD:${path}`);

const tables = ["aws", "aws_us_gov"].map((partition) =>
  readGoTable(text(karpenter, `pkg/providers/pricing/zz_generated.pricing_${partition}.go`)),
);
const newer = Object.assign({}, ...tables) as Readonly<Record<string, RegionPrices>>;

const folder = "frontend/public/prices";
const files = git(rosa, "ls-tree", "--name-only", "HEAD", `${folder}/`).trim().split("\n");
const { last_updated: updated } = JSON.parse(text(rosa, `${folder}/info.json`)) as { readonly last_updated: number };
const date = new Date(updated * 1000).toISOString().slice(0, 10);
const older = Object.fromEntries(
  files.flatMap((path) => {
    const region = /\/([a-z0-9-]+)-ec2\.json$/.exec(path)?.[1];
    if (region === undefined) return [];
    const found = readRegionFile(text(rosa, path), text(rosa, `${folder}/${region}-ebs.json`), date);
    return found === undefined ? [] : [[region, found] as const];
  }),
);

const regions = Object.fromEntries(
  [...new Set([...Object.keys(newer), ...Object.keys(older)])].sort().map((region) => {
    const gp3 = older[region]?.gp3 ?? newer[region]?.gp3;
    return [region, { ...(newer[region] ?? older[region]), ...(gp3 === undefined ? {} : { gp3 }) } as RegionPrices];
  }),
);
const file = join(import.meta.dirname, "..", "lib/costs/prices.json");
const before = existsSync(file) ? readFileSync(file, "utf8") : "";
const after = `${JSON.stringify(priceRows(regions, chosenTypes), undefined, 2)}\n`;
writeFileSync(file, after);
console.log(before === after ? `${file} stays as it is` : `${file} is written anew`);

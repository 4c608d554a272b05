import { type Amount, publicationsOf } from "../../lib/costs/cluster.ts";
import { columns, printable } from "../columns.ts";
import type { Costs, Row, Sum } from "./rows.ts";

const dollars = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Whole US dollars. */
export const inDollars = (usd: number): string => dollars.format(usd);

/** Of a sum without some price nothing is known but that it is at least so much. */
const usual = ({ usual }: Amount, isComplete: boolean): string => `${isComplete ? "" : "≥ "}${inDollars(usual)}`;
const range = ({ least, most }: Amount, isComplete: boolean): string =>
  !isComplete || inDollars(least) === inDollars(most) ? "-" : `${inDollars(least)} to ${inDollars(most)}`;

function nodesText({ nodes, instanceType, nodeGroups, isAuto }: Row): string {
  if (isAuto) return "by EKS Auto Mode";
  if (nodes === undefined) return "by Cluster API";
  return (nodeGroups ?? [{ ...nodes, instanceType }])
    .map(({ min, desired, max, instanceType: type = "" }) =>
      `${desired}${min === max ? "" : ` (${min} to ${max})`} ${type}`.trimEnd(),
    )
    .join(", ");
}

/** Of one fleet its name is no column. */
function clusterLines(rows: readonly Row[]): string[] {
  const isOne = rows.every(({ fleet }) => fleet === rows[0]?.fleet);
  return columns([
    [...(isOne ? [] : ["FLEET"]), "NAME", "ENVIRONMENT", "TENANT", "REGION", "NODES", "USD A MONTH", "RANGE"],
    ...rows.map((row) => [
      ...(isOne ? [] : [row.fleet]),
      ...[row.name, row.environment, row.tenant, row.region, nodesText(row)],
      ...[usual(row.month, row.isComplete), range(row.month, row.isComplete)],
    ]),
  ]);
}

const sumLines = (title: string, sums: readonly Sum[]): string[] =>
  columns([
    [title, "CLUSTERS", "USD A MONTH", "RANGE"],
    ...sums.map(({ name, clusters, month, isComplete }) => [
      ...[name, String(clusters), usual(month, isComplete), range(month, isComplete)],
    ]),
  ]);

/** What is not in the amounts, and how old the prices are. */
function remarks({ clusters }: Costs): string[] {
  const unknown = clusters.flatMap((row) => row.unknown.map((what) => `${row.fleet}/${row.name}: ${what}`));
  const workedOut = [...new Set(clusters.flatMap((row) => row.workedOut))].sort();
  const sources = publicationsOf(clusters.flatMap((row) => row.sources)).map(({ source, date }) => `${source} ${date}`);
  return [
    ...unknown,
    ...(workedOut.length > 0 ? [`worked out from the price of the family's xlarge: ${workedOut.join(", ")}`] : []),
    ...(sources.length === 0
      ? []
      : [
          "list prices on demand, without traffic, logs and what applications order",
          `prices as published by ${sources.join(", ")}`,
        ]),
  ];
}

/** The clusters, the sums, and below them what has to be known about the figures. */
export function tableOf(costs: Costs): string {
  if (costs.clusters.length === 0) return "no spokes\n";
  const parts = [
    clusterLines(costs.clusters),
    sumLines("ENVIRONMENT", costs.environments),
    sumLines("TENANT", [...costs.tenants, costs.total]),
    remarks(costs),
  ];
  return printable(`${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`);
}

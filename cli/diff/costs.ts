import type { Spoke } from "../../functions/spoke/api.ts";
import { clusterCost } from "../../lib/costs/cluster.ts";
import { spokeShape } from "../costs/shapes.ts";
import { inDollars } from "../costs/table.ts";
import { isObject } from "../render/files.ts";

/** What a change does to the list price of a spoke (docs/reference/costs.md). */

/** What a spoke costs. */
interface Cost {
  /** US dollars a month. */
  readonly month: number;
  /** What is not in it, as `price unknown for m9x.large in xx-east-1`. */
  readonly unknown: readonly string[];
}

export interface CostChange {
  readonly before: Cost;
  readonly after: Cost;
}

const nothing: Cost = { month: 0, unknown: [] };

/** Undefined where a field has not the type of the Spoke API, which `fleet check` tells. */
function costOf(spoke: Spoke | undefined): Cost | undefined {
  if (spoke === undefined) return nothing;
  const { network, nodes } = spoke.spec;
  if (!isObject(network) || !isObject(nodes) || !Array.isArray(nodes.instanceTypes)) return undefined;
  const { month, unknown } = clusterCost(spokeShape(spoke.spec));
  return Number.isFinite(month.usual) ? { month: Math.round(month.usual * 100) / 100, unknown } : undefined;
}

/** The change between two states of a spoke, of which one may be none; undefined where nobody would notice one. */
export function costChange(before: Spoke | undefined, after: Spoke | undefined): CostChange | undefined {
  const [was, is] = [costOf(before), costOf(after)];
  if (was === undefined || is === undefined) return undefined;
  const isSame = words(was) === words(is) && was.unknown.join() === is.unknown.join();
  return isSame ? undefined : { before: was, after: is };
}

const words = ({ month, unknown }: Cost): string => `${inDollars(month)}${unknown.length > 0 ? "+" : ""}`;

const sentence = (of: string, { before, after }: CostChange): string => {
  const unknown = [...new Set([...before.unknown, ...after.unknown])];
  const without = unknown.length > 0 ? ` (${unknown.join("; ")})` : "";
  return `list price of ${of}: ${words(before)} → ${words(after)} USD a month${without}`;
};

/** One line for each spoke, and one for all of them where they are several. */
export function costLines(changes: readonly { readonly title: string; readonly cost: CostChange }[]): string[] {
  const lines = changes.map(({ title, cost }) => sentence(title, cost));
  if (changes.length < 2) return lines;
  const total = (side: keyof CostChange): Cost => ({
    month: changes.reduce((all, { cost }) => all + cost[side].month, 0),
    unknown: changes.flatMap(({ cost }) => cost[side].unknown),
  });
  const [before, after] = [total("before"), total("after")];
  return [...lines, `list price of these ${changes.length} spokes: ${words(before)} → ${words(after)} USD a month`];
}

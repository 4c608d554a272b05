import { isDeepStrictEqual } from "node:util";
import type { Spoke } from "../../functions/spoke/api.ts";
import { type ClusterShape, clusterCost } from "../../lib/costs/cluster.ts";
import { cents } from "../costs/rows.ts";
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

/** A cost, and what it depends on. */
interface Counted extends Cost {
  readonly of: object | undefined;
}

const nothing: Counted = { month: 0, unknown: [], of: undefined };

/** Undefined where a field has not the type of the Spoke API, which `fleet check` tells. */
function costOf(spoke: Spoke | undefined): Counted | undefined {
  if (spoke === undefined) return nothing;
  const { network, nodes, nodeGroups = [] } = spoke.spec;
  const isGroup = (group: unknown) => isObject(group) && Array.isArray(group["instanceTypes"]);
  if (!isObject(network) || !Array.isArray(nodeGroups) || ![nodes, ...nodeGroups].every(isGroup)) return undefined;
  const shape = spokeShape(spoke.spec);
  const { month, unknown } = clusterCost(shape);
  if (!Number.isFinite(month.usual)) return undefined;
  return { month: cents(month.usual), unknown, of: usualOf(shape) };
}

/** What of a cluster the usual amount counts. */
function usualOf({ nodes, ...others }: ClusterShape): object {
  const groups = nodes?.map(({ instanceTypes: [type], min: _, max: __, ...counted }) => ({ ...counted, type }));
  return { ...others, groups };
}

const isComplete = ({ before, after }: CostChange): boolean => before.unknown.length + after.unknown.length === 0;

/** The change between two states of a spoke, of which one may be none; undefined where nobody would notice one. */
export function costChange(before: Spoke | undefined, after: Spoke | undefined): CostChange | undefined {
  const [was, is] = [costOf(before), costOf(after)];
  if (was === undefined || is === undefined) return undefined;
  const [{ of: former, ...from }, { of: current, ...to }] = [was, is];
  const change = { before: from, after: to };
  // Amounts without a price may be the same, and what is paid another one.
  const isSame = isComplete(change)
    ? inDollars(from.month) === inDollars(to.month)
    : isDeepStrictEqual(former, current);
  return isSame ? undefined : change;
}

const amounts = (before: number, after: number): string => `${inDollars(before)} → ${inDollars(after)} USD a month`;

/** Of an amount that lacks a price an increase would look like a saving. */
function sentence(of: string, change: CostChange): string {
  const { before, after } = change;
  if (isComplete(change)) return `list price of ${of}: ${amounts(before.month, after.month)}`;
  const unknown = [...new Set([...before.unknown, ...after.unknown])];
  return `list price of ${of}: can't be compared: ${unknown.join("; ")}`;
}

/** One line for each spoke, and one for all that can be compared where they are several. */
export function costLines(changes: readonly { readonly title: string; readonly cost: CostChange }[]): string[] {
  const lines = changes.map(({ title, cost }) => sentence(title, cost));
  const compared = changes.filter(({ cost }) => isComplete(cost));
  if (compared.length < 2) return lines;
  const left = changes.filter(({ cost }) => !isComplete(cost)).map(({ title }) => title);
  const which = left.length === 0 ? `these ${changes.length}` : `${compared.length} of these ${changes.length}`;
  const total = (side: keyof CostChange) => compared.reduce((all, { cost }) => all + cost[side].month, 0);
  const without = left.length === 0 ? "" : `, without ${left.join(", ")}`;
  return [...lines, `list price of ${which} spokes: ${amounts(total("before"), total("after"))}${without}`];
}

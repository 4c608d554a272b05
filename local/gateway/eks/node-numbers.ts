import { MAX_NODES } from "../../instance/index.ts";
import type { ClusterRecord } from "./model.ts";

/** The lowest number that no node of a cluster has; undefined when all are taken. */
export function freeNode({ nodegroups, selfManagedNodes = [] }: ClusterRecord): number | undefined {
  const nodes = [...Object.values(nodegroups).flatMap((group) => group.nodes), ...selfManagedNodes];
  const taken = new Set(nodes.map(({ number }) => number));
  return Array.from({ length: MAX_NODES }, (_, number) => number).find((number) => !taken.has(number));
}

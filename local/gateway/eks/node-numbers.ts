import { randomBytes } from "node:crypto";
import { MAX_NODES } from "../../instance/index.ts";
import type { ClusterRecord } from "./model.ts";

/** All nodes of a cluster: those of its node groups, of EKS Auto Mode, and instances that joined by themselves. */
export const nodesOf = ({ nodegroups, autoNodes, selfManagedNodes }: ClusterRecord) => [
  ...Object.values(nodegroups).flatMap(({ nodes }) => nodes),
  ...autoNodes,
  ...selfManagedNodes,
];

/** The lowest free number of a node; undefined where a cluster has all that it can have here. */
export function freeNode(record: ClusterRecord): number | undefined {
  const taken = new Set(nodesOf(record).map(({ number }) => number));
  return Array.from({ length: MAX_NODES }, (_, number) => number).find((number) => !taken.has(number));
}

/** An ID as EC2 gives an instance. */
export const newInstanceId = (): string => `i-0${randomBytes(8).toString("hex")}`;

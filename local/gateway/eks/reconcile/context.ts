import type { Log } from "../../listeners.ts";
import type { EksContext } from "../operation.ts";

/** Milliseconds until the next pass; undefined: only when something changes. */
export type Again = number | undefined;

/** The earliest of several passes. */
export function soonest(delays: readonly Again[]): Again {
  const least = Math.min(...delays.map((delay) => delay ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(least) ? least : undefined;
}

/** What the background work needs beside the operations' context. */
export interface ReconcileContext extends EksContext {
  readonly gatewayAddress: string;
  /** PEM of the CA that issued the webhook's certificate. */
  readonly caCertificate: string;
  webhookUrl(cluster: string): string;
  /** Fields of KubeletConfiguration for nodes of node groups that start, by a fault (local/gateway/faults). */
  kubeletConfig(): Promise<Readonly<Record<string, unknown>>>;
  /** Whether nodes of node groups count against the quotas of vCPUs, by a fault. */
  nodesTakeVcpus(): Promise<boolean>;
  readonly log: Log;
  /** Computes again who may reach which endpoint; resolves when that is in force. */
  keepEndpoints(): Promise<void>;
}

import type { EksContext } from "../operation.ts";

/** Milliseconds until the next look; undefined: when something changes. */
export type Again = number | undefined;

/** What the background work needs beside the operations' context. */
export interface ReconcileContext extends EksContext {
  readonly gatewayAddress: string;
  /** PEM of the CA that issued the webhook's certificate. */
  readonly caCertificate: string;
  webhookUrl(cluster: string): string;
  /** Has who reaches which endpoint looked at again; resolves when that is in force. */
  keepEndpoints(): Promise<void>;
}

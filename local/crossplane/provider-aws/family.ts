/** The family's own program: a ProviderConfig stays while managed resources use it, or they could never be deleted. */
import type { Log } from "../../program.ts";
import { type Next, WorkQueue } from "../../work-queue.ts";
import type { ClusterClient } from "./cluster/client.ts";
import { inform } from "./cluster/informer.ts";
import { resourcePath } from "./cluster/objects.ts";
import { API_SUFFIX, type ConfigKind, configCrds } from "./kind.ts";
import { type Condition, type Metadata, withConditions } from "./managed.ts";
import type { Options } from "./options.ts";

const FINALIZER = "in-use.crossplane.io";

export interface Config {
  readonly metadata: Omit<Metadata, "namespace"> & { readonly namespace?: string };
  readonly status?: { readonly users?: number; readonly conditions?: readonly Condition[] };
}

export interface Usage {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
  readonly providerConfigRef: { readonly kind: string; readonly name: string };
}

/** What a pass has to do with a config that so many resources use. */
export type ConfigAction =
  | { readonly finalizers: readonly string[] }
  | { readonly status: NonNullable<Config["status"]> }
  | "none";

/** One step towards what is wanted: the finalizer is there as long as the config is not deleted, or is used. */
export function configAction(config: Config, users: number, now: () => Date = () => new Date()): ConfigAction {
  const { deletionTimestamp, finalizers = [] } = config.metadata;
  const held = finalizers.includes(FINALIZER);
  if (deletionTimestamp === undefined && !held) return { finalizers: [...finalizers, FINALIZER] };
  if (deletionTimestamp !== undefined && users === 0)
    return held ? { finalizers: finalizers.filter((name) => name !== FINALIZER) } : "none";
  const terminating =
    deletionTimestamp === undefined
      ? []
      : [{ type: "Terminating", status: "False", reason: "InUse", message: "ProviderConfig still in use" } as const];
  const conditions = withConditions(config as never, terminating, now);
  const status = { ...config.status, users, ...(conditions.length > 0 && { conditions }) };
  return JSON.stringify(status) === JSON.stringify(config.status) ? "none" : { status };
}

/** The config that a usage speaks of: `Kind/namespace/name`, without a namespace for one of the whole cluster. */
export const configOf = ({ metadata, providerConfigRef: { kind, name } }: Usage): string =>
  `${kind}/${kind === "ProviderConfig" ? metadata.namespace : ""}/${name}`;

const MERGE = "application/merge-patch+json";

export async function runFamily(client: ClusterClient, options: Options, log: Log, signal: AbortSignal): Promise<void> {
  const usages = new Map<string, Usage>();
  const trouble = (message: string) => log("error", "cannot watch", { error: message });

  const work = async (key: string): Promise<Next> => {
    const [kind, namespace, name] = key.split("/") as [ConfigKind, string, string];
    const path = resourcePath(configCrds[kind], namespace || undefined, name);
    const config = await client.find<Config>({ path });
    if (!config) return "wait";
    const users = [...usages.values()].filter((usage) => configOf(usage) === key).length;
    const action = configAction(config, users);
    if (action === "none") return options.pollMs;
    const { resourceVersion } = config.metadata;
    if ("finalizers" in action) {
      const body = { metadata: { resourceVersion, finalizers: action.finalizers } };
      await client.call({ method: "PATCH", path, contentType: MERGE, body });
    } else {
      const body = { metadata: { resourceVersion }, status: action.status };
      await client.call({ method: "PATCH", path: `${path}/status`, contentType: MERGE, body });
    }
    return "again";
  };
  const queue = new WorkQueue({
    concurrency: options.concurrency,
    work,
    onError: (key, error) => log("error", "cannot reconcile", { key, error: (error as Error).message }),
  });

  const follow = (kind: ConfigKind) => {
    const keyOf = ({ metadata }: Config) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
    const path = resourcePath(configCrds[kind]);
    const upsert = (config: Config) => queue.add(keyOf(config));
    return inform<Config>(
      client,
      { path },
      { upsert, removed: (config) => queue.forget(keyOf(config)), trouble },
      signal,
    );
  };
  const followUsages = () => {
    const path = resourcePath(`providerconfigusages.${API_SUFFIX}`);
    const keyOf = ({ metadata }: Usage) => `${metadata.namespace}/${metadata.name}`;
    const upsert = (usage: Usage) => {
      usages.set(keyOf(usage), usage);
      queue.add(configOf(usage));
    };
    const removed = (usage: Usage) => {
      usages.delete(keyOf(usage));
      queue.add(configOf(usage));
    };
    return inform<Usage>(client, { path }, { upsert, removed, trouble }, signal);
  };
  await Promise.all([follow("ProviderConfig"), follow("ClusterProviderConfig"), followUsages()]);
  await queue.stop();
}

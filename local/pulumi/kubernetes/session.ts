/** The configured provider: one cluster, its API and the provider's settings. */
import { type Current, givenText, type JsonMap, type ResourceContext } from "../framework/index.ts";
import { Client, UnreachableError } from "./client.ts";
import { Helm, HelmError } from "./helm.ts";
import { Discovery } from "./kinds.ts";

/** Settings of the provider that change how resources behave: all false by default, as in the official provider. */
export const SETTINGS = [
  /** Change a ConfigMap's data in place, instead of replacing it. */
  "enableConfigMapMutable",
  /** Change a Secret's data in place, instead of replacing it. */
  "enableSecretMutable",
  /** Treat a resource as deleted when its cluster cannot be reached. */
  "deleteUnreachable",
  /** Keep the state of a resource on refresh when its cluster cannot be reached. */
  "skipUpdateUnreachable",
] as const;
export type Settings = Readonly<Record<(typeof SETTINGS)[number], boolean>>;

/** What resource definitions work with. */
export interface Session {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly helm: Helm;
}

/** The kubeconfig of the configuration: content or path; undefined when there is none. */
export const kubeconfigOf = ({ kubeconfig }: JsonMap): string | undefined => givenText(kubeconfig);

/** Opens a session. The cluster is asked only when the first resource needs it, so that previews without one work. */
export function openSession(config: JsonMap): Session {
  const kubeconfig = kubeconfigOf(config);
  const client = new Client(kubeconfig);
  const flags = SETTINGS.map((name) => [name, config[name] === true || config[name] === "true"]);
  const settings = Object.fromEntries(flags) as Settings;
  return { client, discovery: new Discovery(client), settings, helm: new Helm(kubeconfig) };
}

/** True when the cluster, not the resource, is the problem. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  const words = /cluster unreachable|connection refused|no such host|i\/o timeout/i;
  return error instanceof HelmError && words.test(error.message);
}

/** After a refresh that failed: the recorded state, where the cluster cannot be reached and the provider is to keep it. @throws otherwise */
export function keptUnreachable(
  { session, log }: ResourceContext<Session>,
  error: unknown,
  inputs: JsonMap | undefined,
  state: JsonMap,
): Current {
  if (!session.settings.skipUpdateUnreachable || !isUnreachable(error)) throw error;
  log.warning("the cluster cannot be reached: the recorded state is kept (skipUpdateUnreachable)");
  return { outputs: state, inputs: inputs ?? {} };
}

/** After a deletion that failed: nothing, where the cluster cannot be reached and the provider is to forget. @throws otherwise */
export function goneUnreachable({ session, log }: ResourceContext<Session>, error: unknown, what: string): void {
  if (!session.settings.deleteUnreachable || !isUnreachable(error)) throw error;
  log.warning(`${what}: the cluster cannot be reached, it counts as deleted (deleteUnreachable)`);
}

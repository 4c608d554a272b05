/** The configured provider: one cluster, its API and the provider's settings. */
import type { JsonMap } from "../framework/index.ts";
import { Client, type ClusterConfig } from "./client.ts";
import { Helm } from "./helm.ts";
import { Discovery } from "./kinds.ts";

/** Settings of the provider that change how resources behave. All false by default, as in the official provider. */
export interface Settings {
  /** Change a ConfigMap's data in place, in place of replacing it. */
  readonly enableConfigMapMutable: boolean;
  /** Change a Secret's data in place, in place of replacing it. */
  readonly enableSecretMutable: boolean;
  /** Take over fields that another manager owns. */
  readonly enablePatchForce: boolean;
  /** Treat a resource as deleted when its cluster cannot be reached. */
  readonly deleteUnreachable: boolean;
  /** Keep the state of a resource on refresh when its cluster cannot be reached. */
  readonly skipUpdateUnreachable: boolean;
  /** Create takes over an object that already exists. */
  readonly upsertExistingObjects: boolean;
}

/** What resource definitions work with. */
export interface Session {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly helm: Helm;
}

/** Provider configuration that is implemented. */
export const CONFIG = [
  "kubeconfig",
  "context",
  "cluster",
  "clusterIdentifier",
  "namespace",
  "enableServerSideApply",
  "enableConfigMapMutable",
  "enableSecretMutable",
  "enablePatchForce",
  "deleteUnreachable",
  "skipUpdateUnreachable",
  "suppressDeprecationWarnings",
  "suppressHelmHookWarnings",
  "upsertExistingObjects",
] as const;

/** The part of the configuration that names the cluster. */
export function clusterOf(config: JsonMap): ClusterConfig {
  const text = (name: string) => (typeof config[name] === "string" && config[name] !== "" ? config[name] : undefined);
  return {
    kubeconfig: text("kubeconfig"),
    context: text("context"),
    cluster: text("cluster"),
    namespace: text("namespace"),
  };
}

/** Opens a session. The cluster is asked only when the first resource needs it, so that previews without one work. */
export function openSession(config: JsonMap): Session {
  const flag = (name: string) => config[name] === true || config[name] === "true";
  const cluster = clusterOf(config);
  const client = new Client(cluster);
  const settings = {
    enableConfigMapMutable: flag("enableConfigMapMutable"),
    enableSecretMutable: flag("enableSecretMutable"),
    enablePatchForce: flag("enablePatchForce"),
    deleteUnreachable: flag("deleteUnreachable"),
    skipUpdateUnreachable: flag("skipUpdateUnreachable"),
    upsertExistingObjects: flag("upsertExistingObjects"),
  };
  return { client, discovery: new Discovery(client), settings, helm: new Helm(cluster) };
}

import { join } from "node:path";
import { moduleDir } from "./go.ts";

/** Folders of upstream's manifests by the name of their repository: what a hub applies from there as `config`. */
export const clusterApiManifests = (): Readonly<Record<string, string>> => ({
  "cluster-api": join(moduleDir("sigs.k8s.io/cluster-api"), "config"),
  "cluster-api-provider-aws": join(moduleDir("sigs.k8s.io/cluster-api-provider-aws/v2"), "config"),
});

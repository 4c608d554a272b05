import { type Api, apiOf, hubPlace } from "./api.ts";
import { kubeConfig, profileOf } from "./config.ts";
import { type Reach, reachWith } from "./reach.ts";

/** A hub, and the way to its spokes. */
export interface Fleet {
  readonly hub: Api;
  readonly reach: Reach;
  /** The profile of the AWS CLI by which the hub's context makes its tokens. */
  readonly profile: string | undefined;
}

/** The hub of a context of the kubeconfig, by default of the current one. */
export function connect(context: string | undefined): Fleet {
  const config = kubeConfig(context);
  const profile = profileOf(config);
  const place = hubPlace(config, "docs/guides/clusters.md#reach-a-cluster-with-kubectl has the rights that it takes");
  return { hub: apiOf(config, place), reach: reachWith(profile), profile };
}

import { clusterTags } from "../../lib/company-tags.ts";
import type { Spoke } from "./api.ts";
import { Composer } from "./composer.ts";
import { existingIds } from "./existing.ts";
import { Facts } from "./facts.ts";
import { isForeign } from "./foreign.ts";
import type { Hub } from "./hub.ts";
import type { SeenAccess } from "./hub-access.ts";
import type { KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { isLetGo } from "./orphan.ts";
import type { Plan } from "./plan.ts";
import type { Settings } from "./settings.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import { companyTags } from "./tags.ts";

/** Everything that the parts of a spoke are made from. */
export interface Context extends Surroundings {
  readonly spoke: Spoke;
  readonly hub: Hub;
  readonly settings: Settings;
  readonly plan: Plan;
  readonly observed: Observed;
  readonly facts: Facts;
  /** Whether Flux on the hub administers the spoke. */
  readonly hubAccess: SeenAccess;
  /** What carries the spoke's label, of what was fetched: `requirements.ts` says when. */
  readonly labelled: readonly KubeObject[];
  readonly composer: Composer;
  /** Whether everything in AWS is to outlive the Spoke. */
  readonly orphan: boolean;
  /** The spoke's tags with those of the company, and a `Name` for people. */
  readonly tags: (name?: string) => Record<string, string>;
}

export type ContextArgs = Pick<Context, "spoke" | "hub" | "settings" | "plan" | "observed" | "hubAccess" | "labelled">;

/** The fleet's own ProviderConfig: the identity of Crossplane's AWS provider on the hub. */
const ownProviderConfig = { kind: "ClusterProviderConfig", name: "default" } as const;

export function contextOf(args: ContextArgs): Context {
  const { spoke, hub, observed } = args;
  const { spec, metadata } = spoke;
  const surroundings = surroundingsOf(spoke, hub);
  const orphan = isLetGo(spoke) || isForeign(observed);
  const tags = clusterTags({
    tags: companyTags(args),
    fleet: hub.fleet,
    cluster: metadata.name,
    eksCluster: surroundings.names.cluster,
    environment: spec.environment,
  });
  return {
    ...args,
    ...surroundings,
    orphan,
    facts: new Facts(observed),
    tags: (name) => ({
      ...tags,
      ...(name === undefined ? {} : { Name: `${surroundings.names.cluster}-${name}` }),
    }),
    composer: new Composer({
      observed,
      spoke: metadata.name,
      providerConfigRef: spec.account?.providerConfigRef ?? ownProviderConfig,
      existing: existingIds(spoke),
      orphan,
    }),
  };
}

import { inAccount, type Scope } from "../../lib/iam/policy.ts";
import { clusterTag, fleetTag, principalTags } from "../../lib/labels.ts";
import { spokeNames } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import { Composer } from "./composer.ts";
import { Facts } from "./facts.ts";
import type { Hub } from "./hub.ts";
import type { SeenAccess } from "./hub-access.ts";
import type { Observed } from "./observed.ts";
import type { Plan } from "./plan.ts";
import type { Settings } from "./settings.ts";

/** Everything that the parts of a spoke are made from. */
export interface Context {
  readonly spoke: Spoke;
  readonly hub: Hub;
  readonly settings: Settings;
  readonly plan: Plan;
  readonly observed: Observed;
  readonly facts: Facts;
  /** Whether Flux on the hub administers the spoke. */
  readonly hubAccess: SeenAccess;
  readonly composer: Composer;
  readonly names: ReturnType<typeof spokeNames>;
  /** Account, region and partition of the spoke. */
  readonly scope: Scope;
  /** Boundary of every role of the spoke, in its account. */
  readonly permissionsBoundary: string;
  readonly tenantBoundary: string;
  /** Boundary of the roles of add-ons, empty while the hub permits them nothing. */
  readonly addonBoundary: string;
  /** The spoke's tags, and a `Name` for people. */
  readonly tags: (name?: string) => Record<string, string>;
}

export type ContextArgs = Pick<Context, "spoke" | "hub" | "settings" | "plan" | "observed" | "hubAccess">;

/** The fleet's own ProviderConfig: the identity of Crossplane's AWS provider on the hub. */
const ownProviderConfig = { kind: "ClusterProviderConfig", name: "default" } as const;

/** What follows from a Spoke and its hub alone, before anything of it exists. */
export type Surroundings = Pick<
  Context,
  "names" | "scope" | "permissionsBoundary" | "tenantBoundary" | "addonBoundary"
>;

export function surroundingsOf({ spec, metadata }: Spoke, hub: Hub): Surroundings {
  const accountId = spec.account?.id ?? hub.aws.accountId;
  return {
    names: spokeNames(hub.spokePrefix, metadata.name),
    scope: { partition: hub.aws.partition, accountId, region: spec.region },
    permissionsBoundary: inAccount(hub.permissionsBoundaryArn, accountId),
    tenantBoundary: inAccount(hub.tenantBoundaryArn, accountId),
    addonBoundary: inAccount(hub.addonBoundaryArn, accountId),
  };
}

export function contextOf(args: ContextArgs): Context {
  const { spoke, hub, observed } = args;
  const { spec, metadata } = spoke;
  const surroundings = surroundingsOf(spoke, hub);
  return {
    ...args,
    ...surroundings,
    facts: new Facts(observed),
    tags: (name) => ({
      [fleetTag]: hub.fleet,
      [clusterTag]: metadata.name,
      [principalTags.cluster]: surroundings.names.cluster,
      environment: spec.environment,
      ...(name === undefined ? {} : { Name: `${surroundings.names.cluster}-${name}` }),
    }),
    composer: new Composer(observed, metadata.name, spec.account?.providerConfigRef ?? ownProviderConfig),
  };
}

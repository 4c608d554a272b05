import { pullerPolicies } from "../../lib/iam/ecr.ts";
import type { RoleSubject, ServiceAccountRef } from "../../lib/iam/trust.ts";
import { type Puller, pullers } from "../../lib/names.ts";
import { type SpokeIdentity, spokeIdentities } from "../../lib/spoke.ts";
import type { Context } from "./context.ts";

/** A controller of a spoke with a role: one that every spoke has, or one that pulls from Amazon ECR. */
export type RoleIdentity = SpokeIdentity | Puller;

type Source = Pick<Context, "hub">;

/** The spoke's controllers that pull from Amazon ECR, with the policies of their roles. Only the hub pulls the composition function. */
const pullersOf = ({ hub: { chartsRegistry, packagesRegistry } }: Source) =>
  pullerPolicies({ chartsRegistry, packagesRegistry });

/** The service accounts of the spoke's controllers that have a role. */
export const roleSubjects = (
  source: Source,
): Readonly<Record<SpokeIdentity, RoleSubject>> & Readonly<Partial<Record<Puller, ServiceAccountRef>>> => ({
  ...spokeIdentities,
  ...Object.fromEntries(pullersOf(source).map(([puller]) => [puller, pullers[puller]])),
});

/** What the roles of the pullers may do. */
export const pullerRights = (source: Source & Pick<Context, "names">) =>
  pullersOf(source).map(
    ([puller, inlinePolicy]) =>
      [
        puller,
        {
          description: `${pullers[puller].serviceAccount} of ${source.names.cluster} pulls from Amazon ECR`,
          managedPolicies: [],
          inlinePolicy,
        },
      ] as const,
  );

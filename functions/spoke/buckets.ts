import { bucketsAddon, canHaveBuckets } from "../../lib/iam/tenants.ts";
import type { Spoke } from "./api.ts";
import type { SpokeProblem } from "./problems.ts";
import type { Surroundings } from "./surroundings.ts";

/** Buckets for the applications of a spoke: the add-on brings their kinds, the spoke's own Crossplane gets the rights. */

interface Question {
  readonly spoke: Pick<Spoke, "spec">;
  readonly names: Pick<Surroundings["names"], "cluster">;
}

const isWanted = ({ spoke }: Question): boolean => spoke.spec.addons.includes(bucketsAddon);

/** Whether the spoke's Crossplane may make buckets. */
export const makesBuckets = (question: Question): boolean =>
  isWanted(question) && canHaveBuckets(question.names.cluster);

/** Why applications of a Spoke can have no buckets. */
export function bucketProblems(question: Question): SpokeProblem[] {
  if (!isWanted(question) || makesBuckets(question)) return [];
  return [
    {
      reason: "AddonsNotPermitted",
      message:
        `spec.addons ${bucketsAddon}: names of buckets hold that of the cluster, and two hyphens end it, so a cluster called ` +
        `${question.names.cluster} can have none. Take the add-on out of spec.addons, or use a spoke with a name without --`,
    },
  ];
}

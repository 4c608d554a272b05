import { backupsAddon, bucketName, bucketsAddon, canHaveBuckets } from "../../lib/iam/tenants.ts";
import { nameLimits } from "../../lib/names.ts";
import type { Spoke } from "./api.ts";
import type { SpokeProblem } from "./problems.ts";
import type { Surroundings } from "./surroundings.ts";

/** Buckets for the applications of a spoke, and for its backups: the add-on brings their kinds, the spoke's own Crossplane gets the rights. */

interface Question {
  readonly spoke: Pick<Spoke, "spec">;
  readonly names: Pick<Surroundings["names"], "cluster">;
}

const isWanted = ({ spoke }: Question): boolean => spoke.spec.addons.includes(bucketsAddon);

/** Whether the spoke's Crossplane may make buckets. */
export const makesBuckets = (question: Question): boolean =>
  isWanted(question) && canHaveBuckets(question.names.cluster);

/** Why applications of a Spoke, or its backups, can have no buckets. */
export function bucketProblems(question: Question): SpokeProblem[] {
  return [...namesEndInHyphens(question), ...backupsHaveNoName(question)];
}

/** The bucket of backups has a name that follows from the cluster's (tools/base/addons/velero/bucket), and S3 a limit. */
function backupsHaveNoName({ spoke, names }: Question): SpokeProblem[] {
  if (!spoke.spec.addons.includes(backupsAddon)) return [];
  const { length } = bucketName(names.cluster, "velero", "backups", "0".repeat(12));
  const over = length - nameLimits.s3Bucket;
  if (over <= 0) return [];
  return [
    {
      reason: "AddonsNotPermitted",
      message:
        `spec.addons ${backupsAddon}: the name of the bucket for backups holds that of the cluster, ${names.cluster}, and would have ` +
        `${length} characters, of which S3 takes ${nameLimits.s3Bucket}. Take the add-on out of spec.addons, or use a spoke whose ` +
        `name is shorter by ${over}`,
    },
  ];
}

function namesEndInHyphens(question: Question): SpokeProblem[] {
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

import { bucketName, bucketsAddon, canHaveBuckets } from "../../lib/iam/tenants.ts";
import { nameLimits } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { type AddonKind, addonProblems, isOrdered, kindProblem, lengthProblems } from "./addon-kinds.ts";
import { bucketKind } from "./aws-kinds.ts";
import type { SpokeFacts } from "./clusters.ts";
import type { AppRequest } from "./rules.ts";

/** What an application that orders buckets needs besides the right to. */

const buckets: AddonKind = {
  kind: bucketKind,
  addon: bucketsAddon,
  one: "bucket",
};

/** Why an application could have no bucket on the EKS cluster `clusterName`. @param facts what its Spoke says, if that is known */
export function bucketProblems(request: AppRequest, clusterName: string, facts: SpokeFacts | undefined): Problem[] {
  if (!isOrdered(buckets, request)) return [];
  const { app, cluster } = request;
  // Any account's id, and a name of one character.
  const shortest = bucketName(clusterName, app, "x", "0".repeat(12));
  const hyphens = [clusterName, app].filter((name) => !canHaveBuckets(name));
  return [
    ...(hyphens.length > 0
      ? [
          kindProblem(
            buckets,
            "is a kind whose names end each of cluster and application with two hyphens",
            hyphens.join(", "),
            "names without two hyphens in a row",
            `leave ${bucketKind} out, or use another name`,
          ),
        ]
      : []),
    ...lengthProblems(buckets, shortest, nameLimits.s3Bucket, "those of cluster, application and account"),
    ...addonProblems(buckets, cluster, facts),
  ];
}

import { bucketName, bucketsAddon, canHaveBuckets } from "../../lib/iam/tenants.ts";
import { nameLimits } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import type { Files } from "../folder.ts";
import { bucketKind } from "./aws-kinds.ts";
import type { SpokeFacts } from "./clusters.ts";
import type { AppRequest } from "./rules.ts";

/** What an application that orders buckets needs besides the right to. */

const wanted = ({ awsKinds = [] }: Pick<AppRequest, "awsKinds">): boolean => awsKinds.includes(bucketKind);

const problem = (what: string, got: string, allowed: string, remedy: string): Problem => ({
  key: "--aws-kind",
  what: `${bucketKind} ${what}`,
  ...{ got, allowed, remedy },
});

/** Why an application could have no bucket on the EKS cluster `clusterName`. @param facts what its Spoke says, if that is known */
export function bucketProblems(request: AppRequest, clusterName: string, facts: SpokeFacts | undefined): Problem[] {
  if (!wanted(request)) return [];
  const { app, cluster } = request;
  // Any account's id, and a name of one character.
  const shortest = bucketName(clusterName, app, "x", "0".repeat(12));
  const excess = shortest.length - nameLimits.s3Bucket;
  const hyphens = [clusterName, app].filter((name) => !canHaveBuckets(name));
  return [
    ...(hyphens.length > 0
      ? [
          problem(
            "is a kind whose names end each of cluster and application with two hyphens",
            hyphens.join(", "),
            "names without two hyphens in a row",
            `leave ${bucketKind} out, or use another name`,
          ),
        ]
      : []),
    ...(excess > 0
      ? [
          problem(
            `is a kind whose names hold those of cluster, application and account, ${shortest.length} characters even for a bucket called x`,
            shortest,
            `at most ${nameLimits.s3Bucket} characters`,
            `shorten the name of the application by at least ${excess} characters, or leave ${bucketKind} out`,
          ),
        ]
      : []),
    ...(facts !== undefined && !facts.addons.includes(bucketsAddon)
      ? [
          problem(
            `needs the add-on ${bucketsAddon} on the spoke ${cluster}`,
            `spec.addons: [${facts.addons.join(", ")}] in ${facts.path}`,
            `a Spoke with ${bucketsAddon} in spec.addons`,
            `add it there and push, or leave ${bucketKind} out`,
          ),
        ]
      : []),
  ];
}

/** The problem of a template that is older than buckets: the team's Flux could apply none. */
export function bucketTemplateProblems(request: AppRequest, files: Files): Problem[] {
  if (!wanted(request) || files["rbac.yaml"]?.includes("s3.aws.m.upbound.io")) return [];
  return [
    problem(
      "needs rights of the application that the template does not give",
      "templates/app/rbac.yaml without s3.aws.m.upbound.io",
      "a template with buckets in rbac.yaml, sync.yaml and aws.yaml",
      "copy this release's template into gitops-workloads",
    ),
  ];
}

import { canHaveDatabases, databaseName, databasePrefix, databasesAddon } from "../../lib/iam/databases.ts";
import { nameLimits } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { type AddonKind, addonProblems, isOrdered, kindProblem, lengthProblems } from "./addon-kinds.ts";
import { databaseKind } from "./aws-kinds.ts";
import type { SpokeFacts } from "./clusters.ts";
import type { AppRequest } from "./rules.ts";

/** What an application that orders databases needs besides the right to. */

const databases: AddonKind = {
  kind: databaseKind,
  addon: databasesAddon,
  one: "database",
};

/** Why an application could have no database. @param spokePrefix begins the names of the fleet's clusters @param facts what its Spoke says, if that is known */
export function databaseProblems(request: AppRequest, spokePrefix: string, facts: SpokeFacts | undefined): Problem[] {
  if (!isOrdered(databases, request)) return [];
  const { app, cluster } = request;
  const shortest = databaseName(databasePrefix(spokePrefix, `${spokePrefix}${cluster}`), app, "x");
  return [
    ...(canHaveDatabases(app)
      ? []
      : [
          kindProblem(
            databases,
            "is a kind whose names hold that of the application, and RDS takes no two hyphens in a row",
            app,
            "a name without two hyphens in a row",
            `leave ${databaseKind} out, or use another name`,
          ),
        ]),
    ...lengthProblems(databases, shortest, nameLimits.rdsInstance, "that of the application"),
    ...addonProblems(databases, cluster, facts),
  ];
}

import { canHaveDatabases, databaseName, databasePrefix, databasesAddon } from "../../lib/iam/databases.ts";
import { nameLimits } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import type { Files } from "../folder.ts";
import { databaseKind } from "./aws-kinds.ts";
import type { SpokeFacts } from "./clusters.ts";
import type { AppRequest } from "./rules.ts";

/** What an application that orders databases needs besides the right to. */

const wanted = ({ awsKinds = [] }: Pick<AppRequest, "awsKinds">): boolean => awsKinds.includes(databaseKind);

const problem = (what: string, got: string, allowed: string, remedy: string): Problem => ({
  key: "--aws-kind",
  what: `${databaseKind} ${what}`,
  ...{ got, allowed, remedy },
});

/** Why an application could have no database. @param spokePrefix begins the names of the fleet's clusters @param facts what its Spoke says, if that is known */
export function databaseProblems(request: AppRequest, spokePrefix: string, facts: SpokeFacts | undefined): Problem[] {
  if (!wanted(request)) return [];
  const { app, cluster } = request;
  const shortest = databaseName(databasePrefix(spokePrefix, `${spokePrefix}${cluster}`), app, "x");
  const excess = shortest.length - nameLimits.rdsInstance;
  return [
    ...(canHaveDatabases(app)
      ? []
      : [
          problem(
            "is a kind whose names hold that of the application, and RDS takes no two hyphens in a row",
            app,
            "a name without two hyphens in a row",
            `leave ${databaseKind} out, or use another name`,
          ),
        ]),
    ...(excess > 0
      ? [
          problem(
            `is a kind whose names hold that of the application, ${shortest.length} characters even for a database called x`,
            shortest,
            `at most ${nameLimits.rdsInstance} characters`,
            `shorten the name of the application by at least ${excess} characters, or leave ${databaseKind} out`,
          ),
        ]
      : []),
    ...(facts !== undefined && !facts.addons.includes(databasesAddon)
      ? [
          problem(
            `needs the add-on ${databasesAddon} on the spoke ${cluster}`,
            `spec.addons: [${facts.addons.join(", ")}] in ${facts.path}`,
            `a Spoke with ${databasesAddon} in spec.addons`,
            `add it there and push, or leave ${databaseKind} out`,
          ),
        ]
      : []),
  ];
}

/** The problem of a template that is older than databases: the team's Flux could apply none. */
export function databaseTemplateProblems(request: AppRequest, files: Files): Problem[] {
  if (!wanted(request) || files["rbac.yaml"]?.includes("rds.aws.m.upbound.io")) return [];
  return [
    problem(
      "needs rights of the application that the template does not give",
      "templates/app/rbac.yaml without rds.aws.m.upbound.io",
      "a template with databases in rbac.yaml, sync.yaml, network.yaml and cluster-info.yaml",
      "copy this release's template into gitops-workloads",
    ),
  ];
}

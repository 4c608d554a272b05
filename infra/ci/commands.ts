import {
  type EnvironmentRule,
  environmentBody,
  environmentOf,
  type Purpose,
  type Reviewer,
  sharedEnvironments,
} from "../../lib/github-environments.ts";
import { jobs } from "../../lib/iam/github-roles.ts";

/** A role, with the repository whose environment gets its ARN. */
export interface Assigned {
  readonly purpose: Purpose;
  readonly repository: string;
  readonly arn: string;
}

export interface CommandsOptions {
  readonly stack: string;
  readonly region: string;
  /** URL, or empty. */
  readonly backend: string;
  /** Registry in Amazon ECR, or empty. */
  readonly registry: string;
  readonly reviewers: readonly Reviewer[];
}

type Environment = readonly [name: string, rule: EnvironmentRule];

/** Creates an environment with its rules. The script deletes no branch or tag that can enter it already: fleet doctor lists these. */
function environment(repository: string, [name, rule]: Environment, reviewers: readonly Reviewer[]): string {
  const path = `repos/${repository}/environments/${name}`;
  const { type, name: ref } = rule.ref;
  return [
    `gh api --silent --method PUT ${path} --input - <<'EOF'`,
    JSON.stringify(environmentBody(rule, reviewers)),
    "EOF",
    `gh api ${path}/deployment-branch-policies --jq '.branch_policies[] | .type + " " + .name' | grep -qxF '${type} ${ref}' ||`,
    `  gh api --silent --method POST ${path}/deployment-branch-policies -f type=${type} -f 'name=${ref}'`,
  ].join("\n");
}

/** A shell script that creates the environments at GitHub with their rules, and sets the variables that the workflows read. */
export function environmentCommands(roles: readonly Assigned[], options: CommandsOptions): string {
  const { stack, region, backend, registry, reviewers } = options;
  const [host = ""] = registry.split("/");
  const commands = roles.flatMap(({ purpose, repository, arn }) => {
    const { environment: name, rule } = environmentOf(purpose, stack);
    const set = (key: string, value: string) =>
      `gh variable set ${key} --repo ${repository} --env ${name} --body '${value}'`;
    // release.yml publishes what the proof has tested. Its jobs use no role.
    const release: Environment[] =
      purpose === "proof" ? Object.entries(sharedEnvironments).filter(([each]) => each === "release") : [];
    return [
      environment(repository, [name, rule], reviewers),
      set("AWS_ROLE_ARN", arn),
      set("AWS_REGION", region),
      ...(jobs[purpose].pulumi && backend !== "" ? [set("PULUMI_BACKEND_URL", backend)] : []),
      ...(jobs[purpose].ecr && host !== "" ? [set("ECR_REGISTRY", host)] : []),
      ...release.map((each) => environment(repository, each, reviewers)),
    ];
  });
  return ["set -eu", ...commands, ""].join("\n");
}

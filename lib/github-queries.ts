import { type EnvironmentRule, environmentProblems, type FoundEnvironment } from "./github-environments.ts";

/** An answer of GitHub's API to a GET; status 0 if it didn't answer. */
export interface GitHubAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What GitHub returns about an environment: its problems, or an answer other than 200. */
export type EnvironmentState<A extends GitHubAnswer> =
  | { readonly problems: readonly string[] }
  | { readonly refused: A };

interface BranchPolicy {
  readonly name?: string;
  readonly type?: "branch" | "tag";
}

/** Reads an environment of a repository, and compares it with its rule. */
export async function readEnvironment<A extends GitHubAnswer>(
  ask: (path: string) => Promise<A>,
  repository: string,
  name: string,
  rule: EnvironmentRule | undefined,
): Promise<EnvironmentState<A>> {
  const path = `repos/${repository}/environments/${encodeURIComponent(name)}`;
  const answer = await ask(path);
  if (answer.status !== 200) return { refused: answer };
  const found = answer.body as FoundEnvironment;
  if (found.deployment_branch_policy?.custom_branch_policies !== true)
    return { problems: environmentProblems(rule, found, []) };
  const policies = await ask(`${path}/deployment-branch-policies?per_page=100`);
  if (policies.status !== 200) return { refused: policies };
  const refs = ((policies.body["branch_policies"] ?? []) as readonly BranchPolicy[]).map(
    // Answers of older versions of the API have no type.
    ({ name: ref = "", type = "branch" }) => ({ type, name: ref }),
  );
  return { problems: environmentProblems(rule, found, refs) };
}

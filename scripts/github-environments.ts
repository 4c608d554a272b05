// Fails unless the environments of stacks at GitHub have their rules: `node scripts/github-environments.ts update|preview <stack>...`.
// Runs in a workflow, with the packages of Node only. Rules: lib/github-environments.ts.
import { type EnvironmentRule, environmentOf, type Purpose } from "../lib/github-environments.ts";
import { readEnvironment } from "../lib/github-queries.ts";

const guide = "docs/guides/checks.md#roles-of-the-workflows";
const { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository = "", GH_TOKEN: token } = process.env;

async function ask(path: string) {
  const response = await fetch(`${api}/${path}`, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/vnd.github+json",
      "x-github-api-version": "2026-03-10",
    },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The purposes that each argument stands for. */
const checks: Readonly<Record<string, readonly Purpose[]>> = { update: ["apply", "drift"], preview: ["preview"] };

async function problemsOf(environment: string, rule: EnvironmentRule): Promise<string[]> {
  const state = await readEnvironment(ask, repository, environment, rule);
  const told = (problem: string) => `::error::environment ${environment}: ${problem}. See ${guide}`;
  if ("problems" in state) return state.problems.map(told);
  const { status, body } = state.refused;
  return [told(`GitHub answers with status ${status} (${String(body["message"])}): create it with the stack infra/ci`)];
}

const [check = "", ...stacks] = process.argv.slice(2);
const asked = stacks.flatMap((stack) => (checks[check] ?? []).map((purpose) => environmentOf(purpose, stack)));
const found = (await Promise.all(asked.map(({ environment, rule }) => problemsOf(environment, rule)))).flat();
const problems =
  asked.length > 0 ? found : ["::error::usage: node scripts/github-environments.ts update|preview <stack>..."];
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

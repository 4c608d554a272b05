// Fails unless environments of this repository at GitHub have their rules: `node scripts/github-environments.ts <environment>...`.
// Runs in a workflow, with the packages of Node only. Rules: lib/github-environments.ts.
import { sharedEnvironments, stackEnvironments } from "../lib/github-environments.ts";
import { readEnvironment } from "../lib/github-queries.ts";

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

/** The stack of an environment such as `prod-preview`. */
const stackOf = (environment: string): string => environment.replace(/-(main|preview)$/, "");

async function problemsOf(environment: string): Promise<readonly string[]> {
  const rule = { ...stackEnvironments(stackOf(environment)), ...sharedEnvironments }[environment];
  const state = await readEnvironment(ask, repository, environment, rule);
  if ("problems" in state) return state.problems;
  const { status, body } = state.refused;
  return [`GitHub answers with status ${status} (${String(body["message"])}): create it with the stack infra/ci`];
}

const environments = process.argv.slice(2);
const found = await Promise.all(environments.map(problemsOf));
for (const [index, problems] of found.entries())
  for (const problem of problems)
    console.log(
      `::error::environment ${environments[index]}: ${problem}. See docs/guides/pull-requests.md#roles-of-the-workflows`,
    );
if (environments.length === 0) console.log("::error::usage: node scripts/github-environments.ts <environment>...");
process.exitCode = environments.length === 0 || found.some((problems) => problems.length > 0) ? 1 : 0;

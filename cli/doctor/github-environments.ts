import {
  type EnvironmentRule,
  sharedEnvironments,
  stackEnvironments,
  systemEnvironments,
} from "../../lib/github-environments.ts";
import { readEnvironment } from "../../lib/github-queries.ts";
import { readProject, stacksOf } from "../fleet/stack-config.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { type Answer, type Ask, type GitHub, logInToGitHub, unansweredBy } from "./github.ts";
import { environmentsOf, type Place, placesOf } from "./github-roles.ts";
import type { Run } from "./process.ts";
import type { Stack } from "./stack.ts";

const guide = "docs/guides/checks.md#roles-of-the-workflows";
/** Name of a finding about all environments. */
const all = "environments of workflows";

type Rules = Readonly<Record<string, EnvironmentRule>>;

const hidden = ({ host, path }: Place, { status }: Answer): Finding =>
  note(
    all,
    `aren't checked: ${host} does not show those of ${path} to this token (status ${status})`,
    `${logInToGitHub}, for an account that can read the repository and its Actions settings`,
  );

/** Whether an environment that exists has its rule. */
async function checkEnvironment(
  place: Place,
  name: string,
  rule: EnvironmentRule | undefined,
  ask: Ask,
): Promise<Finding[]> {
  const title = `environment ${name}`;
  const state = await readEnvironment(ask, place.path, name, rule);
  if ("refused" in state) {
    const { refused } = state;
    return [[403, 404].includes(refused.status) ? hidden(place, refused) : unansweredBy(title, place.host, refused)];
  }
  if (state.problems.length === 0) {
    const only = rule === undefined ? "some branches or tags" : `${rule.ref.type} ${rule.ref.name}`;
    return [ok(title, `only ${only} can enter it${rule?.reviewers === undefined ? "" : ", after a review"}`)];
  }
  return [
    wrong(
      title,
      `of ${place.path}: ${state.problems.join("; ")}. Any workflow that enters it gets its variables and the subject that its role trusts`,
      rule === undefined
        ? "restrict its branches and tags, or delete it (Settings, Environments)"
        : `run pulumi stack output environments in infra/ci, and the commands that it prints; remove other branches and tags (${guide})`,
    ),
  ];
}

async function ofRepository(place: Place, rules: Rules, github: GitHub): Promise<Finding[]> {
  const ask = await github(place.host);
  if (ask === undefined) return [note(all, "aren't checked without a token of GitHub", logInToGitHub)];
  const answer = await ask(`repos/${place.path}/environments?per_page=100`);
  if (answer.status === 403 || answer.status === 404) return [hidden(place, answer)];
  const listed = answer.body["environments"];
  if (answer.status !== 200 || !Array.isArray(listed)) return [unansweredBy(all, place.host, answer)];
  const names = (listed as readonly { readonly name: string }[]).map(({ name }) => name);
  const found = await Promise.all(names.map((name) => checkEnvironment(place, name, rules[name], ask)));
  return found.flat();
}

export interface EnvironmentsOptions {
  /** Directory of the Pulumi project, whose remote is the repository with the workflows. */
  readonly root: string;
  readonly run: Run;
  readonly github: GitHub;
}

/** Whether every environment at GitHub restricts branches or tags, and those that deploy require reviewers. */
export async function checkEnvironments(stack: Stack, { root, run, github }: EnvironmentsOptions): Promise<Finding[]> {
  if (stack.embedded) return [];
  const { project, system } = await placesOf(stack, root, run);
  // Those of the other stacks deploy too.
  const stacks = [...(await stacksOf(await readProject(root))), environmentsOf(stack)];
  const ofProject: Rules = Object.assign({}, sharedEnvironments, ...stacks.map(stackEnvironments));
  const found = await Promise.all([
    project === undefined ? [] : ofRepository(project, ofProject, github),
    system === undefined ? [] : ofRepository(system, systemEnvironments, github),
  ]);
  // A finding about all environments is reported once.
  return [...new Map(found.flat().map((finding) => [finding.name, finding])).values()];
}

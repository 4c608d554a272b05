import { type Finding, note, ok, wrong } from "./finding.ts";
import { type Answer, type Ask, unansweredBy } from "./github.ts";
import type { EnvironmentsOptions } from "./github-environments.ts";
import { type Place, placesOf } from "./github-roles.ts";
import type { Stack } from "./stack.ts";

/** The runner of updates: it holds the deployer's credentials while a job runs, so no other branch's job may run there before. */

const guide = "docs/guides/checks.md#runners";
const title = "runner of updates";

/** A runner as GitHub lists it; `ephemeral` is missing in answers of older versions. */
interface Runner {
  readonly name: string;
  readonly labels: readonly { readonly name: string }[];
  readonly ephemeral?: boolean;
}

interface RunnerGroup {
  readonly id: number;
  readonly name: string;
  readonly restricted_to_workflows?: boolean;
  readonly selected_workflows?: readonly string[];
}

const withLabel = (answer: Answer | undefined, label: string): readonly Runner[] =>
  ((answer?.body["runners"] ?? []) as readonly Runner[]).filter(({ labels }) =>
    labels.some(({ name }) => name.toLowerCase() === label.toLowerCase()),
  );

const reused = (runners: readonly Runner[]): string[] =>
  runners.filter(({ ephemeral }) => ephemeral === false).map(({ name }) => `${name} isn't ephemeral`);

/** Why jobs of other branches can run on the runners of a group. */
function openTo({
  name,
  restricted_to_workflows: isRestricted,
  selected_workflows: chosen = [],
}: RunnerGroup): string[] {
  if (isRestricted !== true) return [`the runner group ${name} takes jobs of every workflow and branch`];
  return chosen
    .filter((workflow) => !workflow.endsWith("@refs/heads/main"))
    .map((workflow) => `the runner group ${name} takes jobs of ${workflow}`);
}

async function problemsOf({ host, path }: Place, label: string, ask: Ask): Promise<Finding | string[]> {
  const [owner, repository] = path.split("/");
  const ofOwner = `orgs/${owner}/actions/runner-groups`;
  const own = await ask(`repos/${path}/actions/runners?per_page=100`);
  const listed = await ask(`${ofOwner}?visible_to_repository=${repository}&per_page=100`);
  const groups = (listed.body["runner_groups"] ?? []) as readonly RunnerGroup[];
  const members = await Promise.all(groups.map(({ id }) => ask(`${ofOwner}/${id}/runners?per_page=100`)));
  const refused = [own, listed, ...members].find(({ status }) => status !== 200);
  if (refused !== undefined && ![403, 404].includes(refused.status)) return unansweredBy(title, host, refused);
  if (refused !== undefined)
    return note(
      title,
      `isn't checked: ${host} does not show the runners of ${path} and of ${owner} to this token (status ${refused.status})`,
      `let an owner of ${owner} run fleet doctor, or check it as ${guide} describes`,
    );
  const inRepository = withLabel(own, label);
  const inGroups = groups.flatMap((group, index) => {
    const runners = withLabel(members[index], label);
    return runners.length === 0 ? [] : [{ group, runners }];
  });
  if (inRepository.length + inGroups.length === 0)
    return note(title, `no runner with the label ${label} is registered now, so it isn't checked`, guide);
  return [
    ...inRepository.map(({ name }) => `${name} belongs to the repository and takes jobs of every branch`),
    ...inGroups.flatMap(({ group, runners }) => [...openTo(group), ...reused(runners)]),
  ];
}

/** Whether the self-hosted runner in the variable RUNNER runs one job only, and only jobs of workflows of the main branch. */
export async function checkRunner(stack: Stack, { root, run, github }: EnvironmentsOptions): Promise<Finding[]> {
  if (stack.embedded) return [];
  const { project } = await placesOf(stack, root, run);
  const ask = project && (await github(project.host));
  if (project === undefined || ask === undefined) return [];
  const variable = await ask(`repos/${project.path}/actions/variables/RUNNER`);
  const label = variable.body["value"];
  // GitHub's own runners are new for each job.
  if (variable.status !== 200 || typeof label !== "string" || /^(ubuntu|windows|macos)-/.test(label)) return [];
  const problems = await problemsOf(project, label, ask);
  if (!Array.isArray(problems)) return [problems];
  if (problems.length === 0) return [ok(title, `${label} takes only jobs of workflows of the main branch`)];
  return [
    wrong(
      title,
      `${problems.join("; ")}: a job of another branch can wait there for the deployer's credentials`,
      `use ephemeral runners in a runner group of the organization that is restricted to workflows of main (${guide})`,
    ),
  ];
}

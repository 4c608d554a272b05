/** Our own rules for .github/workflows: what actionlint does not look at. */

export interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  /** Of a step of an action; a job has a default. */
  readonly shell?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Job {
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly "runs-on"?: string;
  readonly container?: string | { readonly image: string };
  readonly outputs?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps?: readonly Step[];
  readonly "timeout-minutes"?: number;
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** An action of this repository: steps that several jobs share. */
export interface CompositeAction {
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** An action of this project, in a workflow of its own or, at a commit, in one of the fleet's repositories (repos/). */
const ofProject = /^(?:\.|[\w.-]+\/eks-gitops-fleet)\/(\.github\/actions\/[\w-]+)(?:@|$)/;

/** A workflow with the steps of the project's own actions in the place where a job uses them. */
export function inlined(workflow: Workflow, action: (path: string) => CompositeAction): Workflow {
  const expand = (step: Step): readonly Step[] => {
    const [, path] = ofProject.exec(step.uses ?? "") ?? [];
    return path === undefined ? [step] : [step, ...action(path).runs.steps.flatMap(expand)];
  };
  const jobs = Object.entries(workflow.jobs).map(
    ([name, job]) => [name, job.steps ? { ...job, steps: job.steps.flatMap(expand) } : job] as const,
  );
  return { ...workflow, jobs: Object.fromEntries(jobs) };
}

/** The one secret that there may be: what a GitHub App proves itself with, to read private repositories for an hour. */
const appKey = "private-key: $" + "{{ secrets.FLEET_APP_PRIVATE_KEY }}";

const sameRepository = "github.event.pull_request.head.repo.full_name == github.repository";
/** A runner that reaches the hubs: environment variables are not known yet where a runner is chosen, so it is the repository's. */
const ownRunner = "$" + "{{ vars.RUNNER || 'ubuntu-latest' }}";
/** A runner that is new for each job, for code that nobody has looked at. */
const previewRunner = "$" + "{{ vars.PREVIEW_RUNNER || 'ubuntu-latest' }}";
const forbiddenEvents = ["pull_request_target", "workflow_run", "issue_comment"];
const actionsOf = ({ steps = [] }: Job) => steps.flatMap(({ uses }) => uses ?? []);
const checksOut = (job: Job) => actionsOf(job).some((action) => action.startsWith("actions/checkout@"));

/** Whether a job has none of the repository's files, nor packages that they name: it neither checks it out nor installs anything. */
const runsNoCode = (job: Job) =>
  !checksOut(job) &&
  (job.steps ?? []).every(({ uses = "", run = "" }) => !uses.startsWith("./") && !/\b(npm|npx|node|go)\b/.test(run));

/** setup-go caches unless it is told not to; the other actions are told with a word of their own. */
const caches = ({ uses = "", with: inputs = {} }: Step) =>
  (uses.startsWith("actions/setup-go@") && inputs["cache"] !== false) ||
  (uses.startsWith("actions/setup-node@") && (inputs["package-manager-cache"] !== false || "cache" in inputs)) ||
  uses.startsWith("actions/cache@");

const installs = ({ run = "" }: Step) => /\b(apt|apt-get|apk|dnf|yum) (-\S+ )*(add|install|update|upgrade)\b/.test(run);

/** Outputs of the project's login actions, by the variable from which pulumi reads them. */
const logins = {
  PULUMI_CREDENTIALS_PATH: ["./.github/actions/pulumi-login", "credentials"],
  PULUMI_K8S_HELM_REGISTRY_CONFIG_PATH: ["./.github/actions/ecr-login", "config"],
} as const;

/** Steps that run pulumi without a login of an earlier step: an action can't pass it to them ($GITHUB_ENV is open to injection). */
const withoutLogin = (steps: readonly Step[]) =>
  Object.entries(logins).flatMap(([variable, [action, output]]) => {
    const login = steps.findIndex(({ uses }) => uses === action);
    if (login === -1) return [];
    const value = `$${`{{ steps.${steps[login]?.id}.outputs.${output} }}`}`;
    return steps
      .slice(login)
      .filter(({ run = "" }) => /(^|\$\()\s*pulumi (?!login)|npm run test:aws\b/m.test(run))
      .filter(({ env = {} }) => env[variable] !== value)
      .map(({ name, run }) => `${name ?? run}: a step that runs pulumi takes ${variable} from ${action}`);
  });

const readsForBranches = ({ if: condition = "", with: inputs = {} }: Step) =>
  condition.includes(sameRepository) &&
  Object.entries(inputs).every(([name, value]) => !name.startsWith("permission-") || value === "read") &&
  inputs["permission-contents"] === "read" &&
  inputs["repositories"] !== undefined;

function ofStep(step: Step): string[] {
  const found: string[] = [];
  if (step.uses && !step.uses.startsWith("./") && !/^[\w-]+\/[\w./-]+@[0-9a-f]{40}$/.test(step.uses))
    found.push(`${step.uses}: an action is pinned by the full SHA of a commit`);
  if (step.run?.includes("${{"))
    found.push("a script takes values from its environment, not by an expression that becomes part of it");
  if (step.uses?.startsWith("actions/checkout@") && step.with?.["persist-credentials"] !== false)
    found.push("a checkout keeps no token: persist-credentials: false");
  if (step.uses?.startsWith("actions/create-github-app-token@") && !readsForBranches(step))
    found.push("a token of a GitHub App reads contents of named repositories only, and is not made for forks");
  if (Object.keys({ ...step.with, ...step.env }).some((key) => /access[-_]key|session[-_]token/i.test(key)))
    found.push("AWS is reached by a role with OIDC, not by keys");
  return found;
}

function ofJob(job: Job, events: readonly string[]): string[] {
  const found = [...(job.steps ?? []).flatMap(ofStep), ...withoutLogin(job.steps ?? [])];
  const rights = Object.entries(job.permissions ?? {});
  // A container goes with its job.
  if (!job.container && (job.steps ?? []).some(installs))
    found.push("nothing is installed on a machine: say what it lacks, or run in a container");
  const image = typeof job.container === "string" ? job.container : job.container?.image;
  if (image !== undefined && !/@sha256:[0-9a-f]{64}$/.test(image))
    found.push(`${image}: a container is pinned by its digest`);
  if (job.permissions === undefined) found.push("a job names its permissions");
  if (!job.uses && !job["timeout-minutes"]) found.push("a job has a time limit");
  // The right to write a release is the right to push: only the runner's own programs and pinned actions may have it.
  const writes = rights.some(([name, level]) => name === "contents" && level !== "read");
  if (writes && !(job.environment === "release" && runsNoCode(job))) found.push("no job writes to the repository");
  const hubRunner = events.includes("pull_request") ? previewRunner : ownRunner;
  if (actionsOf(job).some((action) => action.startsWith("pulumi/actions@")) && job["runs-on"] !== hubRunner)
    found.push(
      `a job that talks to a hub runs on ${hubRunner}: not every runner reaches its endpoint, and no pull request's code runs where updates do`,
    );
  if (rights.some(([, level]) => level === "write") && (job.steps ?? []).some(caches))
    found.push("a job with more than the right to read takes nothing from a cache, which other jobs have filled");
  // What a job may publish or sign, code of any package that it installs may too. A job that takes a role needs its packages for Pulumi.
  const publishes = rights.some(
    ([name, level]) => level === "write" && (name === "packages" || job.environment === "release"),
  );
  if (publishes && (job.steps ?? []).some(({ run = "" }) => /\bnpm (ci|install|run|test)\b|\bnpx node\b/.test(run)))
    found.push("a job that publishes installs no packages: another job builds, and hands over files");
  if (events.includes("pull_request")) {
    if (job["runs-on"]?.includes("vars.") && !job.if?.includes(sameRepository))
      found.push("a runner of our own runs no code of forks");
    if (job["runs-on"]?.includes("vars.") && !job.environment && job["runs-on"] !== previewRunner)
      found.push(
        `code that no reviewer has let through runs on ${previewRunner}: it could stay on any other runner of ours`,
      );
    if (rights.some(([, level]) => level === "write") && !job.if?.includes(sameRepository))
      found.push("a job with more than the right to read runs for branches of this repository only");
    if (rights.some(([name, level]) => name !== "id-token" && level === "write") && checksOut(job))
      found.push("a job that may write to GitHub runs no code of the pull request");
  }
  if (rights.some(([name]) => name === "id-token") && !job.uses && !job.environment)
    found.push("a job that takes a role is behind an environment, which is the subject that the role trusts");
  return found;
}

/** What is wrong with a workflow, by job; `text` is the file, in which the comments are. */
export function violations(workflow: Workflow, text: string): string[] {
  const events = Object.keys(workflow.on);
  const found = events
    .filter((event) => forbiddenEvents.includes(event))
    .map((event) => `${event} runs with the rights of the repository on what others wrote`);
  if (JSON.stringify(workflow.permissions) !== "{}")
    found.push("a workflow has no rights but those of its jobs: permissions: {}");
  if (!events.includes("workflow_call") && workflow.concurrency === undefined)
    found.push("a workflow says what runs at once");
  if (/(?<!sealed-)\bsecrets\b/.test(text.replaceAll(/#.*$/gm, "").replaceAll(appKey, "")))
    found.push("no secret is stored at GitHub: a role, or github.token");
  for (const line of text.split("\n").filter((each) => /\buses: [^.]/.test(each)))
    if (!/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))
      found.push(`${line.trim()}: a comment says which version that is`);
  const ofJobs = Object.entries(workflow.jobs).flatMap(([name, job]) =>
    ofJob(job, events).map((problem) => `${name}: ${problem}`),
  );
  return [...found, ...ofJobs];
}

/** Our own rules for .github/workflows: what actionlint does not look at. Pure. */

export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Job {
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
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

const sameRepository = "github.event.pull_request.head.repo.full_name == github.repository";
const forbiddenEvents = ["pull_request_target", "workflow_run", "issue_comment"];
const actionsOf = ({ steps = [] }: Job) => steps.flatMap(({ uses }) => uses ?? []);
const checksOut = (job: Job) => actionsOf(job).some((action) => action.startsWith("actions/checkout@"));

function ofStep(step: Step): string[] {
  const found: string[] = [];
  if (step.uses && !step.uses.startsWith("./") && !/^[\w-]+\/[\w./-]+@[0-9a-f]{40}$/.test(step.uses))
    found.push(`${step.uses}: an action is pinned by the full SHA of a commit`);
  if (step.run?.includes("${{"))
    found.push("a script takes values from its environment, not by an expression that becomes part of it");
  if (step.uses?.startsWith("actions/checkout@") && step.with?.["persist-credentials"] !== false)
    found.push("a checkout keeps no token: persist-credentials: false");
  if (Object.keys({ ...step.with, ...step.env }).some((key) => /access[-_]key|session[-_]token/i.test(key)))
    found.push("AWS is reached by a role with OIDC, not by keys");
  return found;
}

function ofJob(job: Job, events: readonly string[]): string[] {
  const found = (job.steps ?? []).flatMap(ofStep);
  const rights = Object.entries(job.permissions ?? {});
  if (job.permissions === undefined) found.push("a job names its permissions");
  if (!job.uses && !job["timeout-minutes"]) found.push("a job has a time limit");
  if (rights.some(([name, level]) => name === "contents" && level !== "read"))
    found.push("no job writes to the repository");
  if (events.includes("pull_request")) {
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
  if (/\bsecrets\b/.test(text.replaceAll(/#.*$/gm, "")))
    found.push("no secret is stored at GitHub: a role, or github.token");
  for (const line of text.split("\n").filter((each) => /\buses: [^.]/.test(each)))
    if (!/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))
      found.push(`${line.trim()}: a comment says which version that is`);
  const ofJobs = Object.entries(workflow.jobs).flatMap(([name, job]) =>
    ofJob(job, events).map((problem) => `${name}: ${problem}`),
  );
  return [...found, ...ofJobs];
}

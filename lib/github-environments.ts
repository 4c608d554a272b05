/**
 * The environments of the workflows at GitHub, what may enter each, and how an environment differs from that.
 * Any branch can run a workflow that names an environment (GitHub Docs, "Managing environments for deployment"): only the environment's own rules stop it.
 */

interface Ref {
  readonly type: "branch" | "tag";
  /** Pattern of GitHub's deployment branch policies. */
  readonly name: string;
}

export interface EnvironmentRule {
  readonly ref: Ref;
  /** Who approves a job: a reviewer, or one who didn't start the run. Without it jobs start immediately. */
  readonly reviewers?: "anyone" | "others";
}

const main: Ref = { type: "branch", name: "main" };

/** GitHub evaluates rules for a pull request against its merge ref (GitHub changelog, 2025-11-07, "environment branch protections"). */
const pullRequests: Ref = { type: "branch", name: "refs/pull/*/merge" };

type Rules = Readonly<Record<string, EnvironmentRule>>;

/** Environments of the workflows of a stack, in this project's repository. */
export const stackEnvironments = (stack: string): Rules => ({
  [stack]: { ref: main, reviewers: "anyone" },
  [`${stack}-main`]: { ref: main },
  [`${stack}-preview`]: { ref: pullRequests, reviewers: "others" },
});

/** Environments in this project's repository that don't belong to a stack. */
export const sharedEnvironments: Rules = {
  "node-releases": { ref: main },
  "aws-proof": { ref: main, reviewers: "others" },
  release: { ref: { type: "tag", name: "v*" }, reviewers: "anyone" },
};

/** Environments in gitops-system (docs/guides/environments.md#rings). */
export const systemEnvironments: Rules = { rollouts: { ref: main } };

/** Jobs that assume an IAM role. */
export const purposes = ["apply", "drift", "preview", "node-releases", "rollouts", "proof"] as const;
export type Purpose = (typeof purposes)[number];

/** The environment of a job, with its rule. */
export function environmentOf(purpose: Purpose, stack: string): { environment: string; rule: EnvironmentRule } {
  const names: Readonly<Record<Purpose, string>> = {
    ...{ apply: stack, drift: `${stack}-main`, preview: `${stack}-preview` },
    ...{ "node-releases": "node-releases", rollouts: "rollouts", proof: "aws-proof" },
  };
  const environment = names[purpose];
  const rule = { ...sharedEnvironments, ...systemEnvironments, ...stackEnvironments(stack) }[environment];
  if (rule === undefined) throw new Error(`the environment ${environment} has no rule`);
  return { environment, rule };
}

/** The fields that are read of `GET /repos/{owner}/{repo}/environments/{environment}`. */
export interface FoundEnvironment {
  readonly deployment_branch_policy?: null | { readonly custom_branch_policies?: boolean };
  readonly protection_rules?: readonly { readonly type: string; readonly prevent_self_review?: boolean }[];
  readonly can_admins_bypass?: boolean;
}

const shownRef = ({ type, name }: Ref): string => `${type} ${name}`;

/**
 * How an environment differs from its rule; an environment without a rule must restrict branches or tags in any way.
 * @param refs its deployment branch policies, if it has custom ones
 */
export function environmentProblems(
  rule: EnvironmentRule | undefined,
  found: FoundEnvironment,
  refs: readonly Ref[],
): string[] {
  const policy = found.deployment_branch_policy;
  if (policy === undefined || policy === null) return ["any branch can enter it", ...reviewProblems(rule, found)];
  if (rule === undefined) return [];
  const others = refs.filter((ref) => shownRef(ref) !== shownRef(rule.ref)).map(shownRef);
  const open = policy.custom_branch_policies === true ? others : ["every protected branch"];
  return [
    ...open.map((ref) => `${ref} can enter it, not only ${shownRef(rule.ref)}`),
    ...(policy.custom_branch_policies === true && refs.length === others.length
      ? [`${shownRef(rule.ref)} can't enter it`]
      : []),
    ...reviewProblems(rule, found),
  ];
}

function reviewProblems(rule: EnvironmentRule | undefined, found: FoundEnvironment): string[] {
  if (rule?.reviewers === undefined) return [];
  const reviewers = found.protection_rules?.find(({ type }) => type === "required_reviewers");
  if (reviewers === undefined) return ["it has no required reviewers"];
  return [
    ...(rule.reviewers === "others" && reviewers.prevent_self_review !== true
      ? ["the author can approve the job (prevent_self_review)"]
      : []),
    ...(found.can_admins_bypass === false ? [] : ["administrators can skip the reviewers (can_admins_bypass)"]),
  ];
}

export interface Reviewer {
  readonly type: "Team" | "User";
  readonly id: number;
}

/** The body of `PUT /repos/{owner}/{repo}/environments/{environment}`, which replaces all rules. */
export const environmentBody = ({ reviewers: who }: EnvironmentRule, reviewers: readonly Reviewer[]) => ({
  ...(who === undefined
    ? { reviewers: null }
    : { reviewers, prevent_self_review: who === "others", can_admins_bypass: false }),
  deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
});

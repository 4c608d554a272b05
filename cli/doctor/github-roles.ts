import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { actionsIssuer, isGitHubCloud } from "../../lib/github-api.ts";
import { environmentOf, purposes } from "../../lib/github-environments.ts";
import { jobs } from "../../lib/iam/github-roles.ts";
import {
  admits,
  admitsOtherOwners,
  restrictsRefs,
  type StoredPolicy,
  trustedSubjects,
} from "../../lib/iam/github-trust.ts";
import { type ProjectCopy, placeOf, projectCopy } from "../init/pipelines.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { type Ask, type GitHub, logInToGitHub, unansweredBy } from "./github.ts";
import type { Run } from "./process.ts";
import type { Stack } from "./stack.ts";

export type Place = Pick<ProjectCopy, "host" | "path">;

/** A role that jobs of an environment assume. */
interface Role {
  readonly environment: string;
  readonly arn: string;
}

const guide = "docs/guides/checks.md#roles-of-the-workflows";
/** Name of what is found out about all roles together. */
const all = "roles of workflows";

/** The last part of a stack's name, after which its environments are named. */
export const environmentsOf = ({ name }: Stack): string => name.split("/").at(-1) ?? name;

export interface Places {
  /** This project's repository, which has the workflows. */
  readonly project: Place | undefined;
  /** gitops-system. */
  readonly system: Place | undefined;
}

/** The repositories with workflows that are at GitHub. */
export async function placesOf({ settings }: Stack, root: string, run: Run): Promise<Places> {
  const atGitHub = (place: Place | undefined) => (place !== undefined && isGitHubCloud(place.host) ? place : undefined);
  const project = await projectCopy(root, undefined, run);
  return { project: atGitHub(project), system: atGitHub(placeOf(settings.gitopsSystemRepoUrl ?? "")) };
}

/** The roles that the environments of a repository name; those without a role, or that don't exist, are left out. */
async function rolesOf(place: Place, names: readonly string[], ask: Ask): Promise<(Role | Finding)[]> {
  const found = names.map(async (environment): Promise<(Role | Finding)[]> => {
    const path = `repos/${place.path}/environments/${encodeURIComponent(environment)}/variables/AWS_ROLE_ARN`;
    const answer = await ask(path);
    if (answer.status === 404) return [];
    // A reader of a public repository has no role there.
    if (answer.status === 403)
      return [
        note(
          all,
          `aren't compared: the token can't read variables of ${place.path}: ${answer.message}`,
          "let a collaborator run fleet doctor, or give the token the permission Environments: read",
        ),
      ];
    const { value } = answer.body;
    if (answer.status !== 200 || typeof value !== "string")
      return [unansweredBy(`role of ${environment}`, place.host, answer)];
    return [{ environment, arn: value }];
  });
  return (await Promise.all(found)).flat();
}

const arnForm = /^arn:[\w-]+:iam::(\d{12}):role\/(?:.*\/)?([\w+=,.@-]+)$/;

interface Question extends Role {
  readonly place: Place;
  readonly prefix: string;
  readonly accounts: readonly string[];
  readonly iam: IAMClient;
}

/** Whether a role trusts the subject that GitHub gives to jobs of its environment. */
async function trust({ environment, arn, place, prefix, accounts, iam }: Question): Promise<Finding> {
  const title = `role of ${environment}`;
  const [, account = "", name] = arnForm.exec(arn) ?? [];
  const variable = `the variable AWS_ROLE_ARN of the environment ${environment} of ${place.path}`;
  if (name === undefined) return wrong(title, `${arn} is not the ARN of a role`, `correct ${variable}`);
  if (accounts.length > 0 && !accounts.includes(account))
    return note(title, `${arn} is in an account other than the stack's, so its trust policy isn't read`, guide);
  let text: string;
  try {
    const { Role: role } = await iam.send(new GetRoleCommand({ RoleName: name }));
    if (role?.Arn !== arn) return wrong(title, `IAM has ${role?.Arn}, not ${arn}`, `correct ${variable}`);
    text = decodeURIComponent(role.AssumeRolePolicyDocument ?? "{}");
  } catch (error) {
    if (!isMissing(error)) return untold(title, error, "iam:GetRole on it");
    return wrong(title, `${arn} does not exist`, `create it (${guide}), or correct ${variable}`);
  }
  const issuer = actionsIssuer(place.host);
  // In subjects a colon of a name is written so (GitHub Docs, "Filtering for metadata containing :").
  const subject = `${prefix}:environment:${environment.replaceAll(":", "%3A")}`;
  const policy = JSON.parse(text) as StoredPolicy;
  const trusted = trustedSubjects(policy, issuer);
  if (admitsOtherOwners(trusted, subject))
    return wrong(
      title,
      `${name} trusts repositories of other owners too, unless its trust policy has other conditions about them`,
      `set ${issuer}:sub to ${subject} in its trust policy (${guide})`,
    );
  if (admits(trusted, subject) && !restrictsRefs(policy, issuer))
    return wrong(
      title,
      `${name} trusts ${subject} on every branch and tag`,
      `create the role with infra/ci, or add a condition about ${issuer}:ref to its trust policy (${guide})`,
    );
  if (admits(trusted, subject)) return ok(title, `${name} trusts ${subject}`);
  const named = trusted.flatMap(({ conditions }) => conditions.flatMap(({ values }) => values));
  const now =
    trusted.length === 0
      ? `${name} does not trust the OIDC provider ${issuer}`
      : `${name} trusts ${named.join(" and ")}`;
  return wrong(
    title,
    `${now}, and tokens of ${place.path} have the subject ${subject}: AWS denies sts:AssumeRoleWithWebIdentity`,
    `set ${issuer}:sub to ${subject} in its trust policy (${guide})`,
  );
}

/** The prefix of the subject of a repository's tokens, or the finding that takes its place. */
async function prefixOf({ host, path }: Place, ask: Ask): Promise<string | Finding> {
  const title = `subject of ${path}`;
  const answer = await ask(`repos/${path}/actions/oidc/customization/sub`);
  const { use_default: isDefault, sub_claim_prefix: prefix } = answer.body;
  // 404: a private repository that the token doesn't know; 403: a token for something else, such as that of aws-proof.yml.
  if (answer.status === 404 || answer.status === 403)
    return note(
      title,
      `${host} does not show it to this token (status ${answer.status}), so no trust policy is compared`,
      `${logInToGitHub}, for an account that can read the repository and its Actions settings`,
    );
  if (answer.status !== 200) return unansweredBy(title, host, answer);
  if (isDefault === false)
    return note(
      title,
      `${path} has a customized subject (include_claim_keys), which only a token shows`,
      "compare the trust policies with the subject in the log of a job",
    );
  // Never made of names: whether the IDs are in it depends on the repository's age and history, and use_immutable_subject doesn't tell.
  if (typeof prefix !== "string" || prefix === "")
    return unansweredBy(title, host, { ...answer, message: "the answer has no sub_claim_prefix" });
  return prefix;
}

interface RepositoryQuestion {
  readonly place: Place;
  readonly names: readonly string[];
  readonly accounts: readonly string[];
  readonly iam: IAMClient;
  readonly github: GitHub;
}

async function ofRepository({ place, names, accounts, iam, github }: RepositoryQuestion): Promise<Finding[]> {
  const ask = await github(place.host);
  if (ask === undefined) return [note(all, "aren't compared without a token of GitHub", logInToGitHub)];
  const prefix = await prefixOf(place, ask);
  if (typeof prefix !== "string") return [prefix];
  const roles = await rolesOf(place, names, ask);
  return Promise.all(roles.map((role) => ("arn" in role ? trust({ ...role, place, prefix, accounts, iam }) : role)));
}

export interface RolesOptions {
  /** Folder of the project, whose remote is the repository with the workflows. */
  readonly root: string;
  readonly run: Run;
  readonly aws: AwsConfig;
  readonly github: GitHub;
}

/** Whether the roles that GitHub's workflows have trust the subject of their tokens. A fleet without such roles has no finding. */
export async function checkRoles(stack: Stack, { root, run, aws, github }: RolesOptions): Promise<Finding[]> {
  if (stack.embedded || stack.region === undefined) return [];
  const iam = new IAMClient({ ...aws, region: stack.region });
  const places = await placesOf(stack, root, run);
  const found = (["project", "system"] as const).map(async (repository) => {
    const place = places[repository];
    const names = purposes
      .filter((purpose) => jobs[purpose].repository === repository)
      .map((purpose) => environmentOf(purpose, environmentsOf(stack)).environment);
    return place === undefined ? [] : ofRepository({ place, names, accounts: stack.accounts, iam, github });
  });
  // What holds for all roles is said once.
  return [...new Map((await Promise.all(found)).flat().map((finding) => [finding.name, finding])).values()];
}

import { type GitHub, githubOf } from "../../../../cli/doctor/github.ts";
import { type Answer, Upstream } from "../../upstream/server.ts";
import { noPrograms } from "./programs.ts";

/** GitHub's API on loopback, for the version that the doctor names and a user with a token; routes without an answer are 404. */
export async function fakeGitHub(routes: Readonly<Record<string, Answer>>) {
  const upstream = new Upstream();
  for (const [path, answer] of Object.entries(routes))
    upstream.routes.set(`api.github.com/${path}`, ({ headers }) =>
      headers.authorization === "Bearer t" && headers["x-github-api-version"] === "2026-03-10"
        ? answer
        : { status: 401, body: { message: "Bad credentials" } },
    );
  await upstream.listen();
  const { fetch } = upstream.client();
  const github: GitHub = githubOf({ env: { GH_TOKEN: "t" }, run: noPrograms, connect: () => fetch });
  return { github, asked: upstream.asked, close: upstream.close };
}

/** An API that isn't reached because the user has no token. */
export const noGitHub: GitHub = githubOf({
  env: {},
  run: noPrograms,
  connect: () => () => Promise.reject(new Error("GitHub's API is queried without a token")),
});

/** Answers of api.github.com as they were in 2026, with other names and numbers. */
export const recorded = {
  /** `GET /repos/{owner}/{repo}/actions/oidc/customization/sub`. Immutable prefixes come with either value of the boolean. */
  subject: (prefix: string): Answer => ({
    body: { use_default: true, use_immutable_subject: false, sub_claim_prefix: prefix },
  }),
  customized: { body: { use_default: false, include_claim_keys: ["repo", "context"] } },
  /** `GET /repos/{owner}/{repo}/environments/{environment}/variables/{name}`. */
  variable: (value: string): Answer => ({
    body: { name: "AWS_ROLE_ARN", value, created_at: "2026-09-01T08:00:00Z", updated_at: "2026-09-01T08:00:00Z" },
  }),
  /** `GET /repos/{owner}/{repo}/environments`. */
  environments: (...names: readonly string[]): Answer => ({
    body: { total_count: names.length, environments: names.map((name) => ({ name })) },
  }),
  /** `GET /repos/{owner}/{repo}/environments/{environment}`. */
  environment: (
    reviewers: false | { readonly others: boolean; readonly bypass?: boolean },
    policy: object | null,
  ): Answer => ({
    body: {
      can_admins_bypass: reviewers === false ? true : (reviewers.bypass ?? false),
      protection_rules: [
        ...(reviewers === false
          ? []
          : [
              {
                id: 1,
                type: "required_reviewers",
                prevent_self_review: reviewers.others,
                reviewers: [{ type: "Team", reviewer: { id: 7, slug: "platform" } }],
              },
            ]),
        ...(policy === null ? [] : [{ id: 2, type: "branch_policy" }]),
      ],
      deployment_branch_policy: policy,
    },
  }),
  /** `deployment_branch_policy` of an environment. */
  custom: { protected_branches: false, custom_branch_policies: true },
  protected: { protected_branches: true, custom_branch_policies: false },
  /** `GET /repos/{owner}/{repo}/environments/{environment}/deployment-branch-policies`. */
  branches: (...refs: readonly (readonly [type: string, name: string])[]): Answer => ({
    body: {
      total_count: refs.length,
      branch_policies: refs.map(([type, name], id) => ({ id, node_id: "x", name, type })),
    },
  }),
  /** `GET /orgs/{org}/actions/runner-groups`. */
  groups: (...groups: readonly object[]): Answer => ({
    body: {
      total_count: groups.length,
      runner_groups: groups.map((group, index) => ({
        ...{ id: index + 1, name: `group-${index + 1}`, visibility: "selected", default: false },
        ...{ restricted_to_workflows: false, selected_workflows: [], ...group },
      })),
    },
  }),
  /** `GET /orgs/{org}/actions/runner-groups/{id}/runners`, and that of a repository. */
  runners: (...runners: readonly { readonly label: string; readonly ephemeral: boolean }[]): Answer => ({
    body: {
      total_count: runners.length,
      runners: runners.map(({ label, ephemeral }, id) => ({
        ...{ id, name: `runner-${id}`, os: "linux", status: "online", busy: false, ephemeral },
        labels: [
          { id: 1, name: "self-hosted", type: "read-only" },
          { id: 2, name: label, type: "custom" },
        ],
      })),
    },
  }),
  /** `GET /repos/{owner}/{repo}/rulesets`, which has neither rules nor conditions. */
  rulesets: (...enforcements: readonly string[]): Answer => ({
    body: enforcements.map((enforcement, index) => ({
      ...{ id: index + 1, name: `ruleset-${index + 1}`, target: "tag", source_type: "Repository" },
      ...{ source: "acme/fleet", enforcement, node_id: "RRS_x", created_at: "2026-09-01T08:00:00.000Z" },
    })),
  }),
  /** `GET /repos/{owner}/{repo}/rulesets/{id}`; without `actors` for a caller that can't edit it. */
  ruleset: (
    rules: readonly string[],
    refs: { readonly include?: readonly string[]; readonly exclude?: readonly string[] } = {},
    actors?: readonly object[],
  ): Answer => ({
    body: {
      ...{ id: 1, name: "releases", target: "tag", source_type: "Repository", source: "acme/fleet" },
      ...{ enforcement: "active", conditions: { ref_name: { include: ["refs/tags/v*"], exclude: [], ...refs } } },
      rules: rules.map((type) => ({ type })),
      ...(actors === undefined
        ? { current_user_can_bypass: "never" }
        : { bypass_actors: actors.map((actor) => ({ bypass_mode: "always", ...actor })) }),
    },
  }),
  /** `GET /orgs/{org}`, of which an owner sees more. */
  organization: (more: object = {}): Answer => ({ body: { login: "acme", id: 123456, type: "Organization", ...more } }),
  /** Of a repository under its former name; GitHub's address is absolute. */
  moved: (path: string): Answer => ({
    status: 301,
    headers: { location: `/api.github.com/${path}` },
    body: { message: "Moved Permanently", url: `https://api.github.com/${path}` },
  }),
  notFound: { status: 404, body: { message: "Not Found", status: "404" } },
  forbidden: { status: 403, body: { message: "Resource not accessible by personal access token", status: "403" } },
  badCredentials: { status: 401, body: { message: "Bad credentials", status: "401" } },
} as const;

/** What git prints about a checkout of acme/fleet. */
export const ofCheckout = (root: string): Readonly<Record<string, string>> => ({
  [`git -C ${root} config --get remote.origin.url`]: "git@github.com:acme/fleet.git\n",
  [`git -C ${root} rev-parse HEAD`]: "c".repeat(40),
  [`git -C ${root} describe --tags --always`]: "v0.1.0",
});

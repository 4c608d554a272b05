import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkEnvironments } from "../../../cli/doctor/github-environments.ts";
import { checkRunner } from "../../../cli/doctor/github-runners.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import type { Answer } from "../upstream/server.ts";
import { fakeGitHub, noGitHub, ofCheckout, recorded } from "./support/github.ts";
import { devStack, programs } from "./support/programs.ts";

const root = temporaryFolder("fleet-doctor-environments");
mkdirSync(join(root, ".git"));
mkdirSync(join(root, "stacks"));
writeFileSync(join(root, "Pulumi.yaml"), "name: fleet\nstackConfigDir: stacks\nconfig: {}\n");
for (const name of ["dev", "prod"]) writeFileSync(join(root, "stacks", `Pulumi.${name}.yaml`), "config: {}\n");
const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const git = ofCheckout(root);
const project = "repos/acme/fleet";
const system = "repos/acme/gitops-system";

async function examined(check: typeof checkEnvironments, routes: Readonly<Record<string, Answer>>) {
  const fake = await fakeGitHub(routes);
  closing.push(fake.close);
  const stack = await devStack();
  const settings = { ...stack.settings, gitopsSystemRepoUrl: "ssh://git@github.com/acme/gitops-system.git" };
  return check({ ...stack, settings }, { root, run: programs(git), github: fake.github });
}

const { custom } = recorded;
const main = recorded.branches(["branch", "main"]);

/** Answers about an environment. */
const environment = (name: string, answer: Answer, branches?: Answer, repository = project) => ({
  [`${repository}/environments/${name}`]: answer,
  ...(branches && { [`${repository}/environments/${name}/deployment-branch-policies?per_page=100`]: branches }),
});

/** Every environment with its rule, as infra/ci creates them. */
const good: Readonly<Record<string, Answer>> = {
  [`${project}/environments?per_page=100`]: recorded.environments(
    "dev",
    "dev-main",
    "dev-preview",
    "node-releases",
    "aws-proof",
    "release",
  ),
  ...environment("dev", recorded.environment({ others: false }, custom), main),
  ...environment("dev-main", recorded.environment(false, custom), main),
  ...environment(
    "dev-preview",
    recorded.environment({ others: true }, custom),
    recorded.branches(["branch", "refs/pull/*/merge"]),
  ),
  ...environment("node-releases", recorded.environment(false, custom), main),
  ...environment("aws-proof", recorded.environment({ others: true }, custom), main),
  ...environment("release", recorded.environment({ others: false }, custom), recorded.branches(["tag", "v*"])),
  [`${system}/environments?per_page=100`]: recorded.environments("rollouts"),
  ...environment("rollouts", recorded.environment(false, custom), main, system),
};

describe("fleet doctor, environments at GitHub", () => {
  test("are ok with the rules that infra/ci sets", async () => {
    const findings = await examined(checkEnvironments, good);
    expect(findings.map(({ status, name }) => `${status} ${name}`)).toEqual([
      ...["ok environment dev", "ok environment dev-main", "ok environment dev-preview"],
      ...["ok environment node-releases", "ok environment aws-proof", "ok environment release"],
      "ok environment rollouts",
    ]);
    expect(findings[0]?.message).toBe("only branch main can enter it, after a review");
  });

  const reviewed = { others: false };
  test.for<[string, string, Answer, Answer | undefined, string]>([
    ["admits any branch", "dev", recorded.environment(reviewed, null), undefined, "any branch can enter it"],
    [
      "admits every protected branch",
      "dev",
      recorded.environment(reviewed, recorded.protected),
      undefined,
      "every protected branch can enter it",
    ],
    [
      "admits a second branch",
      "dev",
      recorded.environment(reviewed, custom),
      recorded.branches(["branch", "main"], ["branch", "release/*"]),
      "branch release/* can enter it, not only branch main",
    ],
    [
      "admits every branch by a pattern",
      "dev-main",
      recorded.environment(false, custom),
      recorded.branches(["branch", "*"]),
      "branch * can enter it, not only branch main; branch main can't enter it",
    ],
    [
      "admits a tag of the branch's name",
      "dev",
      recorded.environment(reviewed, custom),
      recorded.branches(["tag", "main"]),
      "tag main can enter it",
    ],
    [
      "admits no branch",
      "dev-main",
      recorded.environment(false, custom),
      recorded.branches(),
      "branch main can't enter it",
    ],
    ["has no reviewers", "dev", recorded.environment(false, custom), main, "it has no required reviewers"],
    [
      "lets administrators skip the reviewers",
      "dev",
      recorded.environment({ others: false, bypass: true }, custom),
      main,
      "administrators can skip the reviewers",
    ],
    [
      "lets authors approve their preview",
      "dev-preview",
      recorded.environment({ others: false }, custom),
      recorded.branches(["branch", "refs/pull/*/merge"]),
      "the author can approve the job",
    ],
    [
      "releases a branch",
      "release",
      recorded.environment(reviewed, custom),
      main,
      "branch main can enter it, not only tag v*",
    ],
  ])("that %s are wrong", async ([, name, answer, branches, message]) => {
    const findings = await examined(checkEnvironments, { ...good, ...environment(name, answer, branches) });
    const found = findings.filter(({ status }) => status !== "ok");
    expect(found).toMatchObject([
      { status: "wrong", name: `environment ${name}`, message: expect.stringContaining(message) },
    ]);
    expect(found[0]?.todo).toContain("pulumi stack output environments");
  });

  test("of others are wrong without a rule, and ok with any", async () => {
    const routes = { ...good, [`${project}/environments?per_page=100`]: recorded.environments("test", "pages") };
    const findings = await examined(checkEnvironments, {
      ...routes,
      ...environment("test", recorded.environment(false, null)),
      ...environment("pages", recorded.environment(false, recorded.protected)),
    });
    expect(findings.slice(0, 2)).toMatchObject([
      { status: "wrong", name: "environment test", message: expect.stringContaining("any branch can enter it") },
      { status: "ok", name: "environment pages" },
    ]);
  });

  test("of another stack are wrong without reviewers", async () => {
    const routes = { ...good, [`${project}/environments?per_page=100`]: recorded.environments("prod") };
    const findings = await examined(checkEnvironments, {
      ...routes,
      ...environment("prod", recorded.environment(false, custom), main),
    });
    expect(findings[0]).toMatchObject({ status: "wrong", message: expect.stringContaining("no required reviewers") });
  });

  test("that don't exist have no finding", async () => {
    const none = recorded.environments();
    expect(
      await examined(checkEnvironments, {
        [`${project}/environments?per_page=100`]: none,
        [`${system}/environments?per_page=100`]: none,
      }),
    ).toEqual([]);
  });

  test.for([
    ["hides them", { status: 404, body: { message: "Not Found" } }, "status 404"],
    ["doesn't give the permission", recorded.forbidden, "status 403"],
    ["fails", { status: 502, body: {} }, "status 502"],
  ] as const)("are a note if GitHub %s", async ([, answer, message]) => {
    const routes = {
      [`${project}/environments?per_page=100`]: answer,
      [`${system}/environments?per_page=100`]: answer,
    };
    const findings = await examined(checkEnvironments, routes);
    expect(findings).toMatchObject([{ status: "note", message: expect.stringContaining(message) }]);
  });

  test("are a note if the branch policies are hidden, never ok", async () => {
    const path = `${project}/environments/dev/deployment-branch-policies?per_page=100`;
    const findings = await examined(checkEnvironments, { ...good, [path]: recorded.forbidden });
    expect(findings[0]).toMatchObject({ status: "note", name: "environments of workflows" });
  });

  test("are one note without a token, and nothing on an embedded cloud", async () => {
    const stack = await devStack();
    const options = { root, run: programs(git), github: noGitHub };
    expect(await checkEnvironments(stack, options)).toMatchObject([
      { status: "note", todo: expect.stringContaining("gh auth login") },
    ]);
    expect(await checkEnvironments({ ...stack, embedded: true }, options)).toEqual([]);
  });
});

describe("fleet doctor, the runner of updates", () => {
  const label = "fleet";
  const workflow = "acme/fleet/.github/workflows/up.yml@refs/heads/main";
  const groups = "orgs/acme/actions/runner-groups";
  const good: Readonly<Record<string, Answer>> = {
    [`${project}/actions/variables/RUNNER`]: { body: { name: "RUNNER", value: label } },
    [`${project}/actions/runners?per_page=100`]: recorded.runners(),
    [`${groups}?visible_to_repository=fleet&per_page=100`]: recorded.groups(
      { restricted_to_workflows: true, selected_workflows: [workflow] },
      {},
    ),
    [`${groups}/1/runners?per_page=100`]: recorded.runners({ label, ephemeral: true }),
    [`${groups}/2/runners?per_page=100`]: recorded.runners({ label: "other", ephemeral: false }),
  };
  const listed = (group: object) => ({
    [`${groups}?visible_to_repository=fleet&per_page=100`]: recorded.groups(group, {}),
  });

  test("is ok if it is ephemeral and takes only workflows of the main branch", async () => {
    expect(await examined(checkRunner, good)).toMatchObject([{ status: "ok", name: "runner of updates" }]);
  });

  test.for<[string, Readonly<Record<string, Answer>>, string]>([
    [
      "belongs to the repository",
      { [`${project}/actions/runners?per_page=100`]: recorded.runners({ label: "Fleet", ephemeral: true }) },
      "takes jobs of every branch",
    ],
    [
      "is in a group without restriction",
      listed({ selected_workflows: [workflow] }),
      "takes jobs of every workflow and branch",
    ],
    [
      "takes a workflow of another branch",
      listed({ restricted_to_workflows: true, selected_workflows: [workflow, workflow.replace("main", "x")] }),
      "takes jobs of acme/fleet/.github/workflows/up.yml@refs/heads/x",
    ],
    [
      "takes a workflow of every branch",
      listed({ restricted_to_workflows: true, selected_workflows: ["acme/fleet/.github/workflows/up.yml"] }),
      "takes jobs of acme/fleet",
    ],
    [
      "runs more than one job",
      { [`${groups}/1/runners?per_page=100`]: recorded.runners({ label, ephemeral: false }) },
      "isn't ephemeral",
    ],
  ])("is wrong if it %s", async ([, routes, message]) => {
    expect(await examined(checkRunner, { ...good, ...routes })).toMatchObject([
      { status: "wrong", message: expect.stringContaining(message) },
    ]);
  });

  test.for([
    ["groups are hidden", { [`${groups}?visible_to_repository=fleet&per_page=100`]: recorded.forbidden }],
    ["members of a group are hidden", { [`${groups}/1/runners?per_page=100`]: recorded.forbidden }],
    ["none is registered", { [`${groups}/1/runners?per_page=100`]: recorded.runners() }],
  ] as const)("is a note if %s", async ([, routes]) => {
    expect(await examined(checkRunner, { ...good, ...routes })).toMatchObject([
      { status: "note", name: "runner of updates" },
    ]);
  });

  test("has no finding if GitHub runs the jobs", async () => {
    expect(await examined(checkRunner, {})).toEqual([]);
    const hosted = { body: { name: "RUNNER", value: "ubuntu-24.04-arm" } };
    expect(await examined(checkRunner, { ...good, [`${project}/actions/variables/RUNNER`]: hosted })).toEqual([]);
  });
});

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkRoles } from "../../../cli/doctor/github-roles.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import type { Answer } from "../upstream/server.ts";
import { type Answers, fakeAws, Refusal, result } from "./support/aws.ts";
import { fakeGitHub, noGitHub, recorded } from "./support/github.ts";
import { devStack, programs } from "./support/programs.ts";

const root = temporaryFolder("fleet-doctor-roles");
mkdirSync(join(root, ".git"));
const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const issuer = "token.actions.githubusercontent.com";
const arn = "arn:aws:iam::111111111111:role/ci/fleet-dev";

/** An answer of IAM's GetRole with a trust policy; IAM encodes it. */
function role(subject: string | undefined, { roleArn = arn, provider = issuer, ref = "refs/heads/main" } = {}): string {
  const Federated = `arn:aws:iam::111111111111:oidc-provider/${provider}`;
  const StringEquals = {
    [`${provider}:aud`]: "sts.amazonaws.com",
    ...(subject === undefined ? {} : { [`${provider}:sub`]: subject }),
    ...(ref === "" ? {} : { [`${provider}:ref`]: ref }),
  };
  const Statement = [
    { Effect: "Allow", Principal: { Federated }, Action: "sts:AssumeRoleWithWebIdentity", Condition: { StringEquals } },
  ];
  const document = encodeURIComponent(JSON.stringify({ Version: "2012-10-17", Statement }));
  const members = `<Arn>${roleArn}</Arn><AssumeRolePolicyDocument>${document}</AssumeRolePolicyDocument>`;
  return result("GetRole", `<Role><RoleName>fleet-dev</RoleName>${members}</Role>`);
}

const project = "repos/acme/fleet";
const sub = "actions/oidc/customization/sub";
const variable = (environment: string) => `environments/${environment}/variables/AWS_ROLE_ARN`;
const system = "repos/acme/gitops-system";

interface Case {
  readonly routes: Readonly<Record<string, Answer>>;
  readonly answers?: Answers;
  readonly accounts?: readonly string[];
  readonly origin?: string;
}

async function checked({ routes, answers = {}, accounts = ["111111111111"], origin = "acme/fleet" }: Case) {
  const [aws, fake] = [await fakeAws(answers), await fakeGitHub(routes)];
  closing.push(aws.close, fake.close);
  const stack = await devStack({ accounts });
  const settings = { ...stack.settings, gitopsSystemRepoUrl: "ssh://git@github.com/acme/gitops-system.git" };
  const git = {
    [`git -C ${root} config --get remote.origin.url`]: `git@github.com:${origin}.git\n`,
    [`git -C ${root} rev-parse HEAD`]: "c".repeat(40),
    [`git -C ${root} describe --tags --always`]: "v0.1.0",
  };
  const options = { root, run: programs(git), aws: aws.config, github: fake.github };
  const findings = await checkRoles({ ...stack, settings }, options);
  return { findings, operations: aws.asked.map(({ operation }) => operation), asked: fake.asked };
}

/** A repository of which only the environment dev has a role. */
const repository = (prefix: string, path = project) => ({
  [`${path}/${sub}`]: recorded.subject(prefix),
  [`${path}/${variable("dev")}`]: recorded.variable(arn),
  [`${system}/${sub}`]: recorded.subject("repo:acme/gitops-system"),
});

const mutable = "repo:acme/fleet";
const immutable = "repo:acme@123456/fleet@456789";

describe("fleet doctor, roles of GitHub's workflows", () => {
  test.each([mutable, immutable])("are ok if they trust the subject with the prefix %s", async (prefix) => {
    const { findings } = await checked({
      routes: repository(prefix),
      answers: { GetRole: role(`${prefix}:environment:dev`) },
    });
    expect(findings).toMatchObject([
      { status: "ok", name: "role of dev", message: `fleet-dev trusts ${prefix}:environment:dev` },
    ]);
  });

  test.each([
    ["names in a repository whose subjects have IDs", mutable, immutable],
    ["IDs in a repository whose subjects have none", immutable, mutable],
  ])("are wrong if they trust %s", async (_, trusted, prefix) => {
    const { findings } = await checked({
      routes: repository(prefix),
      answers: { GetRole: role(`${trusted}:environment:dev`) },
    });
    expect(findings).toMatchObject([{ status: "wrong", name: "role of dev" }]);
    expect(findings[0]?.message).toContain(`trusts ${trusted}:environment:dev`);
    expect(findings[0]?.todo).toContain(`set ${issuer}:sub to ${prefix}:environment:dev`);
  });

  test("are wrong after the repository was renamed, which GitHub answers with a redirection", async () => {
    const renamed = "repo:acme@123456/fleet@456789";
    const { findings } = await checked({
      origin: "acme/platform",
      routes: {
        [`repos/acme/platform/${sub}`]: recorded.moved(`repositories/456789/${sub}`),
        [`repos/acme/platform/${variable("dev")}`]: recorded.moved(`repositories/456789/${variable("dev")}`),
        ...Object.fromEntries(
          Object.entries(repository(renamed)).map(([path, answer]) => [
            path.replace(project, "repositories/456789"),
            answer,
          ]),
        ),
      },
      answers: { GetRole: role("repo:acme/platform:environment:dev") },
    });
    expect(findings).toMatchObject([{ status: "wrong", todo: expect.stringContaining(`${renamed}:environment:dev`) }]);
  });

  test("of every environment of the stack, of the proof and of rollouts are compared", async () => {
    const { findings, operations } = await checked({
      routes: {
        [`${project}/${sub}`]: recorded.subject(immutable),
        [`${system}/${sub}`]: recorded.subject("repo:acme@123456/gitops-system@456790"),
        ...Object.fromEntries(
          ["dev", "dev-main", "dev-preview", "node-releases", "aws-proof"].map((environment) => [
            `${project}/${variable(environment)}`,
            recorded.variable(arn),
          ]),
        ),
        [`${system}/${variable("rollouts")}`]: recorded.variable(arn),
      },
      answers: { GetRole: role(`${immutable}:environment:dev-preview`) },
    });
    expect(findings.map(({ name, status }) => [name, status])).toEqual([
      ["role of dev", "wrong"],
      ["role of dev-main", "wrong"],
      ["role of dev-preview", "ok"],
      ["role of node-releases", "wrong"],
      ["role of aws-proof", "wrong"],
      ["role of rollouts", "wrong"],
    ]);
    expect(findings.at(-1)?.todo).toContain("repo:acme@123456/gitops-system@456790:environment:rollouts");
    expect(new Set(operations)).toEqual(new Set(["GetRole"]));
  });

  test("that don't exist yet have no finding", async () => {
    const routes = { [`${project}/${sub}`]: recorded.subject(immutable), [`${system}/${sub}`]: recorded.subject("x") };
    expect(await checked({ routes })).toMatchObject({ findings: [], operations: [] });
  });

  test.for([
    ["exist only in the variable", { GetRole: new Refusal("NoSuchEntity") }, "does not exist"],
    [
      "have another path",
      { GetRole: role("", { roleArn: arn.replace("ci/", "") }) },
      "IAM has arn:aws:iam::111111111111:role/fleet-dev",
    ],
    ["have no condition about the subject", { GetRole: role(undefined) }, "trusts repositories of other owners too"],
    [
      "have no condition about the branch",
      { GetRole: role(`${immutable}:environment:dev`, { ref: "" }) },
      "on every branch and tag",
    ],
    [
      "trust another provider",
      { GetRole: role("", { provider: "gitlab.com" }) },
      `does not trust the OIDC provider ${issuer}`,
    ],
  ] as const)("that %s are wrong", async ([, answers, message]) => {
    const { findings } = await checked({ routes: repository(immutable), answers });
    expect(findings).toMatchObject([{ status: "wrong", message: expect.stringContaining(message) }]);
  });

  test("with something else than an ARN in the variable are wrong", async () => {
    const routes = { ...repository(immutable), [`${project}/${variable("dev")}`]: recorded.variable("fleet-dev") };
    expect((await checked({ routes })).findings).toMatchObject([{ status: "wrong", message: /not the ARN of a role/ }]);
  });

  test("in another account aren't read", async () => {
    const { findings, operations } = await checked({ routes: repository(immutable), accounts: ["222222222222"] });
    expect(findings).toMatchObject([{ status: "note", message: expect.stringContaining("other than the stack's") }]);
    expect(operations).toEqual([]);
  });

  test("that IAM doesn't show leave the question open, with the missing permission", async () => {
    const { findings } = await checked({
      routes: repository(immutable),
      answers: { GetRole: new Refusal("AccessDenied") },
    });
    expect(findings).toMatchObject([{ status: "unchecked", todo: expect.stringContaining("iam:GetRole") }]);
  });

  test.for([
    ["customizes its subject", recorded.customized, "include_claim_keys"],
    ["is hidden from the token", recorded.notFound, "does not show it to this token (status 404)"],
    ["is not for a token of this kind", recorded.forbidden, "does not show it to this token (status 403)"],
  ] as const)("are a note where the repository %s", async ([, answer, message]) => {
    const routes = { ...repository(immutable), [`${project}/${sub}`]: answer };
    const { findings, operations } = await checked({ routes });
    expect(findings).toMatchObject([{ status: "note", message: expect.stringContaining(message) }]);
    expect(operations).toEqual([]);
  });

  test("are one note where the token can't read variables", async () => {
    const routes = Object.fromEntries(
      ["dev", "dev-main", "dev-preview", "node-releases", "aws-proof"].map((environment) => [
        `${project}/${variable(environment)}`,
        recorded.forbidden,
      ]),
    );
    const { findings } = await checked({ routes: { ...repository(immutable), ...routes } });
    expect(findings).toMatchObject([{ status: "note", todo: expect.stringContaining("Environments: read") }]);
  });

  test("are a note where GitHub answers without the prefix, which is never made of names", async () => {
    const routes = { ...repository(immutable), [`${project}/${sub}`]: { body: { use_default: true } } };
    expect((await checked({ routes })).findings).toMatchObject([
      { status: "note", message: expect.stringContaining("no sub_claim_prefix") },
    ]);
  });

  test("are one note without a token, and nothing on an embedded cloud", async () => {
    const options = { root, run: programs({}), aws: {}, github: noGitHub };
    const stack = await devStack();
    const settings = { ...stack.settings, gitopsSystemRepoUrl: "ssh://git@github.com/acme/gitops-system.git" };
    expect(await checkRoles({ ...stack, settings }, options)).toMatchObject([
      { status: "note", name: "roles of workflows", todo: expect.stringContaining("gh auth login") },
    ]);
    expect(await checkRoles({ ...stack, settings, embedded: true }, options)).toEqual([]);
  });
});

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readCiConfig } from "../../infra/ci/settings.ts";
import {
  admitsOtherOwners,
  admits as admitted,
  restrictsRefs,
  type StoredPolicy,
  trustedSubjects,
} from "../../lib/iam/github-trust.ts";
import type { PolicyDocument } from "../../lib/iam/policy.ts";
import { allowed, readPolicy, trusts } from "../support/iam.ts";
import { permits, type Session } from "../support/iam-effective.ts";
import { actionFacts, actionsOf } from "../support/iam-reference.ts";
import { type Run, runProject } from "../support/program.ts";

/** The stack of the workflows' roles, against mocks: tokens as GitHub issues them, evaluated by the trust policies that the program registers. */

const project = "eks-gitops-fleet-ci";
const account = "222222222222";
const issuer = "token.actions.githubusercontent.com";
const provider = `arn:aws:iam::${account}:oidc-provider/${issuer}`;
const named = { name: "acme/fleet", id: "456789", subjectPrefix: "repo:acme/fleet" };
const immutable = { ...named, subjectPrefix: "repo:acme@123456/fleet@456789" };
const system = { name: "acme/gitops-system", id: "456790", subjectPrefix: "repo:acme@123456/gitops-system@456790" };
const ecr = `${account}.dkr.ecr.eu-west-1.amazonaws.com`;
const purposes = ["apply", "drift", "preview", "node-releases", "rollouts", "proof"];

const run = (values: Readonly<Record<string, unknown>>) =>
  runProject("infra/ci", {
    "aws:region": "eu-central-1",
    "aws:allowedAccountIds": [account],
    ...Object.fromEntries(
      Object.entries({
        ...{ fleet: "fleet", project: immutable, system, purposes, reviewers: ["Team/7", "User/8"] },
        ...{ backend: "s3://acme-state/fleet?region=eu-central-1", grafana: "AWS_SSO" },
        ...{ stateKey: `arn:aws:kms:eu-central-1:${account}:key/state` },
        ...values,
      }).map(([key, value]) => [`${project}:${key}`, value]),
    ),
  });

const runs: Record<string, Run> = {};
beforeAll(async () => {
  runs["immutable"] = await run({});
  runs["named"] = await run({ project: named, oidcProvider: "existing", backend: "", stateKey: "", grafana: "" });
  runs["ecr"] = await run({ registry: `${ecr}/mirror` });
  // A ceiling, not a measure: it loads the provider SDKs, on machines that do other things too.
}, 120_000);

const inputs = (name: string, of = "immutable") => runs[of]?.resources.find((each) => each.name === name)?.inputs ?? {};
const document = (name: string, input = "policy", of = "immutable"): PolicyDocument =>
  readPolicy(inputs(name, of)[input]);

/** Claims of a job behind an environment, with the condition keys under which STS evaluates them. */
function token(prefix: string, environment: string, claims: Readonly<Record<string, string>>) {
  const all: Readonly<Record<string, string>> = {
    ...{ aud: "sts.amazonaws.com", sub: `${prefix}:environment:${environment}`, environment },
    ...{ repository: "acme/fleet", repository_id: "456789", ref: "refs/heads/main" },
    ...{ job_workflow_ref: "acme/fleet/.github/workflows/up.yml@refs/heads/main" },
    ...claims,
  };
  return Object.fromEntries(Object.entries(all).map(([claim, value]) => [`${issuer}:${claim}`, value]));
}

const ofWorkflow = (file: string, ref = "refs/heads/main") => ({
  job_workflow_ref: `acme/fleet/.github/workflows/${file}@${ref}`,
  ref,
});
/** The stack is called `example`. Jobs that each role is for. */
const own: Readonly<Record<string, readonly [environment: string, claims: Readonly<Record<string, string>>]>> = {
  apply: ["example", {}],
  drift: ["example-main", ofWorkflow("drift.yml")],
  preview: ["example-preview", ofWorkflow("pull-request.yml", "refs/pull/7/merge")],
  "node-releases": ["node-releases", ofWorkflow("node-releases.yml")],
  proof: ["aws-proof", ofWorkflow("aws-proof.yml")],
};

const formats = [
  ["names", "named", "repo:acme/fleet"],
  ["IDs", "immutable", immutable.subjectPrefix],
] as const;

describe.each(formats)("a role that trusts a subject of %s", (_, of, prefix) => {
  const admits = (purpose: string, claims: Readonly<Record<string, string>>, environment = own[purpose]?.[0] ?? "") =>
    trusts(
      document(`ci-${purpose}-role`, "assumeRolePolicy", of),
      provider,
      token(prefix, environment, { ...own[purpose]?.[1], ...claims }),
    );

  it.each(Object.keys(own))("admits the workflow of %s", (purpose) => expect(admits(purpose, {})).toBe(true));

  it("is what fleet doctor accepts", () => {
    for (const [purpose, [environment]] of Object.entries(own)) {
      const policy = document(`ci-${purpose}-role`, "assumeRolePolicy", of) as unknown as StoredPolicy;
      const trusted = trustedSubjects(policy, issuer);
      const subject = `${prefix}:environment:${environment}`;
      expect([admitted(trusted, subject), admitsOtherOwners(trusted, subject), restrictsRefs(policy, issuer)]).toEqual([
        true,
        false,
        true,
      ]);
    }
  });

  it("admits the preview of main before an update, by the role of drift", () => {
    expect(admits("drift", ofWorkflow("up.yml"))).toBe(true);
  });

  const hostile: readonly (readonly [title: string, claims: Readonly<Record<string, string>>, environment?: string])[] =
    [
      ["a pushed branch", { ref: "refs/heads/x", job_workflow_ref: "acme/fleet/.github/workflows/x.yml@refs/heads/x" }],
      ["a pushed tag", { ref: "refs/tags/v9.9.9" }],
      ["a branch with the name of the main branch in it", { ref: "refs/heads/x/refs/heads/main" }],
      ["another repository of the name", { repository_id: "1" }],
      ["a fork", { sub: "repo:mallory/fleet:environment:example", repository: "mallory/fleet", repository_id: "999" }],
      ["a fork with IDs", { sub: "repo:mallory@9/fleet@999:environment:example", repository_id: "999" }],
      ["a pull request without the environment", { sub: `${prefix}:pull_request` }],
      ["the branch without the environment", { sub: `${prefix}:ref:refs/heads/main` }],
      ["another environment", {}, "release"],
      ["an environment whose name begins so", {}, "example-preview-2"],
      ["another audience", { aud: "https://github.com/acme" }],
      [
        "the other format of the subject",
        {
          sub: `${prefix === immutable.subjectPrefix ? named.subjectPrefix : immutable.subjectPrefix}:environment:example`,
        },
      ],
    ];
  it.each(
    Object.keys(own).flatMap((purpose) =>
      hostile.map(([title, claims, environment]) => [purpose, title, claims, environment] as const),
    ),
  )("of %s denies %s", (purpose, _title, claims, environment) => {
    expect(admits(purpose, claims, environment)).toBe(false);
  });

  it("denies a pull request, except that of the preview", () => {
    const pull = { ref: "refs/pull/7/merge" };
    expect(Object.keys(own).filter((purpose) => admits(purpose, pull))).toEqual(["preview"]);
    expect(admits("preview", { ref: "refs/pull/7/head" })).toBe(false);
  });

  it("denies updates by other workflows of the main branch and of other repositories", () => {
    for (const workflow of [
      "acme/fleet/.github/workflows/drift.yml@refs/heads/main",
      "mallory/fleet/.github/workflows/up.yml@refs/heads/main",
      "acme/fleet/.github/workflows/up.yml@refs/heads/x",
    ])
      expect(admits("apply", { job_workflow_ref: workflow }), workflow).toBe(false);
  });

  it("denies jobs of one environment the role of another", () => {
    const pairs = Object.keys(own).flatMap((purpose) =>
      Object.entries(own).map(([other, [environment, claims]]) => ({
        purpose,
        other,
        yes: admits(purpose, claims, environment),
      })),
    );
    for (const { purpose, other, yes } of pairs) expect(yes, `${purpose} ${other}`).toBe(purpose === other);
  });
});

describe("the role of rollouts", () => {
  const admits = (claims: Readonly<Record<string, string>>) =>
    trusts(
      document("ci-rollouts-role", "assumeRolePolicy"),
      provider,
      token(system.subjectPrefix, "rollouts", { repository_id: system.id, ...claims }),
    );

  it("admits the main branch of gitops-system only", () => {
    expect(admits({})).toBe(true);
    expect(admits({ ref: "refs/heads/ring/canary" })).toBe(false);
    expect(admits({ repository_id: named.id })).toBe(false);
    expect(admits({ sub: `${immutable.subjectPrefix}:environment:rollouts` })).toBe(false);
  });
});

/** A role with its policies and its boundary. */
function session(purpose: string, of = "immutable"): Session {
  const policies = (runs[of]?.resources ?? []).filter(
    ({ name, inputs: { policy } }) => policy !== undefined && name.startsWith(`ci-${purpose}-`),
  );
  return {
    roleArn: `arn:aws:iam::${account}:role/fleet-ci-${purpose}`,
    tags: {},
    policy: {
      Version: "2012-10-17",
      Statement: policies.flatMap(({ inputs: { policy } }) => readPolicy(policy).Statement),
    },
    boundary: document("ci-boundary-policy"),
  };
}
const context = { "aws:RequestedRegion": "eu-central-1" };
const may = (purpose: string, action: string, resource: string, more = {}) =>
  permits(session(purpose), { action, resource, context: { ...context, ...more } });

describe("the roles of workflows", () => {
  it("have one boundary, sessions as long as their jobs, and IAM's limits of length", () => {
    const roles = (runs["immutable"]?.resources ?? [])
      .filter(({ type }) => type === "aws:iam/role:Role")
      .map(({ inputs: role }) => role);
    expect(roles.map(({ name, maxSessionDuration }) => [name, maxSessionDuration])).toEqual([
      ["fleet-ci-apply", 7200],
      ["fleet-ci-drift", 3600],
      ["fleet-ci-preview", 3600],
      ["fleet-ci-node-releases", 3600],
      ["fleet-ci-rollouts", 3600],
      ["fleet-ci-proof", 21600],
    ]);
    for (const { permissionsBoundary } of roles)
      expect(permissionsBoundary).toBe(`arn:aws:iam::${account}:policy/fleet-ci-boundary`);
    for (const {
      type,
      inputs: { policy },
    } of [...(runs["immutable"]?.resources ?? []), ...(runs["ecr"]?.resources ?? [])])
      if (policy !== undefined)
        expect(String(policy).length).toBeLessThanOrEqual(type.endsWith(":RolePolicy") ? 10_240 : 6_144);
  });

  const hubRole = `arn:aws:iam::${account}:role/fleet-hub-node`;
  const state = "arn:aws:s3:::acme-state/fleet/.pulumi/stacks/fleet/example.json";
  const stateKey = `arn:aws:kms:eu-central-1:${account}:key/state`;

  it("deploy, by the role of updates and of the proof only", () => {
    const deploying = purposes.filter(
      (purpose) => may(purpose, "iam:CreateRole", hubRole) || may(purpose, "s3:PutObject", state),
    );
    expect(deploying).toEqual(["apply", "proof"]);
    expect(may("apply", "s3:PutObject", state)).toBe(true);
    for (const call of ["kms:Encrypt", "kms:GenerateDataKey"]) expect(may("apply", call, stateKey), call).toBe(true);
    expect(may("apply", "s3:PutObject", "arn:aws:s3:::other/x")).toBe(false);
  });

  it.each(["preview", "drift"])("read the stack, by the role of %s, and change nothing", (purpose) => {
    const reads = [
      ["s3:GetObject", state],
      ["kms:Decrypt", stateKey],
      ["iam:GetRole", hubRole],
      ["ec2:DescribeVpcs", "*"],
      ["eks:DescribeAccessEntry", `arn:aws:eks:eu-central-1:${account}:access-entry/fleet-hub/x`],
      [
        "secretsmanager:GetSecretValue",
        `arn:aws:secretsmanager:eu-central-1:${account}:secret:fleet/git/gitops-system-AbCdEf`,
      ],
      ["aps:DescribeWorkspace", `arn:aws:aps:eu-central-1:${account}:workspace/ws-1`],
    ] as const;
    for (const [action, resource] of reads) expect(may(purpose, action, resource), action).toBe(true);
    // Everything that the deployer may do, by the actions in its policies.
    const rights = session(purpose).policy.Statement.flatMap(({ Effect, Action = [] }) =>
      Effect === "Allow" ? Action : [],
    );
    const changes = rights
      .map((action) => action.replace("*", action.includes(":*") ? "Delete" : ""))
      .filter((action) => !/:(Describe|Get|List)/.test(action) && action !== "kms:Decrypt");
    expect(changes.length).toBeGreaterThan(50);
    const tags = { "aws:ResourceTag/fleet.internal/fleet": "fleet", "aws:RequestTag/fleet.internal/fleet": "fleet" };
    for (const action of changes)
      for (const resource of ["*", hubRole, state]) expect(may(purpose, action, resource, tags), action).toBe(false);
    expect(may(purpose, "iam:CreateRole", hubRole)).toBe(false);
  });

  it("pull charts from the registry in Amazon ECR, by the roles of updates, drift and previews, and change nothing there", () => {
    const may = (purpose: string, action: string, resource: string, of = "ecr") =>
      permits(session(purpose, of), {
        action: `ecr:${action}`,
        resource,
        context: { "aws:RequestedRegion": "eu-west-1" },
      });
    const repository = (name: string) => `arn:aws:ecr:eu-west-1:${account}:repository/${name}`;
    const chart = repository("mirror/charts/flux2");
    const rights: readonly (readonly [action: string, resource: string])[] = [
      ["GetAuthorizationToken", "*"],
      ["BatchCheckLayerAvailability", chart],
      ["BatchGetImage", chart],
      ["BatchImportUpstreamImage", chart],
      ["GetDownloadUrlForLayer", chart],
    ];
    for (const [action, resource] of rights) {
      const who = (of: string) => purposes.filter((purpose) => may(purpose, action, resource, of));
      expect([who("ecr"), who("immutable")], action).toEqual([["apply", "drift", "preview"], []]);
      if (resource === chart) expect(may("apply", action, repository("other/charts/flux2")), action).toBe(false);
    }
    const others = [
      ...["BatchDeleteImage", "CreateRepository", "DescribeImages"],
      ...["GetRepositoryPolicy", "ListImages", "PutImage"],
    ];
    for (const action of others)
      for (const purpose of purposes) expect(may(purpose, action, chart), `${purpose} ${action}`).toBe(false);
  });

  it("that read the stack are denied all of Amazon ECR but pulling, whatever policy they get", () => {
    const attached = (purpose: string): Session => {
      const { policy, ...role } = session(purpose, "ecr");
      const all = { Effect: "Allow" as const, Action: ["ecr:*"], Resource: ["*"] };
      return { ...role, policy: { ...policy, Statement: [...policy.Statement, all] } };
    };
    const resource = `arn:aws:ecr:eu-west-1:${account}:repository/x`;
    const actions = ["BatchGetImage", "DescribeImages", "GetRepositoryPolicy", "ListImages", "PutImage"];
    for (const purpose of ["drift", "preview"])
      expect(
        actions.filter((action) => permits(attached(purpose), { action: `ecr:${action}`, resource, context })),
      ).toEqual(["BatchGetImage"]);
  });

  it("of node releases and rollouts read what they need", () => {
    const hub = `arn:aws:eks:eu-central-1:${account}:cluster/fleet-hub`;
    expect(may("rollouts", "eks:DescribeCluster", hub)).toBe(true);
    expect(may("rollouts", "eks:DescribeCluster", hub.replace("-hub", "-spoke-blue"))).toBe(false);
    expect(
      may("node-releases", "ssm:GetParameters", "arn:aws:ssm:eu-central-1::parameter/aws/service/bottlerocket/x"),
    ).toBe(true);
    for (const purpose of ["rollouts", "node-releases"]) expect(may(purpose, "s3:GetObject", state)).toBe(false);
  });

  it("can't change their own trust, boundary and provider, whatever policy they get, nor create users or assume other roles", () => {
    const administrator: Session = {
      ...session("apply"),
      policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: ["*"], Resource: ["*"] }] },
    };
    const can = (action: string, resource: string) => permits(administrator, { action, resource, context });
    const iam = (name: string) => `arn:aws:iam::${account}:${name}`;
    expect(can("iam:UpdateAssumeRolePolicy", hubRole)).toBe(true);
    for (const [action, resource] of [
      ["iam:UpdateAssumeRolePolicy", iam("role/fleet-ci-apply")],
      ["iam:DeleteRolePermissionsBoundary", iam("role/fleet-ci-apply")],
      ["iam:PutRolePolicy", iam("role/fleet-ci-preview")],
      ["iam:AttachRolePolicy", iam("role/fleet-ci-preview")],
      ["iam:PassRole", iam("role/fleet-ci-apply")],
      ["iam:CreatePolicyVersion", iam("policy/fleet-ci-boundary")],
      ["iam:SetDefaultPolicyVersion", iam("policy/fleet-ci-boundary")],
      ["iam:AddClientIDToOpenIDConnectProvider", iam(`oidc-provider/${issuer}`)],
      ["iam:UpdateOpenIDConnectProviderThumbprint", iam(`oidc-provider/${issuer}`)],
      ["iam:CreateUser", iam("user/mallory")],
      ["iam:CreateAccessKey", iam("user/admin")],
      ["iam:AddUserToGroup", iam("group/admins")],
      ["sts:AssumeRole", iam("role/fleet-hub-crossplane-iam")],
      ["sts:AssumeRoot", "arn:aws:iam::333333333333:root"],
    ] as const)
      expect(can(action, resource), action).toBe(false);
    expect(can("iam:GetUser", iam("user/admin"))).toBe(true);
  });

  it("get only reads of users, groups, MFA devices and SAML providers, of all actions that AWS has for them", async () => {
    const administrator: Session = {
      ...session("apply"),
      policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: ["*"], Resource: ["*"] }] },
    };
    const kinds = ["user", "group", "mfa", "saml-provider"];
    const facts = await Promise.all((await actionsOf("iam:*")).map(actionFacts));
    const permitted = facts.flatMap(({ name, types }) =>
      types
        .filter(({ key }) => kinds.includes(key))
        .filter(({ key }) =>
          permits(administrator, { action: name, resource: `arn:aws:iam::${account}:${key}/x`, context }),
        )
        .map(() => name),
    );
    expect(permitted).toContain("iam:GetUser");
    expect(permitted.filter((name) => !/^iam:(Get|List)/.test(name))).toEqual([]);
  });

  it("use one provider of the account: a new one, or the existing one", () => {
    const providers = (of: string) =>
      (runs[of]?.resources ?? [])
        .filter(({ type }) => type.endsWith(":OpenIdConnectProvider"))
        .map(({ inputs: { url, clientIdLists } }) => [url, clientIdLists]);
    expect(providers("immutable")).toEqual([[`https://${issuer}`, ["sts.amazonaws.com"]]]);
    expect(providers("named")).toEqual([]);
    expect(
      allowed(document("ci-boundary-policy"), {
        action: "iam:TagRole",
        resource: `arn:aws:iam::${account}:role/fleet-ci-x`,
      }),
    ).toBe(false);
  });
});

describe("the roles of workflows of a company with a path and a boundary", () => {
  const denial = { Effect: "Deny", Action: "organizations:*", Resource: "*" };

  it("have both, and name no role without the path", async () => {
    const { resources, outputs } = await run({
      rolePath: "/company/",
      boundaryStatements: [denial],
      hubBoundary: `arn:aws:iam::${account}:policy/company`,
    });
    const roles = resources.filter(({ type }) => type === "aws:iam/role:Role");
    expect(roles.map(({ inputs: { path } }) => path)).toEqual(roles.map(() => "/company/"));
    const boundary = resources.find(({ inputs: { name } }) => name === "fleet-ci-boundary");
    expect(readPolicy(boundary?.inputs["policy"]).Statement.at(-1)).toMatchObject({ Action: ["organizations:*"] });
    expect(outputs["clusterAdmins"]).toEqual([`arn:aws:iam::${account}:role/company/fleet-ci-apply`]);
    const others = JSON.stringify(resources).match(/:role\/(?!company\/|aws-service-role\/|aws-reserved\/)[^"\\]*/g);
    expect(others).toBeNull();
  });
});

describe("the outputs of the workflows' stack", () => {
  it("give the hub's stack its access entries", () => {
    const role = (purpose: string) => `arn:aws:iam::${account}:role/fleet-ci-${purpose}`;
    expect(runs["immutable"]?.outputs).toMatchObject({
      roleArns: Object.fromEntries(purposes.map((purpose) => [purpose, role(purpose)])),
      boundaryArn: `arn:aws:iam::${account}:policy/fleet-ci-boundary`,
      clusterAdmins: [role("apply")],
      clusterViewers: [role("drift"), role("preview")],
    });
  });

  it("name the registry's host to the jobs that pull charts from Amazon ECR, and to no other", () => {
    const set = String(runs["ecr"]?.outputs["environments"]).match(/^gh variable set ECR_REGISTRY .*$/gm);
    expect(set).toEqual(
      ["example", "example-main", "example-preview"].map(
        (environment) => `gh variable set ECR_REGISTRY --repo acme/fleet --env ${environment} --body '${ecr}'`,
      ),
    );
    expect(runs["immutable"]?.outputs["environments"]).not.toContain("ECR_REGISTRY");
  });

  it("create the environments with their rules", () => {
    const script = String(runs["immutable"]?.outputs["environments"]);
    const bodies = [...script.matchAll(/--method PUT repos\/(\S+)\/environments\/(\S+) --input - <<'EOF'\n(.*)\nEOF/g)];
    const policy = { deployment_branch_policy: { protected_branches: false, custom_branch_policies: true } };
    const reviewers = [
      { type: "Team", id: 7 },
      { type: "User", id: 8 },
    ];
    const reviewed = (others: boolean) => ({
      ...policy,
      reviewers,
      prevent_self_review: others,
      can_admins_bypass: false,
    });
    expect(bodies.map(([, repository, name, body]) => [repository, name, JSON.parse(body ?? "")])).toEqual([
      ["acme/fleet", "example", reviewed(false)],
      ["acme/fleet", "example-main", { ...policy, reviewers: null }],
      ["acme/fleet", "example-preview", reviewed(true)],
      ["acme/fleet", "node-releases", { ...policy, reviewers: null }],
      ["acme/gitops-system", "rollouts", { ...policy, reviewers: null }],
      ["acme/fleet", "aws-proof", reviewed(true)],
      ["acme/fleet", "release", reviewed(false)],
    ]);
    const refs = [
      ...script.matchAll(/environments\/(\S+)\/deployment-branch-policies -f type=(\w+) -f 'name=(.+)'/g),
    ].map(([, ...ref]) => ref.join(" "));
    expect(refs).toEqual([
      ...["example branch main", "example-main branch main", "example-preview branch refs/pull/*/merge"],
      ...["node-releases branch main", "rollouts branch main", "aws-proof branch main", "release tag v*"],
    ]);
    expect(script).toContain(
      `gh variable set AWS_ROLE_ARN --repo acme/fleet --env example --body 'arn:aws:iam::${account}:role/fleet-ci-apply'`,
    );
    expect(script).toContain(
      "gh variable set PULUMI_BACKEND_URL --repo acme/fleet --env example-preview --body 's3://acme-state/fleet?region=eu-central-1'",
    );
    expect(script).not.toContain("PULUMI_BACKEND_URL --repo acme/fleet --env node-releases");
    expect(String(runs["named"]?.outputs["environments"])).not.toContain("PULUMI_BACKEND_URL");
  });
});

describe("the configuration of the workflows' stack", () => {
  const { config } = parse(readFileSync(new URL("../../infra/ci/Pulumi.yaml", import.meta.url), "utf8"));
  const defaults = Object.fromEntries(
    Object.entries(config as Record<string, { default?: unknown }>).flatMap(([key, { default: value }]) =>
      value === undefined ? [] : [[key, typeof value === "string" ? value : JSON.stringify(value)]],
    ),
  );
  const read = (
    values: Readonly<Record<string, string>>,
    region: string | undefined = "eu-central-1",
    accounts: readonly string[] = [account],
  ) =>
    readCiConfig(
      {
        project,
        values: {
          ...Object.fromEntries(
            Object.entries({
              ...defaults,
              fleet: "fleet",
              project: JSON.stringify(named),
              reviewers: '["Team/7"]',
              ...values,
            }).map(([key, value]) => [`${project}:${key}`, value]),
          ),
          "aws:allowedAccountIds": JSON.stringify(accounts),
        },
        isSecret: () => false,
        region,
      },
      "prod",
    );
  const keysOf = (values: Readonly<Record<string, string>>) => read(values).problems.map(({ key }) => key);

  it("has the keys that its Pulumi.yaml describes", () => {
    const { settings, problems } = read({});
    expect(problems).toEqual([]);
    expect(Object.keys(settings).sort()).toEqual([...Object.keys(config), "accountId", "region"].sort());
  });

  it("takes an ID that Pulumi stores as a number", () => {
    expect(read({ project: JSON.stringify({ ...immutable, id: 456789 }) }).settings.project).toEqual(immutable);
  });

  it.each([
    ["another repository's names", { ...named, subjectPrefix: "repo:mallory/fleet" }],
    ["another repository's ID", { ...immutable, subjectPrefix: "repo:acme@123456/fleet@999" }],
    ["a wildcard", { ...named, subjectPrefix: "repo:acme/*" }],
    ["a dot that is any character", { ...named, name: "acme/fl.et", subjectPrefix: "repo:acme@1/flxet@456789" }],
    ["no ID", { name: named.name, subjectPrefix: named.subjectPrefix }],
    ["an unknown field", { ...named, branch: "x" }],
  ])("rejects a repository with %s", (_, value) => {
    expect(keysOf({ project: JSON.stringify(value) })).toEqual(["project"]);
  });

  it("rejects jobs without reviewers, rollouts without their repository, and other values", () => {
    expect(keysOf({ reviewers: "[]" })).toEqual(["reviewers"]);
    expect(keysOf({ reviewers: "[]", purposes: '["drift","node-releases"]' })).toEqual([]);
    expect(keysOf({ purposes: '["rollouts"]' })).toEqual(["system"]);
    expect(keysOf({ purposes: '["release"]' })).toEqual(["purposes"]);
    expect(keysOf({ reviewers: '["platform"]' })).toEqual(["reviewers"]);
    expect(keysOf({ backend: "s3://bucket'; rm -r x" })).toEqual(["backend"]);
    for (const registry of ["registry.example.com/mirror", `oci://${ecr}`, `${ecr}/`])
      expect(keysOf({ registry }), registry).toEqual(["registry"]);
    expect(keysOf({ registry: `${ecr}/mirror` })).toEqual([]);
    expect(keysOf({ oidcProvider: "no", grafana: "x", stateKey: "alias/x", pulumiToken: "x" })).toEqual([
      "oidcProvider",
      "stateKey",
      "pulumiToken",
      "grafana",
    ]);
    expect(read({}, "").problems.map(({ key }) => key)).toEqual(["aws:region"]);
    const several = read({}, "eu-central-1", [account, "333333333333"]).problems;
    expect(several.map(({ key }) => key)).toEqual(["aws:allowedAccountIds"]);
  });

  it("rejects a company's statements without its boundary, under which alone updates create roles of the hub", () => {
    const boundaryStatements = '[{"Effect":"Deny","Action":"organizations:*","Resource":"*"}]';
    expect(keysOf({ boundaryStatements })).toEqual(["hubBoundary"]);
    expect(keysOf({ boundaryStatements, hubBoundary: `arn:aws:iam::${account}:policy/company` })).toEqual([]);
  });
});

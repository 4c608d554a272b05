import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { accountProblem } from "../../infra/account/places.ts";
import { readAccountConfig } from "../../infra/account/settings.ts";
import type { PolicyDocument } from "../../lib/iam/policy.ts";
import { identityTag, principalTags } from "../../lib/labels.ts";
import { allowed, readPolicy } from "../support/iam.ts";
import { permits, type Session } from "../support/iam-effective.ts";
import { type Run, runProject } from "../support/program.ts";

/** The stack of an account besides the hub's, against mocks: its account is 222222222222, the hub's 111111111111. */

const project = "eks-gitops-fleet-account";
const secretsKeyArn = "arn:aws:kms:us-east-1:111111111111:key/1234";
const volumeKey = "arn:aws:kms:eu-west-1:222222222222:key/1234abcd-12ab-34cd-56ef-1234567890ab";
let made: Run;

beforeAll(async () => {
  made = await runProject("infra/account", {
    "aws:allowedAccountIds": ["222222222222"],
    [`${project}:fleet`]: "fleet",
    [`${project}:secretsKeyArn`]: secretsKeyArn,
    [`${project}:regions`]: ["eu-west-1", "eu-west-2"],
    [`${project}:volumeKeys`]: [volumeKey],
    [`${project}:addonPermissions`]: [{ actions: ["route53:ListHostedZones"] }],
    [`${project}:permissionsBoundary`]: "arn:aws:iam::222222222222:policy/company",
    [`${project}:boundaryStatements`]: [{ Effect: "Deny", Action: "organizations:*", Resource: "*" }],
  });
  // A ceiling, not a measure: it loads the provider SDKs, on machines that do other things too.
}, 120_000);

const inputs = (name: string) => made.resources.find((each) => each.name === name)?.inputs ?? {};
const document = (name: string, input = "policy"): PolicyDocument => readPolicy(inputs(name)[input]);

describe("an account besides the hub's", () => {
  it("gets the boundaries under the hub's names and a role for Crossplane, and nothing else", () => {
    const found = made.resources.filter(({ custom }) => custom).map(({ type, inputs: own }) => [type, own["name"]]);
    expect(found.sort()).toEqual([
      ["aws:iam/policy:Policy", "fleet-addon-boundary"],
      ["aws:iam/policy:Policy", "fleet-auto-mode-boundary"],
      ["aws:iam/policy:Policy", "fleet-boundary"],
      ["aws:iam/policy:Policy", "fleet-hub-crossplane-oidc-providers"],
      ["aws:iam/policy:Policy", "fleet-hub-crossplane-roles"],
      ["aws:iam/policy:Policy", "fleet-tenant-boundary"],
      ["aws:iam/role:Role", "fleet-hub-crossplane"],
      ["aws:iam/rolePolicy:RolePolicy", "fleet-hub-crossplane"],
      ...["oidc-providers", "roles"].map(() => ["aws:iam/rolePolicyAttachment:RolePolicyAttachment", undefined]),
    ]);
    expect(made.outputs).toEqual({
      crossplaneRoleArn: "arn:aws:iam::222222222222:role/fleet-hub-crossplane",
      boundaryArns: ["fleet-boundary", "fleet-tenant-boundary", "fleet-addon-boundary", "fleet-auto-mode-boundary"].map(
        (name) => `arn:aws:iam::222222222222:policy/${name}`,
      ),
    });
  });

  it("attaches policies before it changes the one in the role, so that no right is missing where it moves", () => {
    const own = made.resources.find(({ name }) => name === "crossplane-policy");
    expect(own?.dependencies).toEqual(
      expect.arrayContaining(
        ["roles", "oidc-providers"].map(
          (part) => `aws:iam/rolePolicyAttachment:RolePolicyAttachment::crossplane-${part}`,
        ),
      ),
    );
  });

  it("trusts the providers of the hub's Crossplane, and nobody else of the hub's account or its own", () => {
    expect(document("crossplane-role", "assumeRolePolicy").Statement).toEqual([
      {
        Effect: "Allow",
        Principal: { AWS: "arn:aws:iam::111111111111:root" },
        // With the tags of its session, where it has one by EKS Pod Identity.
        Action: ["sts:AssumeRole", "sts:TagSession"],
        Condition: {
          ArnEquals: {
            "aws:PrincipalArn": ["ec2", "eks", "iam", "kms", "logs"].map(
              (service) => `arn:aws:iam::111111111111:role/fleet-hub-crossplane-${service}`,
            ),
          },
        },
      },
    ]);
  });

  it("lets Crossplane make roles of spokes with its own boundaries only, and clusters in its regions", () => {
    const may = (action: string, resource: string, context: Readonly<Record<string, string>>) =>
      allowed(
        ["crossplane-policy", "crossplane-roles-policy", "crossplane-oidc-providers-policy"].map((name) =>
          document(name),
        ),
        { action, resource, context },
      );
    const role = "arn:aws:iam::222222222222:role/fleet-spoke-blue-node";
    const bounded = (account: string) =>
      may("iam:CreateRole", role, {
        "aws:RequestedRegion": "us-east-1",
        "iam:PermissionsBoundary": `arn:aws:iam::${account}:policy/fleet-boundary`,
      });
    expect(bounded("222222222222")).toBe(true);
    expect(bounded("111111111111")).toBe(false);
    const cluster = (region: string) =>
      may("eks:CreateCluster", `arn:aws:eks:${region}:222222222222:cluster/fleet-spoke-blue`, {
        "aws:RequestedRegion": region,
      });
    expect(["eu-west-1", "eu-west-2", "eu-west-3"].map(cluster)).toEqual([true, true, false]);
  });

  it("leaves External Secrets of its spokes the sealing keys of the hub, by the hub's key", () => {
    const session: Session = {
      roleArn: "arn:aws:iam::222222222222:role/fleet-spoke-blue-external-secrets",
      tags: { [identityTag]: "external-secrets", [principalTags.cluster]: "fleet-spoke-blue" },
      policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: ["*"], Resource: ["*"] }] },
      boundary: document("fleet-boundary-policy"),
    };
    const may = (action: string, resource: string, context: Readonly<Record<string, string>> = {}) =>
      permits(session, { action, resource, context: { "aws:RequestedRegion": "us-east-1", ...context } });
    const secret = "arn:aws:secretsmanager:us-east-1:111111111111:secret:fleet/sealing-keys/dev/1-AbCdEf";
    const via = { "kms:ViaService": "secretsmanager.us-east-1.amazonaws.com" };
    expect(may("secretsmanager:GetSecretValue", secret)).toBe(true);
    expect(may("secretsmanager:PutSecretValue", secret)).toBe(false);
    expect(may("kms:Decrypt", secretsKeyArn, via)).toBe(true);
    expect(may("kms:Decrypt", secretsKeyArn.replace("1234", "5678"), via)).toBe(false);
  });

  it("has the statements of a company in every boundary, and its boundary on Crossplane's role", () => {
    for (const name of ["fleet", "tenant", "auto-mode", "addon"])
      expect(document(`${name}-boundary-policy`).Statement, name).toContainEqual({
        Effect: "Deny",
        Action: ["organizations:*"],
        Resource: ["*"],
      });
    expect(inputs("crossplane-role")["permissionsBoundary"]).toBe("arn:aws:iam::222222222222:policy/company");
  });

  it("permits add-ons what its own stack says", () => {
    expect(document("addon-boundary-policy").Statement[0]).toMatchObject({ Action: ["route53:ListHostedZones"] });
  });

  it("lets volumes have the keys that its own stack names", () => {
    for (const name of ["fleet-boundary", "auto-mode-boundary", "addon-boundary"])
      expect(JSON.stringify(document(`${name}-policy`)), name).toContain(volumeKey);
  });

  it("gives its roles the hub's path, by which it knows the hub's Crossplane", async () => {
    const { resources, outputs } = await runProject("infra/account", {
      "aws:allowedAccountIds": ["222222222222"],
      [`${project}:fleet`]: "fleet",
      [`${project}:secretsKeyArn`]: secretsKeyArn,
      [`${project}:rolePath`]: "/company/",
    });
    expect(outputs["crossplaneRoleArn"]).toBe("arn:aws:iam::222222222222:role/company/fleet-hub-crossplane");
    const role = resources.find(({ name }) => name === "crossplane-role")?.inputs ?? {};
    expect(role["path"]).toBe("/company/");
    expect(role["assumeRolePolicy"]).toContain("arn:aws:iam::111111111111:role/company/fleet-hub-crossplane");
    const named = JSON.stringify(resources).match(/:role\/[^"\\]*fleet-[^"\\]*/g) ?? [];
    expect(named.filter((each) => !each.startsWith(":role/company/fleet-"))).toEqual([]);
  });

  it("is not the hub's, and in its partition", () => {
    const problem = (accountId: string, partition: string) => accountProblem({ accountId, partition }, secretsKeyArn);
    expect(problem("111111111111", "aws")).toContain("which is the hub's (secretsKeyArn)");
    expect(problem("222222222222", "aws-cn")).toContain("across partitions");
    expect(problem("222222222222", "aws")).toBe(undefined);
  });
});

describe("the configuration of an account's stack", () => {
  const { config } = parse(readFileSync(new URL("../../infra/account/Pulumi.yaml", import.meta.url), "utf8"));
  const read = (values: Readonly<Record<string, string>>, allowed: string | undefined = '["222222222222"]') =>
    readAccountConfig({
      project,
      values: {
        ...Object.fromEntries(Object.entries(values).map(([key, value]) => [`${project}:${key}`, value])),
        ...(allowed && { "aws:allowedAccountIds": allowed }),
      },
      isSecret: () => false,
      region: undefined,
    });
  const complete = {
    ...{ fleet: "fleet", secretsKeyArn, regions: "[]", addonPermissions: "[]", permissionsBoundary: "", tags: "{}" },
    volumeKeys: "[]",
    boundaryStatements: "[]",
    rolePath: "/",
  };

  it("has the keys that its Pulumi.yaml describes", () => {
    expect(read(complete)).toMatchObject({ problems: [], settings: { fleet: "fleet", regions: [] } });
    expect(Object.keys(read(complete).settings).sort()).toEqual(Object.keys(config).sort());
  });

  it("is refused with every problem at once", () => {
    const { problems } = read({
      ...{
        fleet: "Fleet",
        secretsKeyArn: "alias/fleet-secrets",
        volumeKeys: "[]",
        regions: '["here"]',
        permissionsBoundary: "x",
      },
      ...{ addonPermissions: '[{"actions":["iam:CreateRole"]}]', region: "eu-west-1", tags: '{"Name":"x"}' },
    });
    expect(problems.map(({ key }) => key)).toEqual([
      ...["region", "fleet", "secretsKeyArn", "regions", "permissionsBoundary", "rolePath"],
      ...["boundaryStatements", "addonPermissions", "tags.Name"],
    ]);
    expect(problems.find(({ key }) => key === "secretsKeyArn")?.remedy).toBe(
      "pulumi config set --plaintext secretsKeyArn 'arn:aws:kms:<region>:<account of the hub>:key/<id>'",
    );
  });

  it("names the account, so that the rights are given in no other", () => {
    // `pulumi config set --path` makes a number of it.
    expect(read(complete, "[222222222222]").problems).toEqual([]);
    for (const [allowed, got] of [
      ["", "(nothing)"],
      ["[]", "[]"],
      ["222222222222", "222222222222"],
      ['["analytics"]', '["analytics"]'],
    ])
      expect(read(complete, allowed).problems).toEqual([
        {
          key: "aws:allowedAccountIds",
          what: expect.stringMatching(/^(is missing|is empty|has a value that is not allowed)$/),
          got,
          allowed: "a list with the ID of the account that the stack is for, 12 digits",
          remedy: "pulumi config set --path 'aws:allowedAccountIds[0]' 111122223333",
        },
      ]);
  });

  it("names no more keys for volumes than the boundaries have room for, and says how many", () => {
    const keys = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, id) => volumeKey.replace("key/1", `key/${id}`)));
    expect(read({ ...complete, volumeKeys: keys(4) }).problems).toEqual([]);
    expect(read({ ...complete, volumeKeys: keys(9) }).problems).toEqual([
      {
        key: "volumeKeys",
        what: "makes the fleet's permissions boundary too long for IAM",
        got: expect.stringMatching(/^6\d{3} characters$/),
        allowed: "at most 6144 characters without white space",
        remedy: expect.stringMatching(/^name at most [4-8] of the 9 keys$/),
      },
    ]);
  });

  it("names no more regions than Crossplane's policy and the boundaries have room for", () => {
    const refused = (length: number) => {
      const regions = JSON.stringify(
        Array.from(
          { length },
          (_, index) =>
            `${["ap", "eu", "us", "af", "sa"][Math.floor(index / 18)]}-${index % 18 < 9 ? "southeast" : "northwest"}-${(index % 9) + 1}`,
        ),
      );
      return read({ ...complete, regions }).problems.map(({ key, what }) => `${key} ${what}`);
    };
    const maker = "regions makes the policy with which Crossplane makes OIDC providers too long for IAM";
    expect(refused(16)).toEqual([]);
    expect(refused(17)).toEqual([maker]);
    const boundary = "regions makes the fleet's permissions boundary too long for IAM";
    expect(refused(80)).toContain(boundary);
  });
});

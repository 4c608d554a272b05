/** The stack of the workflows' roles (infra/ci), against the real Pulumi engine and an AWS API. */

import { GetRoleCommand, ListPoliciesCommand, ListRolesCommand } from "@aws-sdk/client-iam";
import { ACCOUNT } from "@eks-gitops-fleet/local/gateway";
import { type GatewayCloud, type Project, startGatewayCloud } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownStack } from "./support/account-stack.ts";

let cloud: GatewayCloud;
let project: Project;

beforeAll(async () => {
  cloud = await startGatewayCloud();
  const { credentials } = await cloud.root(ACCOUNT);
  project = await ownStack("ci", cloud.instance.awsEndpoint, credentials, ACCOUNT);
  const set = (...args: string[]) => project.command("config", "set", ...args);
  // As infra/ci/README.md sets them.
  await set("--path", "project.name", "acme/fleet");
  await set("--path", "project.id", "456789");
  await set("--path", "project.subjectPrefix", "repo:acme@123456/fleet@456789");
  await set("--path", "reviewers[0]", "Team/7");
  await set("backend", "s3://acme-state");
  await set("--plaintext", "stateKey", `arn:aws:kms:us-east-1:${ACCOUNT}:key/0123-abc`);
});
afterAll(async () => {
  await project?.remove();
  await cloud?.remove();
});

describe("the stack of the workflows' roles", () => {
  test("is created with the documented configuration, and a second run changes nothing", async () => {
    const made = await project.run("up");
    expect(made.code, made.text).toBe(0);
    const again = await project.run("up");
    expect(Object.keys(again.changes), again.text).toEqual(["same"]);
    const { iam } = await cloud.root(ACCOUNT);
    const { Role } = await iam.send(new GetRoleCommand({ RoleName: "fleet-ci-apply" }));
    expect(Role).toMatchObject({
      MaxSessionDuration: 7200,
      PermissionsBoundary: { PermissionsBoundaryArn: `arn:aws:iam::${ACCOUNT}:policy/fleet-ci-boundary` },
    });
    const outputs = (await project.outputs()) as {
      readonly clusterAdmins: readonly string[];
      readonly environments: string;
    };
    expect(outputs.clusterAdmins).toEqual([`arn:aws:iam::${ACCOUNT}:role/fleet-ci-apply`]);
    expect(outputs.environments).toContain("gh variable set AWS_ROLE_ARN --repo acme/fleet");
  });

  test("is destroyed and leaves nothing", async () => {
    const { code, text } = await project.run("destroy");
    expect(code, text).toBe(0);
    const { iam } = await cloud.root(ACCOUNT);
    const { Roles = [] } = await iam.send(new ListRolesCommand({}));
    const { Policies = [] } = await iam.send(new ListPoliciesCommand({ Scope: "Local" }));
    const left = [...Roles.map(({ RoleName }) => RoleName), ...Policies.map(({ PolicyName }) => PolicyName)];
    expect(left.filter((name) => name?.startsWith("fleet-ci-"))).toEqual([]);
  });
});

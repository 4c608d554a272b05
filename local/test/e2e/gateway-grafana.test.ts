import { Grafana } from "@aws-sdk/client-grafana";
import { describe, expect, test } from "vitest";
import { createAws } from "../../aws/index.ts";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import {
  allow,
  arnOf,
  type Clients,
  cloud,
  configOf,
  iam,
  outcome,
  trustOf,
  useGatewayCloud,
} from "../support/gateway.ts";
import { grafanaCases } from "../support/grafana-handler-cases.ts";
import { HandlerRunner } from "../support/handler-runner.ts";
import { proveCase } from "../support/prove-case.ts";

useGatewayCloud(async () => {
  for (const RoleName of ["reader", "other-reader"])
    await iam.createRole({ RoleName, AssumeRolePolicyDocument: trustOf({ Service: "grafana.amazonaws.com" }) });
});

const grafana = (by: Clients) => new Grafana(configOf(by));
const workspaceArn = (id: string) => `arn:aws:grafana:${REGION}:${ACCOUNT}:/workspaces/${id}`;

const create = (by: Clients, tags: Record<string, string> = {}, authentication: "AWS_SSO" | "SAML" = "AWS_SSO") =>
  grafana(by).createWorkspace({
    accountAccessType: "CURRENT_ACCOUNT",
    permissionType: "CUSTOMER_MANAGED",
    authenticationProviders: [authentication],
    workspaceRoleArn: arnOf("role/reader"),
    tags,
  });

/** Creates a workspace as the deployer and waits until it is ACTIVE; its id. */
async function workspace(tags: Record<string, string> = {}): Promise<string> {
  const workspaceId = (await create(cloud.deployer, tags)).workspace?.id ?? "";
  const status = async () => (await grafana(cloud.deployer).describeWorkspace({ workspaceId })).workspace?.status;
  await expect.poll(status, { timeout: 10_000 }).toBe("ACTIVE");
  return workspaceId;
}

const passReader = {
  Action: "iam:PassRole",
  Resource: arnOf("role/reader"),
  Condition: { StringEquals: { "iam:PassedToService": "grafana.amazonaws.com" } },
};
const identityCenter = { Action: ["sso:*", "organizations:DescribeOrganization"] };

describe("a workspace is created", () => {
  test("with the tags that a policy asks for, and by whoever may also tag it", async () => {
    const tagged = { StringEquals: { "aws:RequestTag/team": "a" } };
    const creating = { Action: "grafana:CreateWorkspace", Condition: tagged };
    const creator = await cloud.roleWith(
      "creator",
      allow(creating, { Action: "grafana:TagResource", Resource: workspaceArn("*") }, passReader, identityCenter),
    );
    const untagging = await cloud.roleWith("untagging", allow(creating, passReader, identityCenter));
    expect(await outcome(create(creator, { team: "a" }))).toBe("allowed");
    expect(await outcome(create(creator, { team: "b" }))).toBe("AccessDeniedException");
    expect(await outcome(create(untagging, { team: "a" }))).toBe("AccessDeniedException");
  });

  test("by whoever may pass its role to Grafana, and make an application of IAM Identity Center where people sign in by it", async () => {
    const creating = { Action: "grafana:CreateWorkspace" };
    const whole = await cloud.roleWith("whole", allow(creating, passReader, identityCenter));
    const passesNothing = await cloud.roleWith("passes-nothing", allow(creating, identityCenter));
    const noCenter = await cloud.roleWith("no-center", allow(creating, passReader));
    expect(await outcome(create(whole))).toBe("allowed");
    expect(await outcome(create(passesNothing))).toBe("AccessDeniedException");
    expect(await outcome(create(noCenter))).toBe("AccessDeniedException");
    expect(await outcome(create(noCenter, {}, "SAML"))).toBe("allowed");
  });

  test("by nobody without a signature", async () => {
    const anonymous = cloud.as({ accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "made up" });
    expect(await outcome(create(anonymous))).not.toBe("allowed");
  });
});

test("rights follow the tags of a workspace", async () => {
  const [own, other] = [await workspace({ team: "a" }), await workspace({ team: "b" })];
  const team = await cloud.roleWith(
    "team-a",
    allow(
      {
        Action: ["grafana:UpdateWorkspace", "grafana:UpdatePermissions"],
        Condition: { StringEquals: { "aws:ResourceTag/team": "a" } },
      },
      identityCenter,
    ),
  );
  const rename = (workspaceId: string) =>
    outcome(grafana(team).updateWorkspace({ workspaceId, workspaceName: "renamed" }));
  const permit = (workspaceId: string) =>
    outcome(grafana(team).updatePermissions({ workspaceId, updateInstructionBatch: [] }));
  expect([await rename(own), await rename(other)]).toEqual(["allowed", "AccessDeniedException"]);
  expect([await permit(own), await permit(other)]).toEqual(["allowed", "AccessDeniedException"]);
});

test("a workspace gets another role only from whoever may pass that one", async () => {
  const workspaceId = await workspace();
  const changer = await cloud.roleWith("changer", allow({ Action: "grafana:UpdateWorkspace" }, passReader));
  const give = (role: string) =>
    outcome(grafana(changer).updateWorkspace({ workspaceId, workspaceRoleArn: arnOf(role) }));
  expect(await give("role/other-reader")).toBe("AccessDeniedException");
  expect(await give("role/reader")).toBe("allowed");
});

test.each(grafanaCases)("$token is created, read without drift, changed, deleted, and then gone", async (one) => {
  await proveCase(new HandlerRunner(createAws(configOf(cloud.deployer)), { fleet: "handler-test" }), one);
});

test("deleted workspaces leave nothing", async () => {
  const client = grafana(cloud.deployer);
  const { workspaces = [] } = await client.listWorkspaces();
  expect(workspaces.length).toBeGreaterThan(0);
  for (const { id } of workspaces) await client.deleteWorkspace({ workspaceId: id });
  const left = async () => (await client.listWorkspaces()).workspaces;
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
});

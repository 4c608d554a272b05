import { afterEach, describe, expect, test } from "vitest";
import { checkAccess } from "../../../cli/doctor/access.ts";
import { roleAnswer, rolesAnswer, ssoRole } from "../support/iam.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const team = "arn:aws:iam::123456789012:role/team";
const old = ssoRole.replace("0123456789abcdef", "fedcba9876543210");
const caller = "arn:aws:sts::123456789012:assumed-role/deployer/ada";
const missing = new Refusal("NoSuchEntity");
const noHub = { DescribeCluster: new Refusal("ResourceNotFoundException") };
const hub = { DescribeCluster: { cluster: {} } };

async function look(access: { clusterAdmins?: string[]; clusterViewers?: string[] }, answers: Answers, by = caller) {
  const aws = await fakeAws(answers);
  close = aws.close;
  const { settings } = await devStack();
  const stack = await devStack({ settings: { ...settings, clusterAdmins: [], clusterViewers: [], ...access } });
  return checkAccess(stack, aws.config, by);
}

describe("fleet doctor, access to the hub", () => {
  test("is ok for principals that IAM has", async () => {
    const found = await look(
      { clusterAdmins: [team], clusterViewers: [team] },
      { ...noHub, GetRole: roleAnswer(team) },
    );
    expect(found.map(({ name, status }) => [name, status])).toEqual([
      ["clusterAdmins[0]", "ok"],
      ["clusterViewers[0]", "ok"],
    ]);
  });

  test("is wrong for a principal that IAM lacks", async () => {
    const found = await look({ clusterViewers: [team] }, { ...noHub, GetRole: missing });
    expect(found).toMatchObject([
      {
        name: "clusterViewers[0]",
        status: "wrong",
        todo: expect.stringContaining("pulumi config rm --path 'clusterViewers[0]'"),
      },
    ]);
  });

  test("names the new role of a permission set that was provisioned again, and the command that sets it", async () => {
    const found = await look({ clusterAdmins: [old] }, { ...noHub, GetRole: missing, ListRoles: rolesAnswer(ssoRole) });
    expect(found).toMatchObject([
      {
        status: "wrong",
        todo: `pulumi config set --path 'clusterAdmins[0]' ${ssoRole}\npulumi up   # replaces the access entry`,
      },
    ]);
  });

  test("rejects the identity that creates the hub, and takes it once the hub exists", async () => {
    const deployer = "arn:aws:iam::123456789012:role/path/deployer";
    const wrong = await look({ clusterAdmins: [deployer] }, { ...noHub, GetRole: roleAnswer(deployer) });
    expect(wrong).toMatchObject([{ status: "wrong", message: expect.stringContaining("creates the hub") }]);
    await close();
    const entries = { ListAccessEntries: { accessEntries: [deployer] } };
    const later = await look({ clusterAdmins: [deployer] }, { ...hub, ...entries, GetRole: roleAnswer(deployer) });
    expect(later).toMatchObject([{ status: "ok" }]);
  });

  test("finds access entries of the hub whose principal no longer exists", async () => {
    const answers = {
      ...hub,
      ListAccessEntries: { accessEntries: [old] },
      GetRole: missing,
      ListRoles: rolesAnswer(ssoRole),
    };
    const [found] = await look({}, answers);
    expect(found).toMatchObject({
      status: "wrong",
      message: expect.stringContaining(`The permission set now has ${ssoRole}`),
    });
    expect(found?.todo).toContain(
      `aws eks delete-access-entry --region eu-central-1 --cluster-name fleet-dev-hub --principal-arn ${old}`,
    );
    expect(found?.todo).toContain(`add ${ssoRole} to clusterAdmins`);
  });

  test("leaves principals of other accounts unchecked", async () => {
    const elsewhere = team.replace("123456789012", "999999999999");
    expect(await look({ clusterAdmins: [elsewhere] }, noHub)).toMatchObject([{ status: "note" }]);
  });

  test("is unknown without the permissions", async () => {
    const found = await look({ clusterAdmins: [team] }, { ...noHub, GetRole: new Refusal("AccessDenied") });
    expect(found).toMatchObject([{ status: "unchecked", todo: expect.stringContaining("iam:GetRole") }]);
  });

  test("reports what it knows of other principals without a permission", async () => {
    const deployer = "arn:aws:iam::123456789012:role/deployer";
    const found = await look({ clusterAdmins: [team, deployer] }, { ...noHub, GetRole: new Refusal("AccessDenied") });
    expect(found).toMatchObject([
      { name: "clusterAdmins[0]", status: "unchecked" },
      { name: "clusterAdmins[1]", status: "wrong", message: expect.stringContaining("creates the hub") },
    ]);
  });
});

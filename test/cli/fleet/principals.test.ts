import { afterEach, describe, expect, test } from "vitest";
import { iamOf, rolesOf, standingOf } from "../../../cli/fleet/principals.ts";
import { type Answers, fakeAws, Refusal } from "../doctor/support/aws.ts";
import { roleAnswer, rolesAnswer, ssoRole } from "../support/iam.ts";

let close = async () => {};
afterEach(() => close());

async function iam(answers: Answers) {
  const aws = await fakeAws(answers);
  close = aws.close;
  return aws;
}

const name = ssoRole.split("/").at(-1);
const session = `arn:aws:sts::123456789012:assumed-role/${name}/ada@example.com`;
const missing = new Refusal("NoSuchEntity");

describe("the role of a session", () => {
  const resolved = async (answers: Answers, ...arns: string[]) => rolesOf("--admin", arns, (await iam(answers)).config);

  test("has the path that IAM has, with the region of IAM Identity Center or without", async () => {
    expect(await resolved({ GetRole: roleAnswer(ssoRole) }, session)).toEqual({ arns: [ssoRole], problems: [] });
    await close();
    const home = ssoRole.replace("eu-central-1/", "");
    expect((await resolved({ GetRole: roleAnswer(home) }, session)).arns).toEqual([home]);
  });

  test("isn't looked up for roles, users and other values", async () => {
    const others = ["arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:user/b", "me"];
    const aws = await iam({});
    expect(await rolesOf("--admin", others, aws.config)).toEqual({ arns: others, problems: [] });
    expect(aws.asked).toEqual([]);
  });

  test.for([
    ["a role that IAM lacks", { GetRole: missing }, "IAM does not have", "log in again"],
    [
      "another account",
      { GetRole: roleAnswer(ssoRole.replace("123456789012", "999999999999")) },
      "account 999999999999",
      `--role-name ${name}`,
    ],
    ["a missing permission", { GetRole: new Refusal("AccessDenied") }, "AccessDenied", "iam:GetRole"],
    ["an expired login", { GetRole: new Refusal("ExpiredToken") }, "ExpiredToken", "aws sso login"],
  ] as const)("is a problem with %s", async ([, answers, what, remedy]) => {
    const { arns, problems } = await resolved(answers, session);
    expect(arns).toEqual([session]);
    expect(problems).toMatchObject([
      { key: "--admin", got: session, what: expect.stringContaining(what), remedy: expect.stringContaining(remedy) },
    ]);
  });
});

describe("a principal", () => {
  const standing = async (arn: string, answers: Answers) => standingOf(iamOf(arn, (await iam(answers)).config), arn);
  const old = ssoRole.replace("0123456789abcdef", "fedcba9876543210");

  test("exists with exactly its ARN", async () => {
    expect(await standing(ssoRole, { GetRole: roleAnswer(ssoRole) })).toEqual({ exists: true, successor: undefined });
    await close();
    const bare = `arn:aws:iam::123456789012:role/${name}`;
    expect(await standing(bare, { GetRole: roleAnswer(ssoRole) })).toEqual({ exists: false, successor: ssoRole });
  });

  test("has the new role of its permission set as successor", async () => {
    const roles = rolesAnswer(ssoRole.replace("Admins", "Readers"), ssoRole);
    expect(await standing(old, { GetRole: missing, ListRoles: roles })).toEqual({ exists: false, successor: ssoRole });
    await close();
    const others = rolesAnswer(ssoRole.replace("Admins", "Readers"));
    expect(await standing(old, { GetRole: missing, ListRoles: others })).toEqual({
      exists: false,
      successor: undefined,
    });
  });

  test("has no successor outside IAM Identity Center", async () => {
    const aws = await iam({ GetRole: missing, GetUser: missing });
    for (const arn of ["arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:user/b"])
      expect(await standingOf(iamOf(arn, aws.config), arn)).toEqual({ exists: false, successor: undefined });
    expect(aws.asked.map(({ operation }) => operation)).toEqual(["GetRole", "GetUser"]);
  });
});

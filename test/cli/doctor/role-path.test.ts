import { afterEach, describe, expect, test } from "vitest";
import { checkRolePath } from "../../../cli/doctor/role-path.ts";
import { type Answers, fakeAws, Refusal, result } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

async function look(rolePath: string, GetRole: Answers[string]) {
  const aws = await fakeAws({ GetRole });
  close = aws.close;
  const stack = await devStack();
  return checkRolePath({ ...stack, settings: { ...stack.settings, rolePath } }, aws.config);
}

const at = (path: string) =>
  result("GetRole", `<Role><RoleName>fleet-dev-hub-cluster</RoleName><Path>${path}</Path></Role>`);

describe("fleet doctor, path of roles", () => {
  test("is ok where the hub's roles have it, and before there are any", async () => {
    expect(await look("/company/", at("/company/"))).toMatchObject([{ status: "ok", message: "/company/" }]);
    await close();
    expect(await look("/company/", new Refusal("NoSuchEntity"))).toMatchObject([
      { status: "ok", message: "/company/; the hub has no roles yet" },
    ]);
  });

  test("is wrong where they have another one, which stays", async () => {
    expect(await look("/company/", at("/"))).toMatchObject([
      {
        status: "wrong",
        message: "is /company/, but the role fleet-dev-hub-cluster has the path /, which IAM can't change",
        todo: expect.stringContaining("pulumi config set rolePath /;"),
      },
    ]);
  });

  test("is unknown without the permission", async () => {
    expect(await look("/", new Refusal("AccessDenied"))).toMatchObject([
      { status: "unchecked", todo: "allow this identity iam:GetRole" },
    ]);
  });
});

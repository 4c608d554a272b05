import { afterEach, describe, expect, test } from "vitest";
import { checkBoundary } from "../../../cli/doctor/boundary.ts";
import { type Answers, fakeAws, Refusal, result } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const arn = "arn:aws:iam::123456789012:policy/company";

async function look(permissionsBoundary: string, answers: Answers = {}) {
  const aws = await fakeAws(answers);
  close = aws.close;
  const stack = await devStack();
  const found = await checkBoundary({ ...stack, settings: { ...stack.settings, permissionsBoundary } }, aws.config);
  return { found, asked: aws.asked };
}

describe("fleet doctor, permissions boundary", () => {
  test("is ok where the policy exists", async () => {
    const { found } = await look(arn, { GetPolicy: result("GetPolicy", `<Policy><Arn>${arn}</Arn></Policy>`) });
    expect(found).toMatchObject([{ status: "ok", message: `${arn} exists` }]);
  });

  test("is wrong where the account has no such policy", async () => {
    const { found } = await look(arn, { GetPolicy: new Refusal("NoSuchEntity") });
    expect(found).toMatchObject([
      { status: "wrong", message: `no policy ${arn}`, todo: expect.stringContaining("in this account") },
    ]);
  });

  test("is unknown without the permission, and no question without a boundary", async () => {
    const { found } = await look(arn, { GetPolicy: new Refusal("AccessDenied") });
    expect(found).toMatchObject([{ status: "unchecked", todo: "allow this identity iam:GetPolicy" }]);
    await close();
    expect(await look("")).toEqual({ found: [], asked: [] });
  });
});

import { afterEach, describe, expect, test } from "vitest";
import { checkLogin } from "../../../cli/doctor/login.ts";
import { type Answers, fakeAws, identity, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

const arn = "arn:aws:sts::111111111111:assumed-role/platform/me";

async function login(answers: Answers, { region = "eu-central-1", accounts = ["111111111111"] } = {}) {
  const aws = await fakeAws(answers);
  close = aws.close;
  const { known, findings } = await checkLogin(await devStack({ accounts }), { ...aws.config, region });
  const named = (name: string) => findings.find((finding) => finding.name === name);
  return { known, identity: named("identity"), account: named("account"), region: named("region") };
}
const me = { GetCallerIdentity: identity(arn, "111111111111") };

describe("fleet doctor, AWS login", () => {
  test("is ok when account and region are the stack's", async () => {
    expect(await login(me)).toMatchObject({
      known: true,
      identity: { status: "ok", message: arn },
      account: { status: "ok" },
      region: { status: "ok" },
    });
  });

  test("in an account that the stack does not allow is wrong; a stack that allows any is told of", async () => {
    const { account } = await login(me, { accounts: ["999999999999"] });
    expect(account).toMatchObject({ status: "wrong", message: expect.stringContaining("999999999999 only") });
    await close();
    expect((await login(me, { accounts: [] })).account).toMatchObject({
      status: "note",
      todo: expect.stringContaining('aws:allowedAccountIds: ["111111111111"]'),
    });
  });

  test("with another region than the stack's is wrong", async () => {
    const { region } = await login(me, { region: "us-east-1" });
    expect(region).toMatchObject({
      status: "wrong",
      todo: "export AWS_REGION=eu-central-1 AWS_DEFAULT_REGION=eu-central-1",
    });
  });

  test("as the root user is wrong", async () => {
    const { identity: who } = await login({
      GetCallerIdentity: identity("arn:aws:iam::111111111111:root", "111111111111"),
    });
    expect(who).toMatchObject({ status: "wrong", message: expect.stringContaining("root user") });
  });

  test("that has ended says so, and nothing else is asked", async () => {
    const { known, identity: who, account } = await login({ GetCallerIdentity: new Refusal("ExpiredToken") });
    expect(known).toBe(false);
    expect(who).toMatchObject({ status: "wrong", message: expect.stringContaining("ExpiredToken"), todo: /./ });
    expect(account).toBeUndefined();
  });

  test("that AWS does not answer is unknown, and no matter of credentials", async () => {
    const { findings } = await checkLogin(await devStack(), {
      endpoint: "http://127.0.0.1:9",
      region: "eu-central-1",
      credentials: { accessKeyId: "AKIATEST", secretAccessKey: "test" },
    });
    expect(findings[0]).toMatchObject({ status: "unchecked", message: expect.stringContaining("ECONNREFUSED") });
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Answers, fakeAws, identity, Refusal } from "../doctor/support/aws.ts";
import { roleAnswer, rolesAnswer, ssoRole } from "../support/iam.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
let close = async () => {};
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(async () => {
  at.remove();
  await close();
});

const file = "spokes/fleet/blue/spoke.yaml";
const old = ssoRole.replace("0123456789abcdef", "fedcba9876543210");
const missing = new Refusal("NoSuchEntity");
const me = { GetCallerIdentity: identity("arn:aws:sts::123456789012:assumed-role/a/b", "123456789012") };
const access = (admin: string, member = admin) =>
  `  admins:\n    - ${admin} # the platform team\n  teams:\n    - name: shop\n      namespaces: [shop]\n      members: [{ role: ${member}, access: view }]\n`;

async function renew(answers: Answers, ...argv: string[]) {
  const aws = await fakeAws({ ...me, ...answers });
  close = aws.close;
  vi.stubEnv("AWS_ENDPOINT_URL", aws.config.endpoint ?? "");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIATEST").stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  return at.run("renew-access", ...argv);
}

describe("fleet renew-access", () => {
  test("replaces the role of a permission set that was provisioned again, in admins and teams, and keeps comments", async () => {
    at.write(file, spokeText("blue", access(old)));
    const { code, said } = await renew({ GetRole: missing, ListRoles: rolesAnswer(ssoRole) });
    expect([code, said]).toEqual([0, expect.stringContaining(`replaced  ${old} by ${ssoRole}`)]);
    expect(said).toContain('git commit -m "Renew principals of spokes"');
    expect(at.read(file)).toContain(`- ${ssoRole} # the platform team`);
    expect(at.read(file)).toContain(`role: ${ssoRole}`);
    expect(at.read(file)).not.toContain(old);
  });

  test("changes nothing where every principal exists", async () => {
    at.write(file, spokeText("blue", access(ssoRole)));
    expect(await renew({ GetRole: roleAnswer(ssoRole) })).toEqual({ code: 0, said: "Nothing to change" });
    expect(at.read(file)).toBe(spokeText("blue", access(ssoRole)));
  });

  test("reports principals without a successor, and principals of other accounts", async () => {
    const elsewhere = ssoRole.replace("123456789012", "999999999999");
    at.write(file, spokeText("blue", access(old, elsewhere)));
    const { code, said } = await renew({ GetRole: missing, ListRoles: rolesAnswer() });
    expect(code).toBe(1);
    expect(said).toContain(`missing   ${old}`);
    expect(said).toContain(`unchecked ${elsewhere}: the credentials are for account 123456789012`);
    expect(at.read(file)).toBe(spokeText("blue", access(old, elsewhere)));
  });

  test("queries AWS for nothing where no Spoke names a principal", async () => {
    expect(await renew({ GetCallerIdentity: missing })).toEqual({
      code: 0,
      said: "Nothing to change: no Spoke names a principal",
    });
  });

  test("fails with the missing permission, and writes nothing", async () => {
    at.write(file, spokeText("blue", access(old)));
    const { code, said } = await renew({ GetRole: new Refusal("AccessDenied") });
    expect(code).toBe(1);
    expect(said).toContain("iam:GetRole");
    expect(at.read(file)).toBe(spokeText("blue", access(old)));
  });
});

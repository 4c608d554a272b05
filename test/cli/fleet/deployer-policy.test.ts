import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/fleet/deployer-policy.ts";
import { deployerPolicies } from "../../../lib/iam/deployer.ts";
import { printing } from "../support/printing.ts";

const flags = ["--fleet", "shop", "--account", "111122223333", "--region", "eu-central-1"];
const scope = {
  fleet: "shop",
  accountId: "111122223333",
  region: "eu-central-1",
  partition: "aws",
  dnsSuffix: "amazonaws.com",
};
const secretsKeyArn = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd";
const boundary = "arn:aws:iam::111122223333:policy/platform";

afterEach(() => vi.restoreAllMocks());

async function printed(argv: readonly string[]): Promise<string> {
  const { code, said } = await printing(() => run(argv));
  expect(code).toBe(0);
  return said;
}
const named = (policies: object) =>
  Object.fromEntries(Object.entries(policies).map(([name, document]) => [`shop-${name}`, document]));

describe("fleet deployer-policy", () => {
  test("prints what the program's own code says, with and without a boundary", async () => {
    expect(JSON.parse(await printed(flags))).toEqual(named(deployerPolicies(scope)));
    expect(JSON.parse(await printed([...flags, "--boundary", boundary]))).toEqual(
      named(deployerPolicies({ ...scope, permissionsBoundary: boundary })),
    );
  });

  test("names the hub's roles with the path of the stack", async () => {
    expect(JSON.parse(await printed([...flags, "--role-path", "/company/"]))).toEqual(
      named(deployerPolicies({ ...scope, rolePath: "/company/" })),
    );
    await expect(run([...flags, "--role-path", "company"])).rejects.toThrow("begins and ends with a slash");
  });

  test("lets the policy of the one key be changed that it is given", async () => {
    expect(JSON.parse(await printed([...flags, "--secrets-key", secretsKeyArn]))).toEqual(
      named(deployerPolicies({ ...scope, secretsKeyArn })),
    );
  });

  test.each([
    ["cn-northwest-1", "arn:aws-cn:", ".amazonaws.com.cn"],
    ["us-gov-west-1", "arn:aws-us-gov:", ".amazonaws.com"],
  ])("speaks of the partition of %s", async (region, arn, suffix) => {
    const text = await printed([...flags.slice(0, 4), "--region", region]);
    expect(text).toContain(`${arn}iam::111122223333:role/shop-hub-*`);
    expect(text).toContain(`secretsmanager.${region}${suffix}"`);
    expect(text).not.toContain("arn:aws:");
  });

  test("refuses a region that it does not know, unless it is said to be a new one", async () => {
    const unknown = [...flags.slice(0, 4), "--region", "eu-centrl-1"];
    await expect(run(unknown)).rejects.toThrow("did you mean eu-central-1? If not, correct it, or add --new-region");
    expect(await printed([...unknown, "--new-region"])).toContain("eu-centrl-1");
  });

  test("writes a file for each policy, and says how to create and attach them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fleet-deployer-policy-"));
    try {
      const text = await printed([...flags, "--out", join(folder, "policies")]);
      for (const [name, document] of Object.entries(named(deployerPolicies(scope)))) {
        const path = join(folder, "policies", `${name}.json`);
        expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(document);
        expect(text).toContain(`aws iam create-policy --policy-name ${name} --policy-document file://${path}`);
        const arn = `arn:aws:iam::111122223333:policy/${name}`;
        expect(text).toContain(`aws iam attach-role-policy --role-name <role> --policy-arn ${arn}`);
      }
      expect(readdirSync(join(folder, "policies"))).toHaveLength(4);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    [["--fleet", "Shop"], "fleet: has another form"],
    [["--fleet", "s".repeat(60)], "fleet: makes a name"],
    [["--fleet", "shop-hub"], "fleet: contains a word"],
    [["--account", "1234"], "account: has another form"],
    [["--region", "Frankfurt"], "region: has another form"],
    [["--boundary", "platform"], "boundary: has another form"],
    [["--secrets-key", "alias/shop-secrets"], "secrets-key: has another form"],
    [["--secrets-key", ""], "secrets-key: has another form"],
    [
      ["--secrets-key", secretsKeyArn.replace("111122223333", "222222222222")],
      "secrets-key: is not a key of the hub's account and region",
    ],
    [["--secrets-key", secretsKeyArn.replace("eu-central-1", "eu-west-1")], "eu-central-1:111122223333:key/<id>"],
    [
      ["--boundary", "arn:aws:iam::111122223333:policy/shop-boundary"],
      "boundary: is a policy that the deployer itself",
    ],
  ])("refuses %s, says why and prints nothing", async (change, problem) => {
    const log = vi.spyOn(console, "log");
    await expect(run([...flags, ...change])).rejects.toThrow(problem);
    expect(log).not.toHaveBeenCalled();
  });
});

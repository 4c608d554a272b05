import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { filesBelow } from "../../../cli/render/files.ts";
import { run } from "../../../cli/spoke/new-cluster.ts";
import { fakeAws } from "../doctor/support/aws.ts";
import { inNewCases } from "../support/cases.ts";
import { knownHosts } from "../support/fleet.ts";
import { roleAnswer, ssoRole } from "../support/iam.ts";
import { printed } from "../support/receivers.ts";
import { ctrlC, enter, typing } from "../support/terminal.ts";

/** A whole command, with its questions and what it makes of the answers. */

const { at, dev } = await inNewCases("fleet-prompt-", "gitops-system");
const files = () => filesBelow(at.checkout).map((file) => relative(at.checkout, file));
const argv = () => [
  ...["--fleet", "fleet", "--region", "eu-west-1", "--deploy-keys", "own", "--repository", at.checkout],
];
const named = { certificate: dev, "known-hosts": knownHosts };

describe("a command that asks", () => {
  test("does with the answers what it does with options", async () => {
    const { terminal, shown } = typing([`blue${enter}`, `dve${enter}`, `dev${enter}`, `payments${enter}`]);
    const ask = (full: readonly string[]) => run(full, undefined, terminal);
    const said = await printed(ask, at.kubeseal.program, argv(), named);
    expect(said).toContain("Wrote spokes/fleet/blue in");
    const { spec } = parse(readFileSync(join(at.checkout, "spokes/fleet/blue/spoke.yaml"), "utf8"));
    expect(spec).toMatchObject({ environment: "dev", tenant: "payments", region: "eu-west-1" });
    expect(shown()).toContain("did you mean dev?");
    expect(shown()).toMatch(/Without questions: fleet new-cluster blue .* --environment=dev --tenant=payments\n$/);
  });

  test("takes a session, and writes the role that IAM has with its path", async () => {
    const aws = await fakeAws({ GetRole: roleAnswer(ssoRole) });
    vi.stubEnv("AWS_ENDPOINT_URL", aws.config.endpoint ?? "");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIATEST").stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    const session = `arn:aws:sts::123456789012:assumed-role/${ssoRole.split("/").at(-1)}/ada@example.com`;
    const { terminal } = typing([`blue${enter}`, `dev${enter}`, `payments${enter}`]);
    const ask = (full: readonly string[]) => run(full, undefined, terminal);
    await printed(ask, at.kubeseal.program, [...argv(), "--admin", session], named);
    const { spec } = parse(readFileSync(join(at.checkout, "spokes/fleet/blue/spoke.yaml"), "utf8"));
    expect(spec.admins).toEqual([ssoRole]);
    vi.unstubAllEnvs();
    await aws.close();
  });

  test("writes nothing at Ctrl-C, and its exit code is 130", async () => {
    const before = files();
    const { terminal, shown } = typing([`blue${enter}`, `dev${enter}`, ctrlC]);
    expect(await run(argv(), undefined, terminal)).toBe(130);
    expect(files()).toEqual(before);
    expect(existsSync(join(at.checkout, "spokes/fleet/blue"))).toBe(false);
    expect(at.kubeseal.calls()).toEqual([]);
    expect(shown()).toMatch(/Nothing was written\.\n$/);
  });
});

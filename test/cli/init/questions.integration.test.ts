import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asked } from "../../../cli/init/questions.ts";
import { inNewProjects } from "../support/init.ts";
import { enter, typing } from "../support/terminal.ts";

const { base, at } = inNewProjects("fleet-init-questions-");
const knownHosts = join(base, "known_hosts");
const [admin, viewer, other] = ["team", "preview", "main"].map((name) => `arn:aws:iam::123456789012:role/${name}`);

async function ask(answers: readonly string[], ...more: readonly string[]) {
  const { request } = at;
  writeFileSync(knownHosts, request.knownHosts ?? "");
  const argv = [
    ...[request.folder, "--stack", "pilot", "--fleet", "pilot", "--environment", "dev", "--account", request.account],
    ...["--region", request.region, "--system-url", request.systemUrl, "--workloads-url", request.workloadsUrl],
    ...["--known-hosts", knownHosts, "--public-access-cidr", "1.2.3.4/32", ...more],
  ];
  const { terminal, shown, left } = typing(answers);
  const full = await asked(at.project, argv, terminal);
  return { added: full.slice(argv.length), shown: shown(), left: left() };
}

describe("fleet init on a terminal", () => {
  test("prompts for the administrators and viewers of the hub", async () => {
    const { added, shown } = await ask([`${admin}${enter}`, `${viewer}, ${other}${enter}`]);
    expect(added).toEqual([`--admin=${admin}`, `--viewer=${viewer}`, `--viewer=${other}`]);
    expect(shown).toContain("ARNs of IAM roles or users that administer the hub");
  });

  test("takes none of them for an empty answer", async () => {
    const { added, shown } = await ask([enter, enter]);
    expect(added).toEqual([]);
    expect(shown).toContain("--no-input");
  });

  test("prompts again after a principal that can't be one, and for a viewer who administers the hub", async () => {
    const { added, shown, left } = await ask([`me${enter}`, `${admin}${enter}`, `${admin}${enter}`, enter]);
    expect(added).toEqual([`--admin=${admin}`]);
    expect(shown).toMatch(/--admin: [\s\S]*got: +.*me/);
    expect(shown).toContain("--viewer: names an administrator of the hub");
    expect(left).toEqual([]);
  });

  test("prompts for nothing that the command line has, and for nothing with --no-input", async () => {
    expect((await ask([], "--admin", admin ?? "", "--viewer", viewer ?? "")).shown).toBe("");
    expect((await ask([], "--no-input")).shown).toBe("");
  });
});

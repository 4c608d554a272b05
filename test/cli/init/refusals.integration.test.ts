import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../cli/init/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { inNewProjects } from "../support/init.ts";

const { base, at, make, refusal, stackFile } = inNewProjects("fleet-init-refusals-");

describe("fleet init refuses", () => {
  test("every problem at once, by flag, and writes nothing", async () => {
    const message = await refusal({
      folder: join(at.project, "inside"),
      stack: "acme/pilot",
      fleet: "pilot-hub",
      environment: "nowhere",
      spokeEnvironments: ["nowhere"],
      account: "12",
      region: "Ireland",
      systemUrl: "git@github.com:acme/gitops-system.git",
      workloadsUrl: "https://github.com/acme/gitops-workloads.git",
      sampleAppUrl: "https://github.com/other/app.git",
      knownHosts: undefined,
      publicAccessCidrs: ["0.0.0.0/0"],
      admins: ["me"],
      viewers: ["you"],
      example: "none",
      boundary: "arn:aws:iam::123456789012:policy/pilot-hub-boundary",
    });
    const flags = ["<folder>", "--stack", "--fleet", "--spoke-environment", "--account", "--region", "--system-url"];
    const more = [
      ...["--workloads-url", "--sample-app-url", "--public-access-cidr", "--admin"],
      ...["--viewer", "--example", "--boundary"],
    ];
    for (const flag of [...flags, ...more]) expect(message).toMatch(new RegExp(`^ +\\d+\\. ${flag}: `, "m"));
    expect(message).not.toContain("pulumi config set");
    expect(existsSync(at.request.folder)).toBe(false);
    expect(existsSync(stackFile())).toBe(false);
  });

  test("a call without flags, and tells each that is missing", async () => {
    const nothing = { stack: "", fleet: "", environment: "", spokeEnvironments: [""], account: "", region: "" };
    const message = await refusal({
      ...nothing,
      systemUrl: "",
      workloadsUrl: "",
      knownHosts: undefined,
      publicAccessCidrs: [],
    });
    const flags = [
      ...["--stack", "--fleet", "--environment", "--account", "--region", "--system-url"],
      ...["--workloads-url", "--public-access-cidr"],
    ];
    for (const flag of flags) expect(message).toMatch(new RegExp(`^ +\\d+\\. ${flag}: `, "m"));
    expect(message).toContain(`${flags.length} problems`);
  });

  test("a region that it does not know, with what was probably meant, unless it is said to be a new one", async () => {
    const message = await refusal({ region: "eu-centrl-1" });
    expect(message).toMatch(
      /--region: is none of the AWS regions[\s\S]*did you mean eu-central-1\?[\s\S]*--new-region/,
    );
    expect(existsSync(at.request.folder)).toBe(false);
    await make({ region: "eu-south-9", newRegion: true });
    expect(existsSync(stackFile())).toBe(true);
  });

  test("to commit as nobody, before anything is written", async () => {
    writeFileSync(at.env["GIT_CONFIG_GLOBAL"] ?? "", "");
    const message = await refusal({ account: "12" });
    expect(message).toMatch(/git: has no complete Git identity/);
    expect(message).toContain("git config --global user.name");
    expect(message).toContain("--account");
    expect(existsSync(at.request.folder)).toBe(false);
  });

  test("to go on where the commit is refused, says why and leaves no half repository", async () => {
    const hooks = join(base, "hooks");
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, "pre-commit"), "#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n");
    chmodSync(join(hooks, "pre-commit"), 0o755);
    execFileSync("git", ["config", "--global", "core.hooksPath", hooks], { env: at.env });
    await expect(make()).rejects.toThrow(/git commit failed .*not on a Sunday/);
    expect(readdirSync(at.request.folder)).toEqual([]);
    expect(existsSync(stackFile())).toBe(false);
  });

  test("a private endpoint in a VPC that does not exist yet, with or without networks to be connected, and tells both ways", async () => {
    for (const privateAccessCidrs of [[], ["10.30.0.0/16"]]) {
      const message = await refusal({ example: "prod", publicAccessCidrs: [], privateAccessCidrs });
      expect(message).toMatch(/1 problem\b/);
      expect(message).toMatch(/--public-access-cidr: is missing, and pulumi up would create the VPC/);
      for (const way of [
        "--vpc-id, --private-subnet-id and --private-access-cidr",
        "docs/guides/deploy.md#private-endpoints",
      ])
        expect(message).toContain(way);
    }
    expect(existsSync(stackFile())).toBe(false);
  });

  test("a private endpoint that the runner in the VPC could not use, and a VPC that is both made and there", async () => {
    const message = await refusal({
      example: "prod",
      publicAccessCidrs: [],
      vpcId: "vpc-0123456789abcdef0",
      vpcCidr: "10.0.0.0/16",
      privateSubnetIds: ["subnet-0123456789abcdef0"],
      egressCidrs: ["10.0.0.1/32"],
    });
    for (const flag of ["--private-access-cidr", "--vpc-cidr", "--private-subnet-id", "--egress-cidr"])
      expect(message).toMatch(new RegExp(`^ +\\d+\\. ${flag}: `, "m"));
    expect(message).toContain("4 problems");
    expect(message).not.toContain("pulumi config set");
  });

  test("to commit as somebody whom only the checkout, or a repository around the folder, knows", async () => {
    writeFileSync(at.env["GIT_CONFIG_GLOBAL"] ?? "", "[user]\n\tuseConfigOnly = false\n");
    for (const repository of [at.project, dirname(at.request.folder)]) {
      execFileSync("git", ["-C", repository, "init", "--quiet"], { env: at.env });
      for (const [key, value] of [
        ["user.name", "Ada"],
        ["user.email", "ada@example.com"],
      ] as const)
        execFileSync("git", ["-C", repository, "config", key, value], { env: at.env });
    }
    expect(await refusal({})).toMatch(/git: has no complete Git identity/);
    expect(readdirSync(dirname(at.request.folder)).filter((name) => name.startsWith(".fleet"))).toEqual([]);
  });

  test.each(["--known-hosts", "--ca-file"])("a file for %s that is not there, by the flag", async (flag) => {
    const calling = run([at.request.folder, flag, join(base, "nowhere")]);
    await expect(calling).rejects.toBeInstanceOf(UsageError);
    await expect(calling).rejects.toThrow(new RegExp(`${flag}: names a file that does not exist\\n.*nowhere`));
  });
});

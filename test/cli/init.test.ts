import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { check } from "../../cli/check/check.ts";
import { runner } from "../../cli/doctor/process.ts";
import { readStack } from "../../cli/doctor/stack.ts";
import { readFiles } from "../../cli/folder.ts";
import { nextSteps } from "../../cli/init/next.ts";
import { contentNames } from "../../cli/init/repositories.ts";
import type { InitRequest } from "../../cli/init/request.ts";
import { init } from "../../cli/init/write.ts";
import { UsageError } from "../../cli/usage.ts";
import { buildText } from "../repos/support/kustomize.ts";
import { noPrograms } from "./doctor/support/programs.ts";
import { root } from "./support/fleet.ts";
import { newProject } from "./support/init.ts";
import { found } from "./support/seeds.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-init-"));
afterAll(() => rmSync(base, { recursive: true }));

let project: string;
let request: InitRequest;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  ({ project, request, env } = newProject(base));
});

const make = (change: Partial<InitRequest> = {}) => init(project, { ...request, ...change }, runner(project, env));
const refusal = (change: Partial<InitRequest>) =>
  make(change).then(
    () => expect.fail("it was not refused"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(UsageError);
      return (error as Error).message;
    },
  );
const inFolder = (...path: string[]) => join(request.folder, ...path);
const git = (repository: string, ...args: string[]) =>
  execFileSync("git", ["-C", inFolder(repository), ...args], { encoding: "utf8", env }).trim();
const stackFile = () => join(project, "stacks", "Pulumi.pilot.yaml");
const config = () => parse(readFileSync(stackFile(), "utf8")).config as Record<string, unknown>;
const named = (parts: Awaited<ReturnType<typeof make>>) =>
  Object.fromEntries(parts.map(({ path, ...part }) => [path.split("/").at(-1), part]));

describe("fleet init", () => {
  test("writes both repositories ready to be pushed: branch main, one commit by you, origin, nothing left over", async () => {
    await make();
    expect(readdirSync(request.folder).sort()).toEqual(["gitops-system", "gitops-workloads"]);
    for (const name of ["gitops-system", "gitops-workloads"]) {
      expect(git(name, "symbolic-ref", "--short", "HEAD")).toBe("main");
      expect(git(name, "log", "--format=%an <%ae>")).toBe("Ada <ada@example.com>");
      expect(git(name, "remote", "get-url", "origin")).toBe(`ssh://git@github.com/acme/${name}.git`);
      expect(git(name, "status", "--porcelain", "--ignored")).toBe("");
    }
  });

  test("writes the content that the local stack publishes, and the fleet's own folders", async () => {
    await make({ sampleAppUrl: "ssh://git@github.com/acme/payment-app-manifests.git" });
    expect(readdirSync(request.folder).sort()).toEqual((await contentNames(project)).sort());
    for (const name of await contentNames(project)) {
      const written = Object.entries(await readFiles(inFolder(name))).filter(([path]) => !path.startsWith(".git/"));
      const published = await readFiles(join(root, "repos", name));
      expect(Object.fromEntries(written)).toMatchObject(published);
      const own = written.map(([path]) => path).filter((path) => !(path in published));
      expect(own.sort()).toEqual(
        name === "gitops-system" ? ["clusters/pilot/kustomization.yaml", "spokes/pilot/README.md"] : [],
      );
    }
  });

  test("writes repositories in which fleet check finds nothing", async () => {
    await make({ sampleAppUrl: "ssh://git@github.com/acme/payment-app-manifests.git" });
    const report = check({ repos: request.folder, build: buildText });
    expect(found(report, request.folder)).toEqual([]);
    expect(report.clusters).toContain("hub");
  });

  test.each(["dev", "prod"])(
    "writes a stack file after %s that is complete and has nothing of somebody else's",
    async (example) => {
      await make({ example, admins: ["arn:aws:iam::123456789012:role/team"] });
      const { stack, findings } = await readStack({ root: project, stack: "pilot", configFile: undefined }, noPrograms);
      expect(findings).toMatchObject([{ status: "ok" }]);
      expect(stack).toMatchObject({
        region: "eu-west-1",
        accounts: ["123456789012"],
        settings: { fleet: "pilot", gitopsSystemRepoRevision: "main", endpointPublicAccess: true },
      });
      expect(readFileSync(stackFile(), "utf8")).not.toMatch(
        /example|111111111111|222222222222|203\.0\.113|10\.20\.|cost-center|fleet-(dev|prod)/,
      );
      expect(config()["eks-gitops-fleet:sealingKeys"]).toEqual([{ scope: "dev", generation: "1", active: true }]);
    },
  );

  test("takes a boundary, networks and the function's package, and a private endpoint only from prod", async () => {
    await make({
      example: "prod",
      publicAccessCidrs: [],
      privateAccessCidrs: ["10.30.0.0/16"],
      boundary: "arn:aws:iam::123456789012:policy/limits",
      functionPackage: "ghcr.io/acme/function-spoke",
    });
    const keys = config();
    expect(keys["eks-gitops-fleet:endpointPublicAccess"]).toBe(false);
    expect(keys["eks-gitops-fleet:endpointPrivateAccessCidrs"]).toEqual(["10.30.0.0/16"]);
    expect(keys["eks-gitops-fleet:permissionsBoundary"]).toBe("arn:aws:iam::123456789012:policy/limits");
    expect(keys["eks-gitops-fleet:functionPackage"]).toBe("ghcr.io/acme/function-spoke");
  });

  test("tells every mistake at once, by flag, and writes nothing", async () => {
    const message = await refusal({
      folder: join(project, "inside"),
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
      example: "none",
      boundary: "arn:aws:iam::123456789012:policy/pilot-hub-boundary",
    });
    const flags = ["<folder>", "--stack", "--fleet", "--spoke-environment", "--account", "--region", "--system-url"];
    const more = ["--workloads-url", "--sample-app-url", "--public-access-cidr", "--admin", "--example", "--boundary"];
    for (const flag of [...flags, ...more]) expect(message).toMatch(new RegExp(`^ +\\d+\\. ${flag}: `, "m"));
    expect(message).not.toContain("pulumi config set");
    expect(existsSync(request.folder)).toBe(false);
    expect(existsSync(stackFile())).toBe(false);
  });

  test("tells every flag that is missing", async () => {
    const nothing = { stack: "", fleet: "", environment: "", spokeEnvironments: [""], account: "", region: "" };
    const message = await refusal({
      ...nothing,
      systemUrl: "",
      workloadsUrl: "",
      knownHosts: undefined,
      publicAccessCidrs: [],
    });
    const flags = [
      "--stack",
      "--fleet",
      "--environment",
      "--account",
      "--region",
      "--system-url",
      "--workloads-url",
      "--public-access-cidr",
    ];
    for (const flag of flags) expect(message).toMatch(new RegExp(`^ +\\d+\\. ${flag}: `, "m"));
    expect(message).toContain(`${flags.length} mistakes`);
  });

  test("refuses to commit as nobody, before anything is written", async () => {
    writeFileSync(env["GIT_CONFIG_GLOBAL"] ?? "", "");
    const message = await refusal({ account: "12" });
    expect(message).toMatch(/git: does not know who commits/);
    expect(message).toContain("git config --global user.name");
    expect(message).toContain("--account");
    expect(existsSync(request.folder)).toBe(false);
  });

  test("changes nothing when it is run again, also after Pulumi has added what it needs", async () => {
    await make();
    const heads = () => ["gitops-system", "gitops-workloads"].map((name) => git(name, "rev-parse", "HEAD"));
    const before = heads();
    const text = `secretsprovider: awskms://alias/pulumi\nencryptedkey: abc\n${readFileSync(stackFile(), "utf8")}`;
    writeFileSync(stackFile(), text);
    for (const part of await make()) expect(part).toMatchObject({ made: false, differences: [] });
    expect(heads()).toEqual(before);
    expect(readFileSync(stackFile(), "utf8")).toBe(text);
    expect(readdirSync(join(project, "stacks")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("leaves what is there as it is, and says what it would write otherwise", async () => {
    await make();
    writeFileSync(inFolder("gitops-system", "README.md"), "ours\n");
    rmSync(inFolder("gitops-system", "platform", "api", "rbac.yaml"));
    writeFileSync(inFolder("gitops-system", "spokes", "pilot", "more.md"), "ours\n");
    const parts = named(await make({ workloadsUrl: "ssh://git@github.com/acme/workloads.git", region: "eu-north-1" }));
    expect(parts["gitops-system"]).toEqual({
      made: false,
      differences: ["README.md is another one", "platform/api/rbac.yaml is not there"].sort(),
    });
    expect(parts["gitops-workloads"]?.differences).toEqual([
      "origin is ssh://git@github.com/acme/gitops-workloads.git, would be ssh://git@github.com/acme/workloads.git",
    ]);
    expect(parts["Pulumi.pilot.yaml"]?.differences).toEqual([
      'aws:region: is "eu-west-1", would be "eu-north-1"',
      expect.stringContaining("eks-gitops-fleet:gitopsWorkloadsRepoUrl: is "),
    ]);
    expect(readFileSync(inFolder("gitops-system", "README.md"), "utf8")).toBe("ours\n");
    expect(config()["aws:region"]).toBe("eu-west-1");
  });

  test("never writes over a stack that is there, such as an example", async () => {
    const file = join(project, "stacks", "Pulumi.dev.yaml");
    const before = readFileSync(file, "utf8");
    const parts = named(await make({ stack: "dev" }));
    expect(parts["Pulumi.dev.yaml"]).toMatchObject({ made: false });
    expect(parts["Pulumi.dev.yaml"]?.differences.length).toBeGreaterThan(0);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("takes a folder that is no repository for somebody else's, and an empty one for a place to write", async () => {
    mkdirSync(inFolder("gitops-system"), { recursive: true });
    mkdirSync(inFolder("gitops-workloads"));
    writeFileSync(inFolder("gitops-workloads", "notes.txt"), "ours\n");
    const parts = named(await make());
    expect(parts["gitops-system"]).toEqual({ made: true, differences: [] });
    expect(parts["gitops-workloads"]?.differences).toContain("it is no Git repository");
    expect(readdirSync(inFolder("gitops-workloads"))).toEqual(["notes.txt"]);
  });

  test("finishes what an interrupted run has begun, and leaves nothing of that behind", async () => {
    const partial = inFolder(".gitops-system.partial");
    mkdirSync(join(partial, ".git"), { recursive: true });
    writeFileSync(join(partial, "stray.yaml"), "half: ");
    writeFileSync(join(project, "stacks", ".Pulumi.pilot.yaml.partial"), "half: ");
    const parts = await make();
    expect(parts.map(({ made }) => made)).toEqual([true, true, true]);
    expect(readdirSync(request.folder).sort()).toEqual(["gitops-system", "gitops-workloads"]);
    expect(existsSync(inFolder("gitops-system", "stray.yaml"))).toBe(false);
    expect(readdirSync(join(project, "stacks")).filter((name) => name.startsWith("."))).toEqual([]);
    rmSync(inFolder("gitops-workloads"), { recursive: true });
    expect((await make()).map(({ made }) => made)).toEqual([false, true, false]);
  });

  test("leaves no half repository where the commit is refused, and says why", async () => {
    const hooks = join(base, "hooks");
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, "pre-commit"), "#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n");
    chmodSync(join(hooks, "pre-commit"), 0o755);
    execFileSync("git", ["config", "--global", "core.hooksPath", hooks], { env });
    await expect(make()).rejects.toThrow(/git commit failed .*not on a Sunday/);
    expect(readdirSync(request.folder)).toEqual([]);
    expect(existsSync(stackFile())).toBe(false);
  });

  test("commits every file, whatever your own ignore file says", async () => {
    const ignore = join(base, "ignore");
    writeFileSync(ignore, "*.yaml\n");
    execFileSync("git", ["config", "--global", "core.excludesFile", ignore], { env });
    await make();
    expect(git("gitops-system", "ls-files")).toContain("clusters/pilot/kustomization.yaml");
  });

  test("leaves a token to be set as a secret, and is content without it until then", async () => {
    const https = {
      systemUrl: "https://github.com/acme/gitops-system.git",
      workloadsUrl: "https://github.com/acme/gitops-workloads.git",
      gitAuthentication: "token",
      knownHosts: undefined,
    };
    await make(https);
    expect(config()["eks-gitops-fleet:gitAuthentication"]).toBe("token");
    const steps = nextSteps({ ...request, ...https });
    expect(steps).toContain("pulumi config set --secret gitToken");
    expect(steps).not.toContain("deploy-key");
  });

  test("ends with the commands that come next, which fit the Git host", async () => {
    await make();
    const steps = nextSteps(request);
    for (const step of [
      "push --set-upstream origin main",
      "pulumi stack init pilot",
      "fleet doctor --stack pilot",
      "pulumi up",
    ])
      expect(steps).toContain(step);
    expect(steps).toContain("--repo acme/gitops-system --title pilot-hub");
    expect(nextSteps({ ...request, systemUrl: "ssh://git@git.example.com/acme/gitops-system.git" })).toContain(
      `jq -r '."gitops-system"'   # at ssh://git@git.example.com/acme/gitops-system.git`,
    );
    expect(steps).not.toContain("new-fleet");
  });

  test("names the folders that a further fleet needs in a gitops-system that is there", async () => {
    await make();
    const further = { ...request, fleet: "second", stack: "second" };
    const parts = named(await make(further));
    expect(parts["gitops-system"]?.differences).toContain("clusters/second/kustomization.yaml is not there");
    expect(parts["Pulumi.second.yaml"]).toEqual({ made: true, differences: [] });
    expect(nextSteps(further)).toContain("npx fleet new-fleet second");
  });
});

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nextSteps } from "../../../cli/init/next.ts";
import { byToken, inNewProjects } from "../support/init.ts";

const { at, make, inFolder, git, stackFile, config, named } = inNewProjects("fleet-init-again-");

describe("fleet init where something is there already", () => {
  test("changes nothing when it is run again, also after Pulumi has added what it needs", async () => {
    await make();
    const heads = () => ["gitops-system", "gitops-workloads"].map((name) => git(name, "rev-parse", "HEAD"));
    const before = heads();
    const text = `secretsprovider: awskms://alias/pulumi\nencryptedkey: abc\n${readFileSync(stackFile(), "utf8")}`;
    writeFileSync(stackFile(), text);
    for (const part of await make()) expect(part).toMatchObject({ made: false, differences: [] });
    expect(heads()).toEqual(before);
    expect(readFileSync(stackFile(), "utf8")).toBe(text);
    expect(readdirSync(join(at.project, "stacks")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("changes nothing after the steps that it printed, which set secrets, and shows none of what it does not know", async () => {
    await make(byToken);
    const again = async (...lines: string[]) => {
      appendFileSync(stackFile(), lines.map((line) => `  ${line}\n`).join(""));
      return named(await make(byToken))["Pulumi.pilot.yaml"]?.differences;
    };
    expect(
      await again("eks-gitops-fleet:gitToken:", "  secure: v1:abc", "eks-gitops-fleet:tenant: { secure: v1:def }"),
    ).toEqual([]);
    expect(await again("eks-gitops-fleet:githubAppPrivateKey: in-plain-text")).toEqual([]);
    expect(await again("aws:secretKey: in-plain-text", "eks-gitops-fleet:nodeDiskSize: 80")).toEqual([
      "aws:secretKey: is (not shown), would be not set",
      "eks-gitops-fleet:nodeDiskSize: is 80, would be not set",
    ]);
  });

  test("keeps the tags of the provider in the example, and those that the stack's owner writes", async () => {
    const example = join(at.project, "stacks", "Pulumi.dev.yaml");
    const tags = "  aws:defaultTags:\n    tags:\n      cost-center: platform\n";
    writeFileSync(example, readFileSync(example, "utf8").replace("config:\n", `config:\n${tags}`));
    await make();
    expect(config()["aws:defaultTags"]).toEqual({ tags: { "cost-center": "platform" } });
    writeFileSync(stackFile(), readFileSync(stackFile(), "utf8").replace("cost-center: platform", "owner: us"));
    expect(named(await make())["Pulumi.pilot.yaml"]?.differences).toEqual([]);
    expect(config()["aws:defaultTags"]).toEqual({ tags: { owner: "us" } });
  });

  test("leaves what is there as it is, and says what it would write otherwise", async () => {
    await make();
    writeFileSync(inFolder("gitops-system", "README.md"), "ours\n");
    rmSync(inFolder("gitops-system", "platform", "api", "protection.yaml"));
    writeFileSync(inFolder("gitops-system", "spokes", "pilot", "more.md"), "ours\n");
    const parts = named(await make({ workloadsUrl: "ssh://git@github.com/acme/workloads.git", region: "eu-north-1" }));
    expect(parts["gitops-system"]).toEqual({
      made: false,
      differences: ["README.md differs", "platform/api/protection.yaml is missing"].sort(),
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
    const file = join(at.project, "stacks", "Pulumi.dev.yaml");
    const before = readFileSync(file, "utf8");
    const parts = named(await make({ stack: "dev" }));
    expect(parts["Pulumi.dev.yaml"]).toMatchObject({ made: false });
    expect(parts["Pulumi.dev.yaml"]?.differences.length).toBeGreaterThan(0);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("takes a folder that is not a repository for somebody else's, and an empty one for a place to write", async () => {
    mkdirSync(inFolder("gitops-system"), { recursive: true });
    mkdirSync(inFolder("gitops-workloads"));
    writeFileSync(inFolder("gitops-workloads", "notes.txt"), "ours\n");
    const parts = named(await make());
    expect(parts["gitops-system"]).toEqual({ made: true, differences: [] });
    expect(parts["gitops-workloads"]?.differences).toContain("it is not a Git repository");
    expect(readdirSync(inFolder("gitops-workloads"))).toEqual(["notes.txt"]);
  });

  test("finishes what an interrupted run has begun, and leaves nothing of that behind", async () => {
    const partial = inFolder(".gitops-system.partial");
    mkdirSync(join(partial, ".git"), { recursive: true });
    writeFileSync(join(partial, "stray.yaml"), "half: ");
    writeFileSync(join(at.project, "stacks", ".Pulumi.pilot.yaml.partial"), "half: ");
    const parts = await make();
    expect(parts.map(({ made }) => made)).toEqual([true, true, true]);
    expect(readdirSync(at.request.folder).sort()).toEqual(["gitops-system", "gitops-workloads"]);
    expect(existsSync(inFolder("gitops-system", "stray.yaml"))).toBe(false);
    expect(readdirSync(join(at.project, "stacks")).filter((name) => name.startsWith("."))).toEqual([]);
    rmSync(inFolder("gitops-workloads"), { recursive: true });
    expect((await make()).map(({ made }) => made)).toEqual([false, true, false]);
  });

  test("names the folders that a further fleet needs in a gitops-system that is there", async () => {
    await make();
    const further = { ...at.request, fleet: "second", stack: "second" };
    const parts = named(await make(further));
    expect(parts["gitops-system"]?.differences).toContain("clusters/second/kustomization.yaml is missing");
    expect(parts["Pulumi.second.yaml"]).toEqual({ made: true, differences: [] });
    expect(nextSteps(further)).toContain("fleet new-fleet second");
  });
});

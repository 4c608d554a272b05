import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Ended, Run } from "../../../cli/doctor/process.ts";
import { run } from "../../../cli/node-releases/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { root } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

const base = temporaryFolder("fleet-node-releases");
const composition = join("platform", "composition", "composition.yaml");
const committed = readFileSync(join(root, "repos", "gitops-system", composition), "utf8");
let checkout: string;
let project: string;
beforeEach(() => {
  checkout = mkdtempSync(join(base, "checkout-"));
  mkdirSync(join(checkout, dirname(composition)), { recursive: true });
  writeFileSync(join(checkout, composition), committed);
  project = mkdtempSync(join(base, "project-"));
  cpSync(join(root, "stacks"), join(project, "stacks"), { recursive: true });
  cpSync(join(root, "Pulumi.yaml"), join(project, "Pulumi.yaml"));
});

const file = () => readFileSync(join(checkout, composition), "utf8");
const table = () => parse(file()).spec.pipeline[0].input.kubernetesVersions;
const labels = () => parse(file()).metadata.labels;

/** Lines that one text has and the other has not. */
const added = (before: string, after: string) => after.split("\n").filter((line) => !before.split("\n").includes(line));

/** AWS with a release of each Kubernetes version, named after a day; what it was asked is kept. */
function aws(day = "20261118", has: (name: string) => boolean = () => true) {
  const asked: (readonly string[])[] = [];
  const program: Run = async (name, args) => {
    expect(name).toBe("aws");
    asked.push(args);
    const names = args.slice(args.indexOf("--names") + 1);
    const value = (parameter: string) => `${parameter.split("/")[5]}.9-${day}`;
    const Parameters = names.filter(has).map((Name) => ({ Name, Value: value(Name) }));
    return { code: 0, stdout: JSON.stringify({ Parameters, InvalidParameters: [] }), stderr: "" };
  };
  return { asked, program };
}

const releases = (args: readonly string[], program: Run = aws().program) => printing(() => run(args, project, program));
const ofSpokes = (args: readonly string[] = [], program?: Run) =>
  releases(["--repository", checkout, ...args], program);

describe("fleet node-releases, of spokes", () => {
  test("writes the newest release of each Kubernetes version and AMI type, and leaves every other line, comments too", async () => {
    const { code, said } = await ofSpokes();
    expect(code).toBe(0);
    expect(said).toContain("Kubernetes 1.35, AL2023_ARM_64_STANDARD: none -> 1.35.9-20261118");
    for (const [version, entry] of Object.entries<Record<string, unknown>>(table()))
      expect(entry["nodes"]).toEqual({
        AL2023_x86_64_STANDARD: `${version}.9-20261118`,
        AL2023_ARM_64_STANDARD: `${version}.9-20261118`,
      });
    expect(added(file(), committed)).toEqual(['          "1.37": {}']);
    expect(added(committed, file())).toHaveLength(3 * 3 + 1);
  });

  test("raises those of NVIDIA and Bottlerocket AMIs that the Composition names, each by its own order", async () => {
    const named = { BOTTLEROCKET_x86_64: "1.9.0-0d9ac849", AL2023_x86_64_NVIDIA: "1.35.2-20261001" };
    const whole = parse(committed);
    Object.assign(whole.spec.pipeline[0].input.kubernetesVersions["1.35"], { nodes: named });
    writeFileSync(join(checkout, composition), JSON.stringify(whole));
    const { asked, program } = aws();
    const bottlerocket = "/aws/service/bottlerocket/aws-k8s-1.35/x86_64/latest/image_version";
    const withBottlerocket: Run = async (name, args, ...more) => {
      const ended = (await program(name, args, ...more)) as Ended;
      const { Parameters } = JSON.parse(ended.stdout);
      const known = Parameters.map((each: { Name: string }) =>
        each.Name === bottlerocket ? { ...each, Value: "1.54.0-5d9ac849" } : each,
      );
      return { ...ended, stdout: JSON.stringify({ Parameters: known }) };
    };
    await ofSpokes([], withBottlerocket);
    expect(table()["1.35"].nodes).toEqual({
      AL2023_x86_64_STANDARD: "1.35.9-20261118",
      AL2023_ARM_64_STANDARD: "1.35.9-20261118",
      AL2023_x86_64_NVIDIA: "1.35.9-20261118",
      BOTTLEROCKET_x86_64: "1.54.0-5d9ac849",
    });
    expect(Object.keys(table()["1.36"].nodes)).toHaveLength(2);
    expect(asked.flat()).toContain(
      "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/release_version",
    );
  });

  test("asks AWS for the public parameters of EKS, in the region that is named", async () => {
    const { asked, program } = aws();
    await ofSpokes(["--region", "eu-west-1"], program);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.slice(0, 7)).toEqual([
      ...["ssm", "get-parameters", "--output", "json", "--region", "eu-west-1", "--names"],
    ]);
    expect(asked[0]).toContain(
      "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/release_version",
    );
  });

  test("a second run changes nothing, and a release that is newer in Git stays, also where the patch seems older", async () => {
    await ofSpokes();
    const once = file();
    expect(await ofSpokes()).toEqual({ code: 0, said: "Every release is the newest: nothing to do." });
    await ofSpokes([], aws("20261002").program);
    expect(file()).toBe(once);
  });

  test("with --check writes nothing, and says by its exit code whether there is something", async () => {
    expect((await ofSpokes(["--check"])).code).toBe(1);
    expect(file()).toBe(committed);
    await ofSpokes();
    expect((await ofSpokes(["--check"])).code).toBe(0);
  });

  test("lets the environments of --channel have them first", async () => {
    const { said } = await ofSpokes(["--channel", "dev"]);
    expect(labels()).toMatchObject({ "channel.fleet.internal/dev": "true", "channel.fleet.internal/prod": "false" });
    expect(said).toContain("channel prod: takes this when its label is true again");
  });

  test("touches no channel without a release to raise, and refuses one that the Composition has not", async () => {
    await expect(ofSpokes(["--channel", "qa"])).rejects.toThrow(
      "--channel qa: the Composition has the channels dev, prod",
    );
    expect(file()).toBe(committed);
    await ofSpokes();
    await ofSpokes(["--channel", "dev"]);
    expect(labels()).toMatchObject({ "channel.fleet.internal/prod": "true" });
  });
});

describe("fleet node-releases, of a hub", () => {
  const stackFile = () => readFileSync(join(project, "stacks", "Pulumi.dev.yaml"), "utf8");

  test("writes the release of the stack's Kubernetes version and processor, from the stack's region", async () => {
    const before = stackFile();
    const { asked, program } = aws();
    const { said } = await releases(["--stack", "dev"], program);
    expect(asked[0]?.slice(4)).toEqual([
      "--region",
      "eu-central-1",
      "--names",
      "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/release_version",
    ]);
    expect(said).toBe("hub of stack dev: none -> 1.36.9-20261118");
    expect(added(stackFile(), before)).toEqual([]);
    expect(parse(stackFile()).config["eks-gitops-fleet:nodeReleaseVersion"]).toBe("1.36.9-20261118");
    expect((await releases(["--stack", "dev"])).said).toBe("Every release is the newest: nothing to do.");
  });

  test("keeps the rest of the file to the letter where a release stands already", async () => {
    const path = join(project, "stacks", "Pulumi.dev.yaml");
    const before = `${stackFile()}  eks-gitops-fleet:nodeReleaseVersion: "1.36.9-20261002" # of October\n`;
    writeFileSync(path, before);
    await releases(["--stack", "dev"]);
    expect(stackFile()).toBe(before.replace('"1.36.9-20261002"', "1.36.9-20261118"));
  });

  test("replaces a release of the former Kubernetes version, whatever its day", async () => {
    const path = join(project, "stacks", "Pulumi.dev.yaml");
    writeFileSync(path, `${stackFile()}  eks-gitops-fleet:nodeReleaseVersion: 1.35.2-20261201\n`);
    expect((await releases(["--stack", "dev"])).said).toBe("hub of stack dev: 1.35.2-20261201 -> 1.36.9-20261118");
  });
});

describe("fleet node-releases changes nothing", () => {
  test.each<[string, Run, RegExp]>([
    ["without the aws CLI", async () => undefined, /the aws CLI is not on PATH/],
    [
      "when AWS refuses",
      async (): Promise<Ended> => ({ code: 254, stdout: "", stderr: "An error occurred (AccessDeniedException)" }),
      /aws ssm get-parameters failed: An error occurred \(AccessDeniedException\)/,
    ],
    [
      "when AWS has no release of a Kubernetes version",
      aws("20261118", (name) => !name.includes("/1.37/")).program,
      /EKS has no AMI release for Kubernetes 1\.37 \(AL2023_x86_64_STANDARD\), Kubernetes 1\.37 \(AL2023_ARM_64_STANDARD\)/,
    ],
  ])("%s", async (_, program, message) => {
    await expect(ofSpokes([], program)).rejects.toThrow(message);
    expect(file()).toBe(committed);
  });

  test.each<[string, string[], RegExp]>([
    ["for a stack that is not there", ["--stack", "nowhere"], /the stack nowhere can't be read/],
  ])("%s", async (_, args, message) => {
    const failing = releases(args);
    await expect(failing).rejects.toThrow(UsageError);
    await expect(failing).rejects.toThrow(message);
  });
});

rejectsLines("fleet node-releases", {
  "--region eu-west-1":
    "--repository or --stack: is missing | (nothing) | a checkout of gitops-system for the spokes, a stack for a hub, or both | give one of them. See fleet node-releases --help",
  "--repository {folder}":
    "--repository: is not a checkout of gitops-system | {folder} | a folder with platform/composition/composition.yaml | name the folder of the checkout",
  "--check":
    "--repository or --stack: is missing | (nothing) | a checkout of gitops-system for the spokes, a stack for a hub, or both | give one of them. See fleet node-releases --help",
});

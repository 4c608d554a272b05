import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { run } from "../../../cli/mirror/command.ts";
import { everyStack, oneStack } from "../../../cli/mirror/stacks.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

const ecr = "111111111111.dkr.ecr.eu-west-1.amazonaws.com";
const secret = "arn:aws:secretsmanager:eu-west-1:111111111111:secret:ecr-pullthroughcache/x";

const root = join(import.meta.dirname, "..", "..", "..");
const folders: string[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function printed(...argv: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await run(argv)).toBe(0);
  return write.mock.calls.map(([text]) => String(text)).join("");
}

/** A project with these keys in the file of its stack pilot, and of the stack other. */
function projectWith(pilot: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "fleet-mirror-"));
  folders.push(folder);
  cpSync(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
  mkdirSync(join(folder, "stacks"));
  for (const [name, keys] of Object.entries({ pilot, other })) {
    const config = Object.entries(keys).map(([key, value]) => [`eks-gitops-fleet:${key}`, value]);
    writeFileSync(join(folder, "stacks", `Pulumi.${name}.yaml`), stringify({ config: Object.fromEntries(config) }));
  }
  return folder;
}

describe("what fleet mirror reads in the files of stacks", () => {
  const upstream = "ghcr.io/acme/function-spoke";

  it("is the upstream package of one stack, also if that has a registry", async () => {
    const folder = projectWith({ functionPackage: upstream, registry: `${ecr}/mirror` }, { functionPackage: "a.b/c" });
    expect(await oneStack(folder, "pilot")).toMatchObject({ functionPackage: [upstream], problems: [] });
  });

  it("is the project's package for one stack that sets none, which pulls that", async () => {
    expect((await oneStack(projectWith({}), "pilot")).functionPackage).toEqual([
      "ghcr.io/eks-gitops-fleet/function-spoke",
    ]);
  });

  it("is the package of each stack that sets one, if no stack is named", () => {
    expect(everyStack(projectWith({ functionPackage: upstream })).functionPackage).toEqual([upstream]);
    expect(everyStack(projectWith({})).functionPackage).toEqual([]);
  });

  it("are the tags of one stack", async () => {
    const tags = { "cost-center": "4711" };
    expect(await oneStack(projectWith({ tags }), "pilot")).toMatchObject({ tags, problems: [] });
    expect(everyStack(projectWith({ tags })).tags).toEqual({});
  });

  it.each([
    ["a package with a tag", "functionPackage", `${upstream}:v1`, "has a value that is not allowed"],
    ["an encrypted package", "functionPackage", { secure: "v1:x:y" }, "is encrypted"],
    ["tags that are numbers", "tags", { "cost-center": 4711 }, "has a value that is not allowed"],
    ["tags of AWS", "tags", { "aws:x": "1" }, "has a key of the fleet, of AWS"],
    ["encrypted tags", "tags", { secure: "v1:x:y" }, "is encrypted"],
  ])("is refused if there are %s", async (_, key, value, what) => {
    const { problems } = await oneStack(projectWith({ [key]: value }), "pilot");
    const named = expect.stringMatching(new RegExp(`^${key}`));
    expect(problems).toEqual([expect.objectContaining({ key: named, what: expect.stringContaining(what) })]);
  });
});

describe("fleet mirror", () => {
  it("prints the composition function and the tags of a named stack", async () => {
    const script = await printed("--registry", `${ecr}/mirror`, "--stack", "local");
    expect(script).toMatch(/^image ghcr\.io\/eks-gitops-fleet\/function-spoke:v/m);
    expect(script).toContain(`--tags '[{"Key":"cost-center","Value":"4711"}]'`);
  });

  it("prints charts, packages and images, but not those of applications and pipelines", async () => {
    const script = await printed("--registry", `${ecr}/mirror`);
    for (const line of [
      /^chart flux2 /m,
      /^chart crossplane /m,
      /^image xpkg\.crossplane\.io\/crossplane-contrib\/provider-aws-eks:v/m,
      /^image docker\.io\/velero\/velero-plugin-for-aws:v/m,
    ])
      expect(script).toMatch(line);
    expect(script).not.toMatch(/^image (node:|\S*podinfo|\S*function-spoke)/m);
    const images = script.match(/^image \S+$/gm) ?? [];
    expect(new Set(images).size).toBe(images.length);
  });

  it.each([
    ["no registry", [], "--registry: is missing"],
    ["a registry with a scheme", ["--registry", `oci://${ecr}`], "--registry: is not a registry"],
    [
      "a host that ECR does not cache",
      ["--registry", ecr, "--pull-through", "xpkg.crossplane.io"],
      "names no registry",
    ],
    [
      "a cache of another registry",
      ["--registry", "registry.example", "--pull-through", "quay.io"],
      "is for Amazon ECR",
    ],
    ["a cache without its credential", ["--registry", ecr, "--pull-through", "ghcr.io"], "ecr-pullthroughcache/"],
    [
      "a prefix that is too long",
      ["--registry", `${ecr}/company/platform/mirror`, "--pull-through", "registry.k8s.io"],
      "makes the prefix company/platform/mirror/registry.k8s.io",
    ],
    ["a stack without a file", ["--registry", ecr, "--stack", "nowhere"], /--stack: has no file.*\n.*nowhere\n.*prod/],
    ["a folder that does not exist", ["--registry", ecr, "--repositories", "/nowhere"], "--repositories"],
    [
      "a folder without gitops-system",
      ["--registry", ecr, "--repositories", import.meta.dirname],
      "a clone of gitops-system",
    ],
  ])("refuses %s", (_name, argv, message) => expect(run(argv)).rejects.toThrow(message));

  it("takes a cache with its credential", async () => {
    expect(await printed("--registry", ecr, "--pull-through", `docker.io=${secret}`)).toContain(
      `--ecr-repository-prefix docker.io --upstream-registry-url registry-1.docker.io --credential-arn ${secret}`,
    );
  });
});

rejectsLines("fleet mirror", {
  "--registry oci://registry.example.com/mirror":
    "--registry: is not a registry | oci://registry.example.com/mirror | host or host/path in lower case, without a scheme and a slash at the end, or empty | give it as the stack's key registry has it",
  "--registry registry.example.com --pull-through ghcr.io --repositories {nowhere}": [
    "--repositories: names a folder that does not exist | {nowhere}/gitops-system | a directory that contains a clone of gitops-system | correct the path",
    "--pull-through: is for Amazon ECR | ghcr.io | a --registry in Amazon ECR | leave it out, or name one",
  ],
  "--registry 123456789012.dkr.ecr.eu-central-1.amazonaws.com/mirror --pull-through ghcr.io --pull-through gcr.io": [
    "--pull-through: has no secret with the credential that it requires | ghcr.io | ghcr.io=<ARN of a secret whose name begins with ecr-pullthroughcache/> | create the secret in the registry's account and region, and give its ARN",
    "--pull-through: names no registry that Amazon ECR caches | gcr.io | docker.io, ghcr.io, public.ecr.aws, quay.io, registry.k8s.io | leave it out",
  ],
});

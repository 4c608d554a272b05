import { afterEach, describe, expect, it, vi } from "vitest";
import { run } from "../../../cli/mirror/command.ts";

const ecr = "111111111111.dkr.ecr.eu-west-1.amazonaws.com";
const secret = "arn:aws:secretsmanager:eu-west-1:111111111111:secret:ecr-pullthroughcache/x";

afterEach(() => vi.restoreAllMocks());

async function printed(...argv: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await run(argv)).toBe(0);
  return write.mock.calls.map(([text]) => String(text)).join("");
}

describe("fleet mirror", () => {
  it("prints charts, packages, the composition function and images, but not those of applications and pipelines", async () => {
    const script = await printed("--registry", `${ecr}/mirror`);
    for (const line of [
      /^chart flux2 /m,
      /^chart crossplane /m,
      /^image ghcr\.io\/eks-gitops-fleet\/function-spoke:v/m,
      /^image xpkg\.crossplane\.io\/crossplane-contrib\/provider-aws-eks:v/m,
      /^image docker\.io\/velero\/velero-plugin-for-aws:v/m,
    ])
      expect(script).toMatch(line);
    expect(script).not.toMatch(/^image (node:|\S*podinfo)/m);
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
    ["a folder that does not exist", ["--registry", ecr, "--repositories", "/nowhere"], "--repositories"],
  ])("refuses %s", async (_name, argv, message) => {
    await expect(run(argv)).rejects.toThrow(message);
  });

  it("takes a cache with its credential", async () => {
    expect(await printed("--registry", ecr, "--pull-through", `docker.io=${secret}`)).toContain(
      `--ecr-repository-prefix docker.io --upstream-registry-url registry-1.docker.io --credential-arn ${secret}`,
    );
  });
});

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../cli/commands.ts";
import { descriptions } from "../../cli/descriptions.ts";
import { layerEntries, writeLayer } from "../../functions/spoke/package/layer.ts";
import { kubectlIn, writeImage } from "../../scripts/cli-package/image.ts";
import { originOf, packageFiles, writePackage } from "../../scripts/cli-package/package.ts";
import { temporaryFolder } from "../support/temporary.ts";

const root = join(import.meta.dirname, "..", "..");
const packageJson = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The package as npm installs it, in a folder outside the checkout. */
const folder = temporaryFolder("fleet-package");
const unpacked = join(folder, "node_modules", "fleet");

beforeAll(async () => {
  await writePackage(join(folder, "made"), await packageFiles(originOf("Acme/fleets")));
  // The machine's npm: without a dependency it asks no registry.
  execFileSync("npm", ["pack", "--silent", "--offline", "--pack-destination", folder, join(folder, "made")], {
    cwd: folder,
  });
  mkdirSync(unpacked, { recursive: true });
  const archive = join(folder, `acme-fleet-${packageJson.version}.tgz`);
  execFileSync("tar", ["--extract", "--gzip", "--file", archive, "--strip-components", "1", "--directory", unpacked]);
}, 600_000);

/** Runs the package's program by Node alone. */
function fleet(args: readonly string[], cwd = folder) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(unpacked, "fleet.mjs"), ...args], {
    cwd,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

describe("the npm package of fleet, outside a checkout", () => {
  test("belongs to the repository's owner, has the project's version, and depends on no package", () => {
    const made = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
    expect(made).toMatchObject({
      name: "@acme/fleet",
      version: packageJson.version,
      license: packageJson.license,
      engines: packageJson.engines,
      repository: { url: "git+https://github.com/Acme/fleets.git" },
    });
    expect(Object.keys(made).filter((key) => key.toLowerCase().endsWith("dependencies"))).toEqual([]);
    expect(existsSync(join(unpacked, made.bin.fleet))).toBe(true);
  });

  test("has the licences of what is part of it", () => {
    const text = readFileSync(join(unpacked, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["yaml", "zod", "@kubernetes/client-node"])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, .+\\n\\n\\S`, "m"));
  });

  test("nowhere says npx fleet, which is another package there", () => {
    const files = globSync("**/*.{mjs,md,json}", { cwd: unpacked });
    expect(files.length).toBeGreaterThan(Object.keys(commands).length);
    expect(files.filter((file) => readFileSync(join(unpacked, file), "utf8").includes("npx fleet"))).toEqual([]);
  });

  test("prints the list of commands and the help of each", () => {
    expect(fleet(["--help"])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("Usage: fleet <command>"),
    });
    expect(fleet(["--version"])).toEqual({ code: 0, stderr: "", stdout: `fleet ${packageJson.version}\n` });
    for (const [name, { help }] of Object.entries(descriptions))
      expect(fleet([name, "--help"])).toEqual({ code: 0, stderr: "", stdout: help });
  });

  test.each(Object.keys(commands))("loads fleet %s, and refuses a wrong command line with exit code 2", (name) => {
    // These two judge the command line together with the checkout.
    const isOnCheckout = ["init", "upgrade-platform"].includes(name);
    expect(fleet([name, "--nonsense"])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(
        isOnCheckout ? "is in no checkout of eks-gitops-fleet" : `--nonsense: is not an option of fleet ${name}\n`,
      ),
    });
  });

  test("says which Node it needs when it gets an older one", () => {
    const older = "data:text/javascript,Object.defineProperty(process, 'version', { value: 'v22.9.0' })";
    const args = ["--import", older, join(unpacked, "fleet.mjs"), "list"];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `fleet needs Node ${packageJson.engines.node}, and this is v22.9.0 (${process.execPath}): install a newer one\n`,
    });
  });

  test("changes a checkout of the fleet's repositories", () => {
    const system = join(folder, "gitops-system");
    cpSync(join(root, "repos", "gitops-system"), system, { recursive: true });
    const made = fleet(["new-fleet", "blue"], system);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toContain("Made clusters/blue/kustomization.yaml");
    expect(existsSync(join(system, "clusters", "blue", "kustomization.yaml"))).toBe(true);
  });

  test("says where it needs a checkout of the project, and works in one", () => {
    expect(fleet(["doctor"])).toMatchObject({ code: 2, stderr: expect.stringContaining("run it in one") });
    const inside = fleet(["node-releases", "--stack", "none"], join(root, "docs"));
    expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining("the stack none can't be read") });
  });

  test("completes the words of a command line", () => {
    const completion = fleet(["completion", "bash"]).stdout;
    const code = `eval "$0"; COMP_WORDS=(fleet kubec); COMP_CWORD=1; _fleet; echo "\${COMPREPLY[@]}"`;
    expect(execFileSync("bash", ["-c", code, completion], { encoding: "utf8" })).toBe("kubeconfig\n");
  });
});

test("the image has Node's and kubectl's layer for each processor, and the same commands above it", async () => {
  const kubectl = join(folder, "kubectl", "arm64", "kubectl");
  mkdirSync(dirname(kubectl), { recursive: true });
  writeFileSync(kubectl, "a program");
  const tar = join(folder, "base.tar");
  const base = {
    tar,
    digest: await writeLayer(
      tar,
      layerEntries({ reference: "base", files: kubectlIn(join(folder, "kubectl"))("arm64") }),
    ),
  };
  const layout = join(folder, "layout");
  await writeImage(layout, { "fleet.mjs": "// the commands\n", "parts/a.mjs": "" }, [{ architecture: "arm64", base }]);
  const blob = (digest: string) => join(layout, "blobs", digest.replace(":", "/"));
  const json = (digest: string) => JSON.parse(readFileSync(blob(digest), "utf8"));
  const [image] = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")).manifests;
  const { config, layers } = json(image.digest);
  expect(json(config.digest).config).toMatchObject({
    Entrypoint: ["/usr/local/bin/node", "/usr/local/lib/fleet/fleet.mjs"],
    User: "65532:65532",
  });
  const contents = (layers as { digest: string }[]).map(({ digest }) =>
    execFileSync("tar", ["--list", "--file", blob(digest)], { encoding: "utf8" }),
  );
  expect(contents[0]).toContain("usr/local/bin/kubectl\n");
  expect(contents[1]).toContain(
    "usr/local/lib/fleet/fleet.mjs\nusr/local/lib/fleet/parts/\nusr/local/lib/fleet/parts/a.mjs\n",
  );
});

test("a package is never written over something else", async () => {
  await expect(writePackage(root, {})).rejects.toThrow("is no package of fleet");
});

test.each(["", "acme", "acme/fleets/more", "acme fleets/x"])("%j is not the name of a repository", (name) =>
  expect(() => originOf(name)).toThrow("it must be the owner and the name of a repository"),
);

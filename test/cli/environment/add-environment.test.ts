import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { run } from "../../../cli/environment/add-environment.ts";
import { foundProject } from "../../../cli/project.ts";
import { filesBelow } from "../../../cli/render/files.ts";
import { UsageError } from "../../../cli/usage.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { root } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";
import { found } from "../support/seeds.ts";

let base: string;
const at = (...path: string[]) => join(base, ...path);
const system = (...path: string[]) => at("repos", "gitops-system", ...path);
const read = (file: string) => readFileSync(file, "utf8");
const composition = () => system("platform", "composition", "composition.yaml");
const keys = (environment: string) => system("spoke-bootstrap", "sealing-keys", environment);

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "fleet-environment-"));
  cpSync(join(root, "repos"), at("repos"), { recursive: true });
  mkdirSync(at("project", "stacks"), { recursive: true });
  cpSync(join(root, "Pulumi.yaml"), at("project", "Pulumi.yaml"));
  for (const stack of ["dev", "prod"])
    cpSync(join(root, "stacks", `Pulumi.${stack}.yaml`), at("project", "stacks", `Pulumi.${stack}.yaml`));
});
afterEach(() => rmSync(base, { recursive: true }));

const noKustomize = {
  kustomize: () => {
    throw new UsageError("no kustomize here");
  },
};

async function add(...argv: string[]): Promise<string> {
  const { code, said } = await printing(() =>
    run([...argv, "--repository", system()], noKustomize, () => at("project")),
  );
  expect(code).toBe(0);
  return said;
}

/** Text of every file by its path below the case. */
const everything = () => Object.fromEntries(filesBelow(base).map((file) => [relative(base, file), read(file)]));
/** Lines that a text has and another has not. */
const more = (text: string, than: string) => text.split("\n").filter((line) => !than.split("\n").includes(line));

describe("fleet add-environment", () => {
  test("makes an environment of which fleet check finds nothing, and renders a spoke", async () => {
    await add("qa", "--like", "prod");
    const report = check({ repos: at("repos"), build: buildText });
    expect(found(report, at("repos"))).toEqual([]);
    expect(report.clusters).toContain("check-qa");
    expect(report.notes).toContainEqual("payment-app-manifests has no overlays/qa: no sample spoke of qa runs it");
  });

  test("leaves out an add-on that is for the other environment alone, and says so", async () => {
    const said = await add("qa", "--like", "dev");
    expect(existsSync(system("tools", "dev", "image_automation"))).toBe(true);
    expect(existsSync(system("tools", "qa", "image_automation"))).toBe(false);
    expect(existsSync(system("tools", "qa", "metrics_server"))).toBe(true);
    expect(said).toContain("Left out: image_automation (not promoted: where merges happen by pull request only");
  });

  test("copies the tools, begins a sealing key of its own, and adds a channel that is on to the Composition", async () => {
    const before = read(composition());
    await add("qa", "--like", "prod");
    for (const file of filesBelow(system("tools", "prod")))
      expect(read(file.replace("/tools/prod/", "/tools/qa/"))).toBe(read(file));
    expect(read(join(keys("qa"), "kustomization.yaml"))).toBe(
      read(join(keys("prod"), "kustomization.yaml")).replace("scope prod", "scope qa"),
    );
    expect(read(join(keys("qa"), "generation-1.yaml"))).toBe(read(join(keys("prod"), "generation-1.yaml")));
    expect(more(read(composition()), before)).toEqual(['    channel.fleet.internal/qa: "true"']);
    expect(more(before, read(composition()))).toEqual([]);
  });

  test("gives it the first generation of a key also where the other environment has rotated its own", async () => {
    const second = read(join(keys("prod"), "generation-1.yaml")).replaceAll("sealing-key-1", "sealing-key-2");
    writeFileSync(join(keys("prod"), "generation-2.yaml"), second.replace("sealing_scope}/1", "sealing_scope}/2"));
    rmSync(join(keys("prod"), "generation-1.yaml"));
    const list = join(keys("prod"), "kustomization.yaml");
    writeFileSync(list, read(list).replace("generation-1", "generation-2"));
    await add("qa", "--like", "prod");
    expect(existsSync(join(keys("qa"), "generation-2.yaml"))).toBe(false);
    expect(read(join(keys("qa"), "generation-1.yaml"))).toBe(read(join(keys("dev"), "generation-1.yaml")));
    expect(check({ repos: at("repos"), build: buildText }).findings).toEqual([]);
  });

  test("takes the Composition also where the other environment holds it back: no revision had the new label", async () => {
    writeFileSync(composition(), read(composition()).replace('internal/prod: "true"', 'internal/prod: "false"'));
    await add("qa", "--like", "prod");
    expect(read(composition())).toContain('internal/qa: "true"');
    expect(read(composition())).toContain('internal/prod: "false"');
  });

  test("adds the key to the stacks that are named, in a line of its own", async () => {
    const files = ["dev", "prod"].map((stack) => at("project", "stacks", `Pulumi.${stack}.yaml`));
    const before = files.map(read);
    const said = await add("qa", "--like", "dev", "--stack", "dev", "--stack", "acme/fleet/prod");
    for (const [index, file] of files.entries())
      expect(more(read(file), before[index] ?? "")).toEqual(['    - { scope: qa, generation: "1", active: true }']);
    expect(said).toContain("pulumi up --stack dev");
    expect(said).toContain("pulumi up --stack acme/fleet/prod");
    expect(said).not.toContain("pulumi config set");
    expect(said).toContain(
      "git add tools/qa spoke-bootstrap/sealing-keys/qa platform/composition/composition.yaml && git commit",
    );
  });

  test("prints the commands for a stack whose file is elsewhere, and what to append without a stack", async () => {
    const said = await add("qa", "--like", "dev", "--stack", "abroad");
    expect(said).toContain("pulumi config set --stack abroad --path 'sealingKeys[N].scope' qa");
    expect(said).toContain("pulumi config set --stack abroad --path --type string 'sealingKeys[N].generation' 1");
    expect(said).toContain("pulumi config set --stack abroad --path 'sealingKeys[N].active' true");
    rmSync(system("tools", "qa"), { recursive: true });
    expect(await add("qa", "--like", "dev")).toContain('append { scope: qa, generation: "1", active: true }');
  });

  /** Adds sealing keys to the stack prod, and gives its file's path and text. */
  const withKeys = (lines: string) => {
    const file = at("project", "stacks", "Pulumi.prod.yaml");
    writeFileSync(file, read(file).replace("sealingKeys:\n", `sealingKeys:\n${lines}`));
    return { file, before: read(file) };
  };

  test("brings the generations of a key that the stack has already", async () => {
    const { file, before } = withKeys('    - { scope: staging, generation: "7", active: true }\n');
    await add("staging", "--like", "prod", "--stack", "prod");
    expect(existsSync(join(keys("staging"), "generation-7.yaml"))).toBe(true);
    expect(existsSync(join(keys("staging"), "generation-1.yaml"))).toBe(false);
    expect(read(file)).toBe(before);
  });

  test("gives a stack without the key the generations that another stack has, the newest one active", async () => {
    const key = '    - { scope: staging, generation: "2", active: true }\n';
    const rotated = `${key.replace("true", "false").replace('"2"', '"1"')}${key}`;
    withKeys(rotated);
    const dev = at("project", "stacks", "Pulumi.dev.yaml");
    const before = read(dev);
    const said = await add("staging", "--like", "prod", "--stack", "dev", "--stack", "prod", "--stack", "abroad");
    expect(more(read(dev), before)).toEqual(rotated.trimEnd().split("\n"));
    for (const generation of ["1", "2"])
      expect(existsSync(join(keys("staging"), `generation-${generation}.yaml`))).toBe(true);
    expect(said).toContain("--stack abroad --path --type string 'sealingKeys[N].generation' 1");
    expect(said).toContain("--stack abroad --path 'sealingKeys[N].active' false");
    expect(said).toContain("--stack abroad --path --type string 'sealingKeys[N+1].generation' 2");
    expect(said).toContain("--stack abroad --path 'sealingKeys[N+1].active' true");
  });

  /** An environment whose key has been rotated: its folder brings the second generation alone. */
  const withSecondGeneration = async () => {
    await add("qa", "--like", "dev");
    for (const name of ["generation-1.yaml", "kustomization.yaml"]) {
      const text = read(join(keys("qa"), name)).replaceAll("generation-1", "generation-2");
      rmSync(join(keys("qa"), name));
      const second = text.replaceAll("sealing-key-1", "sealing-key-2").replace("sealing_scope}/1", "sealing_scope}/2");
      writeFileSync(join(keys("qa"), name.replace("1", "2")), second);
    }
  };

  test("gives a stack the generations that the environment's folder brings to spokes", async () => {
    await withSecondGeneration();
    const file = at("project", "stacks", "Pulumi.dev.yaml");
    const before = read(file);
    await add("qa", "--like", "dev", "--stack", "dev");
    expect(more(read(file), before)).toEqual(['    - { scope: qa, generation: "2", active: true }']);
    rmSync(system("tools", "qa"), { recursive: true });
    expect(await add("qa", "--like", "dev")).toContain('append { scope: qa, generation: "2", active: true }');
  });

  test("refuses stacks that have other generations than the folder or one another, and writes nothing", async () => {
    await add("qa", "--like", "dev", "--stack", "dev");
    await withSecondGeneration();
    const file = at("project", "stacks", "Pulumi.dev.yaml");
    const whole = everything();
    const both = ["qa", "--like", "dev", "--stack", "dev", "--stack", "prod"];
    await expect(add(...both)).rejects.toThrow(
      /^1 problem[\s\S]*dev lacks a generation[\s\S]*got: +generation 1\n +allowed: generation 2/,
    );
    expect(everything()).toEqual(whole);
    rmSync(keys("qa"), { recursive: true });
    const line = '    - { scope: qa, generation: "1", active: true }';
    const prod = at("project", "stacks", "Pulumi.prod.yaml");
    expect(read(file)).toContain(line);
    writeFileSync(
      prod,
      `${read(prod).replace(/^( *sealingKeys:|.*:sealingKeys:)$/m, `$1\n${line.replace('"1"', '"2"')}`)}`,
    );
    await expect(add(...both)).rejects.toThrow(/^2 problems[\s\S]*dev lacks[\s\S]*prod lacks/);
  });

  test("changes nothing when it is run again, and makes what is missing of an environment", async () => {
    await add("qa", "--like", "dev", "--stack", "dev");
    const whole = everything();
    expect(await add("qa", "--like", "dev", "--stack", "dev")).toBe(
      `Nothing to change: qa is an environment of ${system()}`,
    );
    expect(everything()).toEqual(whole);
    rmSync(keys("qa"), { recursive: true });
    await add("qa", "--like", "dev", "--stack", "dev");
    expect(everything()).toEqual(whole);
  });

  test("says again what is to be done for a stack whose file is elsewhere", async () => {
    await add("qa", "--like", "dev", "--stack", "abroad");
    const said = await add("qa", "--like", "dev", "--stack", "abroad");
    expect(said).toContain(`Nothing to change: qa is an environment of ${system()}`);
    expect(said).toContain("pulumi config set --stack abroad --path 'sealingKeys[N].scope' qa");
    expect(said).toContain("pulumi up --stack abroad");
  });

  test("says whose tools they are only where it copies them", async () => {
    const own = "qa: the tools of dev in tools/qa, which are its own from now on.";
    expect(await add("qa", "--like", "dev")).toContain(own);
    expect(await add("qa", "--like", "dev", "--stack", "dev")).not.toContain(own);
  });

  test("with --dry-run shows what would be written, in the project too, and writes nothing", async () => {
    const whole = everything();
    const said = await add("qa", "--like", "dev", "--stack", "dev", "--dry-run");
    expect(said).toContain("+++ b/tools/qa/versions.yaml");
    expect(said).toContain('+    channel.fleet.internal/qa: "true"');
    expect(said).toContain('+    - { scope: qa, generation: "1", active: true }');
    expect(said).toContain("Nothing was written.");
    expect(everything()).toEqual(whole);
  });

  test("says that the new one does not follow the branch of the other", async () => {
    writeFileSync(
      composition(),
      read(composition()).replace(
        "        stages: {}",
        "        stages:\n          prod: { gitopsSystemRevision: stable }",
      ),
    );
    expect(await add("qa", "--like", "prod")).toContain("prod follows the branch stable, qa does not");
  });

  test("tells every other mistake too where --stack finds no checkout of the project", async () => {
    const argv = ["QA", "--like", "stage", "--stack", "dev", "--repository", system(), "--dry-run", "--push"];
    const refused = run(argv, noKustomize, () => foundProject(", or leave --stack out", at("repos"), at("repos")));
    await expect(refused).rejects.toThrow(
      /^4 problems[\s\S]*is in no checkout[\s\S]*leave --stack out[\s\S]*--dry-run: [\s\S]*<name>: [\s\S]*--like: /,
    );
  });

  test("refuses a list of keys that stands nowhere in the stack's file: the default of Pulumi.yaml would be lost", async () => {
    const file = at("project", "stacks", "Pulumi.bare.yaml");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "config:\n  aws:region: eu-west-1\n");
    const whole = everything();
    await expect(add("qa", "--like", "dev", "--stack", "bare")).rejects.toThrow(
      /sealingKeys in the file of stack bare[\s\S]*scope: dev, generation: "1"[\s\S]*scope: qa/,
    );
    expect(everything()).toEqual(whole);
  });
});

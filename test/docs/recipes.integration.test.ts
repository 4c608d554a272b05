import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { programs } from "../../cli/change/effect.ts";
import { run as addEnvironment } from "../../cli/environment/add-environment.ts";
import { readOffer } from "../../cli/spoke/rules.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { blocks, root, text } from "./support/pages.ts";

const base = temporaryFolder("fleet-recipes");
afterEach(() => void vi.restoreAllMocks());

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
const run = (folder: string, script: string) =>
  execFileSync("sh", ["-ec", script], { cwd: folder, env: { ...process.env, ...identity }, encoding: "utf8" });
const commit = (folder: string) => run(folder, "git add . && git commit --quiet --message change");

/** The block of a page with a command. */
const block = (page: string, command: string): string => {
  const found = blocks(text(page)).find(({ code }) => code.includes(command));
  if (found === undefined) throw new Error(`${page} has no block with ${command}`);
  return found.code;
};

test("a release of repos/ merges into a repository that has changed since, as the guide says", () => {
  const project = join(base, "project");
  const system = join(base, "fleet", "gitops-system");
  const content = join(project, "repos", "gitops-system");
  for (const folder of [content, system]) mkdirSync(folder, { recursive: true });
  const write = (folder: string, first: string, last: string) =>
    writeFileSync(
      join(folder, "file.yaml"),
      [`first: ${first}`, "a: 1", "b: 2", "c: 3", `last: ${last}`, ""].join("\n"),
    );
  write(content, "1", "1");
  write(system, "1", "1");
  for (const folder of [project, system]) run(folder, "git init --quiet --initial-branch main");
  commit(project);
  commit(system);
  run(project, "git tag v1");
  write(content, "1", "2");
  writeFileSync(join(content, "new.yaml"), "new: true\n");
  commit(project);
  run(project, "git tag v2");
  write(system, "ours", "1");
  commit(system);

  const recipe = block("docs/guides/repositories.md", "--relative=repos/gitops-system");
  run(project, recipe.replaceAll("<from>", "v1").replaceAll("<to>", "v2"));
  expect(readFileSync(join(system, "file.yaml"), "utf8")).toBe("first: ours\na: 1\nb: 2\nc: 3\nlast: 2\n");
  expect(readFileSync(join(system, "new.yaml"), "utf8")).toBe("new: true\n");
});

test("an environment that is added as the guide says can have spokes", async () => {
  const system = join(base, "gitops-system");
  cpSync(join(root, "repos", "gitops-system"), system, { recursive: true });
  const project = join(base, "copy");
  for (const part of ["Pulumi.yaml", "stacks"]) cpSync(join(root, part), join(project, part), { recursive: true });
  expect((await readOffer(system)).environments).not.toContain("qa");
  const lines = block("docs/guides/environments.md", "add-environment").trim().split("\n");
  const [line = ""] = lines.filter((each) => !each.includes("--dry-run"));
  const [npx, fleet, command, ...argv] = line.replace("../gitops-system", system).split(" ");
  expect([npx, fleet, command]).toEqual(["npx", "fleet", "add-environment"]);
  vi.spyOn(console, "log").mockReturnValue();
  expect(await addEnvironment(argv, programs, () => project)).toBe(0);
  const { environments, heldBack } = await readOffer(system);
  expect(environments).toContain("qa");
  expect(heldBack).not.toContain("qa");
  const { config } = parse(readFileSync(join(project, "stacks", "Pulumi.prod.yaml"), "utf8"));
  expect(config["eks-gitops-fleet:sealingKeys"]).toContainEqual({ scope: "qa", generation: "1", active: true });
});

test("the sample application comes from Amazon ECR after the tutorial's commands", () => {
  const app = join(base, "ecr", "fleet", "payment-app-manifests");
  const project = join(base, "ecr", "project");
  mkdirSync(project, { recursive: true });
  cpSync(join(root, "repos", "payment-app-manifests"), app, { recursive: true });
  run(app, "git init --quiet --initial-branch main");
  commit(app);
  const image = () =>
    parse(readFileSync(join(app, "base", "deployment.yaml"), "utf8")).spec.template.spec.containers[0].image as string;
  const upstream = image();
  const recipe = block("docs/tutorials/first-spoke-on-aws.md", "crane copy");
  const called = run(project, `aws() { echo "aws $*"; }; crane() { echo "crane $*"; }\n${recipe}`);
  const mirrored = `123456789012.dkr.ecr.eu-central-1.amazonaws.com/mirror/${upstream}`;
  expect(called).toMatch(new RegExp(`^aws ecr create-repository .* mirror/${upstream.split(":")[0]}$`, "m"));
  expect(called).toContain(`crane copy ${upstream} ${mirrored}\n`);
  expect(image()).toBe(mirrored);
  expect(run(app, "git status --porcelain")).toBe("");
});

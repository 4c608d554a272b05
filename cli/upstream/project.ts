import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { charts, kubernetesReleases } from "../../components/versions.ts";
import { filesBelow, isFolder, isYaml } from "../check/files.ts";
import { collected, type Mention, type Reference } from "./references.ts";
import { fromRepositories } from "./repositories.ts";

/** The whole project's list: program, GitOps repositories, workflows. */

export interface ProjectReferences {
  readonly references: readonly Reference[];
  /** What no file of the project decides, with the reason. */
  readonly undecided: readonly string[];
}

const versionsFile = "components/versions.ts";

function fromProgram(): Mention[] {
  return [
    ...Object.values(charts).map((chart) => ({ target: { kind: "chart" as const, ...chart }, origin: versionsFile })),
    ...kubernetesReleases.map(({ minor, supportEnds }) => ({
      target: { kind: "kubernetes" as const, version: minor, supportEnds },
      origin: versionsFile,
    })),
  ];
}

/** `uses: owner/name/path@commit # tag`: how every action of the project is pinned (test/workflows/rules.ts). */
const use = /^\s*(?:- )?uses: (?<repository>[\w.-]+\/[\w.-]+)\S*@(?<commit>[0-9a-f]{40}) # (?<tag>\S+)$/;

const container = /^\s*container: (?<reference>\S+@sha256:[0-9a-f]{64})$/;

/** The workflows and what they share, .github/actions/<name>/action.yml. */
function fromWorkflows(root: string): Mention[] {
  const files = ["workflows", "actions"]
    .map((name) => join(root, ".github", name))
    .filter(isFolder)
    .flatMap(filesBelow)
    .filter(isYaml);
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, index): Mention[] => {
        const origin = `${relative(root, file)}:${index + 1}`;
        const reference = container.exec(line)?.groups?.["reference"];
        if (reference !== undefined) return [{ target: { kind: "image", reference }, origin }];
        const { repository, commit, tag } = use.exec(line)?.groups ?? {};
        if (repository === undefined || commit === undefined || tag === undefined) return [];
        return [{ target: { kind: "action", repository, commit, tag }, origin }];
      }),
  );
}

interface StackFile {
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Where the stacks have the composition function from: what they say, or else the default in Pulumi.yaml. */
function functionPackages(root: string): Set<string> {
  const read = (...path: string[]): unknown => parse(readFileSync(join(root, ...path), "utf8"));
  const { name, config } = read("Pulumi.yaml") as { name: string; config: { functionPackage: { default: string } } };
  const stacks = readdirSync(join(root, "stacks")).filter((file) => /^Pulumi\..+\.yaml$/.test(file));
  return new Set(
    stacks.map((file) => {
      const own = (read("stacks", file) as StackFile).config?.[`${name}:functionPackage`];
      return typeof own === "string" ? own : config.functionPackage.default;
    }),
  );
}

/**
 * Everything that the checkout in `root` takes from outside, npm packages and Go modules aside, which their lock files pin.
 * @param packages where the composition function comes from; default: what any of the stacks says
 */
export function projectReferences(root: string, packages = functionPackages(root)): ProjectReferences {
  const { mentions, undecided } = fromRepositories(
    join(root, "repos"),
    root,
    // Upstream's own, whatever mirrors the stacks have.
    new Map([
      ["function_package", packages],
      ["images_prefix", new Set([""])],
      ["packages_prefix", new Set([""])],
    ]),
  );
  return { references: collected([...fromProgram(), ...mentions, ...fromWorkflows(root)]), undecided };
}

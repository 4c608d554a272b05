import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { charts, kubernetesReleases, kubernetesVersions } from "../../components/versions.ts";
import type { Readable } from "../../infra/settings.ts";
import { digestOf, prefixOf, withoutDigest } from "../../lib/registries.ts";
import { filesBelow, isFolder, isYaml } from "../render/files.ts";
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
    { target: { kind: "offer", versions: kubernetesVersions }, origin: versionsFile },
  ];
}

/** `uses: owner/name/path@commit # tag`: how every action of the project is pinned (test/workflows/rules.ts). */
const use = /^\s*(?:- )?uses: (?<repository>[\w.-]+\/[\w.-]+)\S*@(?<commit>[0-9a-f]{40}) # (?<tag>\S+)$/;

const container = /^\s*(?:container|image): (?<reference>\S+@sha256:[0-9a-f]{64})$/;

/** The workflows and what they share, .github/actions/<name>/action.yml, and what runs on changes of the fleet's repositories. */
function fromWorkflows(root: string): Mention[] {
  const repositories = readdirSync(join(root, "repos")).map((name) => join(root, "repos", name));
  const folders = [root, ...repositories].flatMap((folder) => [
    join(folder, ".github", "workflows"),
    join(folder, ".github", "actions"),
  ]);
  const pipelines = repositories.map((folder) => join(folder, ".gitlab-ci.yml")).filter((file) => existsSync(file));
  const files = [...folders.filter(isFolder).flatMap(filesBelow).filter(isYaml), ...pipelines];
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

/**
 * Where the stacks take the composition function from: their `functionPackage`.
 * @param otherwise for a stack that does not set it, from the default in Pulumi.yaml
 */
export function functionPackages(root: string, otherwise = (upstream: string) => [upstream]): string[] {
  const read = (...path: string[]): unknown => parse(readFileSync(join(root, ...path), "utf8"));
  const { name, config } = read("Pulumi.yaml") as { name: string; config: { functionPackage: { default: string } } };
  const stacks = readdirSync(join(root, "stacks")).filter((file) => /^Pulumi\..+\.yaml$/.test(file));
  return stacks.flatMap((file) => {
    const own = (read("stacks", file) as StackFile).config?.[`${name}:functionPackage`];
    return typeof own === "string" ? [own] : otherwise(config.functionPackage.default);
  });
}

/** Where stacks take images and packages from; a key that is not set means upstream. */
export interface Sources extends Pick<Readable, "imagesRegistry" | "packagesRegistry"> {
  /** One repository with its digest, or several of several stacks. */
  readonly functionPackage?: string | readonly string[];
}

/**
 * Everything that the checkout in `root` takes from outside, npm packages and Go modules aside, which their lock files pin.
 * @param sources of one stack; default: upstream's, with the composition function from where any of the stacks has it
 * @param repositories the folder in which the GitOps repositories lie side by side; default: the project's
 */
export function projectReferences(
  root: string,
  sources: Sources = {},
  repositories = join(root, "repos"),
): ProjectReferences {
  const { functionPackage, imagesRegistry = "", packagesRegistry = "" } = sources;
  const packages = functionPackage === undefined ? functionPackages(root) : [functionPackage].flat();
  const { mentions, undecided } = fromRepositories(
    repositories,
    root,
    new Map([
      ["function_package", new Set(packages.map(withoutDigest))],
      // Variables are independent of each other: of several packages none gets the digest of another one.
      ["function_digest", new Set(new Set(packages).size === 1 ? packages.map(digestOf) : [""])],
      ["images_prefix", new Set([prefixOf(imagesRegistry)])],
      ["packages_prefix", new Set([prefixOf(packagesRegistry)])],
    ]),
  );
  return { references: collected([...fromProgram(), ...mentions, ...fromWorkflows(root)]), undecided };
}

import type { Tags } from "../../lib/labels.ts";
import type { Problem } from "../../lib/problems.ts";
import { judge, namedStack, readProject } from "../fleet/stack-config.ts";
import { functionPackages } from "../upstream/project.ts";

/** What the script takes from the files of stacks. */
export interface FromStacks {
  /** Upstream repositories of the composition function. */
  readonly functionPackage: readonly string[];
  /** Tags of a company, for the repositories. */
  readonly tags: Tags;
  readonly problems: readonly Problem[];
}

/** The keys of a stack that the script depends on. */
const read: readonly string[] = ["functionPackage", "tags"];

/** Of every stack. One without `functionPackage` may be an example, and the default may not be published. */
export const everyStack = (root: string): FromStacks => ({
  functionPackage: functionPackages(root, () => []),
  tags: {},
  problems: [],
});

/** Of one stack. Its `functionPackage` is the one in the file: in the settings `registry` precedes it. */
export async function oneStack(root: string, name: string): Promise<FromStacks> {
  const project = await readProject(root);
  const named = await namedStack(project, name);
  if ("problem" in named) return { functionPackage: [], tags: {}, problems: [named.problem] };
  const { encrypted, problems, settings } = judge(named.file, project);
  const key = `${project.name}:functionPackage`;
  return {
    functionPackage: [String(named.file.config?.[key] ?? project.defaults[key])],
    tags: settings.tags ?? {},
    problems: [
      ...problems.filter((problem) => read.includes(problem.key.split(".")[0] as string)),
      ...read
        .filter((each) => encrypted.includes(each))
        .map((each) => ({
          ...{ key: each, what: "is encrypted, and this command decrypts nothing", got: "(encrypted)" },
          ...{
            allowed: "plain text",
            remedy: `remove it from the file of the stack ${name}, and set it without --secret`,
          },
        })),
    ],
  };
}

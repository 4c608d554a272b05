import { dirname, resolve } from "node:path";
import type { Repository } from "../../lib/names.ts";
import { carryOut } from "../change/carry-out.ts";
import { commitStaged, push } from "../change/commit.ts";
import { programs } from "../change/effect.ts";
import type { FileChange } from "../change/files.ts";
import { changeHelp, changeOptions, isCommitted, type Wish, wishProblems } from "../change/options.ts";
import { git, gitOutput } from "../diff/git.ts";
import { readLine } from "../line.ts";
import { projectRoot } from "../project.ts";
import { refuse, together } from "../usage.ts";
import { changelogOf } from "./changelog.ts";
import { described, inTheWay, writeMerge } from "./conflicts.ts";
import { type Merged, withMerge } from "./merge.ts";
import { describe, provenance, type Releases, releasesOf, type Sides } from "./revisions.ts";

export const summary = "merge a release of repos/ into your gitops-system or gitops-workloads";

export const help = `Usage: fleet upgrade-platform [--repository DIR] [--from REVISION] [--to REVISION] [options]

Merges what changed in repos/gitops-system or repos/gitops-workloads of this checkout between two releases into a clone of
your own repository, three-way, as Git does. What you changed stays; where both sides changed the same lines, the conflict is
named and is in the files.

  --repository DIR       the clone to write into, without uncommitted changes; default: the current folder
  --from REVISION        the release that it has; default: the one that its newest commit of fleet init or of this command
                         names
  --to REVISION          the release to take: a tag or a commit of this checkout; default: the commit that is checked out
${changeHelp}

The workflow, the pipeline and CODEOWNERS keep what fleet init filled in; a pinned commit of this project becomes the release's,
unless you pinned one that is not before it.
Exit code 0: merged; 1: conflicts, and nothing is committed; 2: it was called wrongly.

Example:
  fleet upgrade-platform --repository ../gitops-system --to v0.2.0 --dry-run
`;

export const options = {
  ...changeOptions,
  repository: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const messageOf = (version: string): [string, string] => [`Take eks-gitops-fleet ${version}`, provenance(version)];

const commitCommand = (checkout: string, version: string, ...flags: string[]): string =>
  ["git", "-C", checkout, "commit", ...flags, ...messageOf(version).flatMap((text) => ["-m", `"${text}"`])].join(" ");

/** The texts of the files that a merge changes; a binary file has none that could be shown. */
function changesOf({ scratch, before, after }: Merged): { files: FileChange[]; binary: string[] } {
  const paths = gitOutput(scratch, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after]).split("\0");
  const text = (tree: string, path: string) =>
    git(scratch, "cat-file", "-e", `${tree}:${path}`).ok
      ? gitOutput(scratch, ["cat-file", "blob", `${tree}:${path}`])
      : undefined;
  const files = paths.filter(Boolean).map((path) => ({ path, before: text(before, path), after: text(after, path) }));
  const isBinary = (file: FileChange) => [file.before, file.after].some((each) => each?.includes("\0"));
  return { files: files.filter((file) => !isBinary(file)), binary: files.filter(isBinary).map(({ path }) => path) };
}

function listed(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`${title}\n${lines.join("\n")}\n`);
}

/** What a person has to read and to do once the release is merged. */
function tellNext({ project, from, to, checkout }: Sides): void {
  const changes = changelogOf(project, from, to);
  if (changes !== "") console.log(`\nWhat the releases between say (CHANGELOG.md):\n\n${changes}`);
  console.log(`
Steps that a release needs, and their order: docs/guides/repositories.md#upgrade-a-fleet. Then look before you push or merge it:
  fleet check --repos ${dirname(checkout)}
fleet diff shows in the pull request what changes on which cluster.`);
}

async function shown(
  sides: Sides,
  merge: Merged,
  repository: Repository,
  wish: Wish,
  using = programs,
): Promise<number> {
  const { files, binary } = changesOf(merge);
  listed("Binary files that change:", binary);
  const [subject] = messageOf(sides.version);
  if (merge.conflicts.length === 0)
    await carryOut("upgrade-platform", [{ repository, checkout: sides.checkout, files, subject }], wish, {
      programs: using,
    });
  else console.log(gitOutput(merge.scratch, ["diff", merge.before, merge.after]), "\nNothing was written.");
  return merge.conflicts.length === 0 ? 0 : 1;
}

function conflicted({ checkout, version }: Sides, wish: Wish): number {
  console.log(`Nothing was committed${isCommitted(wish) ? ", in spite of --commit or --push" : ""}. Git's markers are in the files. Resolve each, then:
  git -C ${checkout} add <file>      # or git rm <file>
  ${commitCommand(checkout, version)}
The message is what the next fleet upgrade-platform finds the release by. To take everything back: git -C ${checkout} reset --hard`);
  return 1;
}

function written({ checkout, version }: Sides, merge: Merged, wish: Wish): number {
  const isEmpty = merge.before === merge.after;
  const done = isEmpty ? `${checkout} has what ${version} changes` : `Merged ${version} into ${checkout}`;
  if (!isCommitted(wish)) {
    console.log(`${done}. Next:\n  ${commitCommand(checkout, version, ...(isEmpty ? ["--allow-empty"] : []))}`);
    return 0;
  }
  console.log(`${done}, commit ${commitStaged(checkout, messageOf(version))}`);
  console.log(wish.push ? `Pushed to ${push(checkout)}` : `Next: git -C ${checkout} push`);
  return 0;
}

export async function run(argv: readonly string[], given?: string, using = programs): Promise<number> {
  const { values, problems } = readLine("upgrade-platform", argv, options);
  const project = given ?? projectRoot();
  const checkout = resolve(values.repository ?? ".");
  const found = releasesOf({ project, checkout, from: values.from, to: values.to });
  refuse("upgrade-platform", together(together(problems, wishProblems(values, [checkout])), found.problems));
  const { repository, from, to } = found.releases as Releases;
  const version = describe(project, to);
  if (from === to) {
    console.log(`Nothing to do: ${checkout} has ${version}.`);
    return 0;
  }
  const content = `repos/${repository}`;
  const sides = { project, checkout, content, from, to, version, label: `eks-gitops-fleet-${version}` };
  return withMerge(sides, async (merge) => {
    console.log(`${content} from ${describe(project, from)} to ${version}\n`);
    listed(
      "Files that fleet init fills in:",
      merge.notes.map((note) => `  ${note}`),
    );
    listed(`${merge.conflicts.length} in conflict:`, merge.conflicts.map(described));
    if (values["dry-run"]) return shown(sides, merge, repository, values, using);
    refuse("upgrade-platform", inTheWay(checkout, merge));
    writeMerge(checkout, merge);
    const code = merge.conflicts.length > 0 ? conflicted(sides, values) : written(sides, merge, values);
    tellNext(sides);
    return code;
  });
}

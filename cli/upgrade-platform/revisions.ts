import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Repository, repositories } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { repositoryIn } from "../change/effect.ts";
import { commitOf, git, topOf } from "../diff/git.ts";
import { folderProblems } from "../usage.ts";

/** Between which releases of the project a checkout is to be merged. */

/** Two releases, and where they are merged. */
export interface Sides {
  /** The project's checkout. */
  readonly project: string;
  /** The fleet's. */
  readonly checkout: string;
  /** The folder of the project that has the content. */
  readonly content: string;
  /** The project's commits. */
  readonly from: string;
  readonly to: string;
  /** What Git writes into the markers of conflicts. */
  readonly label: string;
  /** What `git describe` calls `to`. */
  readonly version: string;
}

/** What a release is called in commits and comments: not ambiguous soon. */
export const describe = (project: string, commit: string): string =>
  git(project, "describe", "--tags", "--always", "--abbrev=12", commit).stdout;

/** The line of a commit's message by which the next run knows which release a repository has. */
export const provenance = (version: string): string => `From eks-gitops-fleet ${version}, by fleet upgrade-platform.`;

const provenanceLine = /^From eks-gitops-fleet (\S+), by fleet (?:init|upgrade-platform)\.$/gm;

/** The release of which the newest commit that names one says that the checkout has it; undefined if none does. */
function takenBy(checkout: string): string | undefined {
  const { stdout } = git(
    checkout,
    "log",
    "-1",
    "--format=%B",
    "--extended-regexp",
    "--grep=^From eks-gitops-fleet [^ ]+, by fleet (init|upgrade-platform)\\.$",
  );
  return [...stdout.matchAll(provenanceLine)].at(-1)?.[1];
}

const told = (key: string, what: string, got: string, allowed: string, remedy: string): Problem[] => [
  { key, what, got, allowed, remedy },
];

const allowed = `a clone of ${repositories.join(" or ")}; default: the current folder`;
const another = "name the clone with --repository DIR";

/** The problems of the folder into which a release is to be merged, as far as its files tell. */
function contentProblems(checkout: string): Problem[] {
  const missing = folderProblems("--repository", checkout, allowed);
  if (missing.length > 0 || repositoryIn(checkout) !== undefined) return missing;
  const what = "is neither gitops-system (no folder platform/api) nor gitops-workloads (no folder templates/app)";
  return told("--repository", what, checkout, allowed, another);
}

/** The problems of its Git repository. */
function repositoryProblems(checkout: string): Problem[] {
  if (topOf(checkout) !== realpathSync(checkout) || commitOf(checkout, "HEAD") === undefined)
    return told("--repository", "is not the top of a Git repository with a commit", checkout, allowed, another);
  const dirty = git(checkout, "status", "--porcelain").stdout;
  if (dirty === "") return [];
  return told(
    "--repository",
    "has changes that are not committed, yours or those of an upgrade that was not finished",
    shown(dirty),
    "a clone in which git status shows nothing",
    `commit them, or git stash --include-untracked; an unfinished upgrade goes with git -C ${checkout} reset --hard, ` +
      `and what it left of new files with git -C ${checkout} clean -d --interactive`,
  );
}

export interface Asked {
  readonly project: string;
  readonly checkout: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface Releases {
  readonly repository: Repository;
  readonly from: string;
  readonly to: string;
}

/** A commit of the project; Git itself reads the output of describe, but not its mark of uncommitted changes. */
const resolved = (project: string, revision: string): string | undefined =>
  commitOf(project, revision.replace(/-dirty$/, ""));

const unknown = (project: string, key: string, revision: string): Problem[] =>
  told(
    key,
    "is no commit of the project's checkout",
    revision,
    `a tag, branch or commit, or what git describe says, in ${project}`,
    `git -C ${project} fetch --tags, in a shallow clone with --unshallow; or name another one`,
  );

/** The problems of the project's checkout by itself. */
function projectProblems({ project, to }: Asked): Problem[] {
  if (!existsSync(join(project, ".git")))
    return told(
      "project",
      "is no Git checkout, so its releases are not known",
      project,
      "a clone of the project",
      "clone the project, and run this there",
    );
  if (to !== undefined) return [];
  const dirty = git(project, "status", "--porcelain", "--", "repos").stdout;
  if (dirty === "") return [];
  return told(
    "--to",
    "is missing, and repos/ of the project has changes that no commit has",
    shown(dirty),
    "a commit, or repos/ without changes",
    "commit or stash them, or give --to REVISION",
  );
}

const noOrigin = told(
  "--from",
  "is missing: no commit of the repository says which release it has",
  "(nothing)",
  "the release that was taken last",
  "give --from REVISION; in a shallow clone git fetch --unshallow finds the commit",
);

/** A revision of the project by the option that names it. */
interface Named {
  readonly key: string;
  readonly revision: string | undefined;
  readonly commit: string | undefined;
}

function revisionProblems(project: string, repository: Repository, { key, revision, commit }: Named): Problem[] {
  if (revision === undefined) return noOrigin;
  if (commit === undefined) return unknown(project, key, revision);
  if (git(project, "cat-file", "-e", `${commit}:repos/${repository}`).ok) return [];
  const allowed = "a commit with the content of the repository";
  return told(key, `has no folder repos/${repository}`, revision, allowed, "name another one");
}

/** git merge-tree --write-tree is there since this version (its release notes). */
const firstGit = [2, 38] as const;

function gitProblems(project: string): Problem[] {
  const { stdout } = git(project, "version");
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(stdout)?.[0] ?? "").split(".").map(Number);
  if (major > firstGit[0] || (major === firstGit[0] && minor >= firstGit[1])) return [];
  const remedy = "install a newer git, or merge by hand (docs/guides/repositories.md#take-a-new-version)";
  return told("git", "is too old to merge without a checkout", stdout, `${firstGit.join(".")} or newer`, remedy);
}

function orderProblems(project: string, from: string, to: string): Problem[] {
  if (from === to || !git(project, "merge-base", "--is-ancestor", to, from).ok) return [];
  return told(
    "--to",
    "is older than the release that the repository has",
    describe(project, to),
    `a commit after ${describe(project, from)}`,
    "to go back, revert the commit that took the release: git revert",
  );
}

/** The releases, and every problem of what was asked. */
export function releasesOf(asked: Asked): { readonly releases?: Releases; readonly problems: readonly Problem[] } {
  const { project, checkout } = asked;
  const folder = contentProblems(checkout);
  const repository = repositoryIn(checkout);
  // What can be merged depends on what it is a clone of.
  if (folder.length > 0 || repository === undefined) return { problems: folder };
  const ofProject = projectProblems(asked);
  const problems = [...repositoryProblems(checkout), ...ofProject, ...gitProblems(checkout)];
  if (ofProject.some(({ key }) => key === "project")) return { problems };
  const named = Object.entries({ "--from": asked.from ?? takenBy(checkout), "--to": asked.to ?? "HEAD" }).map(
    ([key, revision]) => ({ key, revision, commit: revision && resolved(project, revision) }),
  );
  const found = [...problems, ...named.flatMap((each) => revisionProblems(project, repository, each))];
  const [from, to] = named.map(({ commit }) => commit);
  if (!from || !to) return { problems: found };
  return { releases: { repository, from, to }, problems: [...found, ...orderProblems(project, from, to)] };
}

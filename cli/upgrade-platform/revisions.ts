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

/** The problems of the folder into which a release is to be merged. */
export function checkoutProblems(checkout: string): Problem[] {
  const allowed = `a clone of ${repositories.join(" or ")}; default: the current folder`;
  const missing = folderProblems("--repository", checkout, allowed);
  if (missing.length > 0) return missing;
  const remedy = "name the clone with --repository DIR";
  if (repositoryIn(checkout) === undefined)
    return told(
      "--repository",
      "is neither gitops-system (no folder platform/api) nor gitops-workloads (no folder templates/app)",
      checkout,
      allowed,
      remedy,
    );
  if (topOf(checkout) !== realpathSync(checkout) || commitOf(checkout, "HEAD") === undefined)
    return told("--repository", "is not the top of a Git repository with a commit", checkout, allowed, remedy);
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

/** The releases, and every problem of what was asked. */
export function releasesOf(asked: Asked): { readonly releases?: Releases; readonly problems: readonly Problem[] } {
  const { project, checkout } = asked;
  const problems = [...checkoutProblems(checkout), ...projectProblems(asked)];
  if (!existsSync(join(project, ".git"))) return { problems };
  const repository = repositoryIn(checkout);
  const first = asked.from ?? (repository && topOf(checkout) ? takenBy(checkout) : undefined);
  const named = { "--from": first, "--to": asked.to ?? "HEAD" };
  const commits = Object.entries(named).map(([key, revision]) => ({
    key,
    revision,
    commit: revision && resolved(project, revision),
  }));
  problems.push(
    ...commits.flatMap(({ key, revision, commit }) => {
      if (revision === undefined) return problems.some((each) => each.key === "--repository") ? [] : noOrigin;
      if (commit === undefined) return unknown(project, key, revision);
      if (repository === undefined || git(project, "cat-file", "-e", `${commit}:repos/${repository}`).ok) return [];
      return told(
        key,
        `has no folder repos/${repository}`,
        revision,
        "a commit with the content of the repository",
        "name another one",
      );
    }),
  );
  const [from, to] = commits.map(({ commit }) => commit);
  if (problems.length > 0 || !from || !to || repository === undefined) return { problems };
  if (from !== to && git(project, "merge-base", "--is-ancestor", to, from).ok)
    return {
      problems: told(
        "--to",
        "is older than the release that the repository has",
        describe(project, to),
        `a commit after ${describe(project, from)}`,
        "to go back, revert the commit that took the release: git revert",
      ),
    };
  return { releases: { repository, from, to }, problems };
}

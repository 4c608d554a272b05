import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { git, remoteGit, topOf } from "../diff/git.ts";

/** Commits and pushes what a command wrote into a checkout, and nothing else. */

const twoMinutes = 120_000;
/** Names of files in a message, which must stay readable. */
const mostNames = 5;

const names = (paths: readonly string[]): string =>
  [...paths.slice(0, mostNames), ...(paths.length > mostNames ? [`and ${paths.length - mostNames} more`] : [])].join(
    ", ",
  );

const linesOf = (text: string): string[] => text.split("\n").filter(Boolean);

/** The problem of commits without a name, by the words of git. */
export const identityProblem = (complaint: string): Problem => ({
  key: "git",
  what: "has no complete Git identity",
  got: complaint,
  allowed: "user.name and user.email, of the configuration or of the environment",
  remedy: 'git config --global user.name "<name>" and git config --global user.email <address>',
});

function identityProblems(checkout: string): Problem[] {
  // Without this option git invents an identity from the machine's name (git-config, user.useConfigOnly).
  const asked = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((who) =>
    git(checkout, "-c", "user.useConfigOnly=true", "var", who),
  );
  const failed = asked.find(({ ok }) => !ok);
  return failed === undefined ? [] : [identityProblem(linesOf(failed.stderr).at(-1) ?? "")];
}

/** The branch that is checked out; undefined where there is none. */
const branchOf = (checkout: string): string | undefined =>
  git(checkout, "symbolic-ref", "--quiet", "--short", "HEAD").stdout || undefined;

interface Target {
  readonly branch: string;
  readonly remote: string;
  /** The branch at the remote, as refs/heads/… */
  readonly ref: string;
}

/** Where the branch goes, under its own name: its upstream may be the branch that it was made from. */
function targetOf(checkout: string, branch: string): Target {
  const setting = (name: string) => git(checkout, "config", "--get", name).stdout;
  const remotes = [`branch.${branch}.pushRemote`, "remote.pushDefault", `branch.${branch}.remote`].map(setting);
  return { branch, remote: remotes.find(Boolean) ?? "origin", ref: `refs/heads/${branch}` };
}

function pushProblems(checkout: string): Problem[] {
  const branch = branchOf(checkout);
  if (branch === undefined)
    return [
      {
        key: "--push",
        what: "needs a branch: the checkout is at a commit alone",
        got: `${checkout} with a detached HEAD`,
        allowed: "a clone in which a branch is checked out",
        remedy: "git switch <branch>",
      },
    ];
  const { remote } = targetOf(checkout, branch);
  if (git(checkout, "remote", "get-url", remote).ok) return [];
  return [
    {
      key: "--push",
      what: `has nowhere to push to: there is no remote ${remote}`,
      got: checkout,
      allowed: "a clone of the repository at its Git host",
      remedy: `git -C ${checkout} remote add ${remote} <URL>, or leave --push out`,
    },
  ];
}

/** Why nothing can be committed in a checkout, or pushed from it. */
export function repositoryProblems(checkout: string, { push }: { readonly push: boolean }): Problem[] {
  if (topOf(checkout) === undefined)
    return [
      {
        key: push ? "--push" : "--commit",
        what: "needs a clone with its Git repository",
        got: checkout,
        allowed: "a folder in which git status works",
        remedy: "clone the repository, or leave the option out",
      },
    ];
  const staged = linesOf(git(checkout, "diff", "--cached", "--name-only").stdout);
  const other = {
    key: push ? "--push" : "--commit",
    what: "would commit what it did not change: other changes are staged",
    got: names(staged),
    allowed: "an index without changes",
    remedy: "commit them first, or take them out of the index: git restore --staged <file>",
  };
  return [
    ...(staged.length > 0 ? [other] : []),
    ...identityProblems(checkout),
    ...(push ? pushProblems(checkout) : []),
  ];
}

/** Files that are not as Git has them, ignored ones too. */
function editedIn(checkout: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const flags = ["--porcelain", "--untracked-files=all", "--ignored", "--no-renames"];
  return linesOf(git(checkout, "status", ...flags, "--", ...paths).stdout).map((line) =>
    line.trim().replace(/^\S+\s+/, ""),
  );
}

/** The problem of files that are to be removed and that Git could not bring back; a folder without Git promises nothing. */
export function lossProblems(checkout: string, paths: readonly string[]): Problem[] {
  const lost = existsSync(join(checkout, ".git")) ? editedIn(checkout, paths) : [];
  if (lost.length === 0) return [];
  return [
    {
      key: "--yes",
      what: "would remove what Git can't bring back: files that are not as Git has them",
      got: names(lost),
      allowed: "files as they are committed",
      remedy: "commit them, or move them elsewhere, first",
    },
  ];
}

/** The problem of files that a person has changed and not committed: the commit would have these changes too. */
export function editProblems(checkout: string, paths: readonly string[]): Problem[] {
  const edited = editedIn(checkout, paths);
  if (edited.length === 0) return [];
  return [
    {
      key: "--commit",
      what: "would commit changes of yours: files that it changes are not as Git has them",
      got: names(edited),
      allowed: "files without uncommitted changes",
      remedy: "commit or stash them first, or leave --commit and --push out",
    },
  ];
}

/** A file at the upstream of the branch that is checked out; undefined if either is not there. */
export function pushedText(checkout: string, path: string): string | undefined {
  const { ok, stdout } = git(checkout, "show", `@{upstream}:./${path}`);
  return ok ? stdout : undefined;
}

/**
 * Commits these files and no others. @returns the commit, short
 * @throws Error when a hook, say, refuses; then the files are written, and nothing is staged
 */
export function commit(checkout: string, paths: readonly string[], message: readonly string[]): string {
  // Not affected by the user's own ignore file.
  const added = git(checkout, "add", "--all", "--force", "--", ...paths);
  const texts = message.flatMap((text) => ["--message", text]);
  const made = added.ok ? git(checkout, "commit", "--quiet", ...texts, "--", ...paths) : added;
  if (made.ok) return git(checkout, "rev-parse", "--short", "HEAD").stdout;
  git(checkout, "reset", "--quiet", "--", ...paths);
  throw new Error(
    `the files in ${checkout} are written, but git refuses to commit them: ${made.stderr || made.stdout}. ` +
      "Correct it, then git add and git commit them, or take them back: git checkout -- <file>, git clean <new file>",
  );
}

/**
 * Commits what is staged, be it nothing. @returns the commit, short
 * @throws Error when a hook, say, refuses; then everything stays staged
 */
export function commitStaged(checkout: string, message: readonly string[]): string {
  const made = git(checkout, "commit", "--quiet", "--allow-empty", ...message.flatMap((text) => ["--message", text]));
  if (made.ok) return git(checkout, "rev-parse", "--short", "HEAD").stdout;
  throw new Error(
    `the files in ${checkout} are written and staged, but git refuses to commit them: ${made.stderr || made.stdout}. ` +
      `Correct it, then git commit them, or take them back: git -C ${checkout} reset --hard`,
  );
}

const movedOn = /non-fast-forward|fetch first|cannot lock ref|stale info/i;

/** Pushes the branch that is checked out. @returns where to @throws Error that says what to do when the host refuses */
export function push(checkout: string): string {
  const branch = branchOf(checkout) as string;
  const { remote, ref } = targetOf(checkout, branch);
  const name = `${remote}/${ref.replace("refs/heads/", "")}`;
  const pushed = remoteGit(twoMinutes, checkout, "push", "--quiet", "--set-upstream", remote, `HEAD:${ref}`);
  if (pushed.ok) return name;
  const remedy = movedOn.test(pushed.stderr)
    ? `Somebody else has pushed meanwhile: git -C ${checkout} pull --rebase && git -C ${checkout} push`
    : `If the branch takes pull requests only: git -C ${checkout} push ${remote} HEAD:refs/heads/<a new branch>, and open one`;
  throw new Error(`the commit is in ${checkout}, but ${name} did not take it: ${pushed.stderr}\n${remedy}`);
}

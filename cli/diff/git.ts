import { spawnSync } from "node:child_process";
import { UsageError } from "../usage.ts";

/** Reads a Git repository, and never changes it. */

export interface GitResult {
  readonly ok: boolean;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const processOptions = { encoding: "utf8", maxBuffer: 2 ** 28 } as const;

function run(folder: string, args: readonly string[], timeout?: number): GitResult {
  const { status, stdout, stderr, error } = spawnSync("git", ["-C", folder, ...args], {
    ...processOptions,
    ...(timeout === undefined ? {} : { timeout }),
  });
  if (error !== undefined && (error as NodeJS.ErrnoException).code === "ETIMEDOUT")
    return { ok: false, code: null, stdout: "", stderr: `no answer within ${(timeout ?? 0) / 1000} seconds` };
  if (error) throw new UsageError(`git can't be run: ${error.message}. Compare two folders, or install git`);
  return { ok: status === 0, code: status, stdout: stdout.trim(), stderr: stderr.trim() };
}

export const git = (folder: string, ...args: string[]): GitResult => run(folder, args);

/** For what asks a remote: ends after `patience` milliseconds, because a host that does not answer would hold up everything else. */
export const remoteGit = (patience: number, folder: string, ...args: string[]): GitResult =>
  run(folder, args, patience);

/** What git prints, to the last character. @throws Error with git's message if it ends with another code than these */
export function gitOutput(folder: string, args: readonly string[], input = "", codes = [0]): string {
  const { status, stdout, stderr, error } = spawnSync("git", ["-C", folder, ...args], { ...processOptions, input });
  if (error === undefined && codes.includes(status ?? -1)) return stdout;
  throw new Error(
    `git ${args.find((each) => !each.startsWith("-"))} failed in ${folder}: ${error?.message ?? stderr.trim()}`,
  );
}

/** Top folder of the checkout that contains `folder`; undefined if there is none. */
export function topOf(folder: string): string | undefined {
  const { ok, stdout } = git(folder, "rev-parse", "--show-toplevel");
  return ok ? stdout : undefined;
}

/** The commit that a revision names; undefined if there is none. */
export function commitOf(folder: string, revision: string): string | undefined {
  const { ok, stdout } = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`);
  return ok ? stdout : undefined;
}

/** Commits up to `commit` that changed the file, newest first, each with the path that the file had. */
export function historyOf(top: string, commit: string, file: string): { revision: string; path: string }[] {
  const { stdout } = git(
    top,
    "log",
    "--follow",
    "--max-count=200",
    "--format=%x00%H",
    "--name-only",
    commit,
    "--",
    file,
  );
  return stdout.split("\0").flatMap((entry) => {
    const [revision, path] = entry.split("\n").filter(Boolean);
    return revision === undefined || path === undefined ? [] : [{ revision, path }];
  });
}

/** The content of the file at a commit; undefined if it does not exist there. */
export function fileAt(top: string, commit: string, file: string): string | undefined {
  const { ok, stdout } = git(top, "show", `${commit}:${file}`);
  return ok ? stdout : undefined;
}

/** Writes the files of a commit into `folder`. */
export function extract(top: string, commit: string, folder: string): void {
  const archive = `${folder}.tar`;
  const made = git(top, "archive", "--format=tar", `--output=${archive}`, commit);
  if (!made.ok)
    throw new UsageError(`git can't read ${commit}: ${made.stderr}. In a shallow clone: git fetch --unshallow`);
  const unpacked = spawnSync("tar", ["-x", "-f", archive, "-C", folder], { encoding: "utf8" });
  if (unpacked.status !== 0)
    throw new UsageError(`tar can't unpack ${commit}: ${unpacked.error?.message ?? unpacked.stderr}`);
}

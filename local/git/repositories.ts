import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { installHook } from "./pushes.ts";

/** The branch that Flux follows. */
export const BRANCH = "main";

/** Remembers what of the project was published last, so that a person's own commits on the branch can be recognized. */
const PUBLISHED = "refs/fleet/published";

/** Who commits what the commands of the local stack commit. */
const IDENTITY = {
  GIT_AUTHOR_NAME: "eks-gitops-fleet",
  GIT_AUTHOR_EMAIL: "fleet@fleet.internal",
  GIT_COMMITTER_NAME: "eks-gitops-fleet",
  GIT_COMMITTER_EMAIL: "fleet@fleet.internal",
};

/** Runs git in a folder, without anybody's configuration, and gives its output. */
export function gitIn(cwd: string, args: readonly string[], env: Record<string, string> = {}): string {
  return execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...IDENTITY, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", ...env },
  }).trim();
}

/** Runs git on a bare repository and gives its output. */
export const git = (bare: string, args: readonly string[], env?: Record<string, string>): string =>
  gitIn(process.cwd(), ["--git-dir", bare, ...args], env);

/** The object that a revision names; undefined when there is none. */
export function resolve(bare: string, revision: string): string | undefined {
  try {
    return git(bare, ["rev-parse", "--verify", "--quiet", revision]);
  } catch {
    return undefined; // rev-parse --verify fails exactly when there is no such revision
  }
}

/** Makes a bare repository if there is none; a half-made one never shows under its name. */
export function ensureRepository(bare: string): void {
  if (existsSync(bare)) return;
  const partial = mkdtempSync(join(dirname(bare), ".new-"));
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch", BRANCH, partial]);
  git(partial, ["config", "http.receivepack", "true"]);
  installHook(partial);
  renameSync(partial, bare);
}

/** Writes a folder as a Git tree into the repository; what the folder's .gitignore names stays out. */
export function writeTree(bare: string, folder: string): string {
  const scratch = mkdtempSync(join(tmpdir(), "fleet-publish-"));
  try {
    const index = { GIT_INDEX_FILE: join(scratch, "index") };
    git(bare, ["-C", folder, "--work-tree", folder, "add", "--all", "--", "."], index);
    return git(bare, ["write-tree"], index);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** What publishing did. `merged`: a person had commits of their own, both are in. */
export type Published = "created" | "unchanged" | "updated" | "merged";

/**
 * Brings the content of a folder to the branch of a bare repository. A person's commits are never lost: the project's
 * change is merged with them, and a conflict is an error that names the files.
 */
export function publish(bare: string, folder: string, message: string): Published {
  ensureRepository(bare);
  const tree = writeTree(bare, folder);
  const head = resolve(bare, `refs/heads/${BRANCH}`);
  const published = resolve(bare, PUBLISHED);
  if (published !== undefined && resolve(bare, `${published}^{tree}`) === tree) {
    if (head === undefined) git(bare, ["update-ref", `refs/heads/${BRANCH}`, published, ""]);
    return head === undefined ? "created" : "unchanged";
  }
  const parent = published === undefined ? [] : ["-p", published];
  const commit = git(bare, ["commit-tree", tree, ...parent, "-m", message]);
  const next = head === undefined || head === published ? commit : merge(bare, head, commit, message);
  // The old value makes the update fail, not overwrite, when somebody pushes at the same moment. Branch first: a kill in
  // between leads to a merge of equal trees on the next run.
  git(bare, ["update-ref", `refs/heads/${BRANCH}`, next, head ?? ""]);
  git(bare, ["update-ref", PUBLISHED, commit]);
  if (head === undefined) return "created";
  return next === commit ? "updated" : "merged";
}

function merge(bare: string, ours: string, theirs: string, message: string): string {
  let tree: string;
  try {
    tree = git(bare, ["merge-tree", "--write-tree", "--allow-unrelated-histories", "--name-only", ours, theirs]);
  } catch (error) {
    const { stdout } = error as { stdout?: unknown };
    // The tree, then a line per file in conflict, then an empty line and messages.
    const files = typeof stdout === "string" ? (stdout.split("\n\n")[0]?.split("\n").slice(1) ?? []) : [];
    throw new Error(
      `the project's new content and the commits on ${BRANCH} of ${bare} change the same lines in: ${files.join(", ") || String(error)}. ` +
        `Nothing was published. Clone the repository, bring these files to what both should be, and push; then run this again.`,
    );
  }
  return git(bare, ["commit-tree", tree, "-p", ours, "-p", theirs, "-m", `Merge: ${message}`]);
}

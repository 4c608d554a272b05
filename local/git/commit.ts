import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BRANCH, git, gitIn, resolve } from "./repositories.ts";

/** How often a push is tried again that lost against somebody else's. */
const ATTEMPTS = 5;

/**
 * Changes a repository like a person does: clones it, has `change` work on the checkout, commits and pushes. A push that lost
 * against somebody else's is done again on what they pushed. Resolves to the commit, undefined when nothing changed.
 */
export async function commitTo(
  bare: string,
  message: string,
  change: (checkout: string) => Promise<void>,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const checkout = mkdtempSync(join(tmpdir(), "fleet-commit-"));
    const inCheckout = (...args: string[]) => gitIn(checkout, args);
    try {
      inCheckout("clone", "--quiet", "--branch", BRANCH, bare, ".");
      await change(checkout);
      inCheckout("add", "--all");
      if (inCheckout("status", "--porcelain") === "") return undefined;
      inCheckout("commit", "--quiet", "--message", message);
      try {
        inCheckout("push", "--quiet", "origin", BRANCH);
        return inCheckout("rev-parse", "HEAD");
      } catch (error) {
        const faster = resolve(bare, `refs/heads/${BRANCH}`) !== inCheckout("rev-parse", "HEAD^");
        if (attempt === ATTEMPTS || !faster) throw error;
      }
    } finally {
      rmSync(checkout, { recursive: true, force: true });
    }
  }
}

/** Whether the branch of a repository has a file or folder. */
export const hasPath = (bare: string, path: string): boolean =>
  resolve(bare, `refs/heads/${BRANCH}:${path}`) !== undefined;

/** Names in a folder on the branch of a repository; none when there is no such folder. */
export function listFolder(bare: string, folder: string, kind: "blob" | "tree"): string[] {
  if (!hasPath(bare, folder)) return [];
  return git(bare, ["ls-tree", `${BRANCH}:${folder}`])
    .split("\n")
    .flatMap((line) => {
      const [, type, name] = /^\d+ (\w+) \w+\t(.*)$/.exec(line) ?? [];
      return type === kind && name !== undefined ? [name] : [];
    });
}

/** Records in a repository that something was done once, even if it was undone later. */
export function mark(bare: string, name: string): void {
  if (!isMarked(bare, name)) git(bare, ["update-ref", `refs/fleet/${name}`, `refs/heads/${BRANCH}`]);
}

export const isMarked = (bare: string, name: string): boolean => resolve(bare, `refs/fleet/${name}`) !== undefined;

import { execute, root } from "./process.ts";

/**
 * The tag of the newest release before the commit that is checked out. Before the first one there is none, and tests of what existing fleets
 * need are skipped, as in a shallow clone, which lacks the tags: workflows fetch all of the history (test/workflows).
 */
export async function releaseBefore(folder = root): Promise<string | undefined> {
  const git = (...args: string[]) => execute("git", args, { cwd: folder });
  if ((await git("rev-parse", "--is-shallow-repository")).stdout.trim() === "true") return undefined;
  const match = "--match=v[0-9]*.[0-9]*.[0-9]*";
  const { code, stdout } = await git("describe", "--tags", "--abbrev=0", match, "HEAD^");
  return code === 0 ? stdout.trim() : undefined;
}

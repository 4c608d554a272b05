import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git, gitOutput } from "../diff/git.ts";
import { type Filling, fillings } from "./filled.ts";
import type { Sides } from "./revisions.ts";

/**
 * Merges two states of the content of a repository into a fleet's checkout of it. Git does it (`merge-tree`, since 2.38), in a repository
 * of its own that borrows the objects of both, so nothing is written where a person works.
 */

/** A side of a conflict as the index has it: 1 is the former release, 2 the fleet, 3 the new release. */
interface Stage {
  readonly entry: string;
  readonly stage: string;
}

export interface Conflict {
  readonly path: string;
  readonly stages: readonly Stage[];
  /** Git's own words. */
  readonly messages: readonly string[];
}

export interface Merged {
  /** The repository in which the merge is. */
  readonly scratch: string;
  /** The tree of the fleet before, and of the result; with markers where there are conflicts. */
  readonly before: string;
  readonly after: string;
  /** The commit that has the result and everything that its conflicts name. */
  readonly commit: string;
  readonly conflicts: readonly Conflict[];
  /** What a person has to know about files that fleet init filled in. */
  readonly notes: readonly string[];
}

/** Commits of the scratch repository are nobody's. */
const nobody = ["-c", "user.name=fleet", "-c", "user.email=fleet@localhost"];

const objectsOf = (folder: string): string =>
  gitOutput(folder, ["rev-parse", "--path-format=absolute", "--git-path", "objects"]);

/** A tree with these files written, or taken out where there is no text. */
function treeWith(scratch: string, tree: string, filling: Filling): string {
  gitOutput(scratch, ["read-tree", tree]);
  for (const [path, text] of Object.entries(filling)) {
    const mode = /^\d+/.exec(gitOutput(scratch, ["ls-files", "--stage", "--", path]))?.[0];
    if (mode === undefined) continue;
    const blob = text === undefined ? "" : gitOutput(scratch, ["hash-object", "-w", "--stdin"], text).trim();
    const line = text === undefined ? `0 ${"0".repeat(40)}\t${path}\n` : `${mode} ${blob}\t${path}\n`;
    gitOutput(scratch, ["update-index", "--index-info"], line);
  }
  return gitOutput(scratch, ["write-tree"]).trim();
}

/** What `git merge-tree -z` prints: the tree, the stages of what is in conflict, and messages with the paths that they are about. */
function parsed(output: string): { tree: string; conflicts: Conflict[] } {
  const [tree = "", ...fields] = output.split("\0");
  const end = fields.indexOf("");
  const stages = new Map<string, Stage[]>();
  for (const field of fields.slice(0, end)) {
    const [, entry = "", stage = "", path = ""] = /^(\d+ [0-9a-f]+) (\d)\t([\s\S]*)$/.exec(field) ?? [];
    stages.set(path, [...(stages.get(path) ?? []), { entry, stage }]);
  }
  const messages = messagesIn(fields.slice(end + 1));
  const conflicts = [...stages].map(([path, of]) => ({
    path,
    stages: of,
    messages: messages.filter(({ paths }) => paths.includes(path)).map(({ text }) => text),
  }));
  return { tree, conflicts };
}

/** Each message: the number of its paths, the paths, its type and its text. */
function messagesIn(fields: readonly string[]): { paths: readonly string[]; text: string }[] {
  const [count] = fields;
  if (!count) return [];
  const size = Number(count);
  const [type = "", text = ""] = fields.slice(size + 1);
  const rest = messagesIn(fields.slice(size + 3));
  return type.startsWith("CONFLICT") ? [{ paths: fields.slice(1, size + 1), text: text.trim() }, ...rest] : rest;
}

function merged(scratch: string, sides: Sides): Merged {
  const { project, checkout, content, from, to, label } = sides;
  writeFileSync(join(scratch, "objects", "info", "alternates"), objectsOf(project) + objectsOf(checkout));
  const head = git(checkout, "rev-parse", "HEAD^{tree}").stdout;
  const { base, theirs, notes } = fillings(sides);
  const trees = {
    base: treeWith(scratch, `${from}:${content}`, base),
    theirs: treeWith(scratch, `${to}:${content}`, theirs),
  };
  const commit = (tree: string, ...parents: string[]): string =>
    gitOutput(scratch, [
      ...nobody,
      "commit-tree",
      "-m",
      label,
      ...parents.flatMap((each) => ["-p", each]),
      tree,
    ]).trim();
  const origin = commit(trees.base);
  const named = { "your-repository": commit(head, origin), [label]: commit(trees.theirs, origin) };
  for (const [name, made] of Object.entries(named)) gitOutput(scratch, ["update-ref", `refs/heads/${name}`, made]);
  const output = gitOutput(
    scratch,
    ["merge-tree", "--write-tree", "-z", "--messages", ...Object.keys(named)],
    "",
    [0, 1], // 1: there are conflicts
  );
  const { tree, conflicts } = parsed(output);
  const result = commit(tree, ...Object.values(named));
  gitOutput(scratch, ["update-ref", resultRef, result]);
  return {
    ...{ scratch, before: head, after: tree, commit: result, conflicts, notes },
  };
}

/** The name of the result in the scratch repository. */
export const resultRef = "refs/heads/result";

/** Merges, and does something with the result before what it is in goes. */
export async function withMerge<T>(sides: Sides, use: (merge: Merged) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), "fleet-upgrade-platform-"));
  try {
    gitOutput(scratch, ["init", "--quiet", "--bare"]);
    return await use(merged(scratch, sides));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

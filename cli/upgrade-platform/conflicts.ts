import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import { gitOutput } from "../diff/git.ts";
import { type Conflict, type Merged, resultRef } from "./merge.ts";

/** The problem of files that the release adds and that are there already, ignored: git read-tree would overwrite them. */
export function inTheWay(checkout: string, { scratch, before, after }: Merged): Problem[] {
  const added = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", before, after];
  const there = gitOutput(scratch, added)
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(checkout, path)));
  if (there.length === 0) return [];
  return [
    {
      key: "--repository",
      what: "has files that the release adds, and that Git ignores here",
      got: shown(there.join(", ")),
      allowed: "no file that is not in Git in the place of one of the release",
      remedy: "move them away, or commit them (git add --force)",
    },
  ];
}

/** Puts a merge into the checkout, with its conflicts as Git has them: markers in the files, and stages in the index. */
export function writeMerge(checkout: string, { scratch, commit, conflicts }: Merged): void {
  gitOutput(checkout, [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    scratch,
    resultRef,
  ]);
  gitOutput(checkout, ["read-tree", "-m", "-u", "HEAD", commit]);
  const none = "0".repeat(commit.length);
  const lines = conflicts.flatMap(({ path, stages }) => [
    `0 ${none}\t${path}`,
    ...stages.map(({ entry, stage }) => `${entry} ${stage}\t${path}`),
  ]);
  if (lines.length > 0) gitOutput(checkout, ["update-index", "-z", "--index-info"], `${lines.join("\0")}\0`);
}

/** What each side did, by the stages that there are. */
const deeds: Readonly<Record<string, string>> = {
  "123": "you changed it, and the release changes it in the same place",
  "12": "you changed it, and the release removes it",
  "13": "you removed it, and the release changes it",
  "23": "you added it, and the release adds it with another content",
};

/** Kinds of conflict that the stages of one file don't say: Git's words do. */
const isIrregular = (messages: readonly string[]): boolean =>
  messages.some((text) => /rename|directory|file location|binary|submodule|distinct types/i.test(text));

/** A conflict as a line for a person. */
export function described({ path, stages, messages }: Conflict): string {
  const deed = deeds[stages.map(({ stage }) => stage).join("")];
  const words = deed === undefined || isIrregular(messages) ? messages.join("; ") : "";
  return `  ${path}: ${[deed, words && `(${words})`].filter(Boolean).join(" ")}`;
}

import type { Problem } from "../../lib/problems.ts";
import { folderProblems } from "../usage.ts";
import { repositoryProblems } from "./commit.ts";

/** The options of every command that changes a checkout. */
export const changeOptions = {
  "dry-run": { type: "boolean", default: false },
  commit: { type: "boolean", default: false },
  push: { type: "boolean", default: false },
} as const;

/** How `--help` says what they do. */
export const changeHelp = `  --dry-run              write nothing: show the change of the files, and what fleet diff says of it (by kustomize or kubectl),
                         without rendering charts
  --commit               also commit what was written, and nothing else
  --push                 also commit and push it, on the branch that is checked out`;

/** What is to become of a change. */
export interface Wish {
  readonly "dry-run": boolean;
  readonly commit: boolean;
  readonly push: boolean;
}

export const isCommitted = ({ commit, push }: Wish): boolean => commit || push;

/** The problems of these options by themselves, and of the checkouts in which there is to be a commit. */
export function wishProblems(wish: Wish, checkouts: readonly string[]): Problem[] {
  if (wish["dry-run"] && isCommitted(wish))
    return [
      {
        key: "--dry-run",
        what: "writes nothing, so there is nothing to commit",
        got: `--dry-run ${wish.push ? "--push" : "--commit"}`,
        allowed: "--dry-run, or --commit, or --push",
        remedy: "leave one of them out",
      },
    ];
  if (!isCommitted(wish)) return [];
  const there = checkouts.filter((checkout) => folderProblems("", checkout, "").length === 0);
  return there.flatMap((checkout) => repositoryProblems(checkout, wish));
}
